/* unsnarl show RUN|last|SITE: finds out what was asked for. show_run.c and
 * show_site.c answer.
 */
#include "cmds/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmds/cmds.h"

#define AT(member) .offset = offsetof(struct show_options, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "pairs", .kind = OPTIONS_FLAG, AT(pairs), .help = "only the pairs" },
	{ .name = "predecessors", .kind = OPTIONS_FLAG, AT(predecessors),
	  .help = "only what came before each access in another thread" },
	{ .name = "edges", .kind = OPTIONS_FLAG, AT(edges), .help = "only the edges, with contexts" },
	{ .name = "all", .kind = OPTIONS_FLAG, AT(all),
	  .help = "all three, and of pairs also order, address and loops" },
	{ .name = "campaign", .value = "N", .kind = OPTIONS_NUMBER, AT(campaign), .low = 1, .high = INT64_MAX,
	  .help = "the last failed run of this campaign, or what this campaign knows of the site" },
	CMDS_STORE_ENTRY(struct show_options),
	CMDS_JSON_ENTRY(struct show_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "show",
	.operands = "[options] RUN|last|FILE:LINE[:COLUMN]|#SITE",
	.summary = "tell what a run did, or what is known of a line of source",
	.text = "A run is named by its number, or last for the last one that failed. Of a run you see "
		"how it ended and its pairs: accesses of two threads to the same data where the second "
		"depends on the first, in the order in which they first occurred. T0 is the main "
		"thread.\n\n"
		"A site is one access in the source: all those on a line, or one by its number. Of a site "
		"you see its pairs, what ran before it in other threads, and its edges, each with the "
		"number of runs.",
	.examples = "  unsnarl show last\n"
		    "  unsnarl show 17 --all\n"
		    "  unsnarl show account.c:42\n",
	.entries = entries,
};

/* The number behind the last colon of `text`, which is cut off there; 0 when
 * there is none. */
static uint32_t cut_number(char *text)
{
	char *colon = strrchr(text, ':'), *end;

	if (!colon || colon == text || colon[1] < '0' || colon[1] > '9')
		return 0;
	errno = 0;
	unsigned long value = strtoul(colon + 1, &end, 10);

	if (*end || errno || value == 0 || value > UINT32_MAX)
		return 0;
	*colon = '\0';
	return (uint32_t)value;
}

static struct error *show_location(struct store *store, const struct show_options *options, const char *name)
{
	_cleanup_free_ char *file = memory_string(name);
	_cleanup_free_ uint32_t *sites = NULL;
	uint32_t last = cut_number(file), line = last ? cut_number(file) : 0;
	size_t n = 0;

	if (!last)
		return error_new("%s is no run number, not last, and neither FILE:LINE nor #SITE", name);
	TRY(store_sites_at(store, file, line ? line : last, line ? last : 0, &sites, &n));
	if (n == 0)
		return error_new("no run touched %s: no recorded program has an observed access there", name);
	return show_sites(store, options, name, sites, n);
}

static bool is_number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static struct error *show_last(struct store *store, const struct show_options *options)
{
	uint64_t number;

	TRY(store_last_failed(store, options->campaign, &number));
	if (!number)
		return error_new("no recorded run has failed yet; unsnarl runs lists them by number");
	return show_run(store, options, number);
}

static struct error *show_main(int argc, char **argv, int *status)
{
	struct show_options options = { .store = CMDS_STORE };
	_cleanup_(store_closep) struct store *store = NULL;
	uint64_t number;
	char **operands;

	(void)status;
	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	const char *what = operands[0];

	if (!what)
		return error_new("show what? A run number, last, FILE:LINE or #SITE");
	if (operands[1])
		return error_new("show tells about one thing at a time, not %s as well", operands[1]);
	TRY(store_open(options.store, false, &store));
	if (!strcmp(what, "last"))
		return show_last(store, &options);
	if (is_number(what, &number))
		return show_run(store, &options, number);
	if (what[0] == '#' && is_number(what + 1, &number) && number < SITE_NIL)
		return show_sites(store, &options, what, &(uint32_t){ (uint32_t)number }, 1);
	return show_location(store, &options, what);
}

const struct verb verb_show = { .page = &page, .main = show_main };
