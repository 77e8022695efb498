/* Which accesses of a loop are looked at together: those whose addresses move by
 * constant steps, in loops of one block in which nobody waits for anybody. Accesses
 * side by side and from turn to turn make a row. Rows are noted before the turns
 * they stand for; a write of what the same turn has read is noted behind them, so
 * that whoever comes in between meets the read, as without rows. The order of notes
 * at one location stays what it was, or there is no row.
 */
#include "loom/compile/guard_weave.h"

#include <stdlib.h>

struct finder {
	struct weave *weave;
	const struct guard_set *set;
	uint32_t *alike; /* by number: who may precede the same */
	bool *precedes;  /* by number: may it precede another at all? */
};

static const struct guard_site *site_of(const struct finder *finder, uint32_t number)
{
	return guard_set_site(finder->set, number);
}

/* ---- what sets say of two accesses ---- */

/* Whoever may precede the one may precede the other. */
static bool judged_alike(const struct finder *finder, uint32_t a, uint32_t b)
{
	const struct guard_site *one = site_of(finder, a), *other = site_of(finder, b);
	bool same = one->before.n == other->before.n && one->grain == other->grain &&
		    guard_set_traits(one) == guard_set_traits(other);
	for (size_t i = 0; same && i < one->before.n; i++)
		same = one->before.items[i] == other->before.items[i];
	return same;
}

/* Which of the two came makes no difference for anybody. */
static bool are_twins(const struct finder *finder, uint32_t a, uint32_t b)
{
	return a == b || (judged_alike(finder, a, b) && finder->alike[a] == finder->alike[b]);
}

/* Nobody may come between this read and this write, and what may come before the one may come before the other:
 * the write need not be judged again. */
static bool are_one_update(const struct finder *finder, uint32_t read, uint32_t write)
{
	return !finder->precedes[read] && judged_alike(finder, read, write);
}

static bool may_meet(const struct finder *finder, uint32_t a, uint32_t b)
{
	return site_of(finder, a)->group == site_of(finder, b)->group;
}

/* ---- rows ---- */

static bool same_bytes(const struct guard_row *a, const struct guard_row *b)
{
	return a->base == b->base && a->offset == b->offset && a->step == b->step && a->extent == b->extent;
}

/* All that may meet accesses at this site have hooks of their own. */
static void give_up(const struct finder *finder, struct row_loop *loop, uint32_t site)
{
	for (uint32_t i = 0; i < loop->n; i++)
		if (may_meet(finder, loop->rows[i].site, site))
			loop->rows[i].gone = true;
}

/* Adds the access to a row, whose number *number becomes; false when it is in none. */
static bool add(const struct finder *finder, struct row_loop *loop, const struct guarded_access *guarded,
		uint32_t *number)
{
	const struct access *access = &guarded->access;
	uint32_t grain = site_of(finder, guarded->site)->grain;
	struct guard_row row = { .instruction = access->instruction,
				 .pointer = access->pointer,
				 .extent = access->size,
				 .site = guarded->site,
				 .kind = access->kind };
	if (access->extent || access->kind == SITE_UPDATE || access->size % grain ||
	    access->alignment < grain ||
	    !affine_step(finder->weave->layout, loop->block, access->pointer, &row.step) || row.step < 0)
		return false;
	row.base = groups_base(finder->weave->layout, access->pointer, &row.offset);
	for (uint32_t i = 0; i < loop->n; i++) {
		struct guard_row *known = &loop->rows[i];
		if (known->site != row.site || known->kind != row.kind || known->base != row.base ||
		    known->step != row.step)
			continue;
		if (known->offset + known->extent == row.offset) {
			known->extent += row.extent;
			*number = i;
			return true;
		}
	}
	if (loop->n == ROWS_MOST)
		return false;
	*number = loop->n;
	loop->rows[loop->n++] = row;
	return true;
}

/* Locations with gaps are looked at one by one: that pays only for the sake of rows of the same group without. */
static bool lies_beside_a_run(const struct finder *finder, const struct row_loop *loop, uint32_t row)
{
	for (uint32_t i = 0; i < loop->n; i++)
		if ((!loop->rows[i].step || loop->rows[i].step == (int64_t)loop->rows[i].extent) &&
		    may_meet(finder, loop->rows[i].site, loop->rows[row].site))
			return true;
	return false;
}

/* One row for what is read and written at the same bytes, in this order. */
static void pair_up(const struct finder *finder, struct row_loop *loop, uint32_t later)
{
	struct guard_row *row = &loop->rows[later], *known = NULL;
	for (uint32_t i = 0; i < later; i++)
		if (same_bytes(&loop->rows[i], row) && may_meet(finder, loop->rows[i].site, row->site) &&
		    !loop->rows[i].spoken_for)
			known = &loop->rows[i];
	if (!known || row->gone)
		return;
	if (row->kind == SITE_READ && known->kind == SITE_READ && !known->late &&
	    are_twins(finder, known->site, row->site))
		row->spoken_for = true;
	else if (row->kind == SITE_WRITE && known->kind == SITE_READ && !known->late &&
		 are_one_update(finder, known->site, row->site)) {
		known->late = row->site;
		row->spoken_for = true;
	} else {
		give_up(finder, loop, row->site);
	}
}

static bool only_read(const struct guard_row *row)
{
	return row->kind == SITE_READ && !row->late;
}

/* Rows of one base: do they never meet, whatever the turn? */
static bool lie_apart(const struct guard_row *a, const struct guard_row *b)
{
	int64_t distance = b->offset - a->offset;
	if (a->base != b->base || a->step != b->step)
		return false;
	if (!a->step)
		return distance >= (int64_t)a->extent || -distance >= (int64_t)b->extent;
	distance = (distance % a->step + a->step) % a->step;
	return distance >= (int64_t)a->extent && distance + (int64_t)b->extent <= a->step;
}

static bool surely_meet(const struct guard_row *a, const struct guard_row *b)
{
	int64_t distance = b->offset - a->offset, reach = a->step * (int64_t)ROW_TURNS;
	return a->base == b->base && a->step == b->step &&
	       (!reach || (distance < reach && -distance < reach));
}

/* Two rows whose notes would come in another order where they meet: that is asked at run time. */
static void compare(const struct finder *finder, struct row_loop *loop, uint32_t i, uint32_t k)
{
	const struct guard_row *a = &loop->rows[i], *b = &loop->rows[k];
	if (!row_speaks(a) || !row_speaks(b) || !may_meet(finder, a->site, b->site) || lie_apart(a, b) ||
	    (only_read(a) && only_read(b) && are_twins(finder, a->site, b->site)))
		return;
	if (surely_meet(a, b) || loop->nchecks == ROW_CHECKS_MOST) {
		give_up(finder, loop, a->site);
		return;
	}
	loop->checks[loop->nchecks].a = i;
	loop->checks[loop->nchecks++].b = k;
}

/* Pairs with a row that has gone need no check any more. */
static void keep_checks(struct row_loop *loop)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < loop->nchecks; i++)
		if (row_speaks(&loop->rows[loop->checks[i].a]) && row_speaks(&loop->rows[loop->checks[i].b]))
			loop->checks[kept++] = loop->checks[i];
	loop->nchecks = kept;
}

static bool is_hooked(const struct finder *finder, const struct guarded_access *guarded)
{
	return guarded->site && !site_of(finder, guarded->site)->any && !site_of(finder, guarded->site)->idle;
}

/* Rows of the loop that these accesses are all of; `rows` says of each in which it is. */
static bool find_rows(const struct finder *finder, struct row_loop *loop, const struct guarded_access *items,
		      size_t n, uint32_t *rows)
{
	for (size_t i = 0; i < n; i++)
		if (is_hooked(finder, &items[i]) && !site_of(finder, items[i].site)->group)
			return false;
	for (size_t i = 0; i < n; i++) {
		rows[i] = ROWS_MOST;
		if (is_hooked(finder, &items[i]))
			add(finder, loop, &items[i], &rows[i]);
	}
	for (size_t i = 0; i < n; i++)
		if (is_hooked(finder, &items[i]) && rows[i] == ROWS_MOST)
			give_up(finder, loop, items[i].site);
	for (uint32_t i = 0; i < loop->n; i++)
		if (loop->rows[i].step && loop->rows[i].step < (int64_t)loop->rows[i].extent)
			give_up(finder, loop, loop->rows[i].site);
	for (uint32_t i = 0; i < loop->n; i++)
		if (!lies_beside_a_run(finder, loop, i))
			give_up(finder, loop, loop->rows[i].site);
	for (uint32_t i = 1; i < loop->n; i++)
		pair_up(finder, loop, i);
	for (uint32_t i = 1; i < loop->n; i++)
		for (uint32_t k = 0; k < i; k++)
			compare(finder, loop, k, i);
	keep_checks(loop);
	for (uint32_t i = 0; i < loop->n; i++)
		if (!loop->rows[i].gone)
			return true;
	return false;
}

/* ---- accesses side by side outside of such loops ---- */

/* Is `next` right behind the bytes of `first`, of the same site? */
static bool is_behind(const struct finder *finder, const struct guarded_access *first,
		      const struct guarded_access *next)
{
	int64_t here, there;
	LLVMTargetDataRef layout = finder->weave->layout;
	return next->site == first->site && !next->access.extent && next->access.kind != SITE_UPDATE &&
	       groups_base(layout, first->access.pointer, &here) ==
		       groups_base(layout, next->access.pointer, &there) &&
	       here + (int64_t)first->access.size == there &&
	       next->access.size % site_of(finder, next->site)->grain == 0;
}

/* The first access speaks for those that lie behind it, up to the next call or access that might meet them. */
static void join(const struct finder *finder, struct guarded_access *items, size_t n)
{
	struct guarded_access *first = &items[0];
	const struct guard_site *site = site_of(finder, first->site);
	LLVMValueRef at = first->access.instruction;
	if (first->access.extent || first->access.kind == SITE_UPDATE || first->access.size % site->grain ||
	    first->access.alignment < site->grain || !site->group)
		return;
	for (size_t i = 1; i < n; i++) {
		for (; at != items[i].access.instruction; at = LLVMGetNextInstruction(at))
			if (affine_may_synchronise(at))
				return;
		if (!is_hooked(finder, &items[i]))
			continue;
		if (is_behind(finder, first, &items[i])) {
			first->access.size += items[i].access.size;
			items[i].in_row = true;
		} else if (!site_of(finder, items[i].site)->group ||
			   may_meet(finder, first->site, items[i].site)) {
			return;
		}
	}
}

static void find_in_block(const struct finder *finder, struct guarded_unit *unit, size_t first, size_t end)
{
	struct guarded_access *items = &unit->accesses.items[first];
	LLVMBasicBlockRef block = LLVMGetInstructionParent(items->access.instruction);
	size_t n = end - first;
	struct row_loop loop;
	_cleanup_free_ uint32_t *rows = memory_alloc(n * sizeof *rows);
	if (affine_loop(finder->weave->layout, block, &loop) && find_rows(finder, &loop, items, n, rows)) {
		loop.function = items->function;
		for (size_t i = 0; i < n; i++)
			items[i].in_row = rows[i] < ROWS_MOST && !loop.rows[rows[i]].gone;
		*VEC_PUSH(&unit->loops) = loop;
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (is_hooked(finder, &items[i]) && !items[i].in_row)
			join(finder, &items[i], n - i);
}

void guard_rows_find(struct weave *weave, struct guarded_unit *unit)
{
	const struct guard_set *set = weave->options->guard;
	struct finder finder = { .weave = weave, .set = set };
	/* A rule's groups begin and end at single accesses. */
	if (set->rules.n)
		return;
	finder.alike = guard_set_alike(set);
	finder.precedes = memory_alloc((set->sites.n + 1) * sizeof *finder.precedes);
	for (uint32_t number = 1; number <= set->sites.n; number++)
		for (size_t i = 0; i < guard_set_site(set, number)->before.n; i++)
			finder.precedes[guard_set_site(set, number)->before.items[i]] = true;
	for (size_t i = 0, end; i < unit->accesses.n; i = end) {
		LLVMBasicBlockRef block =
			LLVMGetInstructionParent(unit->accesses.items[i].access.instruction);
		for (end = i + 1;
		     end < unit->accesses.n &&
		     block == LLVMGetInstructionParent(unit->accesses.items[end].access.instruction);)
			end++;
		find_in_block(&finder, unit, i, end);
	}
	free(finder.alike);
	free(finder.precedes);
}
