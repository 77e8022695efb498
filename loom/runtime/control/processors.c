/* On which processors the program may run. Runs of a fork server share one core, on which threads that take
 * turns hand over fastest. The program must not notice: it is told what it would have had, and when it chooses
 * processors itself, all its threads may run where it lets them. */
#include "loom/runtime/control/control.h"
#include "loom/runtime/interpose.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

#define BYTES sizeof(cpu_set_t)

static cpu_set_t free_processors; /* the program's, before it came to the core */
static size_t free_bytes;         /* as many as the kernel has */
static bool on_core;

void processors_follow(int process)
{
	cpu_set_t core;
	long has = raw_call(SYS_sched_getaffinity, 0, BYTES, (long)&free_processors, 0, 0, 0);
	free_bytes = has > 0 ? (size_t)has : 0;
	long taken = raw_call(SYS_sched_getaffinity, process, BYTES, (long)&core, 0, 0, 0);
	if (has <= 0 || taken <= 0 || memcmp(&free_processors, &core, (size_t)taken) == 0)
		return;
	if (raw_call(SYS_sched_setaffinity, 0, taken, (long)&core, 0, 0, 0) == 0)
		on_core = true;
}

static void spread(int tid)
{
	raw_call(SYS_sched_setaffinity, tid, (long)free_bytes, (long)&free_processors, 0, 0, 0);
}

void processors_after_fork(void)
{
	if (on_core)
		spread(0);
	on_core = false;
}

/* Threads that have not begun yet see to it themselves. */
static void spread_all(void)
{
	for (uint32_t slot = 1; slot < SLOT_GONE && control.agents[slot].thread; slot++) {
		struct agent *agent = &control.agents[slot];
		agent->spreads = agent->tid == 0;
		if (agent->tid > 0 && agent->state != AGENT_ENDED)
			spread(agent->tid);
	}
	on_core = false;
}

void processors_begin(struct agent *me)
{
	if (UNLIKELY(me->spreads))
		spread(0);
	me->spreads = false;
}

/* Before the program chooses. */
static void choose(void)
{
	struct agent *me = UNLIKELY(runtime.controlled) ? control_enter() : NULL;
	if (me && control.carries)
		token_carry_no_more(me);
	if (me && on_core)
		spread_all();
}

static bool tell(size_t size, cpu_set_t *set)
{
	if (!on_core || !runtime.controlled || size < free_bytes)
		return false;
	memset(set, 0, size);
	memcpy(set, &free_processors, free_bytes);
	return true;
}

INTERPOSE int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	int result = REAL(sched_getaffinity)(pid, size, set);
	if (result == 0 && (pid == 0 || raw_call(SYS_tgkill, control.pid, pid, 0, 0, 0, 0) == 0))
		tell(size, set);
	return result;
}

INTERPOSE int pthread_getaffinity_np(pthread_t id, size_t size, cpu_set_t *set)
{
	int result = REAL(pthread_getaffinity_np)(id, size, set);
	if (result == 0)
		tell(size, set);
	return result;
}

INTERPOSE int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	choose();
	return REAL(sched_setaffinity)(pid, size, set);
}

INTERPOSE int pthread_setaffinity_np(pthread_t id, size_t size, const cpu_set_t *set)
{
	choose();
	return REAL(pthread_setaffinity_np)(id, size, set);
}

/* A thread that begins on processors of its own. */
INTERPOSE int pthread_attr_setaffinity_np(pthread_attr_t *attributes, size_t size, const cpu_set_t *set)
{
	choose();
	return REAL(pthread_attr_setaffinity_np)(attributes, size, set);
}
