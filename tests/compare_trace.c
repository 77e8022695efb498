/* Runs a program with every access logged and holds what the runtime observed
 * against the reference observer.
 *
 * usage: compare_trace [-c EVENTS] [-t SECONDS] [-aelprs] PROGRAM [ARGUMENT...]
 * -c: events of context; -t: kill the program then (it is compared all the same);
 * -l: edges between lines; -p: pairs alone, without looking for couples;
 * -a: the program makes no accesses of nothing, so no order may lack an event;
 * -s: the program always does the same, so run it a second time without the log, on
 * the fast path, and hold that against the reference too (with -p: pairs alone); -r:
 * there it reads some values so often that reads are passed over, so orders may be
 * earlier ones; -e: print the events.
 *
 * Exit status: 0 agreement, 1 disagreement, 77 the run was too large to be compared,
 * 2 anything else. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "loom/area.h"
#include "loom/launch.h"
#include "loom/spawn.h"
#include "loom/sweep.h"
#include "loom/watch.h"
#include "model/place.h"
#include "model/run.h"
#include "model/site.h"
#include "tests/reference.h"

#define TOO_LARGE 77
#define LINE_READERS 32u /* lines.c tells so many threads apart */
#define SHOWN 5u         /* disagreements of a kind that are printed */

struct settings {
	struct area_options area;
	bool pairs_alone, same_again, passes_over, complete, print_events;
	double timeout_s;
	char **argv;
};

/* ---- running ---- */

struct traced {
	struct area_process *process; /* of the first process, mapped */
	uint32_t processes, threads;
	bool cut_off; /* ended while threads were at work */
};

static struct error *run(const struct settings *settings, int children, int area, struct ending *ending)
{
	char entry[SPAWN_ENTRY_SIZE];
	_cleanup_free_ char **environment = spawn_environment(entry);
	_cleanup_close_ int null = fcntl(open("/dev/null", O_RDWR | O_CLOEXEC), F_DUPFD_CLOEXEC, 10);
	struct spawn start = { .argv = settings->argv,
			       .environment = environment,
			       .in = null,
			       .out = null,
			       .err = null,
			       .area = area,
			       .still = settings->same_again || spawn_must_be_still() };
	struct watch watch = { .start = watch_now(),
			       .timeout_s = settings->timeout_s,
			       .children = children,
			       .stop = { -1, -1 },
			       .streams = { -1, -1 } };

	spawn_entry(entry, area);
	TRY(spawn(&start, &watch.pid));
	return watch_end(&watch, ending);
}

/* The binary loom numbers sites as they come, differently in each run: here their places number them. */
static uint32_t number_of(const struct area_process *p, uint32_t site)
{
	if (!site || site > p->nplaces)
		return site;
	const struct area_place *place = &p->places[site - 1];
	uint64_t hash = code_place_mix_text(
		code_place_mix(code_place_mix(code_place_mix(0, place->module), place->address), place->kind),
		p->paths + place->what);

	return (uint32_t)(hash >> 40) | 1;
}

static void name_by_place(struct area_process *p)
{
	for (uint32_t i = 0; i < p->npairs; i++) {
		p->pairs[i].head_site = number_of(p, p->pairs[i].head_site);
		p->pairs[i].tail_site = number_of(p, p->pairs[i].tail_site);
	}
	for (uint32_t i = 0; i < p->npredecessors; i++) {
		p->predecessors[i].site = number_of(p, p->predecessors[i].site) & 0xffffff;
		p->predecessors[i].before = number_of(p, p->predecessors[i].before);
	}
	for (uint32_t i = 0; i < p->nedges; i++) {
		p->edges[i].source = number_of(p, p->edges[i].source) & 0xffffff;
		p->edges[i].sink = number_of(p, p->edges[i].sink) & 0xffffff;
	}
	for (uint32_t i = 0; i < p->nevents; i++)
		p->events[i].site = number_of(p, p->events[i].site);
}

static struct error *trace(const struct settings *settings, uint32_t observe, bool light, int children,
			   struct traced *out)
{
	struct area_options options = settings->area;
	_cleanup_close_ int area = -1;
	struct ending ending;

	options.observe = observe;
	TRY(spawn_area(&options, &(struct area_control){ .light = light }, 1, &area));
	TRY(run(settings, children, area, &ending));
	struct area_head head;

	if (pread(area, &head, sizeof head, 0) != (ssize_t)sizeof head)
		return error_errno(errno, "cannot read the run area");
	out->processes = head.processes;
	out->threads = head.threads;
	out->process = mmap(NULL, AREA_PROCESS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, area,
			    AREA_PROCESS_OFFSET(0));
	if (out->process == MAP_FAILED)
		return error_errno(errno, "cannot map the run area");
	if (!out->process->started)
		return error_new("%s has no runtime or did not start", settings->argv[0]);
	name_by_place(out->process);
	out->cut_off = out->process->live != 1 || ending.timed_out || WIFSIGNALED(ending.status);
	return NULL;
}

/* Why the run cannot be compared, NULL when it can. */
static const char *too_large(const struct settings *settings, const struct traced *traced)
{
	const struct area_process *p = traced->process;

	if (p->nevents > AREA_EVENTS || p->npairs > AREA_PAIRS || p->npredecessors > AREA_PREDECESSORS ||
	    p->nedges > AREA_EDGES)
		return "more than the run area holds";
	if (settings->area.line && traced->threads > LINE_READERS)
		return "more threads than a line tells apart";
	return NULL;
}

/* ---- naming sites, only when there is something to tell ---- */

static void print_site(const struct area_process *process, uint32_t number)
{
	if (!number) {
		printf("nil");
		return;
	}
	for (uint32_t i = 0; i < process->nunits; i++) {
		const struct area_unit *entry = &process->units[i];
		struct unit *units = NULL;
		size_t n = 0;

		if (number < entry->first || number >= entry->first + entry->nsites)
			continue;
		error_free(unit_read_elf(process->paths + entry->path, &units, &n));
		for (size_t k = 0; k < n; k++) {
			const struct site *site = &units[k].sites[number - entry->first];

			if (units[k].hash == entry->hash)
				printf("%u(%s:%u:%u %s)", number, site->function, site->line, site->column,
				       site_kind_name(site->kind));
			unit_free(&units[k]);
		}
		cleanup_free(&units);
		return;
	}
	printf("%u", number);
}

/* ---- comparing ---- */

/* One side of a comparison: an entry is a few words that say what it is, the
 * identity first. */
#define WORDS 8u
struct entry {
	uint64_t words[WORDS];
	size_t event; /* of the reference; the place in the log of the runtime */
};

struct entries {
	const char *name;
	size_t identity; /* so many of the words */
	VEC(struct entry) runtime, reference;
};

static void entries_free(struct entries *entries)
{
	VEC_FREE(&entries->runtime);
	VEC_FREE(&entries->reference);
}

static void print_entry(const struct area_process *process, const struct entries *entries,
			const struct entry *entry)
{
	const uint64_t *w = entry->words;

	if (strcmp(entries->name, "predecessor") == 0) {
		print_site(process, (uint32_t)w[0]);
		printf(" after ");
		print_site(process, (uint32_t)w[1]);
	} else if (strcmp(entries->name, "edge") == 0) {
		printf("%s ", w[4] ? "WAW" : "RAW");
		print_site(process, (uint32_t)w[0]);
		printf(" context %04x to ", (unsigned)w[2]);
		print_site(process, (uint32_t)w[1]);
		printf(" context %04x", (unsigned)w[3]);
	} else {
		static const char *const kinds[] = { "", "write-read", "read-write", "write-write" };

		printf("%s thread %d order %llu ", kinds[w[0] & 3], (int)w[3], (unsigned long long)w[5]);
		print_site(process, (uint32_t)w[1]);
		printf(" to thread %d order %llu ", (int)w[4], (unsigned long long)w[6]);
		print_site(process, (uint32_t)w[2]);
		printf(" at %llx", (unsigned long long)w[7]);
	}
}

static uint64_t key(const struct entries *entries, const struct entry *entry)
{
	return hash_bytes(HASH_START, entry->words, entries->identity * sizeof *entry->words);
}

struct verdict {
	const struct traced *traced;
	const struct area_event *events;
	size_t nevents;
	size_t wrong;
	bool any_order;
};

static void complain(struct verdict *verdict, size_t *said, const struct entries *entries,
		     const struct entry *entry, const char *what, bool from_reference)
{
	verdict->wrong++;
	if (++*said > SHOWN)
		return;
	printf("  %s %s: ", entries->name, what);
	print_entry(verdict->traced->process, entries, entry);
	if (from_reference && entry->event < verdict->nevents) {
		const struct area_event *event = &verdict->events[entry->event];

		printf(" [event %zu: thread %u order %llu %s of %llu at %llx]", entry->event, event->thread,
		       (unsigned long long)event->order, event->action == AREA_READ ? "read" : "write",
		       (unsigned long long)event->size, (unsigned long long)event->address);
	}
	printf("\n");
}

static bool touches(const struct area_event *event, uint64_t start, uint64_t size)
{
	return event->action != AREA_FORGET && event->address < start + size &&
	       start < event->address + event->size;
}

/* The runtime may keep one order for all bytes of a granule: the head of a pair may be a later access
 * of the same thread to the tail's granule, and the address any byte of the tail in that granule. */
static bool same_pair(const struct verdict *verdict, const uint64_t *runtime, const struct entry *reference)
{
	const uint64_t *w = reference->words;
	uint64_t granule = w[7] & ~7ull;

	if (runtime[5] < w[5] || runtime[6] != w[6] || (runtime[7] & ~7ull) != granule ||
	    !touches(&verdict->events[reference->event], runtime[7], 1))
		return false;
	for (size_t i = reference->event; i-- > 0;) {
		const struct area_event *event = &verdict->events[i];

		if (event->thread == w[3] && event->order == runtime[5] && touches(event, granule, 8))
			return true;
	}
	return false;
}

static bool same_entry(const struct verdict *verdict, const struct entries *entries,
		       const struct entry *runtime, const struct entry *reference)
{
	if (memcmp(runtime->words, reference->words, sizeof runtime->words) == 0)
		return true;
	return strcmp(entries->name, "pair") == 0 && same_pair(verdict, runtime->words, reference);
}

/* Both ways, and the runtime's log must stand in the order of the events. */
static void compare(struct verdict *verdict, const struct entries *entries)
{
	_cleanup_(map_free) struct map seen = { 0 };
	size_t said = 0, latest = 0;

	for (size_t i = 0; i < entries->reference.n; i++)
		*map_put(&seen, key(entries, &entries->reference.items[i]), NULL) = i + 1;
	_cleanup_free_ bool *met = memory_alloc(entries->reference.n + 1);

	for (size_t i = 0; i < entries->runtime.n; i++) {
		const struct entry *entry = &entries->runtime.items[i];
		const uint64_t *found = map_get(&seen, key(entries, entry));

		if (!found) {
			complain(verdict, &said, entries, entry, "only in the runtime", false);
			continue;
		}
		const struct entry *same = &entries->reference.items[*found - 1];

		if (met[*found - 1])
			complain(verdict, &said, entries, entry, "twice in the runtime", false);
		met[*found - 1] = true;
		if (verdict->any_order)
			continue;
		if (!same_entry(verdict, entries, entry, same)) {
			complain(verdict, &said, entries, entry, "in the runtime", false);
			complain(verdict, &said, entries, same, "differs: in the reference", true);
		}
		if (same->event < latest)
			complain(verdict, &said, entries, same, "too late in the runtime's log", true);
		latest = same->event;
	}
	for (size_t i = 0; i < entries->reference.n; i++) {
		const struct entry *entry = &entries->reference.items[i];
		/* A process that is killed may have logged an access that it did not get to observe. */
		bool lost = verdict->traced->cut_off && entry->event + 1 == verdict->nevents;

		if (!met[i] && !lost)
			complain(verdict, &said, entries, entry, "only in the reference", true);
	}
	if (said > SHOWN)
		printf("  ... %zu more of this kind\n", said - SHOWN);
}

static void compare_pairs(struct verdict *verdict, const struct reference_result *reference)
{
	_cleanup_(entries_free) struct entries entries = { .name = "pair", .identity = 5 };
	const struct area_process *process = verdict->traced->process;

	for (size_t i = 0; i < reference->pairs.n + process->npairs; i++) {
		bool ours = i < reference->pairs.n;
		const struct area_pair *pair =
			ours ? &reference->pairs.items[i].pair : &process->pairs[i - reference->pairs.n];
		struct entry entry = { .words = { pair->kind, pair->head_site, pair->tail_site,
						  pair->head_thread, pair->tail_thread, pair->head_order,
						  pair->tail_order, pair->address },
				       .event = ours ? reference->pairs.items[i].event : i };

		if (ours)
			*VEC_PUSH(&entries.reference) = entry;
		else if (pair->state == AREA_VALID)
			*VEC_PUSH(&entries.runtime) = entry;
	}
	compare(verdict, &entries);
}

static void compare_predecessors(struct verdict *verdict, const struct reference_result *reference)
{
	_cleanup_(entries_free) struct entries entries = { .name = "predecessor", .identity = 2 };
	const struct area_process *process = verdict->traced->process;

	for (size_t i = 0; i < reference->predecessors.n; i++)
		*VEC_PUSH(&entries.reference) =
			(struct entry){ .words = { reference->predecessors.items[i].site,
						   reference->predecessors.items[i].before },
					.event = reference->predecessors.items[i].event };
	for (size_t i = 0; i < process->npredecessors; i++)
		if (process->predecessors[i].state == AREA_VALID)
			*VEC_PUSH(&entries.runtime) =
				(struct entry){ .words = { process->predecessors[i].site,
							   process->predecessors[i].before },
						.event = i };
	compare(verdict, &entries);
}

static void compare_edges(struct verdict *verdict, const struct reference_result *reference)
{
	_cleanup_(entries_free) struct entries entries = { .name = "edge", .identity = 5 };
	const struct area_process *process = verdict->traced->process;

	for (size_t i = 0; i < reference->edges.n + process->nedges; i++) {
		bool ours = i < reference->edges.n;
		const struct area_edge *edge =
			ours ? &reference->edges.items[i].edge : &process->edges[i - reference->edges.n];
		struct entry entry = { .words = { edge->source, edge->sink, edge->source_context,
						  edge->sink_context, edge->write },
				       .event = ours ? reference->edges.items[i].event : i };

		if (ours)
			*VEC_PUSH(&entries.reference) = entry;
		else if (edge->state == AREA_VALID)
			*VEC_PUSH(&entries.runtime) = entry;
	}
	compare(verdict, &entries);
}

static size_t compare_all(const struct traced *traced, const struct area_event *events, size_t nevents,
			  const struct reference_result *reference, bool any_order, bool pairs_alone)
{
	struct verdict verdict = {
		.traced = traced, .events = events, .nevents = nevents, .any_order = any_order
	};

	compare_pairs(&verdict, reference);
	if (!pairs_alone) {
		compare_predecessors(&verdict, reference);
		compare_edges(&verdict, reference);
	}
	return verdict.wrong;
}

/* ---- the log itself ---- */

static void print_events(const struct area_process *process)
{
	static const char *const actions[] = { "", "read", "write", "forget" };

	for (uint32_t i = 0; i < process->nevents; i++) {
		const struct area_event *event = &process->events[i];

		printf("%u: thread %u order %llu %s of %llu at %llx ", i, event->thread,
		       (unsigned long long)event->order, actions[event->action & 3],
		       (unsigned long long)event->size, (unsigned long long)event->address);
		print_site(process, event->site);
		printf("\n");
	}
}

/* Orders of a thread for which there is no event: accesses that escaped the log. */
static size_t find_gaps(const struct traced *traced)
{
	const struct area_process *process = traced->process;
	VEC(uint64_t) latest = { 0 };
	uint64_t orders = process->accesses, logged = 0;
	size_t gaps = 0;

	for (uint32_t i = 0; i < process->nevents; i++) {
		const struct area_event *event = &process->events[i];

		if (event->action == AREA_FORGET)
			continue;
		while (latest.n <= event->thread)
			VEC_PUSH(&latest);
		uint64_t expected = latest.items[event->thread] + 1;

		if (event->order > expected && ++gaps <= SHOWN)
			printf("  thread %u: no event for orders %llu to %llu\n", event->thread,
			       (unsigned long long)expected, (unsigned long long)event->order - 1);
		latest.items[event->thread] = event->order;
	}
	if (gaps > SHOWN)
		printf("  ... %zu more of this kind\n", gaps - SHOWN);
	for (size_t i = 0; i < latest.n; i++)
		logged += latest.items[i];
	for (uint32_t slot = 0; slot < AREA_SLOTS; slot++)
		orders += process->slot_order[slot];
	if (orders != logged && !traced->cut_off) {
		printf("  no event for %llu last orders\n", (unsigned long long)(orders - logged));
		gaps++;
	}
	VEC_FREE(&latest);
	return gaps;
}

/* ---- the whole ---- */

static struct error *compare_runs(const struct settings *settings, int *status)
{
	struct traced traced, again;
	struct reference_result reference;
	int children;

	TRY(sweep_prepare(&children));
	TRY(trace(settings, (settings->pairs_alone ? OBSERVE_PAIRS : OBSERVE_ALL) | OBSERVE_TRACE,
		  settings->pairs_alone, children, &traced));
	const struct area_process *process = traced.process;

	const char *reason = too_large(settings, &traced);

	if (reason) {
		printf("%s: not compared: %s\n", settings->argv[0], reason);
		*status = TOO_LARGE;
		return NULL;
	}
	if (process->dropped)
		return error_new("%s: the runtime dropped %llu observations", settings->argv[0],
				 (unsigned long long)process->dropped);
	if (settings->print_events)
		print_events(process);
	reference_observe(&settings->area, process->events, process->nevents, &reference);
	size_t wrong = compare_all(&traced, process->events, process->nevents, &reference, false,
				   settings->pairs_alone);

	if (settings->complete)
		wrong += find_gaps(&traced);

	printf("%s: %u events, %zu pairs, %zu predecessors, %zu edges: %zu disagreements%s\n",
	       settings->argv[0], process->nevents, reference.pairs.n, reference.predecessors.n,
	       reference.edges.n, wrong, traced.processes > 1 ? " (children are not compared)" : "");
	/* While couples are looked for every pair is looked at; without them what is known is passed over. */
	for (int light = 0; settings->same_again && light < 2; light++) {
		TRY(trace(settings, settings->pairs_alone ? OBSERVE_PAIRS : OBSERVE_ALL, light, children,
			  &again));
		size_t again_wrong = compare_all(&again, process->events, process->nevents, &reference,
						 settings->passes_over, settings->pairs_alone);

		if (again_wrong)
			printf("%s: %zu disagreements without the log%s\n", settings->argv[0], again_wrong,
			       light ? " and without couples" : "");
		wrong += again_wrong;
	}
	*status = wrong ? 1 : 0;
	reference_free(&reference);
	return NULL;
}

int main(int argc, char **argv)
{
	struct settings settings = { .area = { .context = 5 }, .timeout_s = 20 };
	int option, status = 2;

	while ((option = getopt(argc, argv, "+c:t:aelprs")) != -1) {
		if (option == '?')
			return 2;
		if (option == 'c')
			settings.area.context = (uint32_t)atoi(optarg);
		if (option == 't')
			settings.timeout_s = atof(optarg);
		settings.area.line |= option == 'l';
		settings.pairs_alone |= option == 'p';
		settings.complete |= option == 'a';
		settings.print_events |= option == 'e';
		settings.same_again |= option == 's';
		settings.passes_over |= option == 'r';
	}
	settings.argv = argv + optind;
	if (!*settings.argv) {
		fprintf(stderr, "compare_trace: no program\n");
		return 2;
	}
	_cleanup_(error_freep) struct error *error = compare_runs(&settings, &status);

	if (error) {
		printf("%s\n", error->message);
		return 2;
	}
	return status;
}
