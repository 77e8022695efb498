/* What of a diagnosis is told, as report/ wants it.
 */
#include "diagnose/diagnosis.h"

/* Another fault with a proof of its own, and what follows from the cause. Another word on the same accesses is no
 * other cause. */
static void choose_others(const struct causes *causes, struct diagnosis_view *view)
{
	for (size_t i = 1; i < causes->n && view->nothers < DIAGNOSIS_OTHERS; i++) {
		const struct cause *cause = &causes->items[i];

		if (!causes_touch(causes->items[0].finding, cause->finding) &&
		    (cause->verdict >= VERDICT_LIKELY || cause->consequence))
			view->others[view->nothers++] = cause;
	}
}

struct diagnosis_view diagnosis_facts(const struct diagnosis *diagnosis)
{
	struct diagnosis_view view = {
		.program = diagnosis->options->program,
		.argv = diagnosis->options->argv,
		.binary = diagnosis->options->loom == LOOM_BINARY,
		.tally = &diagnosis->tally,
		.plain = diagnosis->has_plain ? &diagnosis->plain : NULL,
		.always = diagnosis->always,
		.timing = diagnosis->timing,
		.interrupted = diagnosis->interrupted,
		.replays = diagnosis->replays.runs,
		.identical = diagnosis->replays.identical,
		.shortest = diagnosis->shortest,
		.story = diagnosis->has_story ? &diagnosis->retold.story : NULL,
		.atlas = &diagnosis->retold.atlas,
		.opinions = &diagnosis->opinions,
		.causes = &diagnosis->causes,
		.trail = &diagnosis->trail,
		.wall_s = diagnosis->wall_s,
	};
	bool write;

	view.last = trace_last(&diagnosis->trace, &view.last_thread, &write);
	choose_others(&diagnosis->causes, &view);
	return view;
}
