/* What isolate says of a crash that comes in every schedule, as an opinion of diagnose.
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

/* The write that, left out, ends all failures stands alone: where the program fails is told already. */
static void take_root(const struct isolation *isolation, struct finding *out)
{
	const struct finding_access *from = &isolation->finding.accesses.items[0];
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

static void take_finding(struct isolation *isolation, const struct diagnosis *diagnosis,
			 struct opinion *opinion)
{
	struct finding *finding = VEC_PUSH(&opinion->findings);
	bool root = isolation->verdict == ISOLATE_ROOT;

	if (root) {
		take_root(isolation, finding);
		finding->class = isolation->finding.class;
		finding->score = isolation->finding.score;
		finding->summary =
			memory_string("This write led to the failure, in every order of the threads.");
		finding->evidence = memory_string(
			"Without this write, and all that depends on it, nothing fails any more.");
	} else {
		*finding = isolation->finding;
		isolation->finding = (struct finding){ 0 };
		free(finding->method);
		finding->method = NULL;
	}
	if (!finding->evidence)
		finding->evidence = memory_string("It was followed back from the crash, value by value.");
	finding->rank = 1;
	finding->method = memory_string(opinion->method);
	finding->run = diagnosis->tally.failure.number;
	finding->runs.passed = diagnosis->tally.passed;
	finding->runs.failed = diagnosis->tally.failed;
}

struct error *cmds_isolate_opinion(struct diagnosis *diagnosis, double seconds, struct opinion *opinion)
{
	const struct diagnosis_options *from = diagnosis->options;
	_cleanup_(twin_free) struct twin twin = { 0 };
	_cleanup_(isolation_free) struct isolation isolation = { 0 };
	double deadline = watch_now() + seconds;
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
	};
	const struct isolate_options options = { .launch = &launch,
						 .jobs = from->jobs,
						 .seed = from->seed,
						 .time_s = deadline - watch_now(),
						 .stop = from->stop };

	error_free(failed);
	if (options.time_s <= 0)
		return NULL;
	TRY(isolate(&options, &isolation));
	if (isolation.finding.accesses.n)
		take_finding(&isolation, diagnosis, opinion);
	return NULL;
}
