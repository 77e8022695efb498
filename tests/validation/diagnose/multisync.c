#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#define NCHANNELS 2
#define NROUNDS 4

enum page_state { EMPTY, QUEUED, SENT };

struct channel {
    pthread_t thread;
    int id;
    enum page_state state;
    unsigned page;
    unsigned long sent;
};

struct migration {
    sem_t start;
    sem_t done;
    int exiting;
    pthread_mutex_t stats_lock;
    unsigned long bytes;
    struct channel ch[NCHANNELS];
};

static struct migration mig;

static unsigned transmit_page(unsigned page)
{
    unsigned h = page;
    h = (h ^ (h >> 3)) * 16777619u;
    usleep(800);
    return h % 64 + 1;
}

static void send_page(struct migration *m, struct channel *c)
{
    unsigned n = transmit_page(c->page);
    c->state = SENT;
    c->sent++;
    pthread_mutex_lock(&m->stats_lock);
    m->bytes += n;
    pthread_mutex_unlock(&m->stats_lock);
}

static void *channel_main(void *arg)
{
    struct channel *c = arg;
    for (;;) {
        sem_wait(&mig.start);
        if (mig.exiting)
            break;
        if (c->state == QUEUED)
            send_page(&mig, c);
        sem_post(&mig.done);
    }
    return NULL;
}

static void send_round(struct migration *m, unsigned first)
{
    int i;
    for (i = 0; i < NCHANNELS; i++) {
        m->ch[i].page = first + (unsigned)i;
        m->ch[i].state = QUEUED;
    }
    for (i = 0; i < NCHANNELS; i++)
        sem_post(&m->start);
    for (i = 0; i < NCHANNELS; i++)
        sem_wait(&m->done);
    for (i = 0; i < NCHANNELS; i++) {
        assert(m->ch[i].state == SENT);
        m->ch[i].state = EMPTY;
    }
}

int main(void)
{
    unsigned long sent = 0;
    int i;
    sem_init(&mig.start, 0, 0);
    sem_init(&mig.done, 0, 0);
    pthread_mutex_init(&mig.stats_lock, NULL);
    for (i = 0; i < NCHANNELS; i++) {
        mig.ch[i].id = i;
        pthread_create(&mig.ch[i].thread, NULL, channel_main, &mig.ch[i]);
    }
    for (i = 0; i < NROUNDS; i++)
        send_round(&mig, (unsigned)i * NCHANNELS);
    mig.exiting = 1;
    for (i = 0; i < NCHANNELS; i++)
        sem_post(&mig.start);
    for (i = 0; i < NCHANNELS; i++) {
        pthread_join(mig.ch[i].thread, NULL);
        sent += mig.ch[i].sent;
    }
    printf("%lu pages, %lu bytes\n", sent, mig.bytes);
    return sent == NROUNDS * NCHANNELS ? 0 : 1;
}
