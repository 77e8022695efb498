/* Sentences by pattern. A pattern is read off the accesses: which of two threads did what to
 * which variable in which order. Of three accesses to one variable it is told what the one in
 * the middle spoils; of more, each thread's turn is told and what was not one step.
 */
#include "model/place.h"
#include "report/sentence.h"

#include <stdlib.h>
#include <string.h>

#define MOST 12u

/* ---- threads ---- */

/* The first and the last are one thread's, what is between is another's; two are two threads'. */
static bool is_inner(const struct finding_accesses *accesses, size_t i)
{
	return i > 0 && (accesses->n == 2 || i + 1 < accesses->n);
}

size_t sentence_lanes(const struct finding_accesses *accesses, size_t *lane)
{
	uint32_t threads[MOST];
	size_t n = 0;

	for (size_t i = 0; i < accesses->n && i < MOST; i++) {
		uint32_t thread = accesses->items[i].thread;

		if (thread == FINDING_NO_THREAD)
			thread -= 1 + is_inner(accesses, i);
		for (lane[i] = 0; lane[i] < n && threads[lane[i]] != thread;)
			lane[i]++;
		if (lane[i] == n)
			threads[n++] = thread;
	}
	return n;
}

char *sentence_thread(const struct finding_accesses *accesses, size_t access)
{
	uint32_t thread = accesses->items[access].thread;

	if (thread != FINDING_NO_THREAD)
		return memory_format("T%u", thread);
	for (size_t i = 0; i < access; i++)
		if (is_inner(accesses, i) != is_inner(accesses, access) ||
		    accesses->items[i].thread != thread)
			return memory_string("another thread");
	return memory_string("one thread");
}

/* ---- accesses ---- */

static bool writes(const struct finding_access *access)
{
	return access->kind == SITE_WRITE || access->kind == SITE_UPDATE;
}

static const char *does(const struct finding_access *access)
{
	return finding_frees(access)         ? "frees"
	       : access->kind == SITE_UPDATE ? "updates"
	       : writes(access)              ? "writes"
					     : "reads";
}

static const char *noun(const struct finding_access *access)
{
	return finding_frees(access)         ? "free"
	       : access->kind == SITE_UPDATE ? "update"
	       : writes(access)              ? "write"
					     : "read";
}

/* What has no name is told by its line: it may be another place than the one before. */
static char *variable(const struct finding_access *access)
{
	if (finding_frees(access))
		return memory_string("the block");
	if (*access->variable)
		return memory_string(access->variable);
	return access->line ? memory_format("memory at line %u", access->line) : memory_string("memory");
}

static bool same_variable(const struct finding_access *a, const struct finding_access *b)
{
	return finding_frees(a) || finding_frees(b) || !strcmp(a->variable, b->variable);
}

/* ---- two accesses ---- */

static char *of_two(const struct finding *finding)
{
	const struct finding_accesses *list = &finding->accesses;
	const struct finding_access *a = &list->items[0], *b = &list->items[1];
	_cleanup_free_ char *first = sentence_thread(list, 0), *second = sentence_thread(list, 1);
	_cleanup_free_ char *what = variable(a);

	if (finding_frees(a))
		return memory_format(finding_frees(b) ? "%s frees the block, and %s frees it again."
						      : "%s frees the block that %s uses after that.",
				     first, second);
	if (b->missing)
		return memory_format("%s %s %s before %s has %s it.", first, does(a), what, second,
				     writes(b) ? "written" : "read");
	if (finding->class == FINDING_RACE)
		return memory_format("%s %s %s and %s %s it, and nothing orders the two.", first, does(a),
				     what, second, does(b));
	_cleanup_free_ char *meant =
		writes(a) && !writes(b)   ? memory_format("%s was to see the value before that", second)
		: !writes(a) && writes(b) ? memory_format("%s was to see that value", first)
					  : memory_string("the wrong one of the two values lasts");

	return memory_format("%s %s %s before %s %s it: %s.", first, does(a), what, second, does(b), meant);
}

/* ---- three accesses to one variable ---- */

static bool is_triple(const struct finding_accesses *list, const size_t *lane, size_t lanes)
{
	return list->n == 3 && lanes == 2 && lane[0] == lane[2] && lane[1] != lane[0] &&
	       same_variable(&list->items[0], &list->items[1]) &&
	       same_variable(&list->items[1], &list->items[2]);
}

static char *of_three(const struct finding_accesses *list)
{
	const struct finding_access *a = &list->items[0], *b = &list->items[1], *c = &list->items[2];
	_cleanup_free_ char *outer = sentence_thread(list, 0), *inner = sentence_thread(list, 1);
	_cleanup_free_ char *what = variable(b);
	_cleanup_free_ char *spoilt =
		finding_frees(b) ? memory_format("%s goes on with a block that is gone", outer)
		: !writes(b)     ? memory_format("%s sees a value that nobody was to see", inner)
		: writes(a)      ? memory_format("%s does not read what it wrote", outer)
		: writes(c)      ? memory_format("what %s wrote is lost", inner)
				 : memory_format("%s reads two different values", outer);

	if (!strcmp(noun(a), noun(c)))
		return memory_format("%s %s %s between two %ss of it by %s: %s.", inner, does(b), what,
				     noun(a), outer, spoilt);
	return memory_format("%s %s %s between %s's %s and its %s of it: %s.", inner, does(b), what, outer,
			     noun(a), noun(c), spoilt);
}

/* ---- more of them ---- */

/* "T1 reads x and writes y": the accesses of one turn, from `from` up to `to`. */
static char *turn_words(const struct finding_accesses *list, size_t from, size_t to)
{
	_cleanup_free_ char *thread = sentence_thread(list, from);
	char *text = memory_string(thread);

	for (size_t i = from; i < to; i++) {
		const struct finding_access *access = &list->items[i];
		_cleanup_free_ char *what = variable(access);
		char *longer = memory_format("%s%s%s%s %s", text,
					     i == from     ? " "
					     : i + 1 == to ? " and "
							   : ", ",
					     access->missing ? "never " : "", does(access), what);

		free(text);
		text = longer;
	}
	return text;
}

static char *of_many(const struct finding_accesses *list, const size_t *lane)
{
	size_t n = list->n < MOST ? list->n : MOST;
	char *text = memory_string("");

	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && lane[to] == lane[from];)
			to++;
		_cleanup_free_ char *turn = turn_words(list, from, to);
		char *longer = memory_format("%s%s%s", text, from ? ", then " : "", turn);

		free(text);
		text = longer;
	}
	_cleanup_free_ char *torn = sentence_thread(list, 0);
	char *whole = memory_format("%s: the steps of %s were to be one.", text, torn);

	free(text);
	return whole;
}

char *sentence_for(const struct finding *finding)
{
	const struct finding_accesses *list = &finding->accesses;
	size_t lane[MOST], lanes = sentence_lanes(list, lane);

	if (finding_has_calls(finding) || list->n < 2 || finding->class == FINDING_MEMORY ||
	    finding->class == FINDING_DEADLOCK || finding->class == FINDING_LOST_WAKEUP)
		return memory_string(finding->summary ? finding->summary : "");
	char *text = list->n == 2 && lanes == 2     ? of_two(finding)
		     : is_triple(list, lane, lanes) ? of_three(list)
						    : of_many(list, lane);

	if (text[0] == 'o' || text[0] == 'a') /* "one thread", "another thread" */
		text[0] = (char)(text[0] - 'a' + 'A');
	return text;
}

#define ACCESSES_TOLD 6

char *sentence_accesses(const struct finding_accesses *accesses)
{
	char *text = memory_string("");

	for (size_t i = 0; i < accesses->n && i < ACCESSES_TOLD; i++) {
		const struct finding_access *access = &accesses->items[i];
		_cleanup_free_ char *place = place_words(access->file, access->line, access->function);
		_cleanup_free_ char *thread = access->thread == FINDING_NO_THREAD
						      ? memory_string("")
						      : memory_format("T%u ", access->thread);
		char *longer = memory_format("%s%s%s%s %s", text, i ? ", " : "", thread, finding_verb(access),
					     place);

		free(text);
		text = longer;
	}
	return text;
}
