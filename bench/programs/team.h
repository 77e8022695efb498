/* What the benchmark programs share: reading a numeric option, starting a team
 * of threads and waiting for it, dividing work, repeatable random numbers.
 * Included once by each program, so that every program stays one file to build.
 * A failure here ends the process: a team that is not complete would leave the
 * others at a barrier, and a thread that was not created must not be joined. */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEAM_DEFAULT = 4, TEAM_MAX = 64 };

/* Prints a sentence and ends the process with status 2. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void team_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

/* The value of option -`letter` as a number in [low, high]; dies otherwise. */
static inline unsigned team_number(char letter, const char *text, unsigned low, unsigned high)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || value < low || value > high) {
        team_die("option -%c wants a number from %u to %u, not '%s'", letter, low, high, text);
    }
    return (unsigned)value;
}

/* Memory for `count` elements, aligned to a cache line, not cleared. */
static inline void *team_alloc(size_t count, size_t size)
{
    size_t bytes = (count * size + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);
    if (!memory) {
        team_die("no memory for %zu bytes", bytes);
    }
    return memory;
}

static inline void team_barrier_init(pthread_barrier_t *barrier, unsigned size)
{
    int rc = pthread_barrier_init(barrier, NULL, size);
    if (rc != 0) {
        team_die("cannot make a barrier: %s", strerror(rc));
    }
}

static inline void team_start(pthread_t *thread, void *(*body)(void *), void *arg)
{
    int rc = pthread_create(thread, NULL, body, arg);
    if (rc != 0) {
        team_die("cannot start a thread: %s", strerror(rc));
    }
}

static inline void team_join(pthread_t thread)
{
    int rc = pthread_join(thread, NULL);
    if (rc != 0) {
        team_die("cannot join a thread: %s", strerror(rc));
    }
}

struct team_member {
    pthread_t thread;
    unsigned self;
    void (*work)(unsigned self);
};

static inline void *team_member_body(void *arg)
{
    struct team_member *member = arg;
    member->work(member->self);
    return NULL;
}

/* Runs work(0) to work(size - 1), each in a thread of its own, and waits. */
static inline void team_run(unsigned size, void (*work)(unsigned self))
{
    struct team_member members[TEAM_MAX];
    for (unsigned i = 0; i < size; i++) {
        members[i].self = i;
        members[i].work = work;
        team_start(&members[i].thread, team_member_body, &members[i]);
    }
    for (unsigned i = 0; i < size; i++) {
        team_join(members[i].thread);
    }
}

/* Where the share of member `self` begins when `total` is divided among `size`;
 * it ends where the next one begins. */
static inline size_t team_share(size_t total, unsigned self, unsigned size)
{
    return total * self / size;
}

/* A well mixed function of `x` (the finaliser of SplitMix64): a random number
 * that any thread can compute for any index without shared state. */
static inline uint64_t team_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/* As above, uniform in [-1, 1). */
static inline double team_mix_real(uint64_t x)
{
    return (double)(team_mix(x) >> 11) * 0x1p-52 - 1.0;
}

#endif
