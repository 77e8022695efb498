/* unsnarl expose: turns the orders round that passing runs never broke, and looks whether
 * the program sees to them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/invariant/orders.h"
#include "base/progress.h"
#include "cmds/cmds.h"
#include "cmds/learn.h"
#include "diagnose/statistics.h"
#include "loom/arm.h"
#include "loom/armed_format.h"
#include "loom/world/world.h"
#include "report/expose_view.h"

struct expose_options {
	uint64_t runs, tries, jobs, stall_ms, seed;
	double timeout_s;
	const char *check, *expect, *store;
	bool json;
	struct cmds_world world;
};

#define AT(member) .offset = offsetof(struct expose_options, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ 'n', "runs", "N", OPTIONS_NUMBER, AT(runs), .low = 1, .high = 1000000,
	  .help = "runs to learn from first, when none are recorded (default 100), and as many free ones "
		  "when some fail" },
	{ .name = "tries", .value = "N", .kind = OPTIONS_NUMBER, AT(tries), .low = 1, .high = 1000,
	  .help = "controlled and free runs for each order (default 6 of either)" },
	{ .name = "stall", .value = "MS", .kind = OPTIONS_NUMBER, AT(stall_ms), .high = GUARD_MOST_MS,
	  .help = "longest stall in free runs (default 100 milliseconds; 0: controlled runs only)" },
	{ .name = "seed", .value = "S", .kind = OPTIONS_NUMBER, AT(seed), .high = UINT64_MAX,
	  .help = "of the schedules (default: a new one)" },
	CMDS_VERDICT_ENTRIES(struct expose_options),
	CMDS_WORLD_ENTRIES(struct expose_options),
	CMDS_STORE_ENTRY(struct expose_options),
	CMDS_JSON_ENTRY(struct expose_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "expose",
	.operands = "[options] -- PROGRAM ARGS",
	.summary = "turn orders round that passing runs never broke, and see what fails",
	.text = "Where an access only ever came right after one other, or after one of a few writes, that "
		"one should probably always come first. "
		"The thread that is about to do it is held until the other has gone ahead, in controlled "
		"runs and, "
		"with a stall, in free ones. When the program prevents that, nothing happens. When it does "
		"not, and "
		"fails, the order was meant and is not kept: a finding. When it passes, the run is recorded, "
		"and "
		"unsnarl learn knows better from then on. The exit status is 1 when something was found.",
	.examples = "  unsnarl expose -- ./program input\n"
		    "  unsnarl expose --expect right.txt --tries 20 -- ./program\n",
	.entries = entries,
	.program = true,
};

struct exposure {
	const struct expose_options *options;
	struct launch_options launch;
	struct store *store;
	uint64_t campaign;
	struct unit *units;
	size_t nunits;
	struct guard_set set;
	struct findings findings;
	struct shares {
		uint64_t runs, failed;
	} before[2];                    /* recorded before anything was turned round: free, controlled */
	uint64_t tried, turned, passed; /* orders: tried, turned round, turned round in a passing run */
};

static void exposure_free(struct exposure *exposure)
{
	for (size_t i = 0; i < exposure->nunits; i++)
		unit_free(&exposure->units[i]);
	free(exposure->units);
	guard_set_free(&exposure->set);
	findings_free(&exposure->findings);
}

struct outcome_counts {
	uint64_t runs, turned, failed, passed;
	uint64_t run; /* number of the first run that failed with the order turned round */
};

/* Did the run show the second access after nobody or anybody but the first? */
static bool is_turned(const struct run *run, const struct claim *claim, const struct atlas *atlas)
{
	const struct observations *seen = &run->observations;

	if (run->schedule.policy != SCHEDULE_FREE)
		return run->schedule.counts.occurred > 0;
	for (size_t i = 0; i < seen->npredecessors; i++) {
		const struct site *site = atlas_number(atlas, seen->predecessors[i].site);
		const struct site *before = seen->predecessors[i].before == SITE_NIL
						    ? NULL
						    : atlas_number(atlas, seen->predecessors[i].before);

		if (site && claim_has_site(&claim->steps[0], site->id) &&
		    !(before && claim_has_site(&claim->steps[1], before->id)))
			return true;
	}
	return false;
}

static struct error *try_once(struct exposure *exposure, const struct launch_options *launch,
			      const struct claim *claim, struct outcome_counts *counts)
{
	_cleanup_(run_free) struct run run = { 0 };
	_cleanup_(atlas_free) struct atlas atlas = { 0 };

	TRY(launch_run(launch, &run));
	atlas_read(&atlas, &run.observations);
	bool turned = is_turned(&run, claim, &atlas), failed = run.label == LABEL_FAIL;

	counts->runs++;
	counts->turned += turned;
	counts->failed += turned && failed;
	counts->passed += turned && !failed;
	if (turned)
		TRY(store_add(exposure->store, exposure->campaign, &run));
	if (turned && failed && !counts->run)
		counts->run = run.number;
	return NULL;
}

static struct error *try_controlled(struct exposure *exposure, const struct claim *claim, uint64_t tries,
				    struct outcome_counts *counts)
{
	struct launch_options launch = exposure->launch;
	static const struct area_control policies[] = {
		{ .policy = POLICY_STAY, .everywhere = 1 },
		{ .policy = POLICY_POS, .everywhere = 1 },
		{ .policy = POLICY_PCT, .depth = 3, .everywhere = 1 }
	};

	for (uint64_t i = 0; i < tries && !cmds_interrupted(); i++) {
		launch.control = policies[i % 3];
		launch.control.claim = *claim;
		launch.still = true;
		launch.area.seed = exposure->options->seed + i;
		TRY(try_once(exposure, &launch, claim, counts));
	}
	return NULL;
}

/* The same in free runs: the first access waits for the second, as an emergency patch would let it. */
static struct error *try_free(struct exposure *exposure, struct order_kept order, const struct claim *claim,
			      uint64_t tries, struct outcome_counts *counts)
{
	_cleanup_(guard_set_free) struct guard_set reversed = { 0 };
	struct arm_counts found;
	struct error *error = NULL;

	orders_reversed(&exposure->set, order, (uint32_t)exposure->options->stall_ms, &reversed);
	TRY(arm_program(exposure->launch.path, &reversed, NULL, &found));
	for (uint64_t i = 0; !error && i < tries && !cmds_interrupted(); i++)
		error = try_once(exposure, &exposure->launch, claim, counts);
	close(atoi(getenv(ARMED_ENVIRONMENT)));
	unsetenv(ARMED_ENVIRONMENT);
	return error;
}

static struct site site_of(const struct guard_site *from)
{
	return (struct site){ .kind = from->kind,
			      .line = from->line,
			      .column = from->column,
			      .file = from->file,
			      .function = from->function,
			      .variable = from->variable,
			      .through = from->through };
}

static void add_finding(struct exposure *exposure, struct order_kept order,
			const struct outcome_counts *counts)
{
	const struct guard_site *early = guard_set_site(&exposure->set, order.second),
				*late = guard_set_site(&exposure->set, order.first);
	struct site sites[] = { site_of(early), site_of(late) };
	struct finding *finding = VEC_PUSH(&exposure->findings);

	*finding = (struct finding){ .rank = (unsigned)exposure->findings.n,
				     .class = FINDING_ORDER,
				     .method = memory_string("expose"),
				     .score = (double)counts->failed / (double)counts->turned,
				     .run = counts->run };
	for (uint32_t i = 0; i < 2; i++)
		finding_add_access(&finding->accesses, FINDING_NO_SITE, &sites[i])->thread = i + 1;
	finding_add_variable(finding, early->variable);
	finding->runs.failed = counts->failed;
	finding->runs.passed = counts->turned - counts->failed;
	expose_tell_finding(finding);
	finding_settle(finding);
}

/* A program that fails anyhow also fails with a harmless order turned round: more often is what counts. */
static bool is_harmful(const struct outcome_counts *counts, const struct shares *before)
{
	return counts->failed && (!before->failed || statistics_is_less(before->failed, before->runs,
									counts->failed, counts->turned));
}

static struct error *try_order(struct exposure *exposure, struct order_kept order)
{
	struct outcome_counts controlled = { 0 }, loose = { 0 };
	struct claim claim;

	if (!orders_claim(&exposure->set, order, exposure->units, exposure->nunits, &claim))
		return NULL;
	exposure->tried++;
	TRY(try_controlled(exposure, &claim, exposure->options->tries, &controlled));
	bool harmful = is_harmful(&controlled, &exposure->before[true]);

	if (!harmful && exposure->options->stall_ms)
		TRY(try_free(exposure, order, &claim, exposure->options->tries, &loose));
	exposure->turned += controlled.turned + loose.turned > 0;
	exposure->passed += controlled.passed + loose.passed > 0;
	if (harmful || is_harmful(&loose, &exposure->before[false]))
		add_finding(exposure, order, harmful ? &controlled : &loose);
	return NULL;
}

/* How often the program fails by itself. */
static struct error *count_before(struct exposure *exposure)
{
	struct run *runs = NULL;
	size_t n = 0;

	TRY(store_runs(exposure->store, exposure->campaign, &runs, &n));
	for (size_t i = 0; i < n; i++) {
		struct shares *of = &exposure->before[runs[i].schedule.policy != SCHEDULE_FREE];

		of->runs++;
		of->failed += runs[i].label == LABEL_FAIL;
		run_free(&runs[i]);
	}
	free(runs);
	return NULL;
}

/* What is known of the program; runs are made when there are none. */
static struct error *learn_first(struct exposure *exposure, uint64_t build)
{
	_cleanup_(training_free) struct training training;
	struct learn_runs runs = { .most = exposure->options->runs, .jobs = 1 };

	training_start(&training);
	TRY(store_campaign(exposure->store, exposure->launch.path, exposure->launch.argv + 1, build,
			   &exposure->campaign));
	TRY(training_add(&training, exposure->store, exposure->campaign, false));
	if (!training.runs.n) {
		training_free(&training);
		training_start(&training);
		TRY(learn_run(exposure->store, &exposure->launch, build, &runs));
		TRY(learn_witnesses(exposure->store, &exposure->launch, build, &runs, runs.most));
		TRY(training_add(&training, exposure->store, exposure->campaign, false));
	}
	if (cmds_interrupted())
		return error_new("interrupted; the runs until then are recorded");
	if (!training.runs.n && runs.done > runs.failed)
		return error_new(
			"runs of %s passed, but in none of them an observed access met another thread's: "
			"no order can be turned round",
			exposure->launch.argv[0]);
	if (!training.runs.n)
		return error_new("no run of %s passed, so no order is known to be kept",
				 exposure->launch.argv[0]);
	training_settle(&training);
	training_set(&training, &exposure->set);
	return unit_read_elf(exposure->launch.path, &exposure->units, &exposure->nunits);
}

static void answer(const struct exposure *exposure, size_t orders)
{
	const struct exposed exposed = { .program = exposure->launch.path,
					 .orders = orders,
					 .turned = exposure->turned,
					 .harmless = exposure->passed,
					 .findings = &exposure->findings };

	(void)(exposure->options->json ? expose_json(&exposed) : expose_print(&exposed));
}

static struct error *expose(struct exposure *exposure, uint64_t build)
{
	_cleanup_(progress_stopp) struct progress *progress = NULL;
	_cleanup_(orders_free) struct orders orders = { 0 };

	TRY(learn_first(exposure, build));
	TRY(count_before(exposure));
	orders_find(&exposure->set, &orders);
	progress = progress_start(STDERR_FILENO, orders.list.n);
	for (size_t i = 0; i < orders.list.n && !cmds_interrupted(); i++) {
		progress_show(progress, i, "orders turned round");
		TRY(try_order(exposure, orders.list.items[i]));
	}
	progress_stop(progress);
	progress = NULL;
	answer(exposure, orders.list.n);
	return NULL;
}

static struct error *expose_main(int argc, char **argv, int *status)
{
	struct expose_options options = { .runs = 100,
					  .tries = 6,
					  .stall_ms = 100,
					  .timeout_s = 10,
					  .seed = cmds_seed(),
					  .store = CMDS_STORE };
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(exposure_free) struct exposure exposure = { .options = &options };
	_cleanup_free_ char *path = NULL;
	uint64_t build;
	char **operands;

	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	if (!operands[0])
		return error_new("no program to expose: give it after --, as in unsnarl expose -- ./program");
	enum loom loom = LOOM_COMPILED; /* orders are turned round by hooks */

	_cleanup_(world_close) struct world world = WORLD_CLOSED;

	TRY(launch_check(operands[0], &loom, &path, &build));
	TRY(launch_check_control(path));
	TRY(store_open(options.store, true, &store));
	cmds_catch_interrupts();
	TRY(cmds_world_open("expose", &options.world, &world));
	exposure.store = store;
	exposure.launch = (struct launch_options){ .world = &world,
						   .path = path,
						   .argv = operands,
						   .area = { .observe = OBSERVE_PREDECESSORS },
						   .timeout_s = options.timeout_s,
						   .expect = options.expect,
						   .check = options.check };
	struct error *error = expose(&exposure, build);

	*status = cmds_interrupted() ? CMDS_INTERRUPTED : exposure.findings.n > 0;
	TRY(error);
	cmds_world_tell("expose", &world, false);
	return NULL;
}

const struct verb verb_expose = { .page = &page, .main = expose_main };
