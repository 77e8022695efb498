#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define NRELOADS 3
#define NWORKERS 2

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int reloads;
    int rotations;
    int stopping;
    int seen[NWORKERS];
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static sigset_t handled;

static void *signal_main(void *arg)
{
    int signal, done = 0;
    (void)arg;
    while (!done) {
        if (sigwait(&handled, &signal) != 0)
            return (void *)1;
        pthread_mutex_lock(&state.lock);
        if (signal == SIGHUP)
            state.reloads++;
        else if (signal == SIGUSR1)
            state.rotations++;
        else
            done = state.stopping = 1;
        pthread_cond_broadcast(&state.changed);
        pthread_mutex_unlock(&state.lock);
    }
    return NULL;
}

static void *worker_main(void *arg)
{
    int id = *(int *)arg, known = 0;
    pthread_mutex_lock(&state.lock);
    for (;;) {
        while (!state.stopping && known == state.reloads)
            pthread_cond_wait(&state.changed, &state.lock);
        if (known == state.reloads)
            break;
        known = state.reloads;
        state.seen[id] = known;
        pthread_cond_broadcast(&state.changed);
    }
    pthread_mutex_unlock(&state.lock);
    return NULL;
}

static void await(const int *counter, int value)
{
    pthread_mutex_lock(&state.lock);
    while (*counter != value)
        pthread_cond_wait(&state.changed, &state.lock);
    pthread_mutex_unlock(&state.lock);
}

int main(void)
{
    pthread_t signals, workers[NWORKERS];
    int ids[NWORKERS], i;
    void *failed;
    sigemptyset(&handled);
    sigaddset(&handled, SIGHUP);
    sigaddset(&handled, SIGUSR1);
    sigaddset(&handled, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &handled, NULL);
    pthread_create(&signals, NULL, signal_main, NULL);
    for (i = 0; i < NWORKERS; i++) {
        ids[i] = i;
        pthread_create(&workers[i], NULL, worker_main, &ids[i]);
    }
    for (i = 1; i <= NRELOADS; i++) {
        kill(getpid(), SIGHUP);
        await(&state.reloads, i);
        kill(getpid(), SIGUSR1);
        await(&state.rotations, i);
    }
    for (i = 0; i < NWORKERS; i++)
        await(&state.seen[i], NRELOADS);
    kill(getpid(), SIGTERM);
    pthread_join(signals, &failed);
    for (i = 0; i < NWORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%d reloads, %d rotations\n", state.reloads, state.rotations);
    return failed != NULL || state.reloads != NRELOADS || state.rotations != NRELOADS;
}
