/* Logs of monitors in the field, as rank --deployed reads them. */
#include "tests/fuzz/fuzz.h"
#include "tests/store_world.h"

#include "analysis/bugaboo/deploy.h"
#include "base/memory.h"
#include "model/monitor_format.h"

static struct world made;
static struct store *store;

static void make(void)
{
	setenv("TMPDIR", "/dev/shm", 0);
	world_make(&made, 7);
	store = world_open(&made);
	world_add_runs(&made, store, 1, 2, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz = { data, data + size };
	struct monitor_block head = { .magic = MONITOR_LOG_MAGIC, .version = MONITOR_VERSION };
	struct fuzz_file file = fuzz_file(NULL, 0);
	struct deploy_log log = { 0 };

	if (!store)
		make();
	/* Blocks with a sound head; entries of hashes that the store knows. */
	for (uint64_t block = 0; block < 3 && fuzz_left(&fuzz) > 8; block++) {
		head.context = (uint32_t)fuzz_number(&fuzz, 1);
		head.nentries = (uint32_t)fuzz_number(&fuzz, 2);
		head.magic = fuzz_number(&fuzz, 1) == 255 ? 0 : MONITOR_LOG_MAGIC;
		size_t n = fuzz_number(&fuzz, 2) % 4096;

		n = n < fuzz_left(&fuzz) ? n : fuzz_left(&fuzz);
		struct monitor_entry entry = { .sink_unit = world_unit_hash(0, block), .state = 1 };
		off_t at = (off_t)(block * MONITOR_BLOCK);

		if (pwrite(file.fd, &head, sizeof head, at) < 0 ||
		    pwrite(file.fd, &entry, sizeof entry, at + (off_t)sizeof head) < 0 ||
		    pwrite(file.fd, fuzz.at, n, at + (off_t)(sizeof head + 8 + fuzz_number(&fuzz, 1) % 64)) <
			    0)
			abort();
		fuzz.at += n < fuzz_left(&fuzz) ? n : fuzz_left(&fuzz);
	}
	deploy_is_log(file.path);
	error_free(deploy_read_log(store, file.path, &log));
	deploy_log_free(&log);
	close(file.fd);
	return 0;
}
