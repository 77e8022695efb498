/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The run area, as loom/area.h describes it: a memory file that unsnarl made and
 * that stays whole however the program ends. An entry counts when its `state` is
 * set, which comes last. Everything is logged once; sets remember what is. */
#include "loom/grind/tool.h"

struct key {
	uint64_t a, b;
};

/* Open addressing; a key of zeros is none. */
struct set {
	struct key *keys;
	uint32_t *values;
	uint64_t room, n;
};

static struct set pairs, predecessors, edges, couples;
uint64_t *latest_pairs;

/* Of each site what was logged of it last: mostly that comes again. Zeros: nothing. */
static struct latest {
	struct key edge;
	uint64_t before; /* 1 and the predecessor */
} *latest;

static uint64_t place_of(const struct set *set, struct key key)
{
	uint64_t hash = (key.a * 0x9fb21c651e98df25u ^ key.b) * 0xd6e8feb86659fd93u;

	hash = (hash ^ hash >> 32) & (set->room - 1);
	while ((set->keys[hash].a || set->keys[hash].b) &&
	       (set->keys[hash].a != key.a || set->keys[hash].b != key.b))
		hash = (hash + 1) & (set->room - 1);
	return hash;
}

static void grow(struct set *set)
{
	struct set old = *set;

	set->room = old.room ? old.room * 2 : 256;
	set->keys = VG_(calloc)("grind.set", set->room, sizeof *set->keys);
	set->values = VG_(calloc)("grind.set", set->room, sizeof *set->values);
	for (uint64_t i = 0; i < old.room; i++)
		if (old.keys[i].a || old.keys[i].b) {
			uint64_t at = place_of(set, old.keys[i]);

			set->keys[at] = old.keys[i];
			set->values[at] = old.values[i];
		}
	if (old.room) {
		VG_(free)(old.keys);
		VG_(free)(old.values);
	}
}

/* The value of the key, a new one being 0. */
static uint32_t *put(struct set *set, struct key key, bool *fresh)
{
	if (set->n * 2 >= set->room)
		grow(set);
	uint64_t at = place_of(set, key);

	*fresh = !(set->keys[at].a || set->keys[at].b);
	set->n += *fresh;
	set->keys[at] = key;
	return &set->values[at];
}

/* ---- start ---- */

static void *map(int fd, SizeT size, uint64_t offset)
{
	SysRes result = VG_(am_shared_mmap_file_float_valgrind)(size, VKI_PROT_READ | VKI_PROT_WRITE, fd,
								(Off64T)offset);

	return sr_isError(result) ? NULL : (void *)sr_Res(result);
}

/* Every process has an area of its own, as long as there are some. */
static bool claim_process(int fd)
{
	uint32_t number = __atomic_fetch_add(&grind.head->processes, 1, __ATOMIC_RELAXED);

	if (number >= AREA_PROCESSES)
		return false;
	grind.process = map(fd, AREA_PROCESS_SIZE, AREA_PROCESS_OFFSET(number));
	if (!grind.process)
		return false;
	grind.process->pid = VG_(getpid)();
	grind.process->path_bytes = 1; /* offset 0 is no text */
	grind.process->started = 1;
	return true;
}

static int area_fd = -1;

/* A program with hooks brings a runtime that looks for the area as well. So it finds it under another name, of the same
 * length, as do programs that it executes, which are under Valgrind, too. */
static void rename_variable(const HChar *from, const HChar *to)
{
	SizeT length = VG_(strlen)(from);

	for (HChar **entry = VG_(client_envp); entry && *entry; entry++)
		if (VG_(strncmp)(*entry, from, length) == 0 && (*entry)[length] == '=')
			VG_(memcpy)(*entry, to, length);
}

bool area_start(void)
{
	rename_variable(AREA_ENVIRONMENT, AREA_HIDDEN);
	const HChar *value = VG_(getenv)(AREA_HIDDEN);

	if (!value)
		return false;
	area_fd = (int)VG_(strtoll10)(value, NULL);
	struct area_head *head = map(area_fd, AREA_HEAD_SIZE, 0);

	if (!head || head->magic != AREA_MAGIC || head->version != AREA_VERSION)
		return false;
	grind.head = head;
	if (!claim_process(area_fd))
		return false;
	latest_pairs = grind_reserve(AREA_PLACES * sizeof *latest_pairs);
	latest = grind_reserve(AREA_PLACES * sizeof *latest);
	grind.schedule = map(area_fd, AREA_SCHEDULE_SIZE, AREA_SCHEDULE_OFFSET);
	grind.observed = grind.schedule != NULL;
	return grind.observed;
}

static void empty(struct set *set)
{
	for (uint64_t i = 0; i < set->room; i++)
		set->keys[i] = (struct key){ 0, 0 };
	set->n = 0;
}

void area_fork_child(void)
{
	if (!grind.observed)
		return;
	empty(&pairs);
	empty(&predecessors);
	empty(&edges);
	empty(&couples);
	latest = grind_reserve(AREA_PLACES * sizeof *latest);
	grind.observed = claim_process(area_fd);
}

uint32_t area_text(const char *text)
{
	struct area_process *p = grind.process;
	uint32_t at = p->path_bytes, size = (uint32_t)VG_(strlen)(text) + 1;

	if (size > AREA_PATH_BYTES - at)
		return 0;
	VG_(memcpy)(p->paths + at, text, size);
	p->path_bytes = at + size;
	return at;
}

/* ---- logs ---- */

/* The next entry of a log of `most`; UINT32_MAX when it is full. */
static uint32_t next_entry(uint32_t *count, uint32_t most)
{
	if (*count >= most) {
		grind.process->dropped++;
		return UINT32_MAX;
	}
	return (*count)++;
}

uint32_t log_pair(uint32_t kind, uint32_t head_thread, uint64_t head, uint64_t tail, Addr address)
{
	bool fresh;
	uint32_t me = grind.thread->number;

	if (!(grind.observes & OBSERVE_PAIRS))
		return UINT32_MAX;
	uint32_t *number =
		put(&pairs,
		    (struct key){ (uint64_t)kind << 62 | (uint64_t)WORD_SITE(head) << 24 | WORD_SITE(tail),
				  (uint64_t)head_thread << 32 | me },
		    &fresh);

	latest_pairs[WORD_SITE(tail)] = latest_pair(kind, head_thread, WORD_SITE(head));
	if (!fresh)
		return *number;
	uint32_t at = next_entry(&grind.process->npairs, AREA_PAIRS);

	*number = at;
	if (at == UINT32_MAX)
		return at;
	site_used(WORD_SITE(head));
	site_used(WORD_SITE(tail));
	struct area_loop head_loop = trail_at(thread_numbered(head_thread), WORD_ORDER(head));
	struct area_loop tail_loop = trail_at(grind.thread, WORD_ORDER(tail));

	site_used(head_loop.site);
	site_used(tail_loop.site);
	grind.process->pairs[at] = (struct area_pair){ .kind = kind,
						       .head_site = WORD_SITE(head),
						       .tail_site = WORD_SITE(tail),
						       .head_thread = head_thread,
						       .tail_thread = me,
						       .head_order = WORD_ORDER(head),
						       .tail_order = WORD_ORDER(tail),
						       .address = address,
						       .head_loop = head_loop,
						       .tail_loop = tail_loop,
						       .open = 1 /* not told apart here */ };
	__atomic_store_n(&grind.process->pairs[at].state, AREA_VALID, __ATOMIC_RELEASE);
	return at;
}

void log_predecessor(uint32_t site, uint32_t before)
{
	bool fresh;

	if (!(grind.observes & OBSERVE_PREDECESSORS) || latest[site].before == before + 1ull)
		return;
	latest[site].before = before + 1ull;
	put(&predecessors, (struct key){ 1ull << 32 | site, before }, &fresh);
	if (!fresh)
		return;
	site_used(site);
	uint32_t at = next_entry(&grind.process->npredecessors, AREA_PREDECESSORS);

	if (at == UINT32_MAX)
		return;
	struct area_predecessor *entry = &grind.process->predecessors[at];

	entry->site = site & 0xffffff;
	entry->before = before;
	__atomic_store_n(&entry->state, AREA_VALID, __ATOMIC_RELEASE);
}

void log_edge(uint32_t source, uint32_t source_context, uint32_t sink, uint32_t sink_context, bool write)
{
	bool fresh;

	if (!(grind.observes & OBSERVE_EDGES))
		return;
	struct key key = { (uint64_t)source << 32 | sink,
			   (uint64_t)write << 32 | (uint64_t)source_context << 16 | sink_context };

	if (latest[sink].edge.a == key.a && latest[sink].edge.b == key.b)
		return;
	latest[sink].edge = key;
	put(&edges, key, &fresh);
	if (!fresh)
		return;
	uint32_t at = next_entry(&grind.process->nedges, AREA_EDGES);

	if (at == UINT32_MAX)
		return;
	struct area_edge *entry = &grind.process->edges[at];

	entry->source = source & 0xffffff;
	entry->sink = sink & 0xffffff;
	entry->write = write;
	entry->source_context = (uint16_t)source_context;
	entry->sink_context = (uint16_t)sink_context;
	__atomic_store_n(&entry->state, AREA_VALID, __ATOMIC_RELEASE);
}

bool log_couple(uint32_t first, uint32_t second, bool crossed, uint32_t span)
{
	bool fresh;

	put(&couples, (struct key){ 1ull << 63 | (uint64_t)crossed << 62 | first, second }, &fresh);
	if (!fresh)
		return false;
	uint32_t at = next_entry(&grind.process->ncouples, AREA_COUPLES);

	if (at == UINT32_MAX)
		return false;
	struct area_couple *entry = &grind.process->couples[at];

	entry->first = first & 0xffffff;
	entry->second = second & 0xffffff;
	entry->crossed = crossed;
	entry->span = span;
	__atomic_store_n(&entry->state, AREA_VALID, __ATOMIC_RELEASE);
	return true;
}

static void tell_callers(uint32_t site)
{
	const struct area_options *options = &grind.head->options;
	static uint32_t naccesses, nfound;

	if (nfound < options->ntold && nfound < AREA_TOLD && naccesses++ == options->told[nfound])
		site_callers(site, &grind.process->callers[nfound++]);
}

void log_event(Addr address, SizeT size, uint32_t site, uint32_t action, uint64_t order)
{
	uint32_t at = next_entry(&grind.process->nevents, AREA_EVENTS);

	if (at == UINT32_MAX)
		return;
	grind.process->events[at] = (struct area_event){ .address = address,
							 .size = size,
							 .order = order,
							 .site = site,
							 .thread = grind.thread->number,
							 .action = action };
	if (grind.head->options.ntold && action <= AREA_WRITE)
		tell_callers(site);
	__atomic_store_n(&grind.process->events[at].state, AREA_VALID, __ATOMIC_RELEASE);
}
