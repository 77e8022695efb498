/* Logs of what was observed, in the run area: append-only arrays, each entry
 * once, found again through an index in private memory and a small cache per
 * thread. An entry is whole before it is marked valid, so a program may die at
 * any instruction. */
#include "loom/runtime/observe/cells.h"

void observe_start(void)
{
	index_start(&runtime.pairs);
	index_start(&runtime.predecessors);
	index_start(&runtime.edges);
	index_start(&runtime.couples);
}

/* The child's log is empty: what it sees is news to it. */
void observe_after_fork(void)
{
	struct index *all[] = { &runtime.pairs, &runtime.predecessors, &runtime.edges, &runtime.couples };
	for (int i = 0; i < 4; i++)
		index_clear(all[i]);
	for (uint32_t slot = 0; slot < AREA_SLOTS; slot++) {
		struct thread *thread = &runtime.threads[slot];
		if (thread->state == THREAD_FREE)
			continue;
		__builtin_memset(thread->logged, 0, sizeof thread->logged);
		__builtin_memset(thread->edges, 0, sizeof thread->edges);
		__builtin_memset(&thread->met_pairs, 0, sizeof thread->met_pairs);
		__builtin_memset(&thread->taken_pairs, 0, sizeof thread->taken_pairs);
		__builtin_memset(thread->met, 0, sizeof thread->met);
		__builtin_memset(thread->passable, 0, sizeof thread->passable);
		__builtin_memset(thread->exhausted, 0, sizeof thread->exhausted);
		__builtin_memset(thread->changes, 0, sizeof thread->changes);
		__builtin_memset(thread->cached_steps, 0, sizeof thread->cached_steps);
		__builtin_memset(thread->steps, 0, sizeof thread->steps);
		__builtin_memset(thread->listed, 0, sizeof thread->listed);
		thread->lean_step = 0;
		units_forget_memos(slot);
	}
	units_forget_marks();
}

void observe_dropped(void)
{
	if (runtime.process)
		__atomic_fetch_add(&runtime.process->dropped, 1, __ATOMIC_RELAXED);
}

/* Where this thread remembers that it logged such an observation. */
static uint64_t *logged_at(struct thread *self, uint64_t hash)
{
	return self->logged[hash >> 54];
}

/* Claims the next entry of a log; UINT32_MAX when it is full. */
static uint32_t claim(uint32_t *count, uint32_t limit)
{
	uint32_t entry = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	if (entry < limit)
		return entry;
	RELAXED_SET(*count, limit + 1); /* stays above the limit: the harvest sees that some were dropped */
	observe_dropped();
	return UINT32_MAX;
}

static bool same_pair(const struct area_pair *a, const struct area_pair *b)
{
	return a->kind == b->kind && a->head_site == b->head_site && a->tail_site == b->tail_site &&
	       a->head_thread == b->head_thread && a->tail_thread == b->tail_thread;
}

static bool same_predecessor(const struct area_predecessor *a, const struct area_predecessor *b)
{
	return a->site == b->site && a->before == b->before;
}

static bool same_edge(const struct area_edge *a, const struct area_edge *b)
{
	return a->source == b->source && a->sink == b->sink && a->source_context == b->source_context &&
	       a->sink_context == b->sink_context && a->write == b->write;
}

static bool same_couple(const struct area_couple *a, const struct area_couple *b)
{
	return a->first == b->first && a->second == b->second && a->crossed == b->crossed;
}

/* Finds an equal entry or appends `fresh`; `complete` may fill in the rest of a new
 * entry. Its number, or UINT32_MAX when there is no room. One body for the logs, which differ in type only. */
#define DEFINE_APPEND(name, type, log, count, limit, index, same, complete)                          \
	static uint32_t name(struct thread *self, struct type fresh, uint64_t hash)                  \
	{                                                                                            \
		struct type *entries = runtime.process->log;                                         \
		struct probe probe = index_probe(hash, RELAXED_GET(runtime.process->count));         \
		for (uint32_t found; (found = index_next(&runtime.index, &probe));)                  \
			if (same(&entries[found - 1], &fresh))                                       \
				return found - 1;                                                    \
		uint32_t entry = claim(&runtime.process->count, limit);                              \
		if (entry == UINT32_MAX)                                                             \
			return entry;                                                                \
		complete(&fresh);                                                                    \
		self->new_##index++;                                                                 \
		entries[entry] = fresh;                                                              \
		__atomic_store_n(&entries[entry].state, AREA_VALID, __ATOMIC_RELEASE); /* harvest */ \
		probe = index_probe(hash, entry);                                                    \
		for (uint32_t found; (found = index_publish(&runtime.index, &probe, entry));)        \
			if (same(&entries[found - 1], &fresh)) {                                     \
				entries[entry].state = 0; /* another thread was first */             \
				return found - 1;                                                    \
			}                                                                            \
		return entry;                                                                        \
	}

static void nothing_more(const void *entry)
{
	(void)entry;
}

/* Orders and loop points cost a search: only for the first occurrence. The fields
 * carry event words and slots until here. */
static void complete_pair(struct area_pair *pair)
{
	uint64_t head = pair->head_order, tail = pair->tail_order;
	pair->head_order = thread_order(WORD_SLOT(head), WORD_ORDER(head));
	pair->tail_order = thread_order(WORD_SLOT(tail), WORD_ORDER(tail));
	pair->head_loop = loops_at(WORD_SLOT(head), pair->head_order);
	pair->tail_loop = loops_at(WORD_SLOT(tail), pair->tail_order);
}

/* In the field less is kept, and each edge is looked up once. */
static uint32_t edge_limit(void)
{
	return monitor_is_on() ? AREA_EDGES / 8 : AREA_EDGES;
}

static void complete_edge(const struct area_edge *edge)
{
	if (monitor_is_on())
		monitor_edge(edge);
}

DEFINE_APPEND(append_pair, area_pair, pairs, npairs, AREA_PAIRS, pairs, same_pair, complete_pair)
DEFINE_APPEND(append_predecessor, area_predecessor, predecessors, npredecessors, AREA_PREDECESSORS,
	      predecessors, same_predecessor, nothing_more)
DEFINE_APPEND(append_couple, area_couple, couples, ncouples, AREA_COUPLES, couples, same_couple, nothing_more)
DEFINE_APPEND(append_edge, area_edge, edges, nedges, edge_limit(), edges, same_edge, complete_edge)

/* What a thread remembers of a pair: site and thread of the head, site of the tail; bit 62, number in the log,
 * kind, number of the head's thread. */
#define AREA_PAIRS_MASK (AREA_PAIRS - 1)
#define LOGGED_NUMBER_SHIFT 34u
#define LOGGED_NUMBER ((uint64_t)AREA_PAIRS_MASK << LOGGED_NUMBER_SHIFT)

void observe_pair(struct thread *self, uint32_t kind, uint64_t head, uint64_t tail, uint64_t address)
{
	if (!(runtime.options.observe & OBSERVE_PAIRS) || !WORD_SLOT(head))
		return;
	struct thread *other = &runtime.threads[WORD_SLOT(head)];
	uint64_t a = head >> 32 << 32 | WORD_SITE(tail);
	uint64_t b = 1ull << 62 | (uint64_t)kind << 32 | other->number;
	uint64_t hash = observe_mix(a, b ^ (uint64_t)self->slot << 40);
	uint64_t *seen = logged_at(self, hash);
	bool known = !runtime.lean && seen[0] == a && (seen[1] & ~LOGGED_NUMBER) == b;
	uint32_t number = known ? (uint32_t)(seen[1] >> LOGGED_NUMBER_SHIFT) & AREA_PAIRS_MASK : 0;
	if (!known)
		number = append_pair(self,
				     (struct area_pair){ .kind = kind,
							 .head_site = WORD_SITE(head),
							 .tail_site = WORD_SITE(tail),
							 .head_thread = other->number,
							 .tail_thread = self->number,
							 .head_order = head,
							 .tail_order = tail,
							 .address = address },
				     hash);
	if (!known && !runtime.lean && number != UINT32_MAX) {
		seen[0] = a;
		seen[1] = b | (uint64_t)number << LOGGED_NUMBER_SHIFT;
	}
	if (UNLIKELY(self->meets_open) && number != UINT32_MAX &&
	    control_is_open(WORD_SLOT(head), WORD_ORDER(head)))
		runtime.process->pairs[number].open = 1;
	if (UNLIKELY(self->couples_left))
		couples_meet(self, other, kind, head, tail, address, number);
}

void observe_couple(struct thread *self, uint32_t first, uint32_t second, bool crossed, uint32_t span)
{
	if (first == UINT32_MAX || second == UINT32_MAX) /* there was no room for the pair */
		return;
	uint64_t a = (uint64_t)first << 32 | second, b = 1ull << 63 | crossed, hash = observe_mix(a, b);
	uint64_t *seen = logged_at(self, hash);
	if (!runtime.lean && seen[0] == a && seen[1] == b)
		return;
	append_couple(self,
		      (struct area_couple){ .first = first & AREA_PAIRS_MASK,
					    .second = second & AREA_PAIRS_MASK,
					    .crossed = crossed,
					    .span = span },
		      hash);
	if (!runtime.lean) {
		seen[0] = a;
		seen[1] = b;
	}
}

#define MET_KEY_BITS 44u /* two sites */
#define MET_TAG_BITS 31u

void observe_predecessor(struct thread *self, uint32_t site, uint32_t before)
{
	uint64_t key = (uint64_t)site << 22 | before;
	if (LIKELY(!runtime.lean)) {
		/* Multiplying by an odd number is one to one: what is not in the place is in the tag. */
		uint64_t mixed = key * 0x9e3779b97f4a7c15u & ((1ull << MET_KEY_BITS) - 1);
		uint32_t *seen = &self->met[mixed >> MET_TAG_BITS],
			 tag = (uint32_t)mixed | 1u << MET_TAG_BITS;
		if (*seen == tag)
			return;
		*seen = tag;
	}
	if (runtime.options.observe & OBSERVE_PREDECESSORS)
		append_predecessor(
			self, (struct area_predecessor){ .site = site & WORD_SITE_MASK, .before = before },
			observe_mix(key, 2));
}

void observe_new_edge(struct thread *self, struct area_edge edge, uint64_t hash)
{
	if (runtime.options.observe & OBSERVE_EDGES)
		append_edge(self, edge, hash);
}
