/* What a run that ended with a memory fault tells by itself: where the block was freed and
 * where it was used. Where every schedule fails so that is the cause; else experiments
 * decide whether the order of the two is.
 */
#include "diagnose/diagnosis.h"

static void add(const struct diagnosis *diagnosis, struct finding *finding, uint32_t thread, uint64_t id,
		enum site_kind kind)
{
	const struct site *site = id ? atlas_find((void *)(uintptr_t)&diagnosis->retold.atlas, id) : NULL;

	if (!site)
		return;
	struct finding_access *access = finding_add_access(&finding->accesses, FINDING_NO_SITE, site);

	access->thread = thread;
	access->kind = kind;
	finding_add_variable(finding, access->variable);
}

static enum diagnosis_told told_of(enum memory_fault kind)
{
	return kind == MEMORY_DOUBLE_FREE      ? TOLD_FREED_TWICE
	       : kind == MEMORY_USE_AFTER_FREE ? TOLD_USED_FREED
					       : TOLD_BEYOND_BLOCK;
}

static struct error *ask_memory(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct run *failure = &diagnosis->tally.failure;
	const struct schedule_fault *fault =
		&(failure->reduced.fault.kind ? &failure->reduced : &failure->schedule)->fault;

	if (fault->kind == MEMORY_NO_FAULT)
		return NULL;
	struct finding *finding = VEC_PUSH(&opinion->findings);

	finding->rank = 1;
	finding->class = FINDING_MEMORY;
	finding->method = memory_string(opinion->method);
	finding->score = 1;
	finding->run = failure->number;
	finding->runs.passed = diagnosis->tally.passed;
	finding->runs.failed = diagnosis->tally.failed;
	if (fault->freed_thread != THREAD_NONE)
		add(diagnosis, finding, fault->freed_thread, fault->freed_site, SITE_WRITE);
	add(diagnosis, finding, fault->thread, fault->site,
	    fault->write || fault->kind == MEMORY_DOUBLE_FREE ? SITE_WRITE : SITE_READ);
	diagnosis_tell(finding, told_of(fault->kind), 0, 0);
	return NULL;
}

const struct method method_memory = {
	.head = { .method = "memory" },
	.ask = ask_memory,
};
