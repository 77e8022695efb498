/* Beginning and end of a guarded process: what the environment says, numbers of threads,
 * children of a fork, what is left to log.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loom/guard/guard.h"

#define MOST_US 600000000u

struct guard_settings guard_settings = { .off = true };
__thread uint32_t guard_self __attribute__((tls_model("initial-exec")));
static uint32_t last_thread; /* number given out last */
static uint32_t started;

uint64_t guard_now_us(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void forget_parent(void)
{
	guard_tally_forget();
	guard_rules_child();
}

/* UNSNARL_GUARD=off; UNSNARL_GUARD_LIMIT=MS; UNSNARL_GUARD_LOG=FILE. Programs with more rights than their user
 * take no orders from his environment. */
__attribute__((constructor(101))) static void start(void)
{
	const char *log = secure_getenv("UNSNARL_GUARD_LOG"), *limit = secure_getenv("UNSNARL_GUARD_LIMIT");
	const char *state = secure_getenv("UNSNARL_GUARD");

	/* An observed program that nobody armed has an empty set. */
	if (!unsnarl_guard_data->nsites || __atomic_exchange_n(&started, 1, __ATOMIC_RELAXED))
		return;
	guard_settings.limit_us = unsnarl_guard_data->limit_us;
	if (limit && *limit >= '0' && *limit <= '9') {
		unsigned long ms = strtoul(limit, NULL, 10);

		guard_settings.limit_us = ms > MOST_US / 1000 ? MOST_US : (uint32_t)ms * 1000;
	}
	log = log ? log : unsnarl_guard_data->log;
	if (log && strlen(log) < sizeof guard_settings.log)
		memcpy(guard_settings.log, log, strlen(log) + 1);
	if (state && strcmp(state, "off") == 0) {
		guard_cells_off();
		return;
	}
	if (!guard_cells_start()) {
		guard_cells_off();
		guard_log_text("nothing is guarded: no address space is left to keep accesses in, is there a "
			       "limit on "
			       "it (ulimit -v)?");
		return;
	}
	guard_rows_start();
	pthread_atfork(NULL, NULL, forget_parent);
	__atomic_store_n(&guard_settings.off, false, __ATOMIC_RELEASE);
}

__attribute__((destructor(101))) static void end(void)
{
	if (last_thread && !guard_settings.off)
		guard_tally_end();
}

/* More than 65534 threads over the life of a process share numbers: two of them that meet are then taken for
 * one, and nothing is said of it. */
void guard_register(void)
{
	start();
	do
		guard_self = __atomic_add_fetch(&last_thread, 1, __ATOMIC_RELAXED) & 0xffff;
	while (!guard_self || guard_self == GUARD_SEVERAL);
}
