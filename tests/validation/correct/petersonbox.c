#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NROUNDS 200

struct gate {
    atomic_int want[2];
    atomic_int turn;
};

struct ledger {
    long balance;
    long entries;
    long log[8];
};

struct clerk {
    pthread_t thread;
    int side;
    long sum;
};

static struct gate gate;
static struct ledger ledger;

static void gate_enter(struct gate *g, int me)
{
    atomic_store(&g->want[me], 1);
    atomic_store(&g->turn, !me);
    while (atomic_load(&g->want[!me]) && atomic_load(&g->turn) == !me)
        sched_yield();
}

static void gate_leave(struct gate *g, int me)
{
    atomic_store(&g->want[me], 0);
}

static void post(struct ledger *l, long amount)
{
    l->balance += amount;
    l->log[l->entries % 8] = amount;
    l->entries++;
}

static void *clerk_main(void *arg)
{
    struct clerk *c = arg;
    int i;
    for (i = 0; i < NROUNDS; i++) {
        long amount = c->side ? -i : i + 1;
        gate_enter(&gate, c->side);
        post(&ledger, amount);
        gate_leave(&gate, c->side);
        c->sum += amount;
    }
    return NULL;
}

int main(void)
{
    struct clerk c[2] = { { .side = 0 }, { .side = 1 } };
    long sum = 0;
    int i;
    for (i = 0; i < 2; i++)
        pthread_create(&c[i].thread, NULL, clerk_main, &c[i]);
    for (i = 0; i < 2; i++) {
        pthread_join(c[i].thread, NULL);
        sum += c[i].sum;
    }
    printf("balance %ld, entries %ld\n", ledger.balance, ledger.entries);
    return ledger.balance == sum && ledger.entries == 2 * NROUNDS ? 0 : 1;
}
