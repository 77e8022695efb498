/* Brings the runtime up before any code of the program runs, and again in the
 * child of a fork. Without a run area the program runs unobserved. */
#include "loom/runtime/process/process.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/unit_format.h" /* UNIT_RUNTIME_SECTION */

HOT __attribute__((aligned(4096))) struct runtime runtime = { .area_fd = -1 };

/* launch recognises executables with a runtime by this section. */
__attribute__((section(UNIT_RUNTIME_SECTION), used)) static const uint32_t marker = AREA_VERSION;

void runtime_die(const char *what)
{
	static const char before[] = "unsnarl runtime: ",
			  after[] = "; the program cannot go on under observation\n";
	if (write(2, before, sizeof before - 1) < 0 || write(2, what, strlen(what)) < 0 ||
	    write(2, after, sizeof after - 1) < 0)
		_exit(125);
	_exit(125);
}

/* The system calls themselves: libc's names lead to memory.c. */
static void *raw_mmap(void *at, size_t size, int flags, int fd, off_t offset)
{
	long at_last = raw_call(SYS_mmap, (long)at, (long)size, PROT_READ | PROT_WRITE, flags, fd, offset);
	return at_last < 0 && at_last > -4096 ? MAP_FAILED : (void *)at_last;
}

static void raw_munmap(void *at, size_t size)
{
	raw_call(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0);
}

#define NEAR_SIZE 65536ull /* at the front: tables that most runs write share pages */

/* Tables from the front of the region, and from farther behind; what is left of each. */
static struct pool {
	uint64_t next, end;
} pools[] = { { TABLES_START + NEAR_SIZE, MARKS_START }, { FAR_TABLES_START, SPARES_START } };

static void *take_table(struct pool *pool, size_t size)
{
	size = (size + 4095) & ~4095ull;
	for (; pool < pools + 2; pool++)
		if (pool->end - pool->next >= size) {
			pool->next += size;
			return (void *)(pool->next - size);
		}
	return NULL;
}

static void *map_anywhere(uint64_t at, size_t size)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0);
	void *memory = raw_mmap((void *)at, size, flags, -1, 0);
	if (memory == MAP_FAILED || (at && memory != (void *)at))
		runtime_die("no address space for shadow memory (a limit on virtual memory, or "
			    "vm.overcommit_memory=2?)");
	madvise(memory, size, MADV_DONTDUMP);
	return memory;
}

static void tables_start(void)
{
	map_anywhere(REGION_START, REGION_END - REGION_START);
}

void *runtime_map(uint64_t at, size_t size)
{
	if (at >= REGION_START && at + size <= REGION_END)
		return (void *)at;
	void *table = at ? NULL : take_table(pools, size);
	return table ? table : map_anywhere(at, size);
}

void *runtime_map_far(size_t size)
{
	void *table = take_table(pools + 1, size);
	return table ? table : map_anywhere(0, size);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static uint64_t near_size;

void *runtime_map_near(size_t size)
{
	uint64_t at = near_size, end = at + ((size + 63) & ~63ull);
	if (end > NEAR_SIZE)
		return take_table(pools, size);
	near_size = end;
	return (void *)(TABLES_START + at);
}

void runtime_touch_near(void)
{
	/* Fails on old kernels, where each page comes when it is needed. */
	madvise((void *)TABLES_START, near_size, MADV_POPULATE_WRITE);
}

/* The descriptor that the environment names; -1 when it names none. */
static int area_descriptor(const char *value)
{
	char *end;
	long fd = value ? strtol(value, &end, 10) : -1;
	return fd < 0 || fd > 1 << 20 || *end ? -1 : (int)fd;
}

/* ---- the area ---- */

/* Its head and the first process lie side by side in the file, and are one mapping. It stands so that each
 * log begins with a page table of its own and needs no other as long as it is short. */
#define FRONT_SIZE (AREA_PROCESS_OFFSET(0) + AREA_PROCESS_SIZE)
#define TABLE_SPAN (2ull << 20) /* what one page table covers */
#define LOGS_OFFSET (AREA_PROCESS_OFFSET(0) + offsetof(struct area_process, pairs))
#define FRONT_START (AREA_START + TABLE_SPAN - (LOGS_OFFSET % TABLE_SPAN & ~4095ull))
#define SCHEDULE_START (AREA_START + (454ull << 20))
_Static_assert(FRONT_START + FRONT_SIZE <= SCHEDULE_START, "the area has room where it is mapped");
_Static_assert(SCHEDULE_START + AREA_SCHEDULE_SIZE <= NO_MEMOS_START, "and ends where memos begin");

static struct area_schedule *schedule_part; /* NULL = not mapped yet */

static void *map_part(uint64_t at, int how, uint64_t offset, size_t size)
{
	return raw_mmap((void *)at, size, MAP_SHARED | MAP_NORESERVE | how, runtime.area_fd, (off_t)offset);
}

/* At its place, or elsewhere should the program be there already; over `old`, of another area. */
static void *map_front_part(void *old, uint64_t wanted, uint64_t offset, size_t size)
{
	if (old)
		return map_part((uint64_t)old, MAP_FIXED, offset, size);
	void *place = map_part(wanted, MAP_FIXED_NOREPLACE, offset, size);
	return place == MAP_FAILED ? map_part(0, 0, offset, size) : place;
}

static bool area_open(int fd)
{
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0 || (uint64_t)st.st_size != AREA_SIZE)
		return false;
	runtime.area_fd = fd;
	struct area_head *head = map_front_part(runtime.head, FRONT_START, 0, FRONT_SIZE);
	if (head == MAP_FAILED)
		return false;
	if (head->magic != AREA_MAGIC || head->version != AREA_VERSION) {
		raw_munmap(head, FRONT_SIZE);
		return false;
	}
	runtime.head = head;
	return true;
}

static struct area_process *first_process(void)
{
	return (struct area_process *)(void *)((char *)runtime.head + AREA_PROCESS_OFFSET(0));
}

static bool map_schedule(void)
{
	void *place = map_front_part(schedule_part, SCHEDULE_START, AREA_SCHEDULE_OFFSET, AREA_SCHEDULE_SIZE);
	if (place != MAP_FAILED)
		schedule_part = place;
	return place != MAP_FAILED;
}

bool runtime_take_area(int fd)
{
	return area_open(fd) && map_schedule();
}

struct area_schedule *runtime_schedule(void)
{
	if (!schedule_part && !map_schedule())
		runtime_die("no address space for the run area");
	return schedule_part;
}

/* Maps a fresh process area; over the parent's one in the child of a fork. */
bool runtime_claim_process(void)
{
	uint32_t number = __atomic_fetch_add(&runtime.head->processes, 1, __ATOMIC_RELAXED);
	if (number >= AREA_PROCESSES)
		return false;
	uint64_t offset = AREA_PROCESS_OFFSET(number);
	struct area_process *fresh =
		number == 0 ? first_process() : map_part(0, 0, offset, AREA_PROCESS_SIZE);
	if (fresh == MAP_FAILED)
		return false;
	fresh->pid = getpid();
	if (!runtime.process) {
		runtime.process = fresh;
		return true;
	}
	units_copy(fresh, runtime.process);
	raw_munmap(fresh, AREA_PROCESS_SIZE);
	return map_part((uint64_t)runtime.process, MAP_FIXED, offset, AREA_PROCESS_SIZE) != MAP_FAILED;
}

static void after_fork_in_child(void)
{
	if (!runtime.active)
		return;
	bool controlled = runtime.controlled;
	control_after_fork();
	struct stat st;
	/* The program may have closed the descriptor or put another file there. */
	bool usable = fstat(runtime.area_fd, &st) == 0 && (uint64_t)st.st_size == AREA_SIZE;
	runtime.trace_lock = 0;
	granule_after_fork();
	if (!usable || !runtime_claim_process()) {
		runtime.active = false;
		unsnarl_self = &unsnarl_nobody;
		return;
	}
	observe_after_fork();
	monitor_after_fork();
	thread_after_fork(!controlled);
	units_after_fork();
	__atomic_store_n(&runtime.process->started, 1, __ATOMIC_RELEASE);
}

/* What is the same for all runs: a fork server does it once. */
static void prepare_observing(void)
{
	history_start();
	observe_start();
	objects_prepare();
	heap_prepare();
	control_prepare();
	units_prepare();
	thread_start();
	pthread_atfork(control_before_fork, NULL, after_fork_in_child);
}

/* The program is observed from here on. */
static void observe_program(void)
{
	runtime.options = runtime.head->options;
	if (!runtime_claim_process())
		return;
	context_start(runtime.options.context);
	runtime.armed = armed_start();
	runtime.always_slow =
		runtime.options.line || (runtime.options.observe & OBSERVE_TRACE) || runtime.armed;
	if (runtime.options.line)
		lines_start();
	callers_start();
	runtime.controlled = runtime.lean = runtime.head->control.policy != POLICY_FREE;
	runtime.active = true;
	thread_self();
	if (runtime.controlled)
		control_start();
	if (runtime.controlled && runtime.head->processes > 1)
		control_uncontrolled(
			"programs that are executed: of several only the last one's turns are kept");
	__atomic_store_n(&runtime.process->started, 1, __ATOMIC_RELEASE);
}

static void start(int argc, char **argv, char **environment)
{
	(void)argc;
	stack_settle(argv, environment);
	char *nothing[] = { NULL };
	/* Who starts a program with more rights than his own has no say in what it writes. */
	if (getauxval(AT_SECURE))
		environment = nothing;
	const char *value = NULL;
	size_t length = sizeof AREA_ENVIRONMENT - 1;
	for (char **entry = environment; entry && *entry; entry++)
		if (strncmp(*entry, AREA_ENVIRONMENT, length) == 0 && (*entry)[length] == '=')
			value = *entry + length + 1;
	armed_find(environment);
	tables_start();
	granule_start(); /* inlined hooks look at cells whether or not anyone observes */
	runtime_map(MEMOS_START, AREA_SLOTS * MEMOS_SIZE);
	runtime_map(MARKS_START, 2 * MARKS_SIZE);
	runtime_map(BLOCKS_START, BLOCKS_SIZE);
	readers_start();
	memory_start();
	/* Later it might be in a signal handler, where looking up is not allowed. */
	interpose_resolve();
	runtime.serves = server_prepare(environment);
	/* Of every run, forked or not: libc keeps a list of such calls on the heap. */
	if (runtime.serves || value)
		text_prepare();
	if (runtime.serves)
		return;
	int descriptor = area_descriptor(value);
	if (!area_open(descriptor < 0 ? monitor_start(environment) : descriptor)) {
		unsnarl_nobody.tag = 0; /* nobody will ever observe: no access needs a call */
		return;
	}
	prepare_observing();
	observe_program();
}

void runtime_serve(void)
{
	if (!runtime.serves)
		return;
	runtime.serves = false;
	prepare_observing();
	server_loop();
	observe_program();
}

/* Before every constructor, those of shared libraries included. */
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **, char **) = start;

/* At the latest before the first constructor of the program itself. */
__attribute__((section(".init_array.00000"), used)) static void (*const init)(void) = runtime_serve;
