/* The monitor (BUGABOO, section 5, "Post-deployment"): a program in the field carries the
 * graph of its tests, and edges that the tests never showed go to a log. Each new edge is
 * looked up when it first occurs, with contexts of every length; the log is a mapped file,
 * so that nothing is lost when the program crashes. What an interval may add is limited,
 * and so is the log of a process. A graph or log that cannot be used leaves the program
 * unobserved. */
#include "loom/runtime/observe/cells.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "model/monitor_format.h"
#include "model/run.h" /* context_kept's convention */

#define PER_INTERVAL 256u

static struct {
	const struct monitor_graph *graph;
	uint64_t *known; /* fingerprints of the graph's edges, for every length of context */
	uint64_t mask;
	char log[MONITOR_PATH];
	int64_t started;
	struct monitor_block *block; /* NULL until there is something to say */
	uint32_t claiming;           /* one thread at a time makes the block */
	uint32_t interval, in_interval;
} monitor;

static int64_t seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

static void complain(const char *what)
{
	static const char before[] = "unsnarl monitor: ", after[] = "; the program runs unobserved\n";
	if (write(2, before, sizeof before - 1) < 0 || write(2, what, strlen(what)) < 0 ||
	    write(2, after, sizeof after - 1) < 0)
		return;
}

/* ---- fingerprints ---- */

static uint64_t stir(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	return (h ^ h >> 29) * 0xc4ceb9fe1a85ec53u;
}

/* The last `events` of a context, as in analysis/bugaboo. */
static uint32_t shortened(uint32_t context, uint32_t kept, uint32_t events)
{
	uint32_t full = events < 8 ? 1u << 2 * events : 0;
	if (events >= kept || (kept < 8 && context < full))
		return context;
	return full | (context & (full - 1));
}

static uint64_t fingerprint(const struct monitor_entry *edge, uint32_t kept, uint32_t events)
{
	uint64_t h = stir(edge->source_unit, edge->source_site + 1ull);
	h = stir(h ^ edge->sink_unit, edge->sink_site + 1ull);
	h = stir(h, (uint64_t)(edge->source_unit ? shortened(edge->source_context, kept, events) : 0) << 32 |
			    shortened(edge->sink_context, kept, events));
	h = stir(h, (uint64_t)events << 1 | edge->write);
	return h ? h : 1;
}

static bool is_known(uint64_t print)
{
	for (uint64_t at = print & monitor.mask;; at = (at + 1) & monitor.mask)
		if (!monitor.known[at] || monitor.known[at] == print)
			return monitor.known[at] != 0;
}

static void learn(uint64_t print)
{
	uint64_t at = print & monitor.mask;
	while (monitor.known[at] && monitor.known[at] != print)
		at = (at + 1) & monitor.mask;
	monitor.known[at] = print;
}

/* ---- the testing graph ---- */

/* Is everything inside its bounds? Nothing of the file is believed before. */
static bool graph_is_sound(const struct monitor_graph *graph, uint64_t size)
{
	if (size < sizeof *graph || graph->magic != MONITOR_GRAPH_MAGIC ||
	    graph->version != MONITOR_VERSION || graph->context > 8 || graph->line > 1 ||
	    graph->nunits > MONITOR_UNITS || graph->nedges > MONITOR_EDGES || !graph->interval_s ||
	    memchr(graph->log, 0, sizeof graph->log) == NULL)
		return false;
	if (size != sizeof *graph + graph->nunits * sizeof(struct monitor_unit) +
			    graph->nedges * sizeof(struct monitor_edge))
		return false;
	const struct monitor_unit *units = (const void *)(graph + 1);
	const struct monitor_edge *edges = (const void *)(units + graph->nunits);
	for (uint32_t i = 0; i < graph->nedges; i++) {
		const struct monitor_edge *edge = &edges[i];
		bool source = edge->source_unit == MONITOR_NULL ||
			      (edge->source_unit < graph->nunits &&
			       edge->source_site < units[edge->source_unit].nsites);
		if (!source || edge->write > 1 || edge->sink_unit >= graph->nunits ||
		    edge->sink_site >= units[edge->sink_unit].nsites)
			return false;
	}
	return true;
}

static void learn_graph(const struct monitor_graph *graph)
{
	const struct monitor_unit *units = (const void *)(graph + 1);
	const struct monitor_edge *edges = (const void *)(units + graph->nunits);
	uint64_t room = 1024;
	while (room < 2ull * graph->nedges * (graph->context + 1))
		room *= 2;
	monitor.known = runtime_map(0, room * sizeof *monitor.known);
	monitor.mask = room - 1;
	for (uint32_t i = 0; i < graph->nedges; i++) {
		const struct monitor_edge *edge = &edges[i];
		bool null = edge->source_unit == MONITOR_NULL;
		struct monitor_entry entry = {
			.source_unit = null ? 0 : units[edge->source_unit].hash,
			.source_site = null ? 0 : edge->source_site,
			.sink_unit = units[edge->sink_unit].hash,
			.sink_site = edge->sink_site,
			.source_context = edge->source_context,
			.sink_context = edge->sink_context,
			.write = (uint8_t)edge->write,
		};
		for (uint32_t events = 0; events <= graph->context; events++)
			learn(fingerprint(&entry, graph->context, events));
	}
}

/* The system calls themselves: libc's names may lead back into the runtime. */
static int raw_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666);
}

static void *raw_map(size_t size, int protection, int flags, int fd, uint64_t offset)
{
	return (void *)syscall(SYS_mmap, NULL, size, protection, flags, fd, offset);
}

static const struct monitor_graph *graph_open(const char *path)
{
	struct stat st;
	int fd = raw_open(path, O_RDONLY);
	const struct monitor_graph *graph = MAP_FAILED;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= sizeof *graph &&
	    st.st_size < 1ll << 30)
		graph = raw_map((size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (graph == MAP_FAILED) {
		complain("the graph in " MONITOR_ENVIRONMENT " cannot be read");
		return NULL;
	}
	if (!graph_is_sound(graph, (uint64_t)st.st_size)) {
		complain("the file in " MONITOR_ENVIRONMENT " is no testing graph of this version");
		return NULL;
	}
	return graph;
}

/* A run area of the program's own, for edges alone; -1 when there is no monitor. */
int monitor_start(char **environment)
{
	const char *path = NULL, *log = NULL;
	for (char **entry = environment; entry && *entry; entry++) {
		if (!strncmp(*entry, MONITOR_ENVIRONMENT "=", sizeof MONITOR_ENVIRONMENT))
			path = *entry + sizeof MONITOR_ENVIRONMENT;
		if (!strncmp(*entry, MONITOR_LOG_ENVIRONMENT "=", sizeof MONITOR_LOG_ENVIRONMENT))
			log = *entry + sizeof MONITOR_LOG_ENVIRONMENT;
	}
	if (!path || !*path)
		return -1;
	const struct monitor_graph *graph = graph_open(path);
	if (!graph)
		return -1;
	log = log && *log ? log : graph->log;
	if (!*log || strlen(log) >= sizeof monitor.log) {
		complain("neither the graph nor " MONITOR_LOG_ENVIRONMENT " names a log");
		return -1;
	}
	int fd = (int)syscall(SYS_memfd_create, "unsnarl", MFD_CLOEXEC);
	struct area_head head = {
		.magic = AREA_MAGIC,
		.version = AREA_VERSION,
		.options = { .observe = OBSERVE_EDGES, .context = graph->context, .line = graph->line }
	};
	if (fd < 0 || ftruncate(fd, (off_t)AREA_SIZE) != 0 ||
	    pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head) {
		complain("no memory for the monitor");
		return -1;
	}
	strcpy(monitor.log, log);
	learn_graph(graph);
	monitor.graph = graph;
	monitor.started = seconds();
	return fd;
}

bool monitor_is_on(void)
{
	return monitor.graph != NULL;
}

/* The child says what it has to say in a block of its own. */
void monitor_after_fork(void)
{
	monitor.block = NULL;
	monitor.claiming = 0;
	monitor.started = seconds();
	monitor.interval = monitor.in_interval = 0;
}

/* ---- the log ---- */

/* Appends a block to the log; NULL when it cannot be written. */
static struct monitor_block *block_new(void)
{
	struct stat st;
	int fd = raw_open(monitor.log, O_RDWR | O_CREAT | O_NOFOLLOW);
	void *block = MAP_FAILED;
	if (fd >= 0 && flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		uint64_t at = ((uint64_t)st.st_size + MONITOR_BLOCK - 1) / MONITOR_BLOCK * MONITOR_BLOCK;
		/* Room on the disk now, or writing to the mapping might end the program later. */
		if (syscall(SYS_fallocate, fd, 0, at, MONITOR_BLOCK) == 0)
			block = raw_map(MONITOR_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
	}
	if (fd >= 0)
		syscall(SYS_close, fd); /* the lock goes with it */
	return block == MAP_FAILED ? NULL : block;
}

static struct monitor_block *block_get(void)
{
	struct monitor_block *block = __atomic_load_n(&monitor.block, __ATOMIC_ACQUIRE);
	if (block || __atomic_exchange_n(&monitor.claiming, 1, __ATOMIC_RELAXED))
		return block; /* while another thread makes it, or none could be made, news are lost */
	block = block_new();
	if (!block)
		return NULL;
	block->version = MONITOR_VERSION;
	block->pid = getpid();
	block->context = monitor.graph->context;
	block->line = monitor.graph->line;
	block->interval_s = monitor.graph->interval_s;
	block->started = monitor.started;
	if (readlink("/proc/self/exe", block->program, sizeof block->program - 1) < 0)
		block->program[0] = '\0';
	block->magic = MONITOR_LOG_MAGIC;
	__atomic_store_n(&monitor.block, block, __ATOMIC_RELEASE); /* pairs with the load above */
	return block;
}

/* Not more than so many in one interval. Threads that count at once may be off by one. */
static bool interval_has_room(uint32_t interval)
{
	if (RELAXED_GET(monitor.interval) != interval) {
		RELAXED_SET(monitor.interval, interval);
		RELAXED_SET(monitor.in_interval, 0);
	}
	return __atomic_fetch_add(&monitor.in_interval, 1, __ATOMIC_RELAXED) < PER_INTERVAL;
}

static void report(struct monitor_entry entry)
{
	struct monitor_block *block = block_get();
	if (!block)
		return;
	entry.interval = (uint32_t)((uint64_t)(seconds() - monitor.started) / monitor.graph->interval_s);
	uint32_t at = MONITOR_ENTRIES;
	if (interval_has_room(entry.interval))
		at = __atomic_fetch_add(&block->nentries, 1, __ATOMIC_RELAXED);
	if (at >= MONITOR_ENTRIES) {
		__atomic_fetch_add(&block->dropped, 1, __ATOMIC_RELAXED);
		return;
	}
	block->entries[at] = entry;
	__atomic_store_n(&block->entries[at].state, 1, __ATOMIC_RELEASE); /* whole before it counts */
}

/* ---- edges as they occur ---- */

/* The unit of a site: units are numbered in the order of their sites. */
static bool find_unit(uint32_t site, uint64_t *hash, uint32_t *index)
{
	const struct area_process *process = runtime.process;
	uint32_t low = 0, high = RELAXED_GET(process->nunits);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (process->units[middle].first <= site)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || site - process->units[low - 1].first >= process->units[low - 1].nsites)
		return false;
	*hash = process->units[low - 1].hash;
	*index = site - process->units[low - 1].first;
	return true;
}

void monitor_edge(const struct area_edge *edge)
{
	struct monitor_entry entry = { .source_context = edge->source_context,
				       .sink_context = edge->sink_context,
				       .write = edge->write != 0 };
	uint32_t kept = monitor.graph->context, depth = 0;
	int saved = errno;
	if (!find_unit(edge->sink, &entry.sink_unit, &entry.sink_site) ||
	    (edge->source && !find_unit(edge->source, &entry.source_unit, &entry.source_site)))
		return;
	while (depth <= kept && is_known(fingerprint(&entry, kept, depth)))
		depth++;
	if (depth > kept || depth > monitor.graph->threshold)
		return;
	entry.depth = (uint8_t)depth;
	report(entry);
	errno = saved;
}
