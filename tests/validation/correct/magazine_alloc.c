#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NTHREADS 3
#define NBUFS 24
#define MAG_MAX 4
#define NROUNDS 20

struct buf {
    struct buf *next;
    int owner;
    char data[16];
};

struct depot {
    pthread_mutex_t lock;
    struct buf *free_list;
    int nfree;
    int exchanges;
};

struct magazine {
    struct buf *rounds[MAG_MAX];
    int n;
};

static struct depot depot = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct buf arena[NBUFS];
static pthread_key_t mag_key;
static pthread_once_t mag_once = PTHREAD_ONCE_INIT;

static void depot_put(struct buf **list, int n)
{
    int i;
    pthread_mutex_lock(&depot.lock);
    for (i = 0; i < n; i++) {
        list[i]->next = depot.free_list;
        depot.free_list = list[i];
        depot.nfree++;
    }
    depot.exchanges++;
    pthread_mutex_unlock(&depot.lock);
}

static int depot_get(struct buf **list, int max)
{
    int n = 0;
    pthread_mutex_lock(&depot.lock);
    while (n < max && depot.free_list) {
        list[n++] = depot.free_list;
        depot.free_list = depot.free_list->next;
        depot.nfree--;
    }
    depot.exchanges++;
    pthread_mutex_unlock(&depot.lock);
    return n;
}

static void magazine_destroy(void *p)
{
    struct magazine *m = p;
    depot_put(m->rounds, m->n);
    free(m);
}

static void key_init(void)
{
    pthread_key_create(&mag_key, magazine_destroy);
}

static struct magazine *my_magazine(void)
{
    struct magazine *m;
    pthread_once(&mag_once, key_init);
    m = pthread_getspecific(mag_key);
    if (!m) {
        m = calloc(1, sizeof *m);
        pthread_setspecific(mag_key, m);
    }
    return m;
}

static struct buf *buf_alloc(void)
{
    struct magazine *m = my_magazine();
    if (m->n == 0)
        m->n = depot_get(m->rounds, MAG_MAX);
    if (m->n == 0)
        return NULL;
    m->n--;
    return m->rounds[m->n];
}

static void buf_free(struct buf *b)
{
    struct magazine *m = my_magazine();
    if (m->n == MAG_MAX) {
        depot_put(m->rounds, MAG_MAX / 2);
        memmove(m->rounds, m->rounds + MAG_MAX / 2,
                (MAG_MAX / 2) * sizeof m->rounds[0]);
        m->n = MAG_MAX / 2;
    }
    m->rounds[m->n++] = b;
}

static void *thread_main(void *arg)
{
    int id = *(int *)arg;
    long bad = 0;
    int i;
    int k;
    for (i = 0; i < NROUNDS; i++) {
        struct buf *held[3];
        for (k = 0; k < 3; k++) {
            held[k] = buf_alloc();
            if (!held[k])
                continue;
            held[k]->owner = id;
            memset(held[k]->data, 'a' + id, sizeof held[k]->data);
        }
        for (k = 0; k < 3; k++) {
            if (!held[k])
                continue;
            if (held[k]->owner != id || held[k]->data[15] != 'a' + id)
                bad++;
            buf_free(held[k]);
        }
    }
    return (void *)bad;
}

int main(void)
{
    pthread_t tid[NTHREADS];
    int ids[NTHREADS];
    long bad = 0;
    int i;
    for (i = 0; i < NBUFS; i++) {
        struct buf *b = &arena[i];
        depot_put(&b, 1);
    }
    for (i = 0; i < NTHREADS; i++) {
        ids[i] = i;
        pthread_create(&tid[i], NULL, thread_main, &ids[i]);
    }
    for (i = 0; i < NTHREADS; i++) {
        void *rc;
        pthread_join(tid[i], &rc);
        bad += (long)rc;
    }
    printf("free %d bad %ld\n", depot.nfree, bad);
    return depot.nfree == NBUFS && bad == 0 ? 0 : 1;
}
