/* Weavers in lock step: in each round everybody lengthens its own cloth
   (realloc), then reads a neighbour's, then one of them winds all up. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WEAVERS 4
#define ROUNDS 150

struct cloth {
    unsigned *thread;
    size_t len, cap;
};

static struct cloth cloth[WEAVERS];
static pthread_barrier_t woven, seen, wound;
static unsigned long inspected[WEAVERS];
static unsigned long total;
static int winders;             /* by the serial thread only */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void add(struct cloth *c, unsigned v)
{
    if (c->len == c->cap) {
        size_t cap = c->cap + 3;
        unsigned *p = realloc(c->thread, cap * sizeof *p);
        if (!p)
            die("realloc");
        c->thread = p;
        c->cap = cap;
    }
    c->thread[c->len++] = v;
}

/* Cuts everything off but the last few and gives memory back. */
static void trim(struct cloth *c)
{
    unsigned *p;
    size_t keep = 5, i;

    if (c->len < 60)
        return;
    for (i = 0; i < keep; i++)
        c->thread[i] = c->thread[c->len - keep + i];
    p = realloc(c->thread, keep * sizeof *p);
    if (!p)
        die("realloc");
    c->thread = p;
    c->len = c->cap = keep;
}

static void *weaver(void *arg)
{
    int no = *(int *)arg, r, i, rc;
    struct cloth *mine = &cloth[no], *next = &cloth[(no + 1) % WEAVERS];

    for (r = 0; r < ROUNDS; r++) {
        for (i = 0; i < no + 2; i++)
            add(mine, (unsigned)(r * WEAVERS + no));
        pthread_barrier_wait(&woven);
        inspected[no] += next->thread[next->len - 1];
        rc = pthread_barrier_wait(&seen);
        if (rc == PTHREAD_BARRIER_SERIAL_THREAD) {
            winders++;
            for (i = 0; i < WEAVERS; i++) {
                total += cloth[i].thread[cloth[i].len - 1];
                trim(&cloth[i]);
            }
        } else if (rc != 0) {
            die("barrier");
        }
        pthread_barrier_wait(&wound);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[WEAVERS];
    int no[WEAVERS], i, r, bad = 0;
    unsigned long want = 0, each[WEAVERS] = { 0 };

    pthread_barrier_init(&woven, NULL, WEAVERS);
    pthread_barrier_init(&seen, NULL, WEAVERS);
    pthread_barrier_init(&wound, NULL, WEAVERS);
    for (i = 0; i < WEAVERS; i++) {
        no[i] = i;
        if (pthread_create(&t[i], NULL, weaver, &no[i]))
            die("pthread_create");
    }
    for (i = 0; i < WEAVERS; i++)
        pthread_join(t[i], NULL);
    for (r = 0; r < ROUNDS; r++)
        for (i = 0; i < WEAVERS; i++) {
            want += (unsigned)(r * WEAVERS + i);
            each[i] += (unsigned)(r * WEAVERS + (i + 1) % WEAVERS);
        }
    for (i = 0; i < WEAVERS; i++) {
        bad += inspected[i] != each[i];
        free(cloth[i].thread);
    }
    pthread_barrier_destroy(&woven);
    pthread_barrier_destroy(&seen);
    pthread_barrier_destroy(&wound);
    printf("wound %d times, total %lu of %lu\n", winders, total, want);
    return bad == 0 && total == want && winders == ROUNDS ? 0 : 1;
}
