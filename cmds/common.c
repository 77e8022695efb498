/* What several verbs need and no room below should know: Ctrl-C, how campaigns are
 * chosen, by number or by their last run, and how their command line is shown.
 * Opens no store and prints nothing.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/memory.h"
#include "cmds/cmds.h"
#include "loom/area.h"

const char *const cmds_looms[] = { "any", "compiled", "binary", NULL };
const char *const cmds_observers[] = { "pairs", "predecessors", "edges", NULL };
_Static_assert(OBSERVE_PAIRS == 1 && OBSERVE_PREDECESSORS == 2 && OBSERVE_EDGES == 4,
	       "bits follow the names");

static volatile sig_atomic_t interrupted; /* the one thing a signal handler can tell us by */

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

void cmds_catch_interrupts(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = interrupt }, old;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		/* Whoever started us may have wanted it ignored (nohup). */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

bool cmds_interrupted(void)
{
	return interrupted;
}

double cmds_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

uint64_t cmds_seed(void)
{
	uint32_t seed;

	if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
		seed = (uint32_t)time(NULL);
	return seed;
}

void cmds_campaigns_free(struct cmds_campaigns *campaigns)
{
	for (size_t i = 0; i < campaigns->n; i++)
		campaign_free(&campaigns->items[i]);
	free(campaigns->items);
	*campaigns = (struct cmds_campaigns){ 0 };
}

struct error *cmds_campaigns(struct store *store, uint64_t only, struct cmds_campaigns *out)
{
	size_t kept = 0;

	TRY(store_campaigns(store, &out->items, &out->n));
	for (size_t i = 0; i < out->n / 2; i++) {
		struct campaign swap = out->items[i];

		out->items[i] = out->items[out->n - 1 - i];
		out->items[out->n - 1 - i] = swap;
	}
	if (!only)
		return NULL;
	for (size_t i = 0; i < out->n; i++) {
		if (out->items[i].number == only)
			out->items[kept++] = out->items[i];
		else
			campaign_free(&out->items[i]);
	}
	out->n = kept;
	if (!kept)
		return error_new("there is no campaign %llu; unsnarl runs lists those there are",
				 (unsigned long long)only);
	return NULL;
}

static struct error *last_run(struct store *store, uint64_t campaign, uint64_t *number)
{
	struct run *runs;
	size_t n;

	*number = 0;
	TRY(store_runs(store, campaign, &runs, &n));
	for (size_t i = 0; i < n; i++) {
		if (runs[i].number > *number)
			*number = runs[i].number;
		run_free(&runs[i]);
	}
	free(runs);
	return NULL;
}

struct error *cmds_campaigns_recent(struct store *store, struct cmds_campaigns *campaigns)
{
	_cleanup_free_ uint64_t *last = memory_alloc(campaigns->n * sizeof *last);

	for (size_t i = 0; i < campaigns->n; i++) {
		struct campaign campaign = campaigns->items[i];
		uint64_t number;
		size_t at = i;

		TRY(last_run(store, campaign.number, &number));
		for (; at > 0 && last[at - 1] < number; at--) {
			campaigns->items[at] = campaigns->items[at - 1];
			last[at] = last[at - 1];
		}
		campaigns->items[at] = campaign;
		last[at] = number;
	}
	return NULL;
}

uint64_t cmds_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0 ? (uint64_t)CPU_COUNT(&set)
										  : 1;
}

struct error *cmds_check_only(const char *only, enum loom loom)
{
	if (!only)
		return NULL;
	if (loom != LOOM_BINARY)
		return error_new("--program %s: the program that is started has hooks and is the one that is "
				 "looked at; "
				 "start %s itself, or add --loom binary",
				 only, only);
	if (!*only || strchr(only, '/'))
		return error_new("--program takes the name of a program's file without its folder, not '%s'",
				 only);
	return NULL;
}

void cmds_tell_loom(const char *program, enum loom loom)
{
	if (loom == LOOM_BINARY)
		fprintf(stderr,
			"unsnarl: %s is seen as it is, under Valgrind (the binary loom): slower than with "
			"hooks; only global variables have names, and places without debug information no "
			"lines\n",
			program);
}
