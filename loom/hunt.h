/* A hunt: schedule after schedule, chosen by explore, run by steer. Results come
 * in the order of the schedules, whatever the number of workers, so that a hunt
 * depends on nothing but its seed. */
#ifndef LOOM_HUNT_H
#define LOOM_HUNT_H

#include "loom/explore.h"
#include "loom/steer.h"

struct hunt_options {
	const struct launch_options *launch;
	unsigned jobs;
	uint64_t seed;
	unsigned arms;             /* of explore */
	uint64_t budget;           /* schedules, 0 = no limit */
	const struct claim *claim; /* in every schedule, used as it says; NULL: none */
	/* Claims of which one after the other is used in every `focus_every`th schedule; NULL: none. */
	const struct claim *focus;
	size_t nfocus;
	unsigned focus_every;
	bool keep; /* harvest all runs at first, until hunt_keep says otherwise */
};

struct hunt_seen { /* distinct, over all schedules */
	uint64_t pairs, predecessors, edges;
};

struct hunt_result {
	enum explore_arm arm;
	uint64_t gain; /* observations that no schedule before had shown */
	struct steer_report report;
};

struct hunt;
/* `first` is a run of the program, to learn from. The launch options must live as long. */
struct error *hunt_start(const struct hunt_options *options, const struct run *first, struct hunt **out);
/* The next result, the caller's to free; *done when the budget is used up. */
struct error *hunt_next(struct hunt *hunt, double wait_s, struct hunt_result *result, bool *got, bool *done);
/* Whether passing runs that show nothing new are to be harvested from now on. */
void hunt_keep(struct hunt *hunt, bool keep);
/* Whether failing runs that show nothing new need not be harvested from now on. */
void hunt_spare(struct hunt *hunt, bool spare);
/* How many points without any news are a livelock from now on. */
void hunt_patience(struct hunt *hunt, uint64_t still_points);
struct hunt_seen hunt_seen(const struct hunt *hunt);
uint64_t hunt_tried(const struct hunt *hunt, enum explore_arm arm);
/* The workers as they are, for runs beside the hunt; they may be others later. */
struct steer *const *hunt_server(const struct hunt *hunt);
/* The workers, when nothing of the hunt is to come any more. */
struct error *hunt_steer(struct hunt *hunt, struct steer **out);
void hunt_stop(struct hunt *hunt);
void hunt_stopp(struct hunt **hunt);

#endif
