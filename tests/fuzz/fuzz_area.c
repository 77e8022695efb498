/* Run areas, written by a process that may have crashed or been hostile. The input is
 * a list of places in the file and what stands there. */
#include "tests/fuzz/fuzz.h"

#include "loom/area.h"
#include "loom/harvest.h"

/* Where something stands that is worth changing; a few bytes further on are as good. */
static const uint64_t places[] = {
	0,
	AREA_PROCESS_OFFSET(0),
	AREA_PROCESS_OFFSET(1),
	AREA_PROCESS_OFFSET(0) + offsetof(struct area_process, paths),
	AREA_PROCESS_OFFSET(0) + offsetof(struct area_process, units),
	AREA_PROCESS_OFFSET(0) + offsetof(struct area_process, pairs),
	AREA_PROCESS_OFFSET(0) + offsetof(struct area_process, predecessors),
	AREA_PROCESS_OFFSET(0) + offsetof(struct area_process, edges),
	AREA_PROCESS_OFFSET(0) + offsetof(struct area_process, events),
	AREA_PROCESS_OFFSET(0) + offsetof(struct area_process, couples),
	AREA_SCHEDULE_OFFSET,
	AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, waits),
	AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, uncontrolled),
	AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, turns),
};

/* Counts stay small enough for many inputs a second: how large ones are bounded is the unit tests'. */
static void keep_small(int fd, uint64_t place)
{
	uint32_t count = 0;

	if (pread(fd, &count, sizeof count, (off_t)place) != sizeof count)
		abort();
	count %= 4096;
	if (pwrite(fd, &count, sizeof count, (off_t)place) != sizeof count)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz = { data, data + size };
	struct area_head head = { .magic = AREA_MAGIC, .version = AREA_VERSION, .processes = 1 };
	struct fuzz_file file = fuzz_file(&head, sizeof head);
	struct observations seen = { 0 };
	struct schedule schedule = { 0 };
	uint32_t end;

	if (ftruncate(file.fd, (off_t)AREA_SIZE) < 0)
		abort();
	while (fuzz_left(&fuzz) > 4) {
		uint64_t place = places[fuzz_number(&fuzz, 1) % (sizeof places / sizeof *places)];
		uint64_t offset = fuzz_number(&fuzz, 2) * 4;
		size_t n = fuzz_number(&fuzz, 1) % 128;

		n = n < fuzz_left(&fuzz) ? n : fuzz_left(&fuzz);
		if (pwrite(file.fd, fuzz.at, n, (off_t)(place + offset)) != (ssize_t)n)
			abort();
		fuzz.at += n;
	}
	keep_small(file.fd, AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, nturns));
	struct error *error = harvest(file.fd, &seen);

	if (!error)
		observations_free(&seen);
	error_free(error);
	error = harvest_schedule(file.fd, &schedule, &end);
	if (!error)
		schedule_free(&schedule);
	error_free(error);
	close(file.fd);
	return 0;
}
