#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define NTICKS 5

struct job {
    unsigned long spins;
    int ticks_seen;
};

static volatile sig_atomic_t ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long shared_spins;

static void on_alarm(int sig)
{
    (void)sig;
    ticks++;
}

static int arm(long usec)
{
    struct sigaction sa;
    struct itimerval it;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_alarm;
    sigemptyset(&sa.sa_mask);
    sigaction(SIGALRM, &sa, NULL);
    memset(&it, 0, sizeof it);
    it.it_interval.tv_usec = usec;
    it.it_value.tv_usec = usec;
    return setitimer(ITIMER_REAL, &it, NULL);
}

static void disarm(void)
{
    struct itimerval it;
    memset(&it, 0, sizeof it);
    setitimer(ITIMER_REAL, &it, NULL);
}

static void *spinner(void *arg)
{
    struct job *j = arg;
    int i;
    for (i = 0; i < 1000; i++) {
        j->spins++;
        if (i % 100 == 0) {
            pthread_mutex_lock(&lock);
            shared_spins++;
            pthread_mutex_unlock(&lock);
        }
    }
    return NULL;
}

static int wait_ticks(struct job *j, const sigset_t *open)
{
    while (ticks < NTICKS) {
        sigsuspend(open);
        pthread_mutex_lock(&lock);
        j->ticks_seen = ticks;
        pthread_mutex_unlock(&lock);
    }
    return j->ticks_seen;
}

int main(void)
{
    struct job a = { 0, 0 }, b = { 0, 0 };
    sigset_t block, old;
    pthread_t t;
    int seen;
    sigemptyset(&block);
    sigaddset(&block, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &block, &old);
    pthread_create(&t, NULL, spinner, &a);
    if (arm(2000) < 0)
        return 0;
    sigdelset(&old, SIGALRM);
    seen = wait_ticks(&b, &old);
    disarm();
    pthread_join(t, NULL);
    printf("%d ticks, %lu spins, %lu shared\n", seen >= NTICKS, a.spins, shared_spins);
    return seen >= NTICKS && a.spins == 1000 && shared_spins == 10 ? 0 : 1;
}
