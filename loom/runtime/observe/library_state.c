/* Where the functions of libc that are not for threads keep what they keep. `unsnarl cc` asks
 * here right before a call of one and hooks that memory. Of results the place is libc's own,
 * since the program reads there; it is found by a call whose result the one at hand overwrites. */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "model/library_state.h"

static void *own_place(uint32_t which)
{
	const time_t beginning = 0;
	const struct tm first_day = { .tm_mday = 1 };
	static char position[8] __attribute__((aligned(8))); /* stands for the one that libc hides */
	switch (which) {
	case STATE_TIME:
		return gmtime(&beginning);
	case STATE_DATE:
		return asctime(&first_day);
	default:
		return position;
	}
}

/* Guarded programs with hooks bring it twice. */
__attribute__((visibility("default"), weak)) void *unsnarl_library_state(uint32_t which)
{
	static void *known[LIBRARY_STATES];
	if (which >= LIBRARY_STATES)
		return NULL;
	void *place = __atomic_load_n(&known[which], __ATOMIC_RELAXED);
	if (!place) {
		place = own_place(which);
		__atomic_store_n(&known[which], place, __ATOMIC_RELAXED);
	}
	return place;
}
