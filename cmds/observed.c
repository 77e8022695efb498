/* What recorded runs of a program saw shared, for the order of candidates.
 */
#include "cmds/observed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "cmds/cmds.h"

struct observed {
	struct map lines; /* of sites at either end of a pair */
};

static uint64_t line_key(const char *file, uint32_t line)
{
	return hash_bytes(hash_string(HASH_START, file), &line, sizeof line);
}

static struct error *add_campaign(struct store *store, uint64_t campaign, struct observed *observed)
{
	struct interned interned = { 0 };
	struct error *error = store_interned(store, campaign, &interned);

	for (size_t i = 0; !error && i < interned.npairs; i++) {
		const uint32_t ends[2] = { interned.pairs[i].head_site, interned.pairs[i].tail_site };

		for (int e = 0; !error && e < 2; e++) {
			const struct site *site;

			error = store_site(store, ends[e], &site);
			if (!error)
				map_put(&observed->lines, line_key(site->file, site->line), NULL);
		}
	}
	interned_free(&interned);
	return error;
}

static bool is_observed(void *context, const char *file, uint32_t line)
{
	const struct observed *observed = context;

	return map_get(&observed->lines, line_key(file, line)) != NULL;
}

struct error *observed_rank(const char *folder, const char *program, struct scan *scan)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	_cleanup_free_ char *path = realpath(program, NULL);
	struct observed observed = { 0 };
	_cleanup_free_ char *runs = memory_format("%s/store.db", folder);

	/* The folder may hold kept scans alone. */
	if (!path || access(runs, F_OK) < 0)
		return NULL;
	TRY(store_open(folder, false, &store));
	TRY(cmds_campaigns(store, 0, &campaigns));
	struct error *error = NULL;

	for (size_t i = 0; i < campaigns.n && !error; i++)
		if (strcmp(campaigns.items[i].program, path) == 0)
			error = add_campaign(store, campaigns.items[i].number, &observed);
	if (!error && observed.lines.n)
		scan_rank(scan, is_observed, &observed);
	map_free(&observed.lines);
	return error;
}
