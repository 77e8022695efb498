/* Between the rooms of an armed program: armed.c, armed_doors.c. */
#ifndef PROCESS_ARMED_H
#define PROCESS_ARMED_H

#include "loom/runtime/runtime.h"

/* Doors lie in the memory file from `at` on; 0: there are none. */
HIDDEN void armed_doors_start(int file, uint32_t at);
/* An access of the rule's group is made, inside the locks that the thread has. */
HIDDEN void armed_doors_inside(uint32_t rule);
/* Was the rule's group entered before a lock? */
HIDDEN bool armed_doors_entered(uint32_t rule);
HIDDEN void armed_doors_left(uint32_t rule);

#endif
