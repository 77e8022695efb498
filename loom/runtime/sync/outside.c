/* What is known of the world outside of the process: whether anything there can still wake one
 * of the threads. A deadlock is claimed only when nothing can. */
#include "loom/runtime/sync/blocking.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* ---- memory that other processes may have as well ---- */

/* The line of /proc/self/maps on the address, and where its mapping lies; false when there is none. Read in small
 * pieces: to write the lines takes the kernel's time, and most places lie in the first ones. */
static bool mapping_of(uint64_t address, char line[512], uint64_t *low, uint64_t *high)
{
	char bytes[1024];
	size_t length = 0;
	bool found = false;
	long fd = raw_call(SYS_open, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
	for (long n;
	     fd >= 0 && !found && (n = raw_call(SYS_read, fd, (long)bytes, sizeof bytes, 0, 0, 0)) > 0;)
		for (long i = 0; i < n && !found; i++) {
			if (bytes[i] != '\n') {
				length += length < 511 ? (line[length] = bytes[i], 1) : 0;
				continue;
			}
			line[length] = '\0';
			length = 0;
			char *end;
			*low = strtoull(line, &end, 16);
			*high = strtoull(end + 1, NULL, 16);
			found = *low <= address && address < *high;
		}
	if (fd >= 0)
		raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return found;
}

/* The mapping that was looked at last: no thread can change one while it is asked what can come from outside. */
static HOT struct mapping {
	uint64_t low, high;
	bool shared, by_name;
} mapping;

static void look_at_mapping(uint64_t address)
{
	char line[512];
	mapping = (struct mapping){ 0 };
	if (!mapping_of(address, line, &mapping.low, &mapping.high))
		return;
	const char *rights = strchr(line, ' ');
	mapping.by_name = strchr(line, '/') && !strstr(line, "(deleted)");
	mapping.shared = rights && strlen(rights) >= 5 && rights[4] == 's' && !strstr(line, "unsnarl-");
}

/* Is the place in memory that other processes may have? *by_name: anybody may who knows the file. */
static bool lies_in_shared(uint64_t address, bool *by_name)
{
	if (!address)
		return false;
	if (address < mapping.low || address >= mapping.high)
		look_at_mapping(address);
	*by_name = mapping.by_name;
	return mapping.shared;
}

/* Can another process reach the place? A child that lives, or anybody who knows the file. */
static bool is_shared(uint64_t address)
{
	bool by_name;
	return lies_in_shared(address, &by_name) && (by_name || children_alive());
}

/* ---- objects there: looked at again and again ---- */

static bool semaphore_look(struct agent *agent)
{
	return __atomic_load_n((const uint32_t *)agent->object, __ATOMIC_ACQUIRE) != 0;
}

static bool mutex_look(struct agent *agent)
{
	const pthread_mutex_t *mutex = (const pthread_mutex_t *)agent->object;
	return (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_ACQUIRE) & 0x3fffffff) == 0;
}

/* What can only be found out by trying once more, or does no harm. */
static bool always_look(struct agent *agent)
{
	(void)agent;
	return true;
}

static bool is_object(uint32_t wait)
{
	return wait >= WAIT_MUTEX && wait <= WAIT_ADDRESS && wait != WAIT_JOIN && wait != WAIT_ONCE;
}

static void look_at_object(struct agent *agent)
{
	if (agent->look)
		return;
	agent->look = agent->wait == WAIT_SEMAPHORE ? semaphore_look
		      : agent->wait == WAIT_MUTEX   ? mutex_look
						    : always_look;
	control.ninputs++;
}

/* A thread under control keeps what it has: it waits, or it has ended and asks right now who goes on. */
static bool keeps_its_locks(const struct agent *agent)
{
	return agent->state == AGENT_READY || agent->state == AGENT_BLOCKED || agent == control.current;
}

/* A lock that a thread has which is not under control, or is about to end and only frees its memory. */
static bool is_held_outside(const struct agent *agent)
{
	int owner = ((const pthread_mutex_t *)agent->object)->__data.__owner;
	if (agent->wait != WAIT_MUTEX || owner <= 0 || owner == INT_MAX)
		return false;
	for (uint32_t slot = 1; slot < SLOT_GONE && control.agents[slot].thread; slot++)
		if (control.agents[slot].tid == owner && keeps_its_locks(&control.agents[slot]))
			return false;
	return raw_call(SYS_tgkill, control.pid, owner, 0, 0, 0, 0) == 0;
}

/* ---- threads of the process that are not under control ---- */

struct directory_entry { /* as SYS_getdents64 gives it */
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

static bool is_controlled(int tid)
{
	bool known = tid == control.pid;
	for (uint32_t slot = 1; slot < SLOT_GONE && control.agents[slot].thread && !known; slot++)
		known = control.agents[slot].tid == tid;
	return known;
}

/* Are there threads that libc or a raw system call has made, past pthread_create? */
static bool has_strangers(void)
{
	_Alignas(8) char bytes[1024];
	bool found = false;
	long fd = raw_call(SYS_open, (long)"/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0, 0);
	for (long n;
	     fd >= 0 && !found && (n = raw_call(SYS_getdents64, fd, (long)bytes, sizeof bytes, 0, 0, 0)) > 0;)
		for (long at = 0; at < n && !found;) {
			const struct directory_entry *entry = (const struct directory_entry *)(bytes + at);
			int tid = atoi(entry->name);
			found = tid > 0 && !is_controlled(tid);
			at += entry->length;
		}
	if (fd >= 0)
		raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return found;
}

/* To look takes three system calls: too many for each nap, in which hardly anybody is kept waiting. */
#define NAP_NS 10000000u

static void look_for_strangers(void)
{
	uint64_t first = first_deadline();
	if (control.strangers || first == NEVER || first > control.now + NAP_NS)
		control.strangers = has_strangers();
}

/* ---- who can be woken ---- */

/* Things that a handler may do: post, write, store. */
static bool handler_may_end(uint32_t wait)
{
	return wait == WAIT_SEMAPHORE || wait == WAIT_INPUT || wait == WAIT_ADDRESS;
}

/* A thread or process that was not under control may have posted, or given back a lock, and be gone. */
static bool was_let_go(struct agent *agent)
{
	return (agent->wait == WAIT_SEMAPHORE && semaphore_look(agent)) ||
	       (agent->wait == WAIT_MUTEX && mutex_look(agent));
}

/* Can another process change the object, or may the last one have done so before it ended? The second is found out
 * by looking once more. */
static bool is_reached(struct agent *agent)
{
	bool by_name;
	if (!lies_in_shared(agent->object, &by_name))
		return false;
	bool reached = by_name || children_alive();
	bool last = !reached && control.forked && !agent->looked_last;
	agent->looked_last = !reached;
	return reached || last;
}

/* A child that is stuck has no news. */
static bool waits_for_foreigners(const struct agent *agent)
{
	return agent->foreign &&
	       !(children_are_awaited(agent) && control.schedule->nstuck && !children_alive());
}

static bool can_be_woken(struct agent *agent)
{
	if (waits_for_foreigners(agent) ||
	    (control.handlers && handler_may_end(agent->wait) && !agent->serves_timer))
		return true;
	if (agent->wait == WAIT_INPUT)
		return blocking_waits_outside(agent);
	if (!is_object(agent->wait) ||
	    !(was_let_go(agent) || control.strangers || is_reached(agent) || is_held_outside(agent)))
		return false;
	look_at_object(agent);
	return true;
}

bool outside_is_at_work(void)
{
	bool some = children_alive() || control.strangers;
	for (uint32_t i = 0; i < control.nblocked && !some; i++)
		some = control.blocked[i]->wait == WAIT_INPUT && blocking_waits_outside(control.blocked[i]);
	return some;
}

bool outside_can_come(void)
{
	mapping = (struct mapping){ 0 };
	look_for_strangers();
	bool some = children_alive() || control.strangers;
	for (uint32_t i = 0; i < control.nblocked; i++)
		some |= can_be_woken(control.blocked[i]);
	/* Who spins may do so for a handler or for another process. */
	for (uint32_t i = 0; i < control.nready && !some; i++)
		some = control.handlers || is_shared(control.ready[i]->address);
	return some;
}
