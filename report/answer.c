/* Builds the JSON of answers from the model, one function per thing of the
 * model, so that a run, a site or a pair looks the same in every answer. The
 * fields are described in the man pages.
 */
#include "report/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/text.h"
#include "report/words.h"

json_t *answer_new(const char *command)
{
	json_t *answer = json_object();

	json_object_set_new(answer, "tool", json_string("unsnarl"));
	json_object_set_new(answer, "version", json_string(UNSNARL_VERSION));
	json_object_set_new(answer, "command", json_string(command));
	return answer;
}

json_t *answer_new_of(const char *command, const char *program, char *const *arguments, uint64_t build,
		      const char *store, uint64_t campaign)
{
	json_t *answer = answer_new(command), *words = json_array();

	for (char *const *argument = arguments; *argument; argument++)
		json_array_append_new(words, answer_text(*argument));
	json_object_set_new(answer, "program", answer_text(program));
	json_object_set_new(answer, "arguments", words);
	json_object_set_new(answer, "build", answer_hex(build));
	json_object_set_new(answer, "store", answer_text(store));
	json_object_set_new(answer, "campaign", answer_count(campaign));
	return answer;
}

void answer_print(json_t *answer)
{
	json_dumpf(answer, stdout, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(answer);
}

json_t *answer_text(const char *bytes)
{
	static const char bad[] = "\xef\xbf\xbd"; /* U+FFFD */

	if (!bytes)
		return json_null();
	size_t size = strlen(bytes);
	_cleanup_free_ char *text = memory_alloc(size * 3 + 1);
	char *to = text;

	while (size) {
		uint32_t point;
		size_t used = text_decode(bytes, size, &point);

		if (point == TEXT_BAD) {
			memcpy(to, bad, 3);
			to += 3;
		} else {
			memcpy(to, bytes, used);
			to += used;
		}
		bytes += used;
		size -= used;
	}
	return json_string(text);
}

json_t *answer_count(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

json_t *answer_hex(uint64_t n)
{
	return json_sprintf("0x%llx", (unsigned long long)n);
}

json_t *answer_campaign(const struct campaign *campaign)
{
	json_t *object = json_object(), *arguments = json_array();

	for (char **argument = campaign->arguments; argument && *argument; argument++)
		json_array_append_new(arguments, answer_text(*argument));
	json_object_set_new(object, "campaign", answer_count(campaign->number));
	json_object_set_new(object, "program", answer_text(campaign->program));
	json_object_set_new(object, "arguments", arguments);
	json_object_set_new(object, "build", answer_hex(campaign->build));
	json_object_set_new(object, "created", json_integer(campaign->created));
	return object;
}

json_t *answer_machine(const uint64_t counts[MACHINE_COUNTS])
{
	static const char *const names[MACHINE_COUNTS] = {
		[MACHINE_ACCESSES] = "accesses",
		[MACHINE_READ_MISSES] = "read_misses",
		[MACHINE_WRITE_MISSES] = "write_misses",
		[MACHINE_COHERENCE_MISSES] = "coherence_misses",
		[MACHINE_METADATA_WRITES] = "metadata_writes",
		[MACHINE_TABLE_WRITES] = "table_writes",
		[MACHINE_TRAPS] = "traps",
		[MACHINE_DISCARDED] = "discarded",
	};

	if (!counts[MACHINE_ACCESSES])
		return json_null();
	json_t *object = json_object();

	for (size_t i = 0; i < MACHINE_COUNTS; i++)
		json_object_set_new(object, names[i], answer_count(counts[i]));
	return object;
}

json_t *answer_run(const struct run *run)
{
	json_t *object = json_object();
	_cleanup_free_ char *signal = run->outcome == OUTCOME_SIGNAL ? words_signal(run->code) : NULL;

	json_object_set_new(object, "run", answer_count(run->number));
	json_object_set_new(object, "label", json_string(words_label(run->label)));
	json_object_set_new(object, "reason", answer_text(run->reason));
	json_object_set_new(object, "outcome", json_string(words_outcome(run->outcome)));
	json_object_set_new(object, "code",
			    run->outcome == OUTCOME_TIMEOUT ? json_null() : json_integer(run->code));
	json_object_set_new(object, "signal", answer_text(signal));
	json_object_set_new(object, "wall_s", json_real(run->wall_s));
	json_object_set_new(object, "cpu_s", json_real(run->cpu_s));
	json_object_set_new(object, "peak_kib", answer_count(run->peak_kib));
	json_object_set_new(object, "started", json_integer(run->started));
	json_object_set_new(object, "jitter_us", json_integer(run->jitter_us));
	json_object_set_new(object, "policy", json_string(schedule_policy_name(run->schedule.policy)));
	json_object_set_new(
		object, "settings",
		run->settings.known
			? json_pack("{s:I, s:I, s:b, s:b, s:o}", "observe", (json_int_t)run->settings.observe,
				    "context", (json_int_t)run->settings.context, "line",
				    (int)run->settings.line, "machine", (int)run->settings.machine, "seed",
				    answer_count(run->settings.seed))
			: json_null());
	json_object_set_new(object, "threads", json_integer(run->observations.nthreads));
	json_object_set_new(object, "processes", json_integer(run->observations.nprocesses));
	json_object_set_new(object, "accesses", answer_count(run->observations.accesses));
	json_object_set_new(object, "dropped", answer_count(run->observations.dropped));
	json_object_set_new(object, "machine", answer_machine(run->observations.machine));
	return object;
}

json_t *answer_site(struct store *store, uint32_t number)
{
	_cleanup_(error_freep) struct error *error = NULL;
	const struct site *site;

	if (number == SITE_NIL)
		return json_null();
	json_t *object = json_object();

	json_object_set_new(object, "site", json_integer(number));
	error = store_site(store, number, &site);
	if (error)
		return object;
	json_object_set_new(object, "id", answer_hex(site->id));
	json_object_set_new(object, "kind", json_string(site_kind_name(site->kind)));
	json_object_set_new(object, "size", json_integer(site->size));
	json_object_set_new(object, "file", answer_text(site->file));
	json_object_set_new(object, "line", json_integer(site->line));
	json_object_set_new(object, "column", json_integer(site->column));
	json_object_set_new(object, "function", answer_text(site->function));
	json_object_set_new(object, "variable", answer_text(site->variable));
	return object;
}

static json_t *answer_loop(struct store *store, const struct loop_point *loop)
{
	if (loop->site == LOOP_NONE)
		return json_null();
	json_t *object = json_object();

	json_object_set_new(object, "header", answer_site(store, loop->site));
	json_object_set_new(object, "entry", answer_count(loop->entry));
	json_object_set_new(object, "iteration",
			    loop->iteration == ITERATION_UNKNOWN ? json_null()
								 : answer_count(loop->iteration));
	return object;
}

static json_t *answer_end(struct store *store, uint32_t site, uint32_t thread, uint64_t order,
			  const struct loop_point *loop)
{
	json_t *object = answer_site(store, site);

	json_object_set_new(object, "thread", json_integer(thread));
	json_object_set_new(object, "order", answer_count(order));
	json_object_set_new(object, "loop", answer_loop(store, loop));
	return object;
}

json_t *answer_pair(struct store *store, const struct pair *pair)
{
	json_t *object = json_object();

	json_object_set_new(object, "kind", json_string(words_pair(pair->kind)));
	json_object_set_new(object, "address", answer_hex(pair->address));
	json_object_set_new(
		object, "head",
		answer_end(store, pair->head_site, pair->head_thread, pair->head_order, &pair->head_loop));
	json_object_set_new(
		object, "tail",
		answer_end(store, pair->tail_site, pair->tail_thread, pair->tail_order, &pair->tail_loop));
	return object;
}

json_t *answer_predecessor(struct store *store, const struct predecessor *predecessor)
{
	json_t *object = json_object();

	json_object_set_new(object, "access", answer_site(store, predecessor->site));
	json_object_set_new(object, "before", answer_site(store, predecessor->before));
	return object;
}

json_t *answer_edge(struct store *store, const struct edge *edge, unsigned events)
{
	_cleanup_free_ char *source = words_context(edge->source_context, events);
	_cleanup_free_ char *sink = words_context(edge->sink_context, events);
	json_t *object = json_object();
	bool null = edge->source == SITE_NIL;

	json_object_set_new(object, "kind", json_string(edge->write ? "write-write" : "write-read"));
	json_object_set_new(object, "source", answer_site(store, edge->source));
	json_object_set_new(object, "source_context", null ? json_null() : json_string(source));
	json_object_set_new(object, "sink", answer_site(store, edge->sink));
	json_object_set_new(object, "sink_context", json_string(sink));
	return object;
}
