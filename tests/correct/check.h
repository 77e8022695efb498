/* What the programs of this folder have in common: checks that end the program
 * with a sentence, and shorthands for threads. Each program is correct: whatever
 * the interleaving, also when time passes faster than usual, it prints the same
 * and ends with status 0. */
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(condition)                                                                          \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

#define EQUAL(value, expected)                                                                             \
	do {                                                                                               \
		long value_ = (long)(value), expected_ = (long)(expected);                                 \
		if (value_ != expected_) {                                                                 \
			fprintf(stderr, "%s:%d: %s is %ld, not %ld\n", __FILE__, __LINE__, #value, value_, \
				expected_);                                                                \
			abort();                                                                           \
		}                                                                                          \
	} while (0)

/* A call that returns -1 and sets errno. */
#define FAILS(call, error)           \
	do {                         \
		errno = 0;           \
		EQUAL(call, -1);     \
		EQUAL(errno, error); \
	} while (0)

static inline pthread_t start(void *(*routine)(void *), void *argument)
{
	pthread_t thread;
	EQUAL(pthread_create(&thread, NULL, routine, argument), 0);
	return thread;
}

static inline void *finish(pthread_t thread)
{
	void *value = NULL;
	EQUAL(pthread_join(thread, &value), 0);
	return value;
}

/* A point in time, some milliseconds from now; it may lie in the past. */
static inline struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec t;
	EQUAL(clock_gettime(clock, &t), 0);
	long long ns = t.tv_sec * 1000000000ll + t.tv_nsec + ms * 1000000ll;
	t.tv_sec = (time_t)(ns / 1000000000);
	t.tv_nsec = (long)(ns % 1000000000);
	return t;
}

static inline long long now_ns(clockid_t clock)
{
	struct timespec t;
	EQUAL(clock_gettime(clock, &t), 0);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

#endif
