/* The reference observer: what a run teaches, computed the slow and plain way
 * from the sequence of its accesses. It shares no code with loom/runtime, so
 * that the two can be held against each other (compare_trace.c).
 *
 * Every byte has a history of its own, which ends when the byte is forgotten. An
 * access is one event for each granule of 8 aligned bytes in it, in address order.
 *
 * Predecessor of an access by T: site of the last access by another thread.
 *
 * Pairs. A read by T after U's last write: write→read. A write by T: read→write
 * with the last read of every U that read since the last write; write→write with
 * the last write. U is never T. A pair is kept with its first occurrence.
 *
 * Edges. An access by T after U's last write: from U's site with the context of
 * that write to T's site and context. A context is the last events of its thread, a 1
 * before them; with eight events kept there is no 1, and a thread begins with 8 reads.
 * T's first read of a byte that nobody wrote: from null. A read is first when T has not
 * read the byte since its last write, unless T owns the byte: there are accesses since and
 * including the last write, and all of them are T's.
 *
 * Mail. Events sent to a thread wait, the last 8 at most, until it takes notice:
 * at the beginning of an event that is a first read of one of its bytes, or a write
 * to one that it does not own. All edges of an event, and its write, have the context
 * that T has then.
 *
 * Communication ends an event that is a first read of U's write, or writes over it:
 * T's context takes the local event, and the remote one is sent to U; once for each
 * U, in the order of their first bytes.
 *
 * Lines. In this mode edges and communication are between lines of 64 bytes, one
 * event for each line of an access, after those of its granules. There every write
 * and each first read takes notice, nobody owns a line, and lines are not
 * forgotten. Granules go on to take notice as above. */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "loom/area.h"

/* Each with the index of the event that showed it first. */
struct reference_pair {
	struct area_pair pair; /* without loops */
	size_t event;
};

struct reference_predecessor {
	uint32_t site, before;
	size_t event;
};

struct reference_edge {
	struct area_edge edge;
	size_t event;
};

struct reference_result {
	VEC(struct reference_pair) pairs;
	VEC(struct reference_predecessor) predecessors;
	VEC(struct reference_edge) edges;
};

/* What `n` events teach. The result is the caller's. */
void reference_observe(const struct area_options *options, const struct area_event *events, size_t n,
		       struct reference_result *out);
void reference_free(struct reference_result *result);

#endif
