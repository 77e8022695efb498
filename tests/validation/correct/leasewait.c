/* Lease table driven by commands on standard input.  A sweeper thread sleeps
   until the earliest deadline on the monotonic clock and expires leases; the
   reader grants, renews and drops them.  At end of input the program waits
   until every lease has ended one way or the other. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAXLEASE 16

struct lease {
    char name[16];
    int live;
    struct timespec end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed, emptied;
static struct lease table[MAXLEASE];
static int live, closing;
static long granted, expired, dropped, late, early;

static void deadline_in(struct timespec *ts, long ms)
{
    clock_gettime(CLOCK_MONOTONIC, ts);
    ts->tv_sec += ms / 1000;
    ts->tv_nsec += ms % 1000 * 1000000L;
    if (ts->tv_nsec >= 1000000000L) {
        ts->tv_nsec -= 1000000000L;
        ts->tv_sec++;
    }
}

static int before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
                                  : a->tv_nsec < b->tv_nsec;
}

static struct lease *find(const char *name)
{
    int i;

    for (i = 0; i < MAXLEASE; i++)
        if (table[i].live && strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static void end_lease(struct lease *l, long *counter)
{
    l->live = 0;
    ++*counter;
    if (--live == 0)
        pthread_cond_signal(&emptied);
}

static void *sweeper(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (!closing) {
        struct lease *first = NULL;
        struct timespec now, until;
        int i;

        for (i = 0; i < MAXLEASE; i++)
            if (table[i].live && (!first || before(&table[i].end, &first->end)))
                first = &table[i];
        if (!first) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (!before(&now, &first->end)) {
            end_lease(first, &expired);
            continue;
        }
        until = first->end;
        if (pthread_cond_timedwait(&changed, &lock, &until) == ETIMEDOUT) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            if (before(&now, &until))
                early++;
        }
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void command(const char *verb, const char *name, long ms)
{
    struct lease *l;
    int i;

    pthread_mutex_lock(&lock);
    l = find(name);
    if (strcmp(verb, "grant") == 0 && !l) {
        for (i = 0; i < MAXLEASE && table[i].live; i++)
            ;
        if (i < MAXLEASE) {
            l = &table[i];
            snprintf(l->name, sizeof l->name, "%s", name);
            l->live = 1;
            live++;
            granted++;
            deadline_in(&l->end, ms);
            pthread_cond_signal(&changed);
        }
    } else if (!l) {
        late++;                 /* ended before the command came */
    } else if (strcmp(verb, "renew") == 0) {
        deadline_in(&l->end, ms);
        pthread_cond_signal(&changed);
    } else if (strcmp(verb, "drop") == 0) {
        end_lease(l, &dropped);
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    char text[128], verb[16], name[16];
    pthread_condattr_t ca;
    struct timespec grace, now;
    pthread_t th;
    int rc = 0;
    long ms;

    pthread_condattr_init(&ca);
    pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &ca);
    pthread_cond_init(&emptied, &ca);
    pthread_create(&th, NULL, sweeper, NULL);
    while (fgets(text, sizeof text, stdin)) {
        ms = 1;
        if (sscanf(text, "%15s %15s %ld", verb, name, &ms) >= 2)
            command(verb, name, ms);
    }
    pthread_mutex_lock(&lock);
    while (live > 0)
        pthread_cond_wait(&emptied, &lock);
    /* Grace period: nobody signals, so this always runs to its end. */
    deadline_in(&grace, 4);
    while (rc == 0)
        rc = pthread_cond_timedwait(&emptied, &lock, &grace);
    clock_gettime(CLOCK_MONOTONIC, &now);
    closing = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(th, NULL);
    printf("granted %ld, ended %ld, early %ld\n", granted, expired + dropped, early);
    return rc == ETIMEDOUT && !before(&now, &grace) && early == 0 &&
           granted == expired + dropped ? 0 : 1;
}
