/* Conflicts around each gap, paired up and sorted by how far they lie from it. What the
 * switch could be moved over without any difference is left out.
 */
#include "diagnose/switches.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/locon/explain.h"
#include "base/hash.h"

#define WINDOW 400u       /* accesses of the stopped thread on either side that are looked at */
#define GAP_MOST 200000u  /* accesses of the others meanwhile */
#define ORDER_PENALTY 64u /* one side only explains less */
#define EDGES_PENALTY 8u  /* unless both are where the failure comes and goes */
#define COUPLE_PENALTY 2u
#define OTHERS_PENALTY 10u /* by different threads: what have they to do with each other? */
#define UNMEASURED_PENALTY 16u
#define REST_PENALTY 4u   /* what the others did that was not needed */
#define BESIDE_PENALTY 6u /* the edge is an access, but another one */
#define SHORT 8u          /* bytes */
#define LONG 256u
#define RANGE_MOST 16384u

/* An access of the stopped thread and one of the others that conflict. */
struct clash {
	const struct event *own, *other; /* `other` is in the trace */
	unsigned far;                    /* accesses between the edge and `own` */
	bool missing;                    /* the run ended first: `own` is what the thread did another time */
	bool exact;                      /* `own` stands at an edge */
	bool enough;                     /* `other` is the last that the others had to do */
};

struct clashes {
	struct clash *items;
	size_t n, room; /* as VEC */
};

/* A claim by events. */
struct guess {
	const struct event *steps[HINT_STEPS];
	size_t n;
	bool missing; /* the last step */
	enum finding_class class;
	unsigned scenario, cost;
	bool measured, exact;
};

struct guesses {
	struct guess *items;
	size_t n, room; /* as VEC */
};

/* Where addresses of an access are noted: at its beginning, all along when it is a long one. */
static uint64_t stride(const struct event *event)
{
	return event->size <= SHORT ? SHORT : event->size <= LONG ? 1 : 4;
}

static bool conflict(const struct event *a, const struct event *b)
{
	return (a->write || b->write) && a->address < b->address + b->size &&
	       b->address < a->address + a->size;
}

/* First and last access of the others to each address in the gap, writes apart. */
struct meanwhile {
	struct map first, last, first_write, last_write; /* address to event + 1 */
};

static void note(struct map *first, struct map *last, uint64_t address, size_t at)
{
	bool fresh;
	uint64_t *place = map_put(first, address, &fresh);

	if (fresh)
		*place = at + 1;
	*map_put(last, address, NULL) = at + 1;
}

static void look_at_gap(const struct observations *run, const struct gap *gap, size_t most,
			struct meanwhile *out)
{
	for (size_t i = gap->from; i < gap->from + most && i < gap->from + GAP_MOST; i++) {
		const struct event *event = &run->events[i];

		for (uint64_t at = 0; at < event->size && at < RANGE_MOST; at += stride(event)) {
			note(&out->first, &out->last, event->address + at, i);
			if (event->write)
				note(&out->first_write, &out->last_write, event->address + at, i);
		}
	}
}

static void meanwhile_free(struct meanwhile *meanwhile)
{
	map_free(&meanwhile->first);
	map_free(&meanwhile->last);
	map_free(&meanwhile->first_write);
	map_free(&meanwhile->last_write);
	*meanwhile = (struct meanwhile){ 0 };
}

/* The others' access that an own one conflicts with; NULL: none. */
static const struct event *find_other(const struct observations *run, const struct map *all,
				      const struct map *writes, const struct event *event)
{
	for (uint64_t at = 0; at < event->size && at < RANGE_MOST; at += stride(event)) {
		const uint64_t *other = map_get(event->write ? all : writes, event->address + at);

		if (other && conflict(event, &run->events[*other - 1]))
			return &run->events[*other - 1];
	}
	return NULL;
}

static void add_clash(const struct event *own, const struct event *other, unsigned far, struct clashes *out)
{
	for (size_t i = 0; i < out->n; i++) /* the nearest to each address is enough */
		if (out->items[i].own->address == own->address && out->items[i].own->write == own->write)
			return;
	if (other)
		*VEC_PUSH(out) = (struct clash){ .own = own, .other = other, .far = far };
}

/* Where the thread stood before as it does at the beginning of the gap, and went on: behind the
 * same two accesses. The beginning of the gap when it never did. */
static size_t last_time(const struct observations *run, const struct gap *gap)
{
	size_t own[2] = { SIZE_MAX, SIZE_MAX }, later = SIZE_MAX; /* the last two, the last one first */

	for (size_t i = gap->from; i-- > 0;) {
		const struct event *event = &run->events[i];

		if (event->thread != gap->thread)
			continue;
		if (own[0] == SIZE_MAX) {
			own[0] = i;
			continue;
		}
		if (own[1] == SIZE_MAX)
			own[1] = i;
		if (later != SIZE_MAX && event->site == run->events[own[1]].site)
			return later + 1;
		later = event->site == run->events[own[0]].site ? i : SIZE_MAX;
	}
	return gap->from;
}

/* What is looked at around one gap. */
struct scene {
	const struct observations *run;
	struct atlas *atlas; /* not const: atlas_find is a schedule_lookup */
	struct gap gap;
	const struct switch_moved *moved; /* NULL: not measured */
	bool fresh;                       /* the others had not run before */
	bool passed_over;                 /* not measured, while others were */
	struct meanwhile meanwhile;
	const struct event *enough; /* the last that the others had to do; NULL: not known */
};

static bool is_site(const struct scene *scene, const struct event *event, uint64_t id)
{
	const struct site *site = atlas_number(scene->atlas, event->site);

	return id && site && site->id == id;
}

/* Does the early edge stand at a call that lets others begin, so that before it they could not?
 * Then nothing that the thread did earlier is part of it. A lock that is given back is another
 * matter: what was done under it is. */
static bool others_begin(const struct scene *scene)
{
	const struct site *site = scene->moved && scene->moved->early_site
					  ? atlas_find(scene->atlas, scene->moved->early_site)
					  : NULL;

	return site ? site->kind == SITE_SYNC && !strstr(site->variable, "lock") : scene->fresh;
}

/* Is the site an access to memory, not a call? */
static bool is_access(const struct scene *scene, uint64_t id)
{
	const struct site *site = id ? atlas_find(scene->atlas, id) : NULL;

	return site && site->kind <= SITE_UPDATE;
}

/* Where an edge is an access, that access is part of it, and others are less likely to be. */
static void settle_edge(const struct scene *scene, uint64_t id, struct clashes *list)
{
	for (size_t i = 0; i < list->n && is_access(scene, id); i++)
		if (!list->items[i].exact)
			list->items[i].far += BESIDE_PENALTY;
}

static void find_before(const struct scene *scene, struct clashes *out)
{
	const struct observations *run = scene->run;
	const struct switch_moved *moved = scene->moved;
	size_t skip = moved ? moved->before : 0;
	unsigned far = 0;

	if (moved && (!moved->early || others_begin(scene)))
		return;
	for (size_t i = scene->gap.from; i-- > 0 && far < WINDOW;) {
		const struct event *own = &run->events[i];

		if (own->thread != scene->gap.thread || (skip && skip--))
			continue;
		add_clash(own, find_other(run, &scene->meanwhile.first, &scene->meanwhile.first_write, own),
			  far, out);
		if (!far && out->n && moved && is_site(scene, own, moved->early_site))
			out->items[0].exact = true;
		far++;
	}
	if (moved)
		settle_edge(scene, moved->early_site, out);
}

static void find_after(const struct scene *scene, struct clashes *out)
{
	const struct observations *run = scene->run;
	const struct gap *gap = &scene->gap;
	const struct switch_moved *moved = scene->moved;
	bool missing = gap->to == run->nevents, known = missing && moved && moved->has_next;
	size_t next = missing ? last_time(run, gap) : gap->to, end = missing ? gap->from : run->nevents;
	size_t skip = moved ? moved->after : 0;
	unsigned far = 0;

	if (known)
		add_clash(&moved->next,
			  find_other(run, &scene->meanwhile.last, &scene->meanwhile.last_write, &moved->next),
			  0, out);
	for (size_t i = next; i < end && far < WINDOW && !(known && out->n); i++) {
		const struct event *own = &run->events[i];

		if (own->thread != gap->thread || (skip && skip--))
			continue;
		add_clash(own, find_other(run, &scene->meanwhile.last, &scene->meanwhile.last_write, own),
			  far++, out);
	}
	for (size_t i = 0; i < out->n; i++) {
		out->items[i].missing = missing;
		out->items[i].enough = scene->enough && out->items[i].other == scene->enough;
		out->items[i].exact = moved && moved->late && out->items[i].far == 0 &&
				      (known || is_site(scene, out->items[i].own, moved->late_site));
	}
	if (moved && moved->late)
		settle_edge(scene, moved->late_site, out);
}

/* LOCON's Table 1: W-W-R 4, R-W-W 5, R-W-R 6, W-R-W 7; 0 the others. */
static unsigned triple(bool a, bool b, bool c)
{
	if (b)
		return a ? (c ? 0 : 4) : (c ? 5 : 6);
	return a && c ? 7 : 0;
}

static enum pair_kind kind_of(const struct event *head, const struct event *tail)
{
	return !head->write ? PAIR_READ_WRITE : tail->write ? PAIR_WRITE_WRITE : PAIR_WRITE_READ;
}

/* What a thread saw or did on both sides of the gap, on two locations. */
static struct guess couple(const struct clash *x, const struct clash *y)
{
	bool turned = y->other < x->other;

	return (struct guess){ .steps = { x->own, turned ? y->other : x->other,
					  x->other == y->other ? y->own
					  : turned             ? x->other
							       : y->other,
					  y->own },
			       .n = x->other == y->other ? 3 : 4,
			       .class = FINDING_MULTI_ATOMICITY,
			       .scenario = explain_kinds_scenario(kind_of(x->own, x->other),
								  kind_of(y->other, y->own), turned),
			       .missing = y->missing,
			       .exact = x->exact || y->exact,
			       .cost = x->far + y->far +
				       (x->other->thread == y->other->thread ? COUPLE_PENALTY
									     : OTHERS_PENALTY) };
}

/* One thread says by an atomic variable that something is ready, another sees it and goes on to plain
 * data that the first has not dealt with yet: the two are not one thing, the data came too late. */
static bool is_signal(const struct scene *scene, const struct clash *x, const struct clash *y)
{
	const struct event *events[] = { x->own, x->other, y->own, y->other };
	bool atomic[4];

	for (int i = 0; i < 4; i++) {
		const struct site *site = atlas_number(scene->atlas, events[i]->site);

		atomic[i] = site && site->atomic;
	}
	return x->own->write && atomic[0] && atomic[1] && !atomic[2] && !atomic[3];
}

/* Where both ends stand at edges, that is all there is to it, unless it began at an edge too. */
static unsigned order_cost(const struct clash *y)
{
	return 2 * y->far + (y->exact && y->enough ? EDGES_PENALTY : ORDER_PENALTY);
}

static void add_order(const struct clash *y, unsigned cost, struct guesses *out)
{
	*VEC_PUSH(out) = (struct guess){ .steps = { y->other, y->own },
					 .n = 2,
					 .class = FINDING_ORDER,
					 .scenario = y->other->write ? (y->own->write ? 3 : 1) : 2,
					 .missing = y->missing,
					 .exact = y->exact,
					 .cost = cost };
}

static void pair_up(const struct scene *scene, const struct clashes *before, const struct clashes *after,
		    struct guesses *out)
{
	for (size_t i = 0; i < before->n; i++)
		for (size_t j = 0; j < after->n; j++) {
			const struct clash *x = &before->items[i], *y = &after->items[j];

			if (x->own->address != y->own->address) {
				if (is_signal(scene, x, y))
					add_order(y, x->far + y->far, out);
				else
					*VEC_PUSH(out) = couple(x, y);
				continue;
			}
			unsigned scenario = triple(x->own->write, x->other->write, y->own->write);

			if (scenario)
				*VEC_PUSH(out) = (struct guess){ .steps = { x->own, x->other, y->own },
								 .n = 3,
								 .class = FINDING_ATOMICITY,
								 .scenario = scenario,
								 .missing = y->missing,
								 .exact = x->exact || y->exact,
								 .cost = x->far + y->far };
		}
	for (size_t j = 0; j < after->n; j++)
		add_order(&after->items[j], order_cost(&after->items[j]), out);
}

static int by_cost(const void *left, const void *right)
{
	const struct guess *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return a->steps[0] < b->steps[0] ? -1 : a->steps[0] > b->steps[0];
}

bool switches_gap(const struct observations *run, const struct schedule *schedule, size_t turn,
		  struct gap *out)
{
	size_t at = 0;

	for (size_t i = 0; i <= turn && i + 1 < schedule->nturns; i++)
		while (!schedule->turns[i].wake && at < run->nevents &&
		       run->events[at].thread == schedule->turns[i].thread)
			at++;
	if (turn + 1 >= schedule->nturns || schedule->turns[turn].wake)
		return false;
	*out = (struct gap){ .thread = schedule->turns[turn].thread, .from = at, .to = at };
	while (out->to < run->nevents && run->events[out->to].thread != out->thread)
		out->to++;
	for (size_t i = 0; i < at; i++)
		out->own += run->events[i].thread == out->thread;
	return true;
}

/* With the first `meanwhile` of the others' accesses. */
static void look_at_part(struct scene *scene, size_t meanwhile, unsigned cost, struct guesses *out)
{
	struct clashes before = { 0 }, after = { 0 };
	size_t first = out->n;

	look_at_gap(scene->run, &scene->gap, meanwhile, &scene->meanwhile);
	find_before(scene, &before);
	find_after(scene, &after);
	pair_up(scene, &before, &after, out);
	for (size_t i = first; i < out->n; i++) {
		out->items[i].measured = scene->moved;
		out->items[i].cost += cost;
	}
	VEC_FREE(&before);
	VEC_FREE(&after);
	meanwhile_free(&scene->meanwhile);
}

static void look_at_switch(struct scene *scene, struct guesses *out)
{
	size_t all = scene->gap.to - scene->gap.from;
	bool less = scene->moved && scene->moved->meanwhile < all;

	size_t needed = less ? scene->moved->meanwhile : all;

	if (scene->moved && needed &&
	    is_site(scene, &scene->run->events[scene->gap.from + needed - 1], scene->moved->brief_site))
		scene->enough = &scene->run->events[scene->gap.from + needed - 1];
	if (less)
		look_at_part(scene, scene->moved->meanwhile, 0, out);
	look_at_part(scene, all, (less ? REST_PENALTY : 0) + (scene->passed_over ? UNMEASURED_PENALTY : 0),
		     out);
}

static struct hint settle(const struct atlas *atlas, const struct guess *guess)
{
	struct hint claim = { .n = guess->n,
			      .class = guess->class,
			      .scenario = guess->scenario,
			      .cost = guess->cost,
			      .measured = guess->measured,
			      .exact = guess->exact };

	for (size_t i = 0; i < guess->n; i++) {
		const struct event *event = guess->steps[i];
		const struct site *site = atlas_number(atlas, event->site);

		claim.steps[i] = (struct hint_step){ .site = site ? site->id : 0,
						     .thread = event->thread,
						     .write = event->write,
						     .missing = guess->missing && i + 1 == guess->n };
	}
	return claim;
}

/* Has a better claim all its accesses, in this order? */
static bool is_told(const struct hints *better, const struct hint *claim)
{
	for (size_t i = 0; i < better->n; i++) {
		const struct hint *other = &better->items[i];
		size_t at = 0;

		for (size_t j = 0; j < other->n && at < claim->n; j++)
			at += other->steps[j].site == claim->steps[at].site &&
			      other->steps[j].write == claim->steps[at].write;
		if (at == claim->n)
			return true;
	}
	return false;
}

/* Is it the first turn of its thread? */
static bool is_first(const struct schedule *schedule, size_t turn)
{
	for (size_t i = 0; i < turn && turn < schedule->nturns; i++)
		if (!schedule->turns[i].wake && schedule->turns[i].thread == schedule->turns[turn].thread)
			return false;
	return true;
}

static void look_at_switches(const struct observations *run, struct atlas *atlas,
			     const struct schedule *schedule, const struct switches_moved *moved,
			     struct guesses *out)
{
	for (size_t i = 0; i < schedule->nturns; i++) {
		struct scene scene = { .run = run, .atlas = atlas };

		for (size_t j = 0; moved && j < moved->n; j++)
			if (moved->items[j].turn == i)
				scene.moved = &moved->items[j];
		scene.fresh = is_first(schedule, i + 1);
		scene.passed_over = !scene.moved && moved && moved->n;
		if (schedule->turns[i].stop == STOP_PREEMPTED && switches_gap(run, schedule, i, &scene.gap))
			look_at_switch(&scene, out);
	}
}

void switches_claim(const struct observations *run, struct atlas *atlas, const struct schedule *schedule,
		    const struct switches_moved *moved, struct hints *out)
{
	struct guesses guesses = { 0 };

	look_at_switches(run, atlas, schedule, moved, &guesses);
	if (!guesses.n) /* what was moved over is all that there is */
		look_at_switches(run, atlas, schedule, NULL, &guesses);
	if (guesses.n)
		qsort(guesses.items, guesses.n, sizeof *guesses.items, by_cost);
	for (size_t i = 0; i < guesses.n && out->n < HINTS_MOST; i++) {
		struct hint claim = settle(atlas, &guesses.items[i]);

		if (!is_told(out, &claim))
			*VEC_PUSH(out) = claim;
	}
	VEC_FREE(&guesses);
}
