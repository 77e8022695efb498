/* Finds the readable pages of a mapping by touching them: the handler jumps
   back out of the fault.  A second kind of thread is called off in the middle
   of its work by a signal whose handler jumps to the clean-up. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGES 24
#define PROBERS 3

static _Thread_local sigjmp_buf probe_env;
static _Thread_local volatile sig_atomic_t probing;
static _Thread_local sigjmp_buf stop_env;

static volatile char *area;
static long page;
static sem_t working;
static int readable[PROBERS];
static long called_off;

static void on_fault(int sig)
{
    if (!probing) {
        signal(sig, SIG_DFL);
        return;
    }
    siglongjmp(probe_env, 1);
}

static void on_stop(int sig)
{
    (void)sig;
    siglongjmp(stop_env, 1);
}

static int can_read(long i)
{
    volatile int ok = 0;

    if (sigsetjmp(probe_env, 1) == 0) {
        probing = 1;
        (void)area[i * page];
        ok = 1;
    }
    probing = 0;
    return ok;
}

static void *prober(void *arg)
{
    int me = (int)(long)arg;
    long i;

    for (i = 0; i < PAGES; i++)
        readable[me] += can_read((i + me * 5) % PAGES);
    return NULL;
}

/* SIGUSR2 is blocked but for the loop, so that stop_env is always valid when
   the handler runs; the jump restores the blocked mask. */
static void *endless(void *arg)
{
    struct timespec nap = { 0, 200000 };
    volatile unsigned long x = 1;
    sigset_t set;

    (void)arg;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    if (sigsetjmp(stop_env, 1) == 0) {
        sem_post(&working);
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        for (;;) {
            int i;

            for (i = 0; i < 2000; i++)
                x = x * 6364136223846793005ul + 1;
            nanosleep(&nap, NULL);
        }
    }
    called_off++;
    return NULL;
}

int main(void)
{
    struct sigaction sa;
    pthread_t p[PROBERS], e;
    sigset_t set;
    int i, good = 1, want = 0;

    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_fault;
    sigaction(SIGSEGV, &sa, NULL);
    sigaction(SIGBUS, &sa, NULL);
    sa.sa_handler = on_stop;
    sigaction(SIGUSR2, &sa, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sem_init(&working, 0, 0);

    page = sysconf(_SC_PAGESIZE);
    area = mmap(NULL, (size_t)(PAGES * page), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return 2;
    for (i = 0; i < PAGES; i++) {
        area[i * page] = (char)i;
        if (i % 3 == 1)
            mprotect((char *)area + i * page, (size_t)page, PROT_NONE);
        else
            want++;
    }
    pthread_create(&e, NULL, endless, NULL);
    for (i = 0; i < PROBERS; i++)
        pthread_create(&p[i], NULL, prober, (void *)(long)i);
    for (i = 0; i < PROBERS; i++) {
        pthread_join(p[i], NULL);
        good &= readable[i] == want;
    }
    while (sem_wait(&working) != 0)
        ;
    pthread_kill(e, SIGUSR2);
    pthread_join(e, NULL);
    printf("readable %d %d %d of %d, called off %ld\n", readable[0], readable[1],
           readable[2], want, called_off);
    return good && called_off == 1 ? 0 : 1;
}
