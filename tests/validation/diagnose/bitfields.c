/* Sockets with the state of the receive side and that of the send side, each
 * with a lock of its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NSOCKS 3
#define NSTEPS 4

struct sock {
    int             fd;
    pthread_mutex_t rx_lock, tx_lock;
    unsigned        rx_shutdown : 1;    /* rx_lock */
    unsigned        rx_window : 12;     /* rx_lock */
    unsigned        tx_shutdown : 1;    /* tx_lock */
    unsigned        tx_pending : 12;    /* tx_lock */
    long            rx_bytes, tx_bytes;
};

static struct sock socks[NSOCKS];
static atomic_long events;

static void rx_segment(struct sock *s, unsigned n)
{
    pthread_mutex_lock(&s->rx_lock);
    s->rx_window = s->rx_window + n;
    s->rx_bytes += n;
    pthread_mutex_unlock(&s->rx_lock);
}

static void rx_close(struct sock *s)
{
    pthread_mutex_lock(&s->rx_lock);
    s->rx_shutdown = 1;
    pthread_mutex_unlock(&s->rx_lock);
}

static void tx_segment(struct sock *s, unsigned n)
{
    pthread_mutex_lock(&s->tx_lock);
    s->tx_pending = s->tx_pending + n;
    s->tx_bytes += n;
    pthread_mutex_unlock(&s->tx_lock);
}

static void tx_close(struct sock *s)
{
    pthread_mutex_lock(&s->tx_lock);
    s->tx_shutdown = 1;
    pthread_mutex_unlock(&s->tx_lock);
}

static void *rx_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NSTEPS; i++)
        for (int k = 0; k < NSOCKS; k++) {
            rx_segment(&socks[k], 10u + (unsigned)k);
            atomic_fetch_add_explicit(&events, 1, memory_order_relaxed);
        }
    for (int k = 0; k < NSOCKS; k++)
        rx_close(&socks[k]);
    return NULL;
}

static void *tx_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NSTEPS; i++)
        for (int k = 0; k < NSOCKS; k++) {
            tx_segment(&socks[k], 5u + (unsigned)k);
            atomic_fetch_add_explicit(&events, 1, memory_order_relaxed);
        }
    for (int k = 0; k < NSOCKS; k++)
        tx_close(&socks[k]);
    return NULL;
}

static int sock_check(struct sock *s)
{
    int ok = 1;

    pthread_mutex_lock(&s->rx_lock);
    pthread_mutex_lock(&s->tx_lock);
    if (!s->rx_shutdown || !s->tx_shutdown)
        ok = 0;
    if (s->rx_window != (unsigned)s->rx_bytes || s->tx_pending != (unsigned)s->tx_bytes)
        ok = 0;
    pthread_mutex_unlock(&s->tx_lock);
    pthread_mutex_unlock(&s->rx_lock);
    return ok;
}

int main(void)
{
    pthread_t rx, tx;
    int bad = 0;

    for (int i = 0; i < NSOCKS; i++) {
        socks[i].fd = 3 + i;
        pthread_mutex_init(&socks[i].rx_lock, NULL);
        pthread_mutex_init(&socks[i].tx_lock, NULL);
    }
    pthread_create(&rx, NULL, rx_main, NULL);
    pthread_create(&tx, NULL, tx_main, NULL);
    pthread_join(rx, NULL);
    pthread_join(tx, NULL);
    for (int i = 0; i < NSOCKS; i++)
        if (!sock_check(&socks[i])) {
            fprintf(stderr, "socket %d: state lost\n", socks[i].fd);
            bad = 1;
        }
    printf("%ld events\n", atomic_load(&events));
    return bad;
}
