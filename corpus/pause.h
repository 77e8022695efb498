/* PAUSE(ms): nothing in a normal build; with -DTRIGGER a sleep that holds a
 * thread at this point long enough for the declared failure to happen. It
 * shares its line with the statement before it so that both builds have the
 * same line numbers. */
#ifndef CORPUS_PAUSE_H
#define CORPUS_PAUSE_H

#if defined TRIGGER && defined __cplusplus
#include <chrono>
#include <thread>
#define PAUSE(ms) std::this_thread::sleep_for(std::chrono::milliseconds(ms))
#elif defined TRIGGER
#include <time.h>
#define PAUSE(ms) nanosleep(&(struct timespec){.tv_sec = (ms) / 1000, .tv_nsec = (ms) % 1000 * 1000000L}, NULL)
#else
#define PAUSE(ms) ((void)0)
#endif

#endif
