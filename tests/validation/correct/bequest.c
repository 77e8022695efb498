/* Robust mutexes: threads die while they own the account lock, the next
   owner repairs the account.  A recursive mutex guards a tree walk. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NT 5

struct account {
    pthread_mutex_t lock;
    int debit, credit;
    int repairs;
};

struct tree {
    struct tree *l, *r;
    int v;
};

static struct account acc;
static pthread_mutex_t tree_lock;
static struct tree *root;
static int visits;

static int acc_lock(void)
{
    int rc = pthread_mutex_lock(&acc.lock);

    if (rc == EOWNERDEAD) {
        acc.credit = acc.debit;
        acc.repairs++;
        pthread_mutex_consistent(&acc.lock);
        rc = 0;
    }
    return rc;
}

static int walk(struct tree *t)
{
    int s;

    if (!t)
        return 0;
    pthread_mutex_lock(&tree_lock);
    visits++;
    s = t->v + walk(t->l) + walk(t->r);
    pthread_mutex_unlock(&tree_lock);
    return s;
}

static struct tree *build(int lo, int hi)
{
    struct tree *t;
    int m = (lo + hi) / 2;

    if (lo > hi)
        return NULL;
    t = malloc(sizeof *t);
    t->v = m;
    t->l = build(lo, m - 1);
    t->r = build(m + 1, hi);
    return t;
}

static void drop(struct tree *t)
{
    if (!t)
        return;
    drop(t->l);
    drop(t->r);
    free(t);
}

static void *teller(void *arg)
{
    int no = *(int *)arg;
    long s = walk(root);

    if (acc_lock() != 0)
        return (void *)-1;
    acc.debit += no;
    if (no % 2 == 1)
        pthread_exit((void *)s);
    acc.credit += no;
    pthread_mutex_unlock(&acc.lock);
    return (void *)s;
}

int main(void)
{
    pthread_mutexattr_t a;
    pthread_t t[NT];
    int no[NT], i, bad = 0;
    void *r;

    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&acc.lock, &a);
    pthread_mutexattr_destroy(&a);
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&tree_lock, &a);
    root = build(1, 15);
    for (i = 0; i < NT; i++) {
        no[i] = i + 1;
        pthread_create(&t[i], NULL, teller, &no[i]);
    }
    for (i = 0; i < NT; i++) {
        pthread_join(t[i], &r);
        bad += (long)r != 120;
    }
    if (acc_lock() != 0)
        return 2;
    printf("debit %d, credit %d, repairs %d, visits %d, bad %d\n",
           acc.debit, acc.credit, acc.repairs, visits, bad);
    i = acc.debit == 15 && acc.credit == 15 && acc.repairs == 3 && visits == 75 && !bad;
    pthread_mutex_unlock(&acc.lock);
    drop(root);
    return i ? 0 : 1;
}
