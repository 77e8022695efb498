/* Message senders over a few network endpoints. A link monitor takes an
 * endpoint down when its link fails; messages for an endpoint that is down go
 * over the relay. Messages are cut into packets of the endpoint's size. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "../pause.h"

#define ENDPOINTS 3
#define SENDERS 2
#define MESSAGES 45
#define RELAY_PACKET 256

struct endpoint {
    pthread_mutex_t lock;
    int valid;
    long packets;
    int packet_size;
};

struct network {
    struct endpoint endpoint[ENDPOINTS];
    pthread_mutex_t relay_lock;
    long relay_packets;
};

struct sender {
    struct network *net;
    int number;
    int delivered;
    uint32_t checksum;
};

static uint32_t checksum(uint32_t x, int words)
{
    for (int i = 0; i < words; i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

static int endpoint_valid(struct endpoint *ep)
{
    pthread_mutex_lock(&ep->lock);
    int valid = ep->valid != 0;
    pthread_mutex_unlock(&ep->lock);
    return valid;
}

static void endpoint_open(struct endpoint *ep, int packet_size)
{
    pthread_mutex_lock(&ep->lock);
    ep->packet_size = packet_size;
    ep->valid = 1;
    pthread_mutex_unlock(&ep->lock);
}

static void endpoint_invalidate(struct endpoint *ep)
{
    pthread_mutex_lock(&ep->lock);
    ep->valid = 0;
    ep->packet_size = 0;
    pthread_mutex_unlock(&ep->lock);
}

static void endpoint_send(struct endpoint *ep, int length)
{
    pthread_mutex_lock(&ep->lock);
    int size = ep->packet_size;
    ep->packets += (length + size - 1) / size;
    pthread_mutex_unlock(&ep->lock);
}

static void relay_send(struct network *net, int length)
{
    pthread_mutex_lock(&net->relay_lock);
    net->relay_packets += (length + RELAY_PACKET - 1) / RELAY_PACKET;
    pthread_mutex_unlock(&net->relay_lock);
}

static void send_message(struct network *net, int target, int length)
{
    struct endpoint *ep = &net->endpoint[target];

    if (endpoint_valid(ep)) { PAUSE(30);
        endpoint_send(ep, length);
    } else {
        relay_send(net, length);
    }
}

static void *sender_main(void *arg)
{
    struct sender *s = arg;

    for (int i = 0; i < MESSAGES; i++) {
        int length = 40 + (i * 37 + s->number * 11) % 900;
        s->checksum = checksum(s->checksum + (uint32_t)length, 6000);
        send_message(s->net, (i + s->number) % ENDPOINTS, length);
        s->delivered++;
    }
    return NULL;
}

static void *monitor_main(void *arg)
{
    struct network *net = arg; PAUSE(15);
    uint32_t probe = 1;

    for (int i = 0; i < ENDPOINTS; i++) {
        probe = checksum(probe, 40000);
        endpoint_invalidate(&net->endpoint[i]);
    }
    return (void *)(uintptr_t)(probe & 1);
}

int main(void)
{
    static struct network net = {.relay_lock = PTHREAD_MUTEX_INITIALIZER};
    struct sender sender[SENDERS];
    pthread_t thread[SENDERS], monitor;

    for (int i = 0; i < ENDPOINTS; i++) {
        pthread_mutex_init(&net.endpoint[i].lock, NULL);
        endpoint_open(&net.endpoint[i], 64 << i);
    }
    for (int i = 0; i < SENDERS; i++) {
        sender[i] = (struct sender){.net = &net, .number = i, .checksum = 7};
        if (pthread_create(&thread[i], NULL, sender_main, &sender[i]) != 0)
            return 2;
    }
    if (pthread_create(&monitor, NULL, monitor_main, &net) != 0)
        return 2;
    for (int i = 0; i < SENDERS; i++)
        pthread_join(thread[i], NULL);
    pthread_join(monitor, NULL);

    for (int i = 0; i < SENDERS; i++)
        printf("sender %d: %d messages, checksum %08x\n", i, sender[i].delivered,
               (unsigned)sender[i].checksum);
    for (int i = 0; i < ENDPOINTS; i++)
        pthread_mutex_destroy(&net.endpoint[i].lock);
    return 0;
}
