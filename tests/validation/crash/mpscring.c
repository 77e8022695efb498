#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define RING 16
#define NPRODUCERS 2
#define NCOMMANDS 4

struct command {
    int producer;
    int operand;
};

struct ring {
    atomic_uint head;
    atomic_uint ready;
    unsigned tail;
    _Atomic(struct command *) slots[RING];
};

struct producer {
    struct ring *ring;
    int id;
    struct command commands[NCOMMANDS];
    int pushed;
};

struct machine {
    long sum;
    int executed;
    int per_producer[NPRODUCERS];
};

static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;
static int traced;

static void trace(void)
{
    pthread_mutex_lock(&trace_lock);
    traced++;
    pthread_mutex_unlock(&trace_lock);
}

static void ring_push(struct ring *r, struct command *c)
{
    unsigned place = atomic_fetch_add(&r->head, 1);
    atomic_store(&r->slots[place % RING], c);
    atomic_fetch_add(&r->ready, 1);
}

static struct command *ring_pop(struct ring *r)
{
    struct command *c;
    if (atomic_load(&r->ready) == r->tail)
        return NULL;
    c = atomic_load(&r->slots[r->tail % RING]);
    r->tail++;
    return c;
}

static int pending(const struct ring *r)
{
    return atomic_load(&r->ready) != r->tail;
}

static void execute(struct machine *m, const struct command *c)
{
    m->sum += c->operand;
    m->per_producer[c->producer]++;
    m->executed++;
}

static void *producer_main(void *arg)
{
    struct producer *p = arg;
    int i;
    for (i = 0; i < NCOMMANDS; i++) {
        p->commands[i] = (struct command){ p->id, p->id * 100 + i };
        trace();
        ring_push(p->ring, &p->commands[i]);
        p->pushed++;
    }
    return NULL;
}

int main(void)
{
    static struct ring ring;
    static struct producer producers[NPRODUCERS];
    struct machine m = { 0, 0, { 0 } };
    pthread_t t[NPRODUCERS];
    int i, good = 1;
    for (i = 0; i < NPRODUCERS; i++) {
        producers[i].ring = &ring;
        producers[i].id = i;
        pthread_create(&t[i], NULL, producer_main, &producers[i]);
    }
    while (m.executed < NPRODUCERS * NCOMMANDS) {
        if (pending(&ring))
            execute(&m, ring_pop(&ring));
        else
            sched_yield();
    }
    for (i = 0; i < NPRODUCERS; i++) {
        pthread_join(t[i], NULL);
        good &= m.per_producer[i] == NCOMMANDS && producers[i].pushed == NCOMMANDS;
    }
    printf("%d executed, sum %ld, %d traced\n", m.executed, m.sum, traced);
    return !good;
}
