#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NTHREADS 4
#define NROUNDS 6

struct mcs_node {
    struct mcs_node *_Atomic next;
    atomic_int waiting;
};

struct mcs_lock {
    struct mcs_node *_Atomic tail;
};

struct ledger {
    struct mcs_lock lock;
    long debit;
    long credit;
    int entries;
    int last_owner;
    int handovers;
};

struct clerk {
    struct ledger *ledger;
    int id;
    int unbalanced;
    pthread_t thread;
};

static void mcs_lock(struct mcs_lock *l, struct mcs_node *me)
{
    struct mcs_node *before;
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&me->waiting, 1, memory_order_relaxed);
    before = atomic_exchange_explicit(&l->tail, me, memory_order_acq_rel);
    if (before == NULL)
        return;
    atomic_store_explicit(&before->next, me, memory_order_release);
    while (atomic_load_explicit(&me->waiting, memory_order_acquire))
        sched_yield();
}

static void mcs_unlock(struct mcs_lock *l, struct mcs_node *me)
{
    struct mcs_node *after = atomic_load_explicit(&me->next, memory_order_acquire);
    if (after == NULL) {
        struct mcs_node *expected = me;
        if (atomic_compare_exchange_strong_explicit(&l->tail, &expected, NULL, memory_order_acq_rel,
                                                    memory_order_acquire))
            return;
        while ((after = atomic_load_explicit(&me->next, memory_order_acquire)) == NULL)
            sched_yield();
    }
    atomic_store_explicit(&after->waiting, 0, memory_order_release);
}

static void ledger_book(struct ledger *g, int owner, long amount)
{
    struct mcs_node node;
    mcs_lock(&g->lock, &node);
    g->debit += amount;
    if (g->last_owner != owner)
        g->handovers++;
    g->last_owner = owner;
    g->credit += amount;
    g->entries++;
    mcs_unlock(&g->lock, &node);
}

static long ledger_balance(struct ledger *g)
{
    struct mcs_node node;
    long balance;
    mcs_lock(&g->lock, &node);
    balance = g->debit - g->credit;
    mcs_unlock(&g->lock, &node);
    return balance;
}

static void *clerk_main(void *arg)
{
    struct clerk *c = arg;
    int i;
    for (i = 0; i < NROUNDS; i++) {
        ledger_book(c->ledger, c->id, 10 * c->id + i);
        if (ledger_balance(c->ledger) != 0)
            c->unbalanced++;
    }
    return NULL;
}

int main(void)
{
    static struct ledger ledger = { .last_owner = -1 };
    struct clerk clerks[NTHREADS];
    int i, bad = 0;
    for (i = 0; i < NTHREADS; i++) {
        clerks[i] = (struct clerk) { .ledger = &ledger, .id = i };
        pthread_create(&clerks[i].thread, NULL, clerk_main, &clerks[i]);
    }
    for (i = 0; i < NTHREADS; i++) {
        pthread_join(clerks[i].thread, NULL);
        bad += clerks[i].unbalanced;
    }
    printf("%d entries, debit %ld, credit %ld\n", ledger.entries, ledger.debit, ledger.credit);
    return bad != 0 || ledger.entries != NTHREADS * NROUNDS || ledger.debit != ledger.credit;
}
