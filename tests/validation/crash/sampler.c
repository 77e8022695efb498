/* Data acquisition: a calibration thread measures the tick rate of the
   clock, an acquisition thread plans the channels, a logger thread writes
   the calibration down, main prints a summary. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NCHAN 4
#define RAW 200000

struct clock_cal {
    unsigned ticks;
    unsigned offset;
    int ready;
};

struct timing {
    unsigned ticks;
    unsigned offset;
};

struct channel {
    const char *name;
    unsigned scale;
    unsigned period;
    unsigned long total;
};

static pthread_mutex_t cal_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cal_done = PTHREAD_COND_INITIALIZER;
static struct clock_cal cal;

static struct channel chan[NCHAN] = {
    { "temp", 1, 0, 0 },
    { "pressure", 2, 0, 0 },
    { "flow", 4, 0, 0 },
    { "level", 8, 0, 0 },
};

static unsigned short raw[RAW];
static char logline[64];

static void cal_wait(void)
{
    pthread_mutex_lock(&cal_lock);
    while (!cal.ready)
        pthread_cond_wait(&cal_done, &cal_lock);
    pthread_mutex_unlock(&cal_lock);
}

static void cal_get(struct timing *t)
{
    pthread_mutex_lock(&cal_lock);
    t->ticks = cal.ticks;
    t->offset = cal.offset;
    pthread_mutex_unlock(&cal_lock);
}

static void *calibrate(void *arg)
{
    unsigned i, t = 0;

    (void)arg;
    for (i = 0; i < 500; i++)
        t += (i & 3) == 0;
    pthread_mutex_lock(&cal_lock);
    cal.ticks = t * 8;
    cal.offset = 17;
    cal.ready = 1;
    pthread_cond_broadcast(&cal_done);
    pthread_mutex_unlock(&cal_lock);
    return NULL;
}

static void plan_channels(const struct timing *t)
{
    int i;

    for (i = 0; i < NCHAN; i++)
        chan[i].period = t->ticks / chan[i].scale;
}

static void *acquire(void *arg)
{
    struct timing t;
    unsigned i;

    (void)arg;
    for (i = 0; i < RAW; i++)
        raw[i] = (unsigned short)(i * 2654435761u >> 20);
    cal_get(&t);
    plan_channels(&t);
    for (i = 0; i < RAW; i++)
        chan[i % NCHAN].total += raw[i] + t.offset;
    return NULL;
}

static void *logger(void *arg)
{
    struct timing t;

    (void)arg;
    cal_wait();
    cal_get(&t);
    snprintf(logline, sizeof logline, "ticks=%u offset=%u", t.ticks, t.offset);
    return NULL;
}

static void summary(void)
{
    int i;

    for (i = 0; i < NCHAN; i++) {
        unsigned long rate = chan[i].total / chan[i].period;
        printf("%-9s %lu\n", chan[i].name, rate);
    }
}

int main(void)
{
    pthread_t tc, ta, tl;

    pthread_create(&tc, NULL, calibrate, NULL);
    pthread_create(&tl, NULL, logger, NULL);
    pthread_create(&ta, NULL, acquire, NULL);
    pthread_join(tc, NULL);
    pthread_join(ta, NULL);
    pthread_join(tl, NULL);
    puts(logline);
    summary();
    return 0;
}
