#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define NACCOUNTS 3
#define NTELLERS 3
#define NTRANSFERS 12

struct account {
    pthread_mutex_t lock;
    int id;
    long balance;
    unsigned moves;
};

struct teller {
    pthread_t tid;
    int id;
    unsigned retries;
    unsigned refused;
};

static struct account accounts[NACCOUNTS];

static void lock_both(struct account *a, struct account *b, unsigned *retries)
{
    for (;;) {
        pthread_mutex_lock(&a->lock);
        if (pthread_mutex_trylock(&b->lock) == 0)
            return;
        pthread_mutex_unlock(&a->lock);
        (*retries)++;
        sched_yield();
    }
}

static void unlock_both(struct account *a, struct account *b)
{
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_unlock(&a->lock);
}

static int transfer(struct teller *t, struct account *a, struct account *b, long n)
{
    int ok = 0;
    lock_both(a, b, &t->retries);
    if (a->balance >= n) {
        a->balance -= n;
        b->balance += n;
        a->moves++;
        b->moves++;
        ok = 1;
    }
    unlock_both(a, b);
    return ok;
}

static long peek_balance(struct account *a)
{
    long n;
    pthread_mutex_lock(&a->lock);
    n = a->balance;
    pthread_mutex_unlock(&a->lock);
    return n;
}

static void *teller_main(void *arg)
{
    struct teller *t = arg;
    int i;
    for (i = 0; i < NTRANSFERS; i++) {
        int from = (t->id + i) % NACCOUNTS;
        int to = (t->id + 2 * i + 1) % NACCOUNTS;
        long n = 5 + i;
        if (from == to)
            to = (to + 1) % NACCOUNTS;
        if (peek_balance(&accounts[from]) < n) {
            t->refused++;
            continue;
        }
        if (!transfer(t, &accounts[from], &accounts[to], n))
            t->refused++;
    }
    return NULL;
}

int main(void)
{
    struct teller t[NTELLERS];
    unsigned refused = 0;
    unsigned moves = 0;
    long total = 0;
    int i;
    for (i = 0; i < NACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].id = i;
        accounts[i].balance = 40;
    }
    for (i = 0; i < NTELLERS; i++) {
        t[i].id = i;
        t[i].retries = 0;
        t[i].refused = 0;
        pthread_create(&t[i].tid, NULL, teller_main, &t[i]);
    }
    for (i = 0; i < NTELLERS; i++) {
        pthread_join(t[i].tid, NULL);
        refused += t[i].refused;
    }
    for (i = 0; i < NACCOUNTS; i++) {
        total += accounts[i].balance;
        moves += accounts[i].moves;
        if (accounts[i].balance < 0)
            return 1;
        pthread_mutex_destroy(&accounts[i].lock);
    }
    printf("total %ld refused %u\n", total, refused);
    if (moves / 2 + refused != NTELLERS * NTRANSFERS)
        return 1;
    return total == 40 * NACCOUNTS ? 0 : 1;
}
