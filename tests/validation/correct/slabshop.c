/* An own slab allocator behind a mutex, statistics behind an own spin lock,
   and forks in the middle of it: fork handlers take both locks so that the
   child finds the slabs in order and can use them. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CELLS 96
#define CELL 48
#define SHOPPERS 3
#define TURNS 250
#define FORKS 4

union cell { union cell *next; unsigned char byte[CELL]; };

static pthread_mutex_t slab_lock = PTHREAD_MUTEX_INITIALIZER;
static union cell slab[CELLS], *free_list;
static int n_free;
static atomic_int stat_lock;
static long n_get, n_put;       /* under stat_lock */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void spin_lock(atomic_int *l)
{
    for (;;) {
        if (atomic_exchange_explicit(l, 1, memory_order_acquire) == 0)
            return;
        while (atomic_load_explicit(l, memory_order_relaxed))
            sched_yield();
    }
}

static void spin_unlock(atomic_int *l)
{
    atomic_store_explicit(l, 0, memory_order_release);
}

static void before_fork(void)
{
    pthread_mutex_lock(&slab_lock);
    spin_lock(&stat_lock);
}

static void after_fork(void)
{
    spin_unlock(&stat_lock);
    pthread_mutex_unlock(&slab_lock);
}

static void *cell_get(void)
{
    union cell *c;

    pthread_mutex_lock(&slab_lock);
    c = free_list;
    if (c) {
        free_list = c->next;
        n_free--;
    }
    pthread_mutex_unlock(&slab_lock);
    if (c) {
        spin_lock(&stat_lock);
        n_get++;
        spin_unlock(&stat_lock);
    }
    return c;
}

static void cell_put(void *p)
{
    union cell *c = p;

    pthread_mutex_lock(&slab_lock);
    c->next = free_list;
    free_list = c;
    n_free++;
    pthread_mutex_unlock(&slab_lock);
    spin_lock(&stat_lock);
    n_put++;
    spin_unlock(&stat_lock);
}

static int list_in_order(void)
{
    union cell *c;
    int n = 0, ok;

    pthread_mutex_lock(&slab_lock);
    for (c = free_list; c && n <= CELLS; c = c->next)
        n++;
    ok = n == n_free;
    pthread_mutex_unlock(&slab_lock);
    return ok;
}

/* Takes up to n cells, fills them, checks the filling and puts them back. */
static int use_cells(unsigned char mark, int n)
{
    unsigned char *p[8];
    int i, k, bad = 0;

    for (i = 0; i < n; i++) {
        p[i] = cell_get();
        if (!p[i])
            break;              /* sold out is no fault */
        memset(p[i], mark + i, CELL);
    }
    for (n = i, i = 0; i < n; i++) {
        for (k = 0; k < CELL; k++)
            bad += p[i][k] != (unsigned char)(mark + i);
        cell_put(p[i]);
    }
    return bad;
}

static void *shopper(void *arg)
{
    int *bad = arg, i;

    for (i = 0; i < TURNS; i++)
        *bad += use_cells((unsigned char)(i * 8), 1 + i % 8);
    return NULL;
}

int main(void)
{
    pthread_t t[SHOPPERS];
    int bad[SHOPPERS] = { 0 }, i, st, wrong = 0;

    for (i = 0; i < CELLS; i++) {
        slab[i].next = free_list;
        free_list = &slab[i];
        n_free++;
    }
    if (pthread_atfork(before_fork, after_fork, after_fork))
        die("pthread_atfork");
    for (i = 0; i < SHOPPERS; i++)
        if (pthread_create(&t[i], NULL, shopper, &bad[i]))
            die("pthread_create");
    for (i = 0; i < FORKS; i++) {
        pid_t pid = fork();
        if (pid < 0)
            die("fork");
        if (pid == 0)           /* 72 cells at least are free here */
            _exit(list_in_order() && use_cells(200, 8) == 0 && list_in_order()
                  ? 0 : 9);
        while (waitpid(pid, &st, 0) < 0)
            if (errno != EINTR)
                die("waitpid");
        wrong += st != 0;
    }
    for (i = 0; i < SHOPPERS; i++) {
        pthread_join(t[i], NULL);
        wrong += bad[i];
    }
    printf("got %ld, put %ld, free %d, wrong %d\n", n_get, n_put, n_free, wrong);
    return wrong == 0 && n_get == n_put && n_free == CELLS && list_in_order()
           ? 0 : 1;
}
