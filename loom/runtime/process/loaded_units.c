/* Compiled units announce themselves from a constructor: each gets a range of
 * site numbers, and the run area learns which ELF file holds its table. */
#include "loom/runtime/process/process.h"

#include <dlfcn.h> /* dladdr */
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/unit_format.h" /* ids stand in the unit tables */

static HOT pthread_mutex_t units_lock = PTHREAD_MUTEX_INITIALIZER;
static HOT uint32_t next_site = 1;

/* Where the tables of announced units lie, in order of their numbers: for the ids of sites. */
static HOT struct {
	uint32_t first, nsites;
	const void *table;
} *unit_tables;
static HOT uint32_t nunit_tables;

uint64_t units_site_id(uint32_t site)
{
	uint32_t low = 0, high = nunit_tables;
	while (low < high) { /* the last unit that does not begin behind the site */
		uint32_t middle = (low + high) / 2;
		if (unit_tables[middle].first <= site)
			low = middle + 1;
		else
			high = middle;
	}
	if (!site || !low || site - unit_tables[low - 1].first >= unit_tables[low - 1].nsites)
		return 0;
	const struct unit_site *sites =
		(const void *)((const struct unit_header *)unit_tables[low - 1].table + 1);
	return sites[site - unit_tables[low - 1].first].id;
}

static void keep_table(const struct unit_descriptor *unit)
{
	if (!runtime.controlled)
		return;
	uint32_t first = (uint32_t)(unit->first >> WORD_SITE_SHIFT);
	for (uint32_t i = 0; i < nunit_tables; i++)
		if (unit_tables[i].first == first) { /* loaded again, elsewhere */
			unit_tables[i].table = unit->table;
			return;
		}
	unit_tables[nunit_tables].first = first;
	unit_tables[nunit_tables].nsites = (uint32_t)unit->nsites;
	unit_tables[nunit_tables++].table = unit->table;
}

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

/* The program's file; a fork server finds it once for all runs. */
static char program_path[PATH_MAX];

void units_find_program(void)
{
	ssize_t n = readlink("/proc/self/exe", program_path, sizeof program_path - 1);
	program_path[n > 0 ? n : 0] = '\0';
}

/* The image that holds a unit. */
struct image {
	const void *base; /* NULL = not known */
	const char *path; /* absolute, since the program may change folder */
};

static uint64_t program_low, program_high; /* where the program's own image lies, */
static uint64_t program_bias;              /* and by how much it was moved */

static void find_program_image(void)
{
	const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	uint64_t n = getauxval(AT_PHNUM), bias = 0, low = UINT64_MAX, high = 0;
	for (uint64_t i = 0; segments && i < n; i++) {
		const ElfW(Phdr) *segment = &segments[i];
		if (segment->p_type == PT_PHDR)
			bias = (uint64_t)segments - segment->p_vaddr;
		if (segment->p_type != PT_LOAD)
			continue;
		low = segment->p_vaddr < low ? segment->p_vaddr : low;
		high = segment->p_vaddr + segment->p_memsz > high ? segment->p_vaddr + segment->p_memsz
								  : high;
	}
	if (low < high) {
		program_low = (bias + low) & ~4095ull;
		program_high = bias + high;
		program_bias = bias;
	}
}

void units_prepare(void)
{
	unit_tables = runtime_map(0, sizeof *unit_tables * AREA_UNITS);
	find_program_image();
}

static struct image image_of(const void *place)
{
	static char other_path[PATH_MAX];
	Dl_info found;
	struct image image = { .base = (const void *)program_low, .path = program_path };
	/* The program itself is known without a look at all that is loaded, which touches many pages. */
	if ((uint64_t)place - program_low >= program_high - program_low) {
		if (!dladdr(place, &found))
			return (struct image){ .path = "" };
		image.base = found.dli_fbase;
		if (realpath(found.dli_fname, other_path))
			image.path = other_path;
	}
	if (image.path == program_path && !program_path[0])
		units_find_program();
	return image;
}

uint32_t units_place(const void *code, uint32_t *path)
{
	const struct area_process *process = runtime.process;
	struct image image = image_of(code);
	uint64_t bias = image.path == program_path ? program_bias : (uint64_t)image.base;
	for (uint32_t i = 0; i < process->nunits && i < AREA_UNITS; i++)
		if (strcmp(process->paths + process->units[i].path, image.path) == 0) {
			*path = process->units[i].path + 1;
			return (uint64_t)code - bias <= UINT32_MAX ? (uint32_t)((uint64_t)code - bias) : 0;
		}
	return 0;
}

/* The variables of a newly loaded image: what was mapped there before is gone. */
static int forget_variables(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	struct thread *self = unsnarl_self;
	if ((void *)info->dlpi_addr != base || self == &unsnarl_nobody || self->held)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W))
			runtime_forget(self, info->dlpi_addr + segment->p_vaddr, segment->p_memsz, false);
	}
	return 1;
}

/* The number of a unit that was here before, loaded from the same file; 0 when it is new. */
static uint32_t known_number(const struct unit_descriptor *unit, const char *path)
{
	const struct area_process *process = runtime.process;
	for (uint32_t i = 0; i < process->nunits && i < AREA_UNITS; i++)
		if (process->units[i].hash == unit->hash &&
		    strcmp(process->paths + process->units[i].path, path) == 0)
			return process->units[i].first;
	return 0;
}

static void announce(struct unit_descriptor *unit)
{
	static HOT const void *last_image;
	struct area_process *process = runtime.process;
	struct image image = image_of(unit->table);
	uint32_t first = known_number(unit, image.path);
	/* Nothing has a history at the very beginning. */
	bool begins = !process->nunits && process->created == 1 && unsnarl_self->order == 0;
	if (image.base && !begins && (first || image.base != last_image))
		dl_iterate_phdr(forget_variables, (void *)(uintptr_t)image.base);
	last_image = image.base;
	if (first) {
		unit->first = (uint64_t)first << WORD_SITE_SHIFT;
		keep_table(unit);
		return;
	}
	if (unit->nsites + next_site > WORD_SITE_MASK || process->nunits >= AREA_UNITS)
		runtime_die("the program has more than four million sites or 16384 source files");
	unit->first = (uint64_t)next_site << WORD_SITE_SHIFT;
	keep_table(unit);
	process->units[process->nunits] = (struct area_unit){ .hash = unit->hash,
							      .first = next_site,
							      .nsites = (uint32_t)unit->nsites,
							      .path = note_path(image.path) };
	next_site += (uint32_t)unit->nsites;
	__atomic_store_n(&process->units[process->nunits].state, AREA_VALID, __ATOMIC_RELEASE);
	process->nunits++;
}

void units_forget_memos(uint32_t slot)
{
	uint64_t memos = (uint64_t)next_site * MEMOS_PER_SITE * sizeof(struct memo);
	madvise((char *)MEMOS_START + slot * MEMOS_SIZE, (memos + 4095) & ~4095ull, MADV_DONTNEED);
}

void units_forget_marks(void)
{
	madvise((char *)MARKS_START, (next_site + 4095ull) & ~4095ull, MADV_DONTNEED);
	madvise((char *)PASSES_START, (next_site + 4095ull) & ~4095ull, MADV_DONTNEED);
}

EXPORT void unsnarl_unit(struct unit_descriptor *unit)
{
	runtime_serve(); /* before the first constructor of anything that has hooks */
	if (!runtime.active)
		return;
	pthread_mutex_lock(&units_lock);
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
