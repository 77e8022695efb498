#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#define WINDOW 3
#define NFRAMES 12

struct frame {
    unsigned seq;
    unsigned len;
};

struct link {
    sem_t credits;
    sem_t arrived;
    struct frame ring[WINDOW];
    unsigned head;
    unsigned tail;
    atomic_ulong bytes_out;
    unsigned long bytes_in;
    int out_of_order;
};

static unsigned frame_len(unsigned seq)
{
    return 40 + seq * 13 % 60;
}

static void link_send(struct link *l, unsigned seq)
{
    struct frame *f;
    sem_wait(&l->credits);
    f = &l->ring[l->head % WINDOW];
    f->seq = seq;
    f->len = frame_len(seq);
    l->head++;
    atomic_fetch_add_explicit(&l->bytes_out, f->len, memory_order_relaxed);
    sem_post(&l->arrived);
}

static struct frame link_recv(struct link *l)
{
    struct frame f;
    sem_wait(&l->arrived);
    f = l->ring[l->tail % WINDOW];
    l->tail++;
    sem_post(&l->credits);
    return f;
}

static void *receiver(void *arg)
{
    struct link *l = arg;
    unsigned want;
    for (want = 0; want < NFRAMES; want++) {
        struct frame f = link_recv(l);
        if (f.seq != want)
            l->out_of_order++;
        l->bytes_in += f.len;
    }
    return NULL;
}

static void *monitor(void *arg)
{
    struct link *l = arg;
    unsigned long last = 0;
    int i;
    for (i = 0; i < 5; i++) {
        unsigned long now = atomic_load_explicit(&l->bytes_out, memory_order_relaxed);
        if (now < last)
            return (void *)1;
        last = now;
    }
    return NULL;
}

int main(void)
{
    static struct link l;
    pthread_t r, m;
    void *bad;
    unsigned i;
    sem_init(&l.credits, 0, WINDOW);
    sem_init(&l.arrived, 0, 0);
    pthread_create(&r, NULL, receiver, &l);
    pthread_create(&m, NULL, monitor, &l);
    for (i = 0; i < NFRAMES; i++)
        link_send(&l, i);
    pthread_join(r, NULL);
    pthread_join(m, &bad);
    printf("%lu bytes, %d out of order\n", l.bytes_in, l.out_of_order);
    return l.bytes_in == atomic_load(&l.bytes_out) && !l.out_of_order && !bad ? 0 : 1;
}
