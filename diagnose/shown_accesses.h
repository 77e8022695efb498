/* The shortest failing run, access by access: who did what there, and where it stood when
 * it ended. */
#ifndef DIAGNOSE_TRACE_H
#define DIAGNOSE_TRACE_H

#include "model/finding.h"
#include "model/atlas.h"
#include "model/run.h"

struct trace {
	const struct observations *run; /* with events; NULL: there is no trace */
	const struct atlas *atlas;      /* of the same run */
};

/* Names the threads of accesses whose thread is not known, by who did them last in the run;
 * neighbours are of different threads. */
void trace_name_threads(const struct trace *trace, struct finding *finding);

/* Names the heap blocks that the accesses are about, by where they were allocated (blocks.c). */
void trace_name_blocks(const struct trace *trace, struct finding *finding);
/* What the run knows of the accesses besides (told_accesses.c). */
void trace_name_accesses(const struct trace *trace, struct finding *finding);
/* Which locks the thread held at this event of the run (held_locks.c). */
void trace_take_locks(const struct trace *trace, struct finding_access *access, size_t event);
bool trace_is_access(const struct site *site, bool write, const struct finding_access *access);

/* The last access of the run, NULL when there is none; *thread may be NULL. */
const struct site *trace_last(const struct trace *trace, uint32_t *thread, bool *write);

#endif
