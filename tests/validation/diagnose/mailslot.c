#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NPRODUCERS 2
#define NCONSUMERS 2
#define NLETTERS 1

struct box {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int full;
    int letter;
    unsigned long puts;
    unsigned long gets;
};

struct party {
    struct box *box;
    int id;
    int sum;
};

static atomic_int active;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static int idle_checks;

static void box_put(struct box *b, int letter)
{
    pthread_mutex_lock(&b->lock);
    while (b->full)
        pthread_cond_wait(&b->changed, &b->lock);
    b->letter = letter;
    b->full = 1;
    b->puts++;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static int box_get(struct box *b)
{
    int letter;
    pthread_mutex_lock(&b->lock);
    while (!b->full)
        pthread_cond_wait(&b->changed, &b->lock);
    letter = b->letter;
    b->full = 0;
    b->gets++;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return letter;
}

static void look_idle(void)
{
    pthread_mutex_lock(&idle_lock);
    if (atomic_load_explicit(&active, memory_order_relaxed) > 0)
        idle_checks++;
    pthread_mutex_unlock(&idle_lock);
}

static void *producer_main(void *arg)
{
    struct party *p = arg;
    int i;
    atomic_fetch_add(&active, 1);
    for (i = 0; i < NLETTERS; i++) {
        box_put(p->box, p->id * 10 + i);
        p->sum += p->id * 10 + i;
        look_idle();
    }
    atomic_fetch_sub(&active, 1);
    return NULL;
}

static void *consumer_main(void *arg)
{
    struct party *p = arg;
    int i;
    for (i = 0; i < NLETTERS * NPRODUCERS / NCONSUMERS; i++) {
        p->sum += box_get(p->box);
    }
    return NULL;
}

int main(void)
{
    static struct box box = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    struct party parties[NPRODUCERS + NCONSUMERS];
    pthread_t t[NPRODUCERS + NCONSUMERS];
    int i, sent = 0, received = 0;
    for (i = 0; i < NPRODUCERS + NCONSUMERS; i++) {
        parties[i] = (struct party){ &box, i + 1, 0 };
        pthread_create(&t[i], NULL, i < NPRODUCERS ? producer_main : consumer_main, &parties[i]);
    }
    for (i = 0; i < NPRODUCERS + NCONSUMERS; i++) {
        pthread_join(t[i], NULL);
        *(i < NPRODUCERS ? &sent : &received) += parties[i].sum;
    }
    printf("%lu letters, sent %d, received %d, looked %d\n", box.gets, sent, received, idle_checks > 0);
    return sent != received || box.puts != box.gets;
}
