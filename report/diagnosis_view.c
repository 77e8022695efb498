/* The answer on one screen of 80 columns: what happened, why, how sure, what to do about
 * it and how to see it again.
 */
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "report/advice.h"
#include "report/diagnosis_view.h"
#include "report/diagnosis_words.h"
#include "report/finding_view.h"
#include "report/passing_words.h"
#include "report/proof_words.h"
#include "report/said.h"
#include "report/sentence.h"
#include "report/tally_words.h"
#include "report/text.h"
#include "report/words.h"

#define WIDTH 80
#define SAID_LINES 3
#define FEW 20u  /* passing runs */
#define LABEL 10 /* columns of "How sure  " */

static void put_label(FILE *out, const char *label, const char *text)
{
	_cleanup_free_ char *clean = text_clean(text);

	fprintf(out, "%-*s", LABEL, label);
	options_fill(out, clean, LABEL, LABEL);
}

static char *command_of(const struct diagnosis_view *view)
{
	char *text = text_shell(view->argv[0]);

	for (char *const *argument = view->argv + 1; *argument; argument++) {
		_cleanup_free_ char *word = text_shell(*argument);
		char *longer = memory_format("%s %s", text, word);

		free(text);
		text = longer;
	}
	char *cut = text_cut(text, 44, false);

	free(text);
	return cut;
}

/* ---- what happened ---- */

static void put_failure(const struct diagnosis_view *view, FILE *out)
{
	const struct tally *tally = view->tally;
	_cleanup_free_ char *command = command_of(view);
	_cleanup_free_ char *reason = text_clean(tally->failure.reason ? tally->failure.reason : "failed");
	_cleanup_free_ char *text =
		memory_format("%s fails: %s (%llu of %llu schedules, first after %llu)", command, reason,
			      (unsigned long long)tally->failed, (unsigned long long)tally->schedules,
			      (unsigned long long)tally->failure_at);
	const struct site *last = view->last;

	options_fill(out, text, 2, 2);
	said_print(tally->failure.output, SAID_LINES, 0, out);
	if (tally->failure.outcome == OUTCOME_SIGNAL && last &&
	    (tally->failure.code == SIGSEGV || tally->failure.code == SIGBUS)) {
		_cleanup_free_ char *path = text_path(last->file);
		_cleanup_free_ char *function = text_clean(last->function);
		_cleanup_free_ char *where =
			last->line ? memory_format("  T%u crashes at %s:%u in %s", view->last_thread, path,
						   last->line, function)
				   : memory_format("  T%u crashes at %s", view->last_thread, function);
		_cleanup_free_ char *cut = text_cut(where, WIDTH, false);

		fprintf(out, "%s\n", cut);
	}
	if (tally->ends.n > 1) {
		_cleanup_free_ char *ends = tally_join(&tally->ends);
		_cleanup_free_ char *others = memory_format("  failures of all kinds: %s", ends);

		options_fill(out, others, 2, 2);
	}
}

/* ---- why ---- */

static void put_title(const struct cause *cause, FILE *out)
{
	const struct finding *finding = cause->finding;
	char *text = memory_string(finding_class_words(finding->class));

	for (size_t i = 0; i < finding->variables.n && i < 3; i++) {
		char *longer = memory_format("%s%s%s", text, i ? ", " : " on ", finding->variables.items[i]);

		free(text);
		text = longer;
	}
	put_label(out, "Cause", text);
	free(text);
	_cleanup_free_ char *words = sentence_for(finding);

	if (*words)
		put_label(out, "", words);
}

/* Heap blocks by where they were allocated: members say which field, not of which object. */
static void put_blocks(const struct finding *finding, FILE *out)
{
	for (size_t i = 0; i < finding->blocks.n && i < 2; i++) {
		_cleanup_free_ char *clean = text_clean(finding->blocks.items[i]);

		put_label(out, i ? "" : "Memory", clean);
	}
}

static void put_passing(const struct finding *finding, FILE *out)
{
	_cleanup_free_ char *instead = passing_words(finding);

	if (instead)
		put_label(out, "Passing", instead);
	if (finding->otherwise.n && finding->accesses.n) {
		_cleanup_free_ char *words = sentence_accesses(&finding->otherwise);
		_cleanup_free_ char *order = memory_format("%s%s", instead ? "So: " : "", words);

		put_label(out, instead ? "" : "Passing", order);
	}
}

static bool in_library(const struct finding *finding)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (!strncmp(finding->accesses.items[i].file, "/usr/", 5))
			return true;
	return false;
}

/* Where the program's own code was stopped, when the accesses are in a library's headers. */
static void put_switches(const struct diagnosis_view *view, FILE *out)
{
	const struct schedule *reduced = &view->tally->failure.reduced;
	bool told = false;

	for (size_t i = 0; i < reduced->nturns; i++) {
		const struct schedule_turn *turn = &reduced->turns[i];
		const struct site *site = turn->stop == STOP_PREEMPTED && turn->site && !turn->wake
						  ? atlas_find((void *)(uintptr_t)view->atlas, turn->site)
						  : NULL;

		if (!site)
			continue;
		_cleanup_free_ char *path = text_path(site->file);
		_cleanup_free_ char *text =
			site->line ? memory_format("T%u is stopped before %s:%u in %s", turn->thread, path,
						   site->line, site->function)
				   : memory_format("T%u is stopped before %s", turn->thread, site->function);

		put_label(out, told ? "" : "Switch", text);
		told = true;
	}
}

/* ---- how sure ---- */

static char *names(const struct diagnosis_view *view, uint32_t bits)
{
	char *text = memory_string("");

	for (size_t i = 0; i < view->opinions->n && i < OPINIONS_MOST; i++) {
		if (!(bits >> i & 1))
			continue;
		char *longer = memory_format("%s%s%s", text, *text ? ", " : "",
					     diagnosis_method_words(view->opinions->items[i].method));

		free(text);
		text = longer;
	}
	return text;
}

static void put_sure(const struct diagnosis_view *view, const struct cause *cause, FILE *out)
{
	_cleanup_free_ char *for_it = names(view, cause->claimed);
	_cleanup_free_ char *proof = cause->tried ? proof_words(view->causes, cause) : NULL;
	_cleanup_free_ char *text = memory_format(
		"%s. %s%s%s%s", verdict_word(cause->verdict),
		proof         ? proof
		: cause->seen ? cause->finding->evidence ? cause->finding->evidence
							 : "It was seen when the run could not go on."
			      : "It was not tried.",
		*for_it ? " Proposed by: " : "", for_it, *for_it ? "." : "");

	text[0] = (char)(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
	put_label(out, "How sure", text);
}

/* A second way to the cause, that knows nothing of the first. */
static void put_trail(const struct diagnosis_view *view, FILE *out)
{
	_cleanup_free_ char *text = isolate_agreement_words(view->trail);

	if (text)
		put_label(out, "", text);
}

static void put_replays(const struct diagnosis_view *view, FILE *out)
{
	const struct schedule *reduced = &view->tally->failure.reduced;
	unsigned long long compared = view->tally->recorded_passed;
	_cleanup_free_ char *runs = words_count(view->replays, "replay", "replays");
	_cleanup_free_ char *again = view->replays ? memory_format("%llu of %s identical",
								   (unsigned long long)view->identical, runs)
						   : memory_string("Not replayed");
	_cleanup_free_ char *switches = words_count(schedule_preemptions(reduced->turns, reduced->nturns),
						    "forced switch", "forced switches");
	_cleanup_free_ char *text = memory_format(
		"%s%s%s; %llu passing %s compared%s.", again, reduced->nturns ? "; shortest with " : "",
		reduced->nturns ? switches : "", compared, compared == 1 ? "run" : "runs",
		compared < FEW && !view->always ? ", which is few: --time gives it longer" : "");

	fprintf(out, "%*s", LABEL, "");
	options_fill(out, text, LABEL, LABEL);
}

/* Another fault with a proof of its own, then what follows from the cause. */
static void put_others(const struct diagnosis_view *view, FILE *out)
{
	for (size_t i = 0; i < view->nothers; i++) {
		const struct cause *cause = view->others[i];
		_cleanup_free_ char *order = sentence_accesses(&cause->finding->accesses);
		_cleanup_free_ char *text = memory_format(
			"%s%s: %s%s",
			cause->second ? "another fault, which stays when the first is mended: " : "",
			finding_class_words(cause->finding->class), order,
			cause->consequence ? " (a consequence: without it it fails all the same)" : "");

		put_label(out, i ? "" : "Also", text);
	}
}

/* ---- what now ---- */

/* Was it seen to be the same each time? */
static bool replays_exactly(const struct diagnosis_view *view)
{
	return view->replays && view->identical == view->replays;
}

static void put_again(const struct diagnosis_view *view, FILE *out)
{
	unsigned long long number = view->tally->failure.number;
	_cleanup_free_ char *option = words_store_option(view->tally->store);
	struct {
		const char *rest, *what;
	} lines[] = { { "", replays_exactly(view) ? "the same again, exactly" : "the same turns again" },
		      { " --shortest --story", "the shortest way, told" },
		      { " --gdb", "in gdb, stopped where it fails" } };

	if (!number)
		return;
	/* The longest text decides for all; commands are whole or they are no use. */
	int room = (int)strlen(lines[1].rest);
	_cleanup_free_ char *longest =
		memory_format("unsnarl replay %llu%s%-*s  %s", number, option, room, "", lines[2].what);
	bool fits = LABEL + text_width(longest) <= WIDTH;

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		fprintf(out, "%-*sunsnarl replay %llu%s", LABEL, i ? "" : "Again", number, option);
		if (fits)
			fprintf(out, "%-*s  %s\n", room, lines[i].rest, lines[i].what);
		else
			fprintf(out, "%s\n", lines[i].rest);
	}
}

static void put_uncontrolled(const struct diagnosis_view *view, FILE *out)
{
	for (size_t i = 0; i < view->tally->uncontrolled.n && i < 4; i++)
		put_label(out, i ? "" : "Outside", view->tally->uncontrolled.items[i].name);
}

/* A crash that control keeps from happening, followed back all the same. */
static void put_plain_crash(const struct diagnosis_view *view, FILE *out)
{
	_cleanup_free_ char *command = command_of(view);
	_cleanup_free_ char *reason = text_clean(view->plain->reason ? view->plain->reason : "failed");
	_cleanup_free_ char *text = memory_format(
		"%s fails: %s, run as it is, but in none of %llu schedules: what it hangs on is "
		"not the order of threads.",
		command, reason, (unsigned long long)view->tally->schedules);

	options_fill(out, text, 2, 2);
	said_print(view->plain->output, SAID_LINES, 0, out);
}

static void put_cause(const struct diagnosis_view *view, struct excerpts *excerpts, FILE *out)
{
	const struct cause *cause = &view->causes->items[0];
	_cleanup_free_ char *advice = advice_for(cause->finding, excerpts);

	put_title(cause, out);
	fputc('\n', out);
	finding_draw(cause->finding, excerpts, out);
	fputc('\n', out);
	put_passing(cause->finding, out);
	put_blocks(cause->finding, out);
	if (in_library(cause->finding))
		put_switches(view, out);
	put_sure(view, cause, out);
	put_trail(view, out);
	if (view->tally->found)
		put_replays(view, out);
	put_others(view, out);
	if (*advice)
		put_label(out, "Fix", advice);
}

/* A failure without a cause: what is known is how to get there. */
static void put_story(const struct diagnosis_view *view, FILE *out)
{
	if (tally_blames_control(view->tally)) {
		put_label(out, "Cause",
			  "not found. It passes when it runs as it is and fails in every schedule, so until "
			  "shown otherwise the control is to blame, not the program.");
	} else if (view->always) {
		put_label(out, "Cause",
			  "not found. It failed in every schedule, so the order of threads does not matter: "
			  "this is for a debugger.");
	} else if (view->timing) {
		const struct schedule *reduced = &view->tally->failure.reduced;
		_cleanup_free_ char *text =
			memory_format("timing. Even the shortest schedule that was found needs %zu forced "
				      "switches: it fails when things take long or short, not by an order "
				      "of a few accesses. The end of one way to get there:",
				      schedule_preemptions(reduced->turns, reduced->nturns));

		put_label(out, "Cause", text);
		fputc('\n', out);
		if (view->story)
			story_print(view->story, out);
	} else if (view->interrupted && !view->opinions->n) {
		put_label(out, "Cause", "not looked for: interrupted.");
	} else {
		_cleanup_free_ char *text =
			memory_format("not found. In what was observed the failed run does not differ from "
				      "the %llu that passed. What is known is one way to get there:",
				      (unsigned long long)view->tally->recorded_passed);

		put_label(out, "Cause", text);
		fputc('\n', out);
		if (view->story)
			story_print(view->story, out);
	}
	put_trail(view, out);
	put_replays(view, out);
}

/* Why that nothing failed may say less than it seems. */
static void put_doubts(const struct diagnosis_view *view, FILE *out)
{
	if (view->tally->slow) {
		_cleanup_free_ char *slow =
			memory_format("%llu of them were too slow under control: inconclusive.",
				      (unsigned long long)view->tally->slow);

		put_label(out, "But", slow);
	}
	if (view->plain && view->plain->label == LABEL_FAIL) {
		_cleanup_free_ char *alone =
			memory_format("the program failed when it ran as it is (%s), but in no schedule: "
				      "what makes it fail is not under control.",
				      view->plain->reason ? view->plain->reason : "?");

		put_label(out, "But", alone);
		put_trail(view, out);
	}
}

static void put_nothing(const struct diagnosis_view *view, FILE *out)
{
	const struct tally *tally = view->tally;
	_cleanup_free_ char *command = command_of(view);
	_cleanup_free_ char *time = words_seconds(view->wall_s);
	_cleanup_free_ char *arms = tally_join(&tally->arms);
	_cleanup_free_ char *head = memory_format(
		"No failure in %llu schedule%s of %s (%s, seed %llu).", (unsigned long long)tally->schedules,
		tally->schedules == 1 ? "" : "s", command, time, (unsigned long long)tally->seed);
	_cleanup_free_ char *tried =
		memory_format("%s; %llu pairs, %llu predecessors and %llu edges were seen.",
			      *arms ? arms : "nothing", (unsigned long long)tally->pairs,
			      (unsigned long long)tally->predecessors, (unsigned long long)tally->edges);

	options_fill(out, head, 2, 2);
	put_doubts(view, out);
	put_label(out, "Tried", tried);
	put_label(out, "Control",
		  view->binary
			  ? "switches at accesses to memory and at calls that synchronise, in the program "
			    "and its libraries but not in libc; one thread at a time."
			  : "switches at accesses to memory and at calls that synchronise, in code "
			    "built by unsnarl; one thread at a time.");
	if (tally->uncontrolled.n)
		put_uncontrolled(view, out);
	else
		put_label(out, "Outside", "nothing was noticed that was not under control.");
	bool alone = tally_lacks_choice(tally), slow = view->wall_s > (double)tally->schedules,
	     crashed = view->plain && view->plain->outcome == OUTCOME_SIGNAL;

	put_label(out, "Verdict",
		  alone ? "none: " TALLY_NO_CHOICE
			: "none: that nothing failed does not prove that nothing can.");
	put_label(out, "Next",
		  crashed ? "give it longer (--time 600), or look at the crash in a debugger."
		  : alone ? "other arguments or input, with which it starts threads."
		  : slow  ? "a smaller input, since there was less than one schedule a second; more time "
			    "(--time 600), "
			    "other arguments, or an oracle that sees more (--expect FILE, --check CMD)."
			  : "give it longer (--time 600), other arguments, or an oracle that sees more "
			    "(--expect FILE, --check CMD).");
}

void diagnosis_print(const struct diagnosis_view *view, FILE *out)
{
	_cleanup_free_ char *program = memory_string(view->program);
	struct excerpts excerpts = { .folder = memory_string(dirname(program)) };

	if (!view->tally->found && view->causes->n) {
		put_plain_crash(view, out);
		fputc('\n', out);
		put_cause(view, &excerpts, out);
		put_uncontrolled(view, out);
	} else if (!view->tally->found) {
		put_nothing(view, out);
	} else {
		put_failure(view, out);
		fputc('\n', out);
		if (view->causes->n && !tally_blames_control(view->tally))
			put_cause(view, &excerpts, out);
		else
			put_story(view, out);
		put_uncontrolled(view, out);
		put_again(view, out);
	}
	excerpt_free(&excerpts);
}
