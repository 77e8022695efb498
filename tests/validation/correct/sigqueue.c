/* All signals are blocked in every thread; one thread takes queued
   real-time signals with sigwaitinfo, and a SIGTERM asks it to end. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define NSEND 3
#define EACH 8

static sigset_t set;
static long sum;
static int got, term;

static void *taker(void *arg)
{
    siginfo_t si;

    (void)arg;
    while (!term || got < NSEND * EACH) {
        int s = sigwaitinfo(&set, &si);
        if (s < 0) {
            if (errno == EINTR)
                continue;
            return (void *)1;
        }
        if (s == SIGTERM)
            term = 1;
        else if (s == SIGRTMIN) {
            sum += si.si_value.sival_int;
            got++;
        }
    }
    return NULL;
}

static void *sender(void *arg)
{
    int base = *(int *)arg, i;

    for (i = 0; i < EACH; i++) {
        union sigval v;
        v.sival_int = base + i;
        while (sigqueue(getpid(), SIGRTMIN, v) != 0) {
            if (errno != EAGAIN)
                return (void *)1;
            sched_yield();
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t t, s[NSEND];
    int base[NSEND], i;
    long bad = 0;
    void *r;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, taker, NULL);
    for (i = 0; i < NSEND; i++) {
        base[i] = 100 * i;
        pthread_create(&s[i], NULL, sender, &base[i]);
    }
    for (i = 0; i < NSEND; i++) {
        pthread_join(s[i], &r);
        bad += (long)r;
    }
    kill(getpid(), SIGTERM);
    pthread_join(t, &r);
    bad += (long)r;
    printf("got %d, sum %ld, bad %ld\n", got, sum, bad);
    return got == NSEND * EACH && sum == 2484 && bad == 0 ? 0 : 1;
}
