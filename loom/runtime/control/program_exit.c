/* The end of the program in an experiment. When it comes while a thread is held it would show
 * nothing: the others go on first, then those that are held. */
#include "loom/runtime/control/intervene.h"

/* Some threads never end, so that may take as long again as the program has taken, and so many points. */
#define SHOW_MORE 4096u
void intervene_ends(struct agent *me)
{
	uint64_t most = 2 * control.schedule->points + SHOW_MORE;
	bool asked = false;
	control.exiting = 1;
	while (intervene_holds_others() && control.schedule->points < most) {
		if (control.nready > 1) {
			control_give_way(me);
		} else if (!asked) { /* who waits for all others need not wait for this one */
			asked = true;
			intervene_changed();
		} else {
			asked = false;
			if (!intervene_lets_go())
				return;
		}
	}
}
