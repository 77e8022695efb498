/* Compiled units announce themselves from a constructor: each gets a range of
 * site numbers, and the run area learns which ELF file holds its table. */
#include "loom/runtime/runtime.h"

#include <dlfcn.h> /* dladdr */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Laid out by loom/compile/table.c. */
struct unit_descriptor {
	uint64_t hash;
	uint64_t nsites;
	uint64_t first; /* set here: number of its first site << WORD_SITE_SHIFT */
	void *table;    /* inside the ELF image that holds it */
};

static pthread_mutex_t units_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_site = 1;

static uint32_t note_path(const char *path)
{
	struct area_process *process = runtime.process;
	size_t size = strlen(path) + 1;
	/* Units of one image come one after the other: the last path is mostly the same. */
	if (process->nunits) {
		uint32_t last = process->units[process->nunits - 1].path;
		if (strcmp(process->paths + last, path) == 0)
			return last;
	}
	if (process->path_bytes + size > AREA_PATH_BYTES)
		return 0;
	uint32_t at = process->path_bytes;
	memcpy(process->paths + at, path, size);
	process->path_bytes += (uint32_t)size;
	return at;
}

/* The file of the image that holds `address`, absolute, since the program may change folder. */
static void image_path(const void *address, char path[PATH_MAX])
{
	Dl_info info;
	if (!dladdr(address, &info))
		return;
	bool main_image = (getauxval(AT_PHDR) & ~4095ull) == (uint64_t)info.dli_fbase;
	if (main_image || !realpath(info.dli_fname, path)) {
		ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
		path[n > 0 ? n : 0] = '\0';
	}
}

static void announce(const struct unit_descriptor *unit)
{
	struct area_process *process = runtime.process;
	char path[PATH_MAX] = "";
	image_path(unit->table, path);
	if (process->nunits >= AREA_UNITS) {
		observe_dropped();
		return;
	}
	struct area_unit entry = {.hash = unit->hash,
				  .first = (uint32_t)(unit->first >> WORD_SITE_SHIFT),
				  .nsites = (uint32_t)unit->nsites,
				  .path = note_path(path)};
	process->units[process->nunits] = entry;
	__atomic_store_n(&process->units[process->nunits].state, AREA_VALID, __ATOMIC_RELEASE);
	process->nunits++;
}

EXPORT void unsnarl_unit(struct unit_descriptor *unit)
{
	pthread_mutex_lock(&units_lock);
	if (unit->nsites + next_site > WORD_SITE_MASK)
		runtime_die("the program has more than four million sites");
	unit->first = (uint64_t)next_site << WORD_SITE_SHIFT;
	next_site += (uint32_t)unit->nsites;
	if (runtime.active)
		announce(unit);
	pthread_mutex_unlock(&units_lock);
}

/* The child has the same units under the same numbers. */
void units_copy(struct area_process *to, const struct area_process *from)
{
	uint32_t n = from->nunits < AREA_UNITS ? from->nunits : AREA_UNITS;
	memcpy(to->units, from->units, n * sizeof *to->units);
	memcpy(to->paths, from->paths, from->path_bytes);
	to->path_bytes = from->path_bytes;
	to->nunits = n;
}

void units_after_fork(void)
{
	pthread_mutex_init(&units_lock, NULL);
}
