/* The sites of the files that a run has loaded, by number and by id: what turns
 * a schedule or a trace into source lines without a store. */
#ifndef MODEL_ATLAS_H
#define MODEL_ATLAS_H

#include "base/hash.h"
#include "model/run.h"
#include "model/site.h"
#include "model/symbols.h"

struct atlas {
	struct unit *units;
	size_t nunits;
	struct map by_hash;           /* to the index of the unit */
	const struct site **numbered; /* by the run's number; NULL = not known */
	size_t nnumbered;
	struct map by_id;        /* to the address of the site */
	struct symbols *symbols; /* NULL until a place must be looked up */
};

/* Reads what can be read; a file that is gone or has changed is left out. */
void atlas_read(struct atlas *atlas, const struct observations *observations);
/* Only one file: then there are ids but no numbers. */
void atlas_read_file(struct atlas *atlas, const char *path);
/* Gives the sites of another run the numbers that they have here, so that the two can be compared: runs on the
 * binary loom number them as they come. What is not known here is added behind. `other` is the run's own atlas. */
void atlas_number_alike(struct atlas *atlas, struct observations *run, struct atlas *other);
const struct site *atlas_number(const struct atlas *atlas, uint32_t number);
/* As schedule_lookup. */
const struct site *atlas_find(void *atlas, uint64_t id);
void atlas_free(struct atlas *atlas);

#endif
