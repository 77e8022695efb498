/* LOCON's 'Random' environment: random delays at accesses to shared locations
 * and at synchronisation calls widen the set of interleavings that runs show. A site
 * that has waited often waits ever more rarely: loops over shared tables would
 * otherwise take all the time there is, and move nothing else. */
#include "loom/runtime/observe/cells.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

static uint64_t draw(struct thread *self)
{
	/* xorshift64: quality is of no matter here, independence of libc's rand is. */
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random;
}

/* How often each site has waited; sites may share a place. */
#define PLACES 4096u
#define OFTEN 64u
static uint32_t waits[PLACES];

/* One access in eight waits; half of the waits are short. Once it has waited OFTEN times, a site waits
 * n times more rarely when it has waited n times as often. */
static void wait_a_little(struct thread *self, uint32_t site)
{
	uint64_t dice = draw(self);
	if (dice % 8)
		return;
	/* Relaxed: a count that gets lost does no harm. */
	uint32_t *count = &waits[site % PLACES], n = RELAXED_GET(*count);
	if (n >= OFTEN && (dice >> 4) % (n / OFTEN + 1))
		return;
	RELAXED_SET(*count, n + 1);
	uint64_t most = (uint64_t)runtime.options.jitter_us * 1000;
	uint64_t ns = (dice >> 32) % (dice & 8 ? most + 1 : most / 8 + 1);
	struct timespec pause = { .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
	nanosleep(&pause, NULL);
}

void jitter_at_access(struct thread *self, uint32_t site)
{
	if (RELAXED_GET(runtime.process->live) > 1)
		wait_a_little(self, site);
}

void jitter_at_call(void)
{
	struct thread *self = unsnarl_self;
	if (UNLIKELY(runtime.armed))
		armed_behind();
	if (self->taken.cell && !self->held)
		cell_settle(self);
	if (self->posting)
		context_send(self, true);
	if (!runtime.options.jitter_us || self == &unsnarl_nobody || self->held)
		return;
	int saved = errno;
	jitter_at_access(self, self->sync);
	errno = saved;
}
