/* Pauses that make a fault come, in builds with -DTRIGGER alone. */
#ifdef TRIGGER
#include <time.h>
#define PAUSE(ms) nanosleep(&(struct timespec){ 0, (ms) * 1000000L }, NULL)
#else
#define PAUSE(ms) (void)0
#endif
