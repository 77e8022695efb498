/* A small made-up world for tests of the store: programs on disk with site
 * tables, random runs of them, and a plain comparison of a run that was stored
 * with one that was read back.
 */
#ifndef TESTS_STORE_WORLD_H
#define TESTS_STORE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/run.h"
#include "store/store.h"

#define WORLD_PROGRAMS 3
#define WORLD_UNITS 4 /* of each program */

struct world {
	char folder[64]; /* temporary; the store goes into its folder "s" */
	char *store;
	char *programs[WORLD_PROGRAMS];
	uint32_t nsites[WORLD_PROGRAMS][WORLD_UNITS];
	uint64_t random;
};

void world_make(struct world *world, uint64_t seed);
void world_end(struct world *world); /* removes the folder */
uint64_t world_random(struct world *world);
uint64_t world_below(struct world *world, uint64_t limit);

/* A random run of up to `most` observations of each kind; the same for the same seed. */
void world_run(struct world *world, uint64_t seed, size_t most, struct run *out);
uint64_t world_unit_hash(size_t program, size_t unit);
uint64_t world_site_id(size_t program, size_t unit, uint32_t site);

/* The id of a site as the run numbers it (UINT64_MAX for SITE_NIL) and as the store does. */
uint64_t world_id(const struct observations *seen, uint32_t site);
uint64_t world_stored_id(struct store *store, uint32_t number);
/* Fails the test unless the store gives back run->number just as `run` is. */
void world_check_run(struct store *store, const struct run *run, uint64_t campaign);

/* Adds the runs of seeds first .. first + n - 1, which become the runs of these numbers. */
void world_add_runs(struct world *world, struct store *store, uint64_t first, uint64_t n, size_t most);
/* Runs 1 .. n that were so added are all there and whole. */
void world_check_runs(struct world *world, struct store *store, uint64_t n, size_t most);
/* Reads all there is; errors are fine, crashes are not. */
void world_read_all(struct store *store);

/* Fails the test with the error's message. */
void world_good(struct error *error);
/* Fails the test unless it is an error that says `word`. Frees it. */
void world_bad(struct error *error, const char *word);

struct store *world_open(struct world *world);
uint64_t world_campaign(struct store *store, const char *program);
char *world_read_file(const char *path, size_t *size);
void world_write_file(const char *path, const void *bytes, size_t size);
size_t world_files_in(const char *folder);
double world_seconds(void);
double world_cpu_seconds(void); /* of this process: steady on a busy machine */

/* Clocks mean little under a sanitizer. */
#if defined(__SANITIZE_ADDRESS__)
#define WORLD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WORLD_SANITIZED 1
#endif
#endif
#ifndef WORLD_SANITIZED
#define WORLD_SANITIZED 0
#endif

#endif
