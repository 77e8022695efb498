/* Accounts with one lock each; transfers lock both accounts in index order,
 * the auditor takes all of them in the same order. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define ACCOUNTS 4

struct account {
    pthread_mutex_t lk;
    long balance;
    int moves;
};

static struct account acc[ACCOUNTS];
static atomic_long attempts;
static int audit_failures;

static int transfer(int from, int to, long amount)
{
    int a = from < to ? from : to, b = from < to ? to : from;
    int done = 0;

    atomic_fetch_add_explicit(&attempts, 1, memory_order_relaxed);
    if (from == to)
        return 0;
    pthread_mutex_lock(&acc[a].lk);
    pthread_mutex_lock(&acc[b].lk);
    if (acc[from].balance >= amount) {
        acc[from].balance -= amount;
        acc[to].balance += amount;
        acc[from].moves++;
        acc[to].moves++;
        done = 1;
    }
    pthread_mutex_unlock(&acc[a].lk);
    pthread_mutex_unlock(&acc[b].lk);
    return done;
}

static void *clerk(void *arg)
{
    unsigned x = *(unsigned *)arg;
    for (int i = 0; i < 60; i++) {
        x = x * 69069u + 1;
        transfer((int)(x >> 8) % ACCOUNTS, (int)(x >> 16) % ACCOUNTS, (long)(x >> 24) % 50);
    }
    return NULL;
}

static void *auditor(void *unused)
{
    (void)unused;
    for (int r = 0; r < 10; r++) {
        long sum = 0;
        for (int i = 0; i < ACCOUNTS; i++)
            pthread_mutex_lock(&acc[i].lk);
        for (int i = 0; i < ACCOUNTS; i++)
            sum += acc[i].balance;
        for (int i = ACCOUNTS - 1; i >= 0; i--)
            pthread_mutex_unlock(&acc[i].lk);
        if (sum != 100 * ACCOUNTS)
            audit_failures++;
    }
    return NULL;
}

int main(void)
{
    pthread_t c[2], a;
    unsigned seed[2] = { 12345, 777 };
    long sum = 0;

    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&acc[i].lk, NULL);
        acc[i].balance = 100;
    }
    pthread_create(&c[0], NULL, clerk, &seed[0]);
    pthread_create(&a, NULL, auditor, NULL);
    pthread_create(&c[1], NULL, clerk, &seed[1]);
    pthread_join(c[0], NULL);
    pthread_join(c[1], NULL);
    pthread_join(a, NULL);
    for (int i = 0; i < ACCOUNTS; i++)
        sum += acc[i].balance;
    printf("total %ld after %ld attempts\n", sum, atomic_load(&attempts));
    return sum != 100 * ACCOUNTS || audit_failures;
}
