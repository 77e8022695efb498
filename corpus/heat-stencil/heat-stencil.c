/* Heat flow along a rod, by rows of cells that threads share out among them.
 * All threads meet at a barrier after every step. A monitor thread looks at the
 * step that has been reached to draw a progress bar; it only draws. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../pause.h"

#define SOLVERS 2
#define CELLS 96
#define STEPS 60
#define BAR 20

struct rod {
    double cell[2][CELLS];
    pthread_barrier_t step_done;
    int progress; /* steps done, for the monitor */
};

struct solver {
    struct rod *rod;
    int first;
    int last;
    int leader;
};

struct monitor {
    struct rod *rod;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int stop;
    char bar[BAR + 1];
};

static void solve_step(struct rod *rod, int first, int last, int step)
{
    const double *old = rod->cell[step % 2];
    double *new = rod->cell[(step + 1) % 2];

    for (int i = first; i < last; i++)
        new[i] = old[i] + 0.25 * (old[i - 1] - 2 * old[i] + old[i + 1]);
}

static void *solver_main(void *arg)
{
    struct solver *s = arg;

    for (int step = 0; step < STEPS; step++) {
        solve_step(s->rod, s->first, s->last, step);
        pthread_barrier_wait(&s->rod->step_done);
        if (s->leader)
            s->rod->progress = step + 1;
        if (step % 16 == 0) PAUSE(2);
    }
    return NULL;
}

static void draw_bar(struct monitor *m)
{
    int done = m->rod->progress * BAR / STEPS;

    memset(m->bar, '.', BAR);
    memset(m->bar, '#', (size_t)done);
}

static void *monitor_main(void *arg)
{
    struct monitor *m = arg;
    struct timespec until;

    pthread_mutex_lock(&m->lock);
    while (!m->stop) {
        draw_bar(m);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000L;
        }
        pthread_cond_timedwait(&m->finished, &m->lock, &until);
    }
    draw_bar(m);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static void monitor_stop(struct monitor *m)
{
    pthread_mutex_lock(&m->lock);
    m->stop = 1;
    pthread_cond_signal(&m->finished);
    pthread_mutex_unlock(&m->lock);
}

int main(void)
{
    static struct rod rod;
    static struct monitor monitor = {
        .rod = &rod,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .finished = PTHREAD_COND_INITIALIZER,
    };
    struct solver solver[SOLVERS];
    pthread_t thread[SOLVERS], watch;
    double heat = 0;

    for (int b = 0; b < 2; b++)
        rod.cell[b][0] = 100.0;
    pthread_barrier_init(&rod.step_done, NULL, SOLVERS);
    if (pthread_create(&watch, NULL, monitor_main, &monitor) != 0)
        return 2;
    for (int i = 0; i < SOLVERS; i++) {
        int share = (CELLS - 2) / SOLVERS;
        solver[i] = (struct solver){&rod, 1 + i * share, 1 + (i + 1) * share, i == 0};
        if (pthread_create(&thread[i], NULL, solver_main, &solver[i]) != 0)
            return 2;
    }
    for (int i = 0; i < SOLVERS; i++)
        pthread_join(thread[i], NULL);
    monitor_stop(&monitor);
    pthread_join(watch, NULL);
    pthread_barrier_destroy(&rod.step_done);

    for (int i = 0; i < CELLS; i++)
        heat += rod.cell[STEPS % 2][i];
    printf("[%s] heat %.6f after %d steps\n", monitor.bar, heat, rod.progress);
    return 0;
}
