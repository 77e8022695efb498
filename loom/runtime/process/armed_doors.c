/* Doors: locks inside which an armed program does what a rule of its patch is about. Who
 * waits there for a group keeps the lock, and with it perhaps the very thread that is in
 * the group; so it waits before the lock. Where a lock is such a door shows when an access
 * of the rule is made inside it; that is kept in the set's memory file for the rest of the
 * run and for later runs with the same file.
 */
#include "loom/runtime/process/process.h"

#include <string.h>
#include <sys/mman.h>

#include "loom/armed_format.h"
#include "loom/guard/guard.h"
#include "loom/runtime/process/armed.h"

#define HELD 16u /* locks of a thread that are known; further ones are no doors */
#define ANYWHERE UINT64_MAX

static struct armed_door *doors; /* of the memory file */

static __thread struct {
	uint32_t n;
	struct {
		uint64_t lock;
		uint32_t call;    /* site of the call that took it */
		uint64_t entered; /* rules whose group was entered before it was taken */
	} held[HELD];
	uint64_t entered; /* rules entered before a lock, by all of them */
	uint64_t begun;   /* of these: the first access of the group has been made */
} around __attribute__((tls_model("initial-exec")));

void armed_doors_start(int file, uint32_t at)
{
	void *memory =
		at ? mmap(NULL, ARMED_DOORS * sizeof *doors, PROT_READ | PROT_WRITE, MAP_SHARED, file, at)
		   : MAP_FAILED;

	doors = memory == MAP_FAILED ? NULL : memory;
}

/* Written once, whole: 0 is no door. */
static uint64_t door_key(uint32_t call, uint32_t rule)
{
	return (uint64_t)call << 32 | (rule + 1);
}

static void add_door(uint32_t call, uint32_t rule)
{
	uint64_t key = door_key(call, rule);

	for (uint32_t i = 0; i < ARMED_DOORS; i++) {
		uint64_t held = 0;

		if (__atomic_compare_exchange_n(&doors[i].key, &held, key, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) ||
		    held == key)
			return;
	}
}

void armed_doors_inside(uint32_t rule)
{
	around.begun |= around.entered & 1ull << rule;
	for (uint32_t i = 0; doors && i < around.n; i++)
		if (around.held[i].call)
			add_door(around.held[i].call, rule);
}

bool armed_doors_entered(uint32_t rule)
{
	return around.entered >> rule & 1;
}

void armed_doors_left(uint32_t rule)
{
	around.entered &= ~(1ull << rule);
	around.begun &= ~(1ull << rule);
}

void armed_lock(uint64_t lock)
{
	uint32_t call = unsnarl_self ? unsnarl_self->sync : 0;
	uint64_t entered = 0;

	for (uint32_t i = 0; doors && call && i < ARMED_DOORS; i++) {
		uint64_t key = __atomic_load_n(&doors[i].key, __ATOMIC_RELAXED);
		uint32_t rule = (uint32_t)key - 1;

		if (!key)
			break;
		if (key >> 32 != call || rule >= ARMED_RULES || around.entered >> rule & 1)
			continue;
		unsnarl_guard_enter(rule, 0, ANYWHERE);
		entered |= 1ull << rule;
	}
	around.entered |= entered;
	if (around.n < HELD) {
		around.held[around.n].lock = lock;
		around.held[around.n].call = call;
		around.held[around.n].entered = entered;
	}
	around.n += around.n < HELD;
}

/* What was entered before this lock and has not begun inside it will not begin. */
void armed_unlock(uint64_t lock)
{
	for (uint32_t i = around.n; i-- > 0;) {
		if (around.held[i].lock != lock)
			continue;
		uint64_t idle = around.held[i].entered & around.entered & ~around.begun;

		for (uint32_t rule = 0; idle >> rule && rule < ARMED_RULES; rule++)
			if (idle >> rule & 1) {
				unsnarl_guard_leave(rule);
				armed_doors_left(rule);
			}
		around.n--;
		memmove(&around.held[i], &around.held[i + 1], (around.n - i) * sizeof around.held[0]);
		return;
	}
}
