/* One sentence for what happened, made from the accesses themselves: the threads, their order
 * and the variables in it are those of the picture. */
#ifndef REPORT_SENTENCE_H
#define REPORT_SENTENCE_H

#include "model/finding.h"

/* A fresh sentence; the finding's own summary for what has no accesses of memory, such as deadlocks. */
char *sentence_for(const struct finding *finding);

/* Threads that nobody knows get places of their own, as the pattern has them; lane[i] is the lane of access i, from 0.
 * Returns how many lanes there are. */
size_t sentence_lanes(const struct finding_accesses *accesses, size_t *lane);
/* "T1"; "one thread", "another thread" when it is not known. */
char *sentence_thread(const struct finding_accesses *accesses, size_t access);
/* "T2 write tickets.c:37, T1 read tickets.c:28": fresh, in the order of the list. */
char *sentence_accesses(const struct finding_accesses *accesses);

#endif
