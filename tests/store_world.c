/* Programs, random runs and comparisons for the tests of the store. */
#include "tests/store_world.h"

#include <dirent.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "model/unit_format.h"

uint64_t world_random(struct world *world)
{
	world->random ^= world->random << 13;
	world->random ^= world->random >> 7;
	world->random ^= world->random << 17;
	return world->random;
}

uint64_t world_below(struct world *world, uint64_t limit)
{
	return world_random(world) % limit;
}

uint64_t world_unit_hash(size_t program, size_t unit)
{
	return (program * WORLD_UNITS + unit + 1) * 0x9e3779b97f4a7c15u;
}

uint64_t world_site_id(size_t program, size_t unit, uint32_t site)
{
	return (uint64_t)(program * WORLD_UNITS + unit + 1) << 32 | site;
}

static size_t make_table(unsigned char *out, size_t program, size_t unit, uint32_t nsites)
{
	struct unit_header header = { .magic = UNIT_MAGIC, .version = UNIT_VERSION, .nsites = nsites };
	char strings[64] = "";
	int length = snprintf(strings + 1, sizeof strings - 1, "f%zu%c/src/p%zu/u%zu.c%cv", unit, 0, program,
			      unit, 0);
	uint32_t file = 4; /* behind "", "fN" */

	header.hash = world_unit_hash(program, unit);
	header.strings = (uint32_t)(sizeof header + nsites * sizeof(struct unit_site));
	header.size = (header.strings + (uint32_t)length + 2 + 15) / 16 * 16;
	memset(out, 0, header.size);
	memcpy(out, &header, sizeof header);
	for (uint32_t i = 0; i < nsites; i++) {
		struct unit_site site = {
			.id = world_site_id(program, unit, i),
			.line = 10 + i / 2,
			.column = i % 2 + 1,
			.size = 4,
			.function = 1,
			.file = file,
			.kind = SITE_READ + i % 4,
		};

		memcpy(out + sizeof header + i * sizeof site, &site, sizeof site);
	}
	memcpy(out + header.strings, strings, (size_t)length + 1);
	return header.size;
}

/* The least ELF file that holds a section with the tables. */
static void make_program(struct world *world, size_t program)
{
	static const char names[] = "\0.shstrtab\0" UNIT_SECTION;
	_cleanup_free_ unsigned char *file = memory_alloc(1 << 20);
	Elf64_Ehdr elf = { .e_ident = ELFMAG, .e_ehsize = sizeof elf, .e_shentsize = sizeof(Elf64_Shdr) };
	size_t at = sizeof elf, start = at;

	for (size_t unit = 0; unit < WORLD_UNITS; unit++)
		at += make_table(file + at, program, unit, world->nsites[program][unit]);
	Elf64_Shdr sections[3] = {
		[1] = { .sh_name = 11, .sh_type = SHT_PROGBITS, .sh_offset = start, .sh_size = at - start },
		[2] = { .sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = sizeof names },
	};

	memcpy(file + at, names, sizeof names);
	at = (at + sizeof names + 15) / 16 * 16;
	memcpy(file + at, sections, sizeof sections);
	elf.e_ident[EI_CLASS] = ELFCLASS64;
	elf.e_ident[EI_DATA] = ELFDATA2LSB;
	elf.e_shoff = at;
	elf.e_shnum = 3;
	elf.e_shstrndx = 2;
	memcpy(file, &elf, sizeof elf);
	world->programs[program] = memory_format("%s/program%zu", world->folder, program);
	world_write_file(world->programs[program], file, at + sizeof sections);
}

void world_make(struct world *world, uint64_t seed)
{
	const char *temporary = getenv("TMPDIR");

	*world = (struct world){ .random = seed * 2 + 1 };
	snprintf(world->folder, sizeof world->folder, "%.40s/test_store.XXXXXX",
		 temporary ? temporary : "/tmp");
	assert_non_null(mkdtemp(world->folder));
	world->store = memory_format("%s/s", world->folder);
	for (size_t program = 0; program < WORLD_PROGRAMS; program++) {
		for (size_t unit = 0; unit < WORLD_UNITS; unit++)
			world->nsites[program][unit] = unit == 2 ? 0 : (uint32_t)world_below(world, 200) + 2;
		make_program(world, program);
	}
}

static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		_cleanup_free_ char *name = memory_format("%s/%s", path, entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlink(name))
			remove_folder(name);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

void world_end(struct world *world)
{
	remove_folder(world->folder);
	for (size_t i = 0; i < WORLD_PROGRAMS; i++)
		free(world->programs[i]);
	free(world->store);
}

/* Sites of the run: units of the first program and perhaps others, in any order. */
static uint32_t random_units(struct world *world, struct observations *out)
{
	uint32_t next = 0;

	out->units = memory_alloc(WORLD_PROGRAMS * WORLD_UNITS * sizeof *out->units);
	for (size_t program = 0; program < WORLD_PROGRAMS; program++)
		for (size_t unit = 0; unit < WORLD_UNITS && (!program || world_below(world, 2)); unit++) {
			size_t at = world_below(world, out->nunits + 1);

			out->units[out->nunits++] = out->units[at];
			out->units[at] = (struct run_unit){
				.hash = world_unit_hash(program, unit),
				.nsites = world->nsites[program][unit],
				.path = memory_string(world->programs[program]),
			};
		}
	for (size_t i = 0; i < out->nunits; i++) {
		out->units[i].first = next;
		next += out->units[i].nsites;
	}
	return next;
}

/* Mostly small, at times anything. */
static uint64_t random_number(struct world *world)
{
	switch (world_below(world, 8)) {
	case 0:
		return world_random(world);
	case 1:
		return UINT64_MAX - world_below(world, 3);
	default:
		return world_below(world, 1000);
	}
}

static struct loop_point random_loop(struct world *world, uint32_t nsites)
{
	if (world_below(world, 2))
		return (struct loop_point){ .site = LOOP_NONE };
	return (struct loop_point){ (uint32_t)world_below(world, nsites), random_number(world),
				    random_number(world) };
}

static uint32_t random_thread(struct world *world)
{
	return world_below(world, 20) ? (uint32_t)world_below(world, 4) : (uint32_t)world_random(world);
}

static bool same_pair(const struct pair *a, const struct pair *b)
{
	return a->kind == b->kind && a->head_site == b->head_site && a->tail_site == b->tail_site &&
	       a->head_thread == b->head_thread && a->tail_thread == b->tail_thread;
}

static void random_pairs(struct world *world, size_t n, uint32_t nsites, struct observations *out)
{
	uint64_t heap = 0x550000000000 + (world_below(world, 1 << 28) << 12),
		 stack = 0x7f0000000000 + heap / 7;

	out->pairs = memory_alloc(n * sizeof *out->pairs);
	for (size_t i = 0; i < n; i++) {
		struct pair *pair = &out->pairs[out->npairs];

		*pair = (struct pair){
			.kind = (enum pair_kind)(1 + world_below(world, 3)),
			.head_site = (uint32_t)world_below(world, nsites),
			.tail_site = (uint32_t)world_below(world, nsites),
			.head_thread = random_thread(world),
			.tail_thread = random_thread(world),
			.head_order = random_number(world),
			.tail_order = random_number(world),
			.address = world_below(world, 9)
					   ? (i % 3 ? heap : stack) + world_below(world, 100) * 4
					   : world_random(world),
			.head_loop = random_loop(world, nsites),
			.tail_loop = random_loop(world, nsites),
		};
		size_t before = 0;

		while (before < out->npairs && !same_pair(&out->pairs[before], pair))
			before++;
		out->npairs += before == out->npairs;
	}
}

static void random_sets(struct world *world, size_t npredecessors, size_t nedges, uint32_t nsites,
			struct observations *out)
{
	out->predecessors = memory_alloc(npredecessors * sizeof *out->predecessors);
	for (size_t i = 0; i < npredecessors; i++)
		out->predecessors[out->npredecessors++] = (struct predecessor){
			(uint32_t)world_below(world, nsites),
			world_below(world, 4) ? (uint32_t)world_below(world, nsites) : SITE_NIL,
		};
	out->edges = memory_alloc(nedges * sizeof *out->edges);
	for (size_t i = 0; i < nedges; i++) {
		bool nil = world_below(world, 4) == 0;

		out->edges[out->nedges++] = (struct edge){
			.source = nil ? SITE_NIL : (uint32_t)world_below(world, nsites),
			.sink = (uint32_t)world_below(world, nsites),
			.source_context = nil ? 0 : (uint16_t)world_random(world),
			.sink_context = (uint16_t)world_random(world),
			.write = world_below(world, 2),
		};
	}
}

static char *random_text(struct world *world, size_t most)
{
	size_t length = world_below(world, most);
	char *text = memory_alloc(length + 1);
	unsigned spread = world_below(world, 2) ? 255 : 4; /* noise, or something to compress */

	for (size_t i = 0; i < length; i++)
		text[i] = (char)(1 + world_below(world, spread));
	return text;
}

void world_run(struct world *world, uint64_t seed, size_t most, struct run *out)
{
	uint64_t saved = world->random;

	world->random = seed * 0x9e3779b97f4a7c15u + 1;
	world_random(world);
	*out = (struct run){
		.outcome = (enum outcome)(1 + world_below(world, 3)),
		.code = (int)world_below(world, 256) - 100,
		.label = (enum label)(1 + world_below(world, 2)),
		.reason = world_below(world, 5) ? random_text(world, 40) : NULL,
		.wall_s = (double)world_random(world) / 1e9,
		.cpu_s = (double)world_below(world, 1000000) / 1e6,
		.peak_kib = world_random(world),
		.started = (int64_t)world_random(world),
		.jitter_us = (uint32_t)world_random(world),
		.output = world_below(world, 3) ? NULL : random_text(world, 5000),
	};
	struct observations *seen = &out->observations;
	uint32_t nsites = random_units(world, seen);

	random_pairs(world, world_below(world, most + 1), nsites, seen);
	random_sets(world, world_below(world, most + 1), world_below(world, most + 1), nsites, seen);
	seen->nthreads = (uint32_t)world_random(world);
	seen->nprocesses = (uint32_t)world_below(world, 5);
	seen->dropped = world_random(world);
	seen->accesses = world_random(world);
	world->random = saved;
}

void world_good(struct error *error)
{
	if (error)
		fail_msg("%s", error->message);
}

void world_bad(struct error *error, const char *word)
{
	assert_non_null(error);
	if (!strstr(error->message, word))
		fail_msg("expected \"%s\" in: %s", word, error->message);
	error_free(error);
}

struct store *world_open(struct world *world)
{
	struct store *store;

	world_good(store_open(world->store, true, &store));
	return store;
}

uint64_t world_campaign(struct store *store, const char *program)
{
	char *const arguments[] = { "-x", "", "a b", NULL };
	uint64_t number;

	world_good(store_campaign(store, program, arguments, 0xfedcba9876543210u, &number));
	return number;
}

char *world_read_file(const char *path, size_t *size)
{
	_cleanup_fclose_ FILE *file = fopen(path, "rb");
	char *bytes = memory_alloc(16 << 20);

	assert_non_null(file);
	*size = fread(bytes, 1, 16 << 20, file);
	return bytes;
}

void world_write_file(const char *path, const void *bytes, size_t size)
{
	_cleanup_fclose_ FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
}

size_t world_files_in(const char *path)
{
	DIR *folder = opendir(path);
	size_t n = 0;

	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));)
		n += entry->d_name[0] != '.';
	closedir(folder);
	return n;
}

static double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double world_seconds(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

double world_cpu_seconds(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}
