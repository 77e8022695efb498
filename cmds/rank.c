/* unsnarl rank: where threads communicated in failed runs as they never did in passed
 * ones, or in few runs only. Finds out what was asked for and calls the rooms below.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bugaboo/campaign.h"
#include "analysis/bugaboo/rank.h"
#include "base/memory.h"
#include "cmds/cmds.h"
#include "report/answer.h"

struct rank_options {
	uint64_t top, campaign;
	const char *store;
	unsigned formula;
	bool unlabelled, json;
};

static const char *const formulas[] = { "novelty", "paper", NULL };
_Static_assert(RANK_NOVELTY == 0 && RANK_PAPER == 1, "orders follow the names");

#define AT(member) .offset = offsetof(struct rank_options, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "unlabelled", .kind = OPTIONS_FLAG, AT(unlabelled),
	  .help = "do not look at labels: what is rare over all runs" },
	{ .name = "top", .value = "N", .kind = OPTIONS_NUMBER, AT(top), .low = 1, .high = 1000000,
	  .help = "how many code points to show (default 10)" },
	{ .name = "formula", .value = "novelty|paper", .kind = OPTIONS_WORD, AT(formula), .words = formulas,
	  .help = "how points are ordered (default novelty)" },
	{ .name = "campaign", .value = "N", .kind = OPTIONS_NUMBER, AT(campaign), .low = 1, .high = INT64_MAX,
	  .help = "all runs of this campaign (default: that of the last failed run)" },
	CMDS_STORE_ENTRY(struct rank_options),
	CMDS_JSON_ENTRY(struct rank_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "rank",
	.operands = "[options] [RUN...|last]",
	.summary = "rank code points by what is new in how threads communicate",
	.text = "x",
	.entries = entries,
};

static struct error *read_runs(char **operands, uint64_t **runs, size_t *n)
{
	*n = 0;
	for (char **o = operands; *o; o++)
		++*n;
	*runs = memory_alloc(*n * sizeof **runs + 1);
	for (size_t i = 0; i < *n; i++)
		(*runs)[i] = strtoull(operands[i], NULL, 10);
	return NULL;
}

static struct error *rank_main(int argc, char **argv, int *status)
{
	struct rank_options options = { .store = CMDS_STORE, .top = 10 };
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(graphs_free) struct graphs graphs = { 0 };
	_cleanup_free_ uint64_t *runs = NULL;
	size_t n;
	char **operands;

	(void)status;
	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	TRY(store_open(options.store, false, &store));
	TRY(read_runs(operands, &runs, &n));
	TRY(graphs_load(store, 1, runs, n, &graphs));
	struct rank_result result;
	struct rank_input input = { .graph = &graphs.graph,
				    .passed = (const roaring_bitmap_t *const *)graphs.passed.items,
				    .npassed = graphs.passed.n,
				    .failed = (const roaring_bitmap_t *const *)graphs.failed.items,
				    .nfailed = graphs.failed.n,
				    .ran_passed = graphs.ran_passed,
				    .ran_failed = graphs.ran_failed,
				    .order = options.formula };

	if (options.unlabelled) {
		for (size_t i = 0; i < graphs.passed.n; i++)
			*VEC_PUSH(&graphs.failed) = graphs.passed.items[i];
		for (size_t i = 0; graphs.ran_failed && i < graphs.points.n; i++)
			graphs.ran_failed[i] += graphs.ran_passed[i];
		graphs.passed.n = 0;
		input.failed = (const roaring_bitmap_t *const *)graphs.failed.items;
		input.nfailed = graphs.failed.n;
		input.npassed = 0;
	}

	(options.unlabelled ? rank_unlabelled : rank_labelled)(&input, &result);
	for (size_t i = 0; i < result.points.n; i++) {
		struct rank_point *p = &result.points.items[i];
		struct code_point *c = &graphs.points.items[p->point];
		printf("%zu %s:%u:%u %s %s score %.3f runs %u depth %u after %d ran %u %u\n", i + 1, strrchr(c->file, '/') ? strrchr(c->file, '/') + 1 : c->file,
		       c->line, c->column, c->function, *c->variable ? c->variable : "-", p->score, p->runs, p->depth, p->aftermath, graphs.ran_passed ? graphs.ran_passed[p->point] : 0, graphs.ran_failed ? graphs.ran_failed[p->point] : 0);
	}
	rank_free(&result);
	return NULL;
}

const struct verb verb_rank = { .page = &page, .main = rank_main };
