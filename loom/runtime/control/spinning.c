/* What tells that a thread only goes in circles, so that others go first, and that all of them do, which
 * is a livelock. Most accesses are no points, so a thread may do much between points at which it does
 * nothing new. When nothing new was seen for long, there is a closer look: no access takes a short way
 * any more, and one that writes or touches something new ends it. A thread that lingers in a loop without
 * an access of its own may wait for what has no hooks: others go first, but it is never called a livelock. */
#include "loom/runtime/control/engine.h"

#define STREAK_READING 64u   /* known points in a row after which a thread only spins, */
#define STREAK_WRITING 2000u /* and when it also writes */
#define STREAK_LINGERING 1u  /* known points that a point where it lingers stands for */
#define DEMOTED_MOST 4096u   /* points for which a spinning thread lets others go first */
#define LOOK_FROM 100000u    /* points without any news, before a closer look */

/* Has the thread been at this place, at this site, the last time it came by? Tables are indexed by site,
 * since addresses differ from run to run. */
static bool comes_again(struct agent *me, uint32_t site, uint64_t address)
{
	uint32_t place = site_key(site) % SPIN_SITES;
	bool known = me->known[place].site == site && me->known[place].address == address;
	me->known[place].site = site;
	me->known[place].address = address;
	return known;
}

/* Others go first for a while, the longer the more often it happened. */
static void demote(struct agent *me)
{
	uint32_t shift = me->demotions < 8 ? me->demotions : 8;
	uint64_t length = 16ull << shift;
	me->demotions++;
	/* Not as long each time, or a loop of so many points would always be left at the same place. */
	me->streak = STREAK_READING / 2 - me->demotions % 8;
	me->demoted_until = control.contested + (length < DEMOTED_MOST ? length : DEMOTED_MOST);
	if (!me->demoted)
		control.ndemoted++;
	me->demoted = true;
	control.review = true;
	policy_demoted(me);
}

/* ---- points ---- */

/* There is news. */
static void spinning_stop_look(void)
{
	control.still = 0;
	if (UNLIKELY(control.looking))
		points_look(false);
}

void spinning_progress(struct agent *me)
{
	me->streak = 0;
	me->demotions = 0;
	me->wrote = false;
	spinning_stop_look();
	agent_rises(me);
}

/* Points that it may know in a row: one that writes is at work for longer. */
static uint32_t streak_most(const struct agent *me)
{
	return me->wrote && me->access != POINT_LINGER ? STREAK_WRITING : STREAK_READING;
}

bool spinning_repeats(const struct agent *me)
{
	return me->streak >= streak_most(me);
}

void spinning_note(struct agent *me)
{
	bool lingers = me->access == POINT_LINGER;
	if (lingers) {
		me->streak += STREAK_LINGERING;
	} else {
		if (me->access == ACCESS_WRITE) {
			me->wrote = true;
			spinning_stop_look();
		}
		if (!comes_again(me, me->site, me->address)) {
			spinning_progress(me);
			return;
		}
		me->streak++;
	}
	if (me->streak >= streak_most(me) && control.nready > 1)
		demote(me);
	if (UNLIKELY(control.still >= LOOK_FROM) && !control.looking)
		points_look(true);
}

/* ---- other accesses, during a closer look ---- */

void spinning_look(struct agent *me, uint32_t site, uint64_t address, enum access access)
{
	if (access == ACCESS_WRITE || !comes_again(me, site, address)) {
		spinning_stop_look();
	}
}
