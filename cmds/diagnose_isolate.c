/* What isolate says of a crash, for diagnose.
 * Hooks would be followed value by value, too, so a program that was built with them is
 * made once more without, of its bitcode; where that cannot be done it is taken as it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmds/diagnose_isolate.h"
#include "isolate/isolate.h"
#include "llvm/llvm.h"
#include "loom/watch.h"
#include "static/static.h"

/* A program without hooks, in a folder of its own. */
struct twin {
	char folder[64];
	char *path;
};

static void twin_free(struct twin *twin)
{
	if (twin->path)
		unlink(twin->path);
	if (*twin->folder)
		rmdir(twin->folder);
	free(twin->path);
}

static struct error *twin_make(const char *program, struct twin *twin)
{
	const char *place = getenv("TMPDIR");
	const struct llvm_entrances *llvm;

	snprintf(twin->folder, sizeof twin->folder, "%s/unsnarl-plain-XXXXXX",
		 place && strlen(place) < 40 ? place : "/tmp");
	if (!mkdtemp(twin->folder)) {
		twin->folder[0] = '\0';
		return error_errno(errno, "cannot make a temporary folder in %s", place ? place : "/tmp");
	}
	twin->path = memory_format("%s/program", twin->folder);
	TRY(llvm_load(&llvm));
	return llvm->static_build(&(struct build_options){
		.paths = &program, .npaths = 1, .folder = twin->folder, .output = twin->path });
}

/* The access at the root stands alone: where the program fails is told already. */
static void take_access(const struct finding_access *from, struct finding *out)
{
	const struct site site = { .kind = from->kind,
				   .file = from->file,
				   .function = from->function,
				   .variable = from->variable,
				   .line = from->line,
				   .column = from->column };
	struct finding_access *access = finding_add_access(&out->accesses, FINDING_NO_SITE, &site);

	access->thread = from->thread;
	finding_add_variable(out, from->variable);
}

/* The write that led to the failure: of a freed block the free. */
static const struct finding_access *root_write(const struct finding_accesses *list)
{
	const struct finding_access *first = NULL;

	for (size_t i = 0; i < list->n; i++) {
		if (list->items[i].through && !strcmp(list->items[i].through, "free"))
			return &list->items[i];
		first = !first && list->items[i].kind == SITE_WRITE ? &list->items[i] : first;
	}
	return first ? first : &list->items[0];
}

/* The first read, of what nobody has written. */
static const struct finding_access *undefined_read(const struct finding_accesses *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].kind == SITE_READ)
			return &list->items[i];
	return &list->items[0];
}

static void take_finding(struct isolation *isolation, struct finding *out)
{
	const struct finding *from = &isolation->finding;

	if (isolation->verdict == ISOLATE_ROOT || isolation->verdict == ISOLATE_UNDEFINED) {
		out->class = from->class;
		out->score = from->score;
		take_access(isolation->verdict == ISOLATE_ROOT ? root_write(&from->accesses)
							       : undefined_read(&from->accesses),
			    out);
	} else {
		*out = isolation->finding;
		isolation->finding = (struct finding){ 0 };
		free(out->method);
		free(out->evidence);
		free(out->summary);
		out->method = NULL;
	}
	out->summary = memory_string(isolate_cause_words(isolation->verdict, isolation->others_pass));
	out->evidence = memory_string(isolate_evidence_words(isolation->verdict, isolation->sure));
}

/* The failing schedule, where it is one of the binary loom. */
static const struct schedule *failing_of(const struct diagnosis *diagnosis)
{
	const struct run *failure = &diagnosis->tally.failure;
	const struct schedule *schedule = failure->reduced.nturns ? &failure->reduced : &failure->schedule;

	return diagnosis->options->loom == LOOM_BINARY && schedule->nturns ? schedule : NULL;
}

struct error *cmds_isolate_opinion(const struct diagnosis *diagnosis, const struct crash_question *question,
				   struct crash_answer *out)
{
	const struct diagnosis_options *from = diagnosis->options;
	_cleanup_(twin_free) struct twin twin = { 0 };
	_cleanup_(isolation_free) struct isolation isolation = { 0 };
	double deadline = watch_now() + question->seconds;
	struct error *failed = from->loom == LOOM_COMPILED ? twin_make(from->program, &twin) : NULL;
	const struct launch_options launch = {
		.loom = LOOM_BINARY,
		.path = from->loom == LOOM_COMPILED && !failed ? twin.path : from->program,
		.argv = from->argv,
		.area = { .observe = OBSERVE_ALL, .context = 5, .seed = from->seed },
		.control = { .policy = POLICY_STAY, .carry = 1 },
		.still = true,
		.timeout_s = from->timeout_s,
		.world = from->world,
		.check = from->check,
		.expect = from->expect,
	};
	const struct isolate_options options = { .launch = &launch,
						 .schedule = failing_of(diagnosis),
						 .others_pass = !diagnosis->always,
						 .jobs = from->jobs,
						 .seed = from->seed,
						 .hunt_most = question->hunt_most,
						 .trail_only = question->trail_only,
						 .time_s = deadline - watch_now(),
						 .stop = from->stop };

	error_free(failed);
	if (options.time_s <= 0)
		return NULL;
	TRY(isolate(&options, &isolation));
	out->met = isolation.runs.original > 0;
	out->sure = isolation.sure;
	if (question->trail_only) {
		out->finding = isolation.finding;
		isolation.finding = (struct finding){ 0 };
	} else if (isolation.finding.accesses.n) {
		take_finding(&isolation, &out->finding);
	}
	return NULL;
}
