/* Words for the numbers and enums of the model. Values that the enums do not
 * know (a store may be newer or damaged) get words too instead of a crash.
 * Nothing here allocates more than the string it returns.
 */
#include "report/words.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "report/text.h"
#include "store/store.h"

char *words_store_option(const char *store)
{
	_cleanup_free_ char *folder = text_shell(store);

	return strcmp(store, STORE_USUAL) ? memory_format(" --store %s", folder) : memory_string("");
}

char *words_command(const struct campaign *campaign, int beside)
{
	_cleanup_free_ char *path = text_path(campaign->program);
	/* A name without a slash would be looked for in PATH: say where it is. */
	_cleanup_free_ char *named = memory_format("%s%s", strchr(path, '/') ? "" : "./", path);
	char *command = text_shell(named);

	for (char **argument = campaign->arguments; argument && *argument; argument++) {
		_cleanup_free_ char *word = text_shell(*argument);
		char *longer = memory_format("%s %s", command, word);

		free(command);
		command = longer;
	}
	char *cut = text_cut_line(command, beside);

	free(command);
	return cut;
}

char *words_signal(int number)
{
	const char *name = sigabbrev_np(number);

	return name ? memory_format("SIG%s", name) : memory_format("signal %d", number);
}

const char *words_fault(enum memory_fault fault)
{
	static const char *const names[MEMORY_FAULTS] = { "memory fault", "use after free", "double free",
							  "access beyond a block" };

	return names[(unsigned)fault < MEMORY_FAULTS ? fault : 0];
}

char *words_ended(const struct run *run)
{
	switch (run->outcome) {
	case OUTCOME_EXIT:
		return memory_format("exit %d", run->code);
	case OUTCOME_SIGNAL:
		return words_signal(run->code);
	case OUTCOME_TIMEOUT:
		return memory_string("hung");
	case OUTCOME_DEADLOCK:
		return memory_string("deadlock");
	case OUTCOME_LOST_WAKEUP:
		return memory_string("lost wake-up");
	case OUTCOME_LIVELOCK:
		return memory_string("livelock");
	case OUTCOME_DIVERGED:
		return memory_string("diverged");
	case OUTCOME_SLOW:
		return memory_string("too slow");
	case OUTCOME_MEMORY:
		return memory_string(words_fault((enum memory_fault)run->code));
	}
	return memory_format("unknown outcome %d", (int)run->outcome);
}

char *words_seconds(double seconds)
{
	if (!(seconds >= 0))
		seconds = 0;
	if (seconds < 10)
		return memory_format("%.3f s", seconds);
	if (seconds < 100)
		return memory_format("%.1f s", seconds);
	unsigned long s = seconds < 1e15 ? (unsigned long)(seconds + 0.5) : 0;

	if (s < 3600)
		return memory_format("%lu min %lu s", s / 60, s % 60);
	return memory_format("%lu h %lu min", s / 3600, s / 60 % 60);
}

char *words_time(int64_t microseconds)
{
	char text[64];
	time_t seconds = (time_t)(microseconds / 1000000);
	struct tm parts;

	if (!localtime_r(&seconds, &parts) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts))
		return memory_string("unknown time");
	return memory_string(text);
}

char *words_count(uint64_t n, const char *one, const char *many)
{
	return memory_format("%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

char *words_context(uint16_t context, unsigned events)
{
	static const char names[][5] = {
		[EVENT_LOCAL_READ] = "LcRd",
		[EVENT_LOCAL_WRITE] = "LcWr",
		[EVENT_REMOTE_READ] = "RmRd",
		[EVENT_REMOTE_WRITE] = "RmWr",
	};
	char text[CONTEXT_MOST * 5 + 1] = "-";
	size_t at = 0;

	for (unsigned i = context_events(context, events); i-- > 0;)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? " " : "",
				       names[context >> (2 * i) & 3]);
	return memory_string(text);
}

unsigned words_context_events(const struct edge *edges, size_t n)
{
	unsigned most = 0;

	for (size_t i = 0; i < n && most < CONTEXT_MOST; i++) {
		unsigned sink = context_kept(edges[i].sink_context);
		unsigned source = edges[i].source == SITE_NIL ? 0 : context_kept(edges[i].source_context);

		most = sink > most ? sink : most;
		most = source > most ? source : most;
	}
	return most;
}

const char *words_label(enum label label)
{
	return label == LABEL_PASS ? "pass" : label == LABEL_FAIL ? "fail" : "unknown";
}

const char *words_outcome(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_EXIT:
		return "exit";
	case OUTCOME_SIGNAL:
		return "signal";
	case OUTCOME_TIMEOUT:
		return "timeout";
	case OUTCOME_DEADLOCK:
		return "deadlock";
	case OUTCOME_LOST_WAKEUP:
		return "lost-wakeup";
	case OUTCOME_LIVELOCK:
		return "livelock";
	case OUTCOME_DIVERGED:
		return "diverged";
	case OUTCOME_SLOW:
		return "slow";
	case OUTCOME_MEMORY:
		return "memory";
	}
	return "unknown";
}

const char *words_pair(enum pair_kind kind)
{
	switch (kind) {
	case PAIR_WRITE_READ:
		return "write-read";
	case PAIR_READ_WRITE:
		return "read-write";
	case PAIR_WRITE_WRITE:
		return "write-write";
	}
	return "unknown";
}

const char *words_head(enum pair_kind kind, const struct site *site)
{
	if (site->kind == SITE_UPDATE)
		return "update";
	return kind == PAIR_READ_WRITE ? "read" : "write";
}

const char *words_tail(enum pair_kind kind, const struct site *site)
{
	if (site->kind == SITE_UPDATE)
		return "update";
	return kind == PAIR_WRITE_READ ? "read" : "write";
}

const char *words_site(const struct site *site)
{
	return site->kind == SITE_SYNC || site->kind == SITE_ALLOCATION ? "call" : site_kind_name(site->kind);
}

char *words_machine(const uint64_t counts[MACHINE_COUNTS], unsigned indent)
{
	double per = counts[MACHINE_ACCESSES] ? 1e4 / (double)counts[MACHINE_ACCESSES] : 0;

	return memory_format(
		"%llu accesses to lines, %llu traps; in 10,000 accesses\n"
		"%*s%.1f misses to read, %.1f to write, %.1f between caches,\n"
		"%*s%.1f writes of metadata",
		(unsigned long long)counts[MACHINE_ACCESSES], (unsigned long long)counts[MACHINE_TRAPS],
		(int)indent, "", per * (double)counts[MACHINE_READ_MISSES],
		per * (double)counts[MACHINE_WRITE_MISSES], per * (double)counts[MACHINE_COHERENCE_MISSES],
		(int)indent, "", per * (double)counts[MACHINE_METADATA_WRITES]);
}
