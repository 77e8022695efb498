/* Locks by the names that the source has for them. */
#ifndef REPORT_LOCK_WORDS_H
#define REPORT_LOCK_WORDS_H

#include "model/finding.h"
#include "report/excerpt.h"

/* What stands between the brackets of the call that takes the lock: "queue->lock" of
 * "pthread_mutex_lock(&queue->lock);". "" when the line tells nothing of that kind. */
char *lock_name_in(const char *line);

/* The lock's name, or "the lock taken at a.c:12". */
char *lock_words(const struct finding_lock *lock, struct excerpts *excerpts);

/* "queue.c:12", of a place. */
char *lock_place(const char *file, uint32_t line, const char *function);

/* The lock with this object that the access holds; NULL when it does not hold it. */
const struct finding_lock *lock_held(const struct finding_access *access, uint64_t object);
/* Are the locks of all accesses known? */
bool locks_all_known(const struct finding *finding);
/* Does any access of the finding hold a lock? */
bool locks_any(const struct finding *finding);

#endif
