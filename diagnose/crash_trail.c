/* When isolate is asked, for how long, and what becomes of its answer.
 */
#include "diagnose/crash_trail.h"

#include <string.h>

#include "diagnose/diagnosis.h"
#include "loom/watch.h"

#define ALWAYS_SHARE 0.8 /* of the time: of what comes in every schedule there is nothing else to learn */
/* Beside a proven cause it may take as long as all that led to it, or this many seconds. */
#define BESIDE_LEAST 5.0
/* Schedules in which the crash is looked for without hooks: 1000 take about four seconds of processor time. Where time
 * is a limit the clock may end the search before. */
#define HUNT_MOST 1000u
#define FOREVER_S 1e6

/* ---- do they agree? ---- */

/* The one path may be shorter than the other: relative to the folder of the build. */
static bool same_file(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	const char *longer = n > m ? a : b, *shorter = n > m ? b : a;
	const char *end = longer + (n > m ? n - m : m - n);

	return *shorter && !strcmp(end, shorter) && (end == longer || end[-1] == '/' || *shorter == '/');
}

static bool names(const struct finding *finding, const struct finding_access *access)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (finding->accesses.items[i].line == access->line && access->line &&
		    same_file(finding->accesses.items[i].file, access->file))
			return true;
	return false;
}

/* How many accesses of the one stand at a line of the other. */
static size_t shared(const struct finding *one, const struct finding *other)
{
	size_t n = 0;

	for (size_t i = 0; i < one->accesses.n; i++)
		n += names(other, &one->accesses.items[i]);
	return n;
}

enum crash_agreement crash_trail_compare(const struct finding *cause, const struct finding *followed)
{
	if (!shared(cause, followed))
		return CRASH_ELSEWHERE;
	return shared(cause, followed) == cause->accesses.n || shared(followed, cause) == followed->accesses.n
		       ? CRASH_SAME
		       : CRASH_PARTLY;
}

/* ---- asking ---- */

static bool is_crash(const struct diagnosis *diagnosis)
{
	const struct diagnosis_options *options = diagnosis->options;
	enum outcome outcome = diagnosis->tally.failure.outcome;

	if (!options->isolate || (options->stop && options->stop()))
		return false;
	if (!diagnosis->tally.found)
		return diagnosis_crashed_plainly(diagnosis);
	return (outcome == OUTCOME_SIGNAL || outcome == OUTCOME_MEMORY) &&
	       !tally_blames_control(&diagnosis->tally);
}

static struct opinion *opinion_of(struct diagnosis *diagnosis, size_t *number)
{
	for (*number = 0; *number < diagnosis->opinions.n; ++*number)
		if (!strcmp(diagnosis->opinions.items[*number].method, method_isolate.head.method))
			return &diagnosis->opinions.items[*number];
	*VEC_PUSH(&diagnosis->opinions) = method_isolate.head;
	return &diagnosis->opinions.items[*number];
}

static void take_finding(struct diagnosis *diagnosis, struct crash_answer *answer, struct opinion *opinion)
{
	struct finding *finding = VEC_PUSH(&opinion->findings);

	*finding = answer->finding;
	answer->finding = (struct finding){ 0 };
	finding->rank = 1;
	finding->method = memory_string(opinion->method);
	finding->run = diagnosis->tally.failure.number;
	finding->runs.passed = diagnosis->tally.passed;
	finding->runs.failed = diagnosis->tally.failed;
	diagnosis->trail.finding = finding;
}

static struct error *ask_isolate(struct diagnosis *diagnosis, double seconds, bool trail_only,
				 struct crash_answer *answer)
{
	const struct diagnosis_options *options = diagnosis->options;
	const struct crash_question question = { .seconds = options->schedules ? FOREVER_S : seconds,
						 .hunt_most =
							 options->schedules || trail_only ? HUNT_MOST : 0,
						 .trail_only = trail_only };

	if (options->stage)
		options->stage(DIAGNOSIS_ISOLATING);
	return options->isolate(diagnosis, &question, answer);
}

/* Follows the crash back in one execution, beside a cause that experiments have shown. Does it hang on accesses of that?
 * Then no more is asked, nor beside a cause that is proven: whatever isolate found would not be put before it. */
static bool is_on_trail(struct diagnosis *diagnosis, double seconds)
{
	struct crash_trail *trail = &diagnosis->trail;
	const struct causes *causes = &diagnosis->causes;
	struct crash_answer answer = { 0 };
	double began = watch_now();

	if (seconds <= 0 || !causes->n || causes->items[0].verdict < VERDICT_LIKELY || diagnosis->always)
		return false;
	struct error *error = ask_isolate(diagnosis, seconds, true, &answer);
	const struct finding *cause = causes->items[0].finding;
	size_t met = error ? 0 : shared(cause, &answer.finding);

	if (!error && !answer.met)
		trail->agreement = CRASH_NOT_MET;
	else if (met)
		trail->agreement = met == cause->accesses.n ? CRASH_SAME : CRASH_PARTLY;
	else if (causes->items[0].verdict == VERDICT_PROVEN)
		trail->agreement = error ? CRASH_FAILED : CRASH_ELSEWHERE;
	if (error && trail->agreement == CRASH_FAILED)
		trail->why = memory_string(error->message);
	trail->trail_only = trail->agreement != CRASH_NOT_FOLLOWED;
	trail->met = met;
	trail->seconds = watch_now() - began;
	error_free(error);
	finding_free(&answer.finding);
	return trail->trail_only;
}

static void ask(struct diagnosis *diagnosis, double seconds, struct opinion *opinion)
{
	struct crash_trail *trail = &diagnosis->trail;
	struct crash_answer answer = { 0 };
	double began = watch_now();

	if (seconds <= 0) {
		trail->agreement = CRASH_NO_TIME;
		return;
	}
	struct error *error = ask_isolate(diagnosis, seconds, false, &answer);

	trail->seconds += watch_now() - began;
	trail->sure = answer.sure;
	trail->agreement = !answer.met                  ? CRASH_NOT_MET
			   : !answer.finding.accesses.n ? CRASH_NO_ANSWER
							: CRASH_ALONE;
	if (error) {
		trail->agreement = CRASH_FAILED;
		trail->why = memory_string(error->message);
		error_free(error);
	} else if (answer.finding.accesses.n) {
		take_finding(diagnosis, &answer, opinion);
	}
	finding_free(&answer.finding);
}

/* A method: of a crash that does not hang on the order of threads. */
static struct error *ask_always(struct diagnosis *diagnosis, struct opinion *opinion)
{
	double left = diagnosis->deadline - watch_now();
	double seconds = diagnosis->options->time_s * ALWAYS_SHARE;

	if (!diagnosis->always || diagnosis->tally.failure.outcome != OUTCOME_SIGNAL || !is_crash(diagnosis))
		return NULL;
	ask(diagnosis, seconds < left || diagnosis->options->schedules ? seconds : left, opinion);
	return NULL;
}

const struct method method_isolate = {
	.head = { .method = "isolate" },
	.ask = ask_always,
};

/* ---- after the experiments ---- */

static double seconds_left(const struct diagnosis *diagnosis)
{
	const struct causes *causes = &diagnosis->causes;
	double left = diagnosis->deadline - watch_now();
	double so_far = diagnosis->options->time_s - left;

	if (diagnosis->options->schedules) /* nothing else here depends on time */
		return diagnosis->options->time_s;
	if (!causes->n || causes->items[0].verdict < VERDICT_PROVEN)
		return left;
	so_far = so_far > BESIDE_LEAST ? so_far : BESIDE_LEAST;
	return so_far < left ? so_far : left;
}

/* Nobody has shown anything better. */
static void put_first(struct diagnosis *diagnosis, size_t number)
{
	struct causes *causes = &diagnosis->causes;

	VEC_PUSH(causes);
	memmove(causes->items + 1, causes->items, (causes->n - 1) * sizeof *causes->items);
	causes->items[0] = (struct cause){ .finding = &diagnosis->opinions.items[number].findings.items[0],
					   .verdict = diagnosis->trail.sure ? VERDICT_LIKELY : VERDICT_GUESS,
					   .seen = true,
					   .claimed = number < OPINIONS_MOST ? 1u << number : 0 };
}

/* What comes in every schedule and needs no experiment is proven only where isolate is sure. */
static void temper(struct causes *causes, const struct crash_trail *trail)
{
	for (size_t i = 0; i < causes->n; i++) {
		struct cause *cause = &causes->items[i];

		if (cause->finding != trail->finding || cause->tried)
			continue;
		cause->seen = true;
		if (!trail->sure && cause->verdict == VERDICT_PROVEN)
			cause->verdict = VERDICT_LIKELY;
	}
}

void crash_trail_follow(struct diagnosis *diagnosis)
{
	struct crash_trail *trail = &diagnosis->trail;
	struct causes *causes = &diagnosis->causes;
	size_t number;

	if (!is_crash(diagnosis))
		return;
	if (trail->agreement == CRASH_NOT_FOLLOWED && is_on_trail(diagnosis, seconds_left(diagnosis)))
		return;
	struct opinion *opinion = opinion_of(diagnosis, &number);

	if (trail->agreement == CRASH_NOT_FOLLOWED)
		ask(diagnosis, seconds_left(diagnosis), opinion);
	if (!trail->finding)
		return;
	temper(causes, trail);
	if (causes->n && causes->items[0].finding != trail->finding)
		trail->agreement = crash_trail_compare(causes->items[0].finding, trail->finding);
	if (!causes->n || (causes->items[0].verdict == VERDICT_GUESS && trail->sure &&
			   trail->agreement == CRASH_ELSEWHERE)) {
		put_first(diagnosis, number);
		trail->agreement = CRASH_ALONE;
	}
}
