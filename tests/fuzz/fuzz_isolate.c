/* The area in which runs tell isolate of their failure, with whatever a wild write left there. What is left of it
 * within its bounds is told as any answer. */
#include "tests/fuzz/fuzz.h"

#include "isolate/isolate.h"
#include "model/isolate_area.h"
#include "report/isolate_view.h"

/* A list of places in the area and what stands there. */
static void fill(struct isolate_area *area, struct fuzz *fuzz)
{
	while (fuzz_left(fuzz) > 4) {
		size_t at = (size_t)fuzz_number(fuzz, 3) * 4 % sizeof *area;
		size_t n = (size_t)fuzz_number(fuzz, 1);

		n = n < fuzz_left(fuzz) ? n : fuzz_left(fuzz);
		n = n < sizeof *area - at ? n : sizeof *area - at;
		memcpy((char *)area + at, fuzz->at, n);
		fuzz->at += n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct isolate_area area;
	static FILE *nowhere;
	struct fuzz fuzz = { data, data + size };
	struct isolation isolation = { .verdict = (enum isolate_verdict)(ISOLATE_ORDER +
									 fuzz_number(&fuzz, 1) % 6) };

	if (!nowhere && (!(nowhere = fopen("/dev/null", "w")) || !freopen("/dev/null", "w", stdout)))
		abort();
	memset(&area, 0, sizeof area);
	area.failure.nuses = 1;
	area.failure.uses[0].nhops = 1;
	fill(&area, &fuzz);
	isolate_area_bound(&area);
	memcpy(isolation.modules, area.modules, sizeof isolation.modules);
	struct isolate_step *step = VEC_PUSH(&isolation.steps);

	*step = (struct isolate_step){ .outcome = OUTCOME_SIGNAL, .code = 11, .failure = area.failure };
	step->used = area.met % (area.failure.nuses + 1);
	step->hop = area.stores % ISOLATE_HOPS;
	isolation_tell_root(&isolation);
	isolation_print(&isolation, "/bin/true", nowhere);
	isolation_json(&isolation, "/bin/true");
	isolation_free(&isolation);
	return 0;
}
