/* Histories: what the cells of this run say of sites. A history is the site of the
 * last write, of the last reads since by the two threads that a cell can name, and of
 * the last access by another thread than the one that came last; each distinct one has a number, so that a cell needs 22
 * bits for all and an access by the same thread is a step from one number to
 * the next. Histories are few: they follow the program's text, not its data. */
#include "loom/runtime/observe/cells.h"

#define HISTORIES (1u << STATE_HISTORY_BITS)

static HOT struct index numbers;
static HOT uint32_t histories; /* of histories; number 0 is the empty one */

void history_start(void)
{
	runtime_map(HISTORIES_START, (size_t)HISTORIES * sizeof(struct history));
	index_start(&numbers);
	histories = 1;
}

/* Written first, the page comes at once; it is read first otherwise, and comes twice. */
void history_touch(void)
{
	*(volatile uint32_t *)HISTORIES_START = 0;
}

static bool same(const struct history *a, const struct history *b)
{
	return a->write == b->write && a->own == b->own && a->read == b->read && a->before == b->before;
}

uint32_t history_number(struct history history)
{
	if (!history.write && !history.own && !history.read && !history.before)
		return 0;
	uint64_t hash = ((uint64_t)history.write << 32 | history.own) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ hash >> 29 ^ ((uint64_t)history.read << 32 | history.before)) * 0xc4ceb9fe1a85ec53u;
	hash = (hash ^ hash >> 31) * 0xff51afd7ed558ccdu >> 32;
	struct probe probe = index_probe(hash, RELAXED_GET(histories));
	for (uint32_t found; (found = index_next(&numbers, &probe));)
		if (same(history_at(found - 1), &history))
			return found - 1;
	uint32_t number = __atomic_fetch_add(&histories, 1, __ATOMIC_RELAXED);
	if (number >= HISTORIES) {
		RELAXED_SET(histories, HISTORIES);
		observe_dropped();
		return 0;
	}
	*((struct history *)HISTORIES_START + number) = history;
	probe = index_probe(hash, number);
	while (index_publish(&numbers, &probe, number)) /* a twin does no harm */
		;
	return number;
}

/* Steps that are known. Each is one word, so that a signal handler finds it whole. */
#define STEP_BITS 45u

static uint64_t *step_place(struct thread *self, uint32_t number, uint32_t site, enum access access,
			    uint64_t *tag)
{
	/* Multiplying by an odd number is one to one: what is not in the place is in the tag. */
	uint64_t key = (uint64_t)number << 23 | (uint64_t)site << 1 | (access == ACCESS_WRITE);
	key = key * 0x9e3779b97f4a7c15u & ((1ull << STEP_BITS) - 1);
	*tag = (key << 12 & ((1ull << STEP_BITS) - 1)) << (HISTORY_BITS - 12) | 1ull << 63;
	return runtime.lean ? &self->lean_step : &self->steps[key >> (STEP_BITS - 12)];
}

uint32_t history_step_known(struct thread *self, uint32_t number, uint32_t site, enum access access)
{
	uint64_t tag, known = RELAXED_GET(*step_place(self, number, site, access, &tag));
	return known - HISTORY(known) == tag ? HISTORY(known) : 0;
}

uint32_t history_step(struct thread *self, uint32_t number, uint32_t site, enum access access)
{
	uint64_t tag, *step = step_place(self, number, site, access, &tag), known = RELAXED_GET(*step);
	if (LIKELY(known - HISTORY(known) == tag))
		return HISTORY(known);
	const struct history *old = history_at(number);
	observe_predecessor(self, site, old->before);
	struct history next = { .write = access == ACCESS_WRITE ? site : old->write,
				.own = access == ACCESS_WRITE ? 0 : site,
				.before = old->before };
	uint32_t to = history_number(next);
	RELAXED_SET(*step, tag | to);
	return to;
}
