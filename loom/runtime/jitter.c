/* LOCON's 'Random' environment: random delays at accesses to shared locations
 * and at synchronisation calls widen the set of interleavings that runs show. */
#include "loom/runtime/runtime.h"

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

/* One access in eight waits; half of the waits are short. */
static void wait_a_little(struct thread *self)
{
	uint64_t dice = draw(self);
	if (dice % 8)
		return;
	uint64_t most = (uint64_t)runtime.options.jitter_us * 1000;
	uint64_t ns = (dice >> 32) % (dice & 8 ? most + 1 : most / 8 + 1);
	struct timespec pause = { .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
	nanosleep(&pause, NULL);
}

void jitter_at_access(struct thread *self)
{
	if (RELAXED_GET(runtime.process->live) > 1)
		wait_a_little(self);
}

void jitter_at_call(void)
{
	struct thread *self = unsnarl_self;
	if (self->taken.cell && !self->held)
		cell_settle(self);
	if (!runtime.options.jitter_us || self == &unsnarl_nobody || self->held)
		return;
	int saved = errno;
	jitter_at_access(self);
	errno = saved;
}
