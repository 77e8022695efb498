#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSOCKS 3
#define PAYLOAD 40
#define FRAMES 4

enum tp_version { TP_V1, TP_V2, TP_V3 };

struct ring {
    char *mem;
    int frame_size;
    int head;
};

struct packet_sock {
    pthread_mutex_t lock;
    enum tp_version version;
    int hdrlen;
    int copy_threshold;
    struct ring rx;
    long packets;
    long drops;
};

static struct packet_sock socks[NSOCKS];

static int header_length(enum tp_version v)
{
    static const int lengths[] = { 24, 32, 48 };
    return lengths[v];
}

static void sock_init(struct packet_sock *po)
{
    memset(po, 0, sizeof *po);
    pthread_mutex_init(&po->lock, NULL);
    po->version = TP_V1;
    po->hdrlen = header_length(TP_V1);
}

static int ring_mapped(struct packet_sock *po)
{
    int mapped;
    pthread_mutex_lock(&po->lock);
    mapped = po->rx.mem != NULL;
    pthread_mutex_unlock(&po->lock);
    return mapped;
}

static int set_version(struct packet_sock *po, enum tp_version v)
{
    int length;
    if (ring_mapped(po))
        return -1;
    length = header_length(v);
    pthread_mutex_lock(&po->lock);
    po->version = v;
    po->hdrlen = length;
    pthread_mutex_unlock(&po->lock);
    return 0;
}

static int set_rx_ring(struct packet_sock *po, int frames)
{
    int r = -1;
    pthread_mutex_lock(&po->lock);
    if (po->rx.mem == NULL) {
        po->rx.frame_size = po->hdrlen + PAYLOAD;
        po->rx.mem = calloc(frames, po->rx.frame_size);
        po->rx.head = 0;
        r = po->rx.mem != NULL ? 0 : -1;
    }
    pthread_mutex_unlock(&po->lock);
    return r;
}

static int receive(struct packet_sock *po, const char *data, int size)
{
    int ok = 0;
    pthread_mutex_lock(&po->lock);
    if (po->rx.mem == NULL) {
        po->drops++;
        ok = 1;
    } else if (po->hdrlen + size <= po->rx.frame_size) {
        char *frame = po->rx.mem + po->rx.head * po->rx.frame_size;
        frame[0] = (char)po->version;
        memcpy(frame + po->hdrlen, data, size);
        po->rx.head = (po->rx.head + 1) % FRAMES;
        po->packets++;
        ok = 1;
    }
    pthread_mutex_unlock(&po->lock);
    return ok;
}

static void *option_main(void *arg)
{
    int i, *refused = arg;
    for (i = 0; i < NSOCKS; i++)
        if (set_version(&socks[i], TP_V3) < 0)
            ++*refused;
    return NULL;
}

static void *mapper_main(void *arg)
{
    int i, *mapped = arg;
    for (i = 0; i < NSOCKS; i++)
        if (set_rx_ring(&socks[i], FRAMES) == 0)
            ++*mapped;
    return NULL;
}

int main(void)
{
    static const char data[PAYLOAD] = "packet";
    pthread_t option, mapper;
    int i, refused = 0, mapped = 0, bad = 0;
    for (i = 0; i < NSOCKS; i++)
        sock_init(&socks[i]);
    pthread_create(&option, NULL, option_main, &refused);
    pthread_create(&mapper, NULL, mapper_main, &mapped);
    receive(&socks[0], data, 8);
    pthread_join(option, NULL);
    pthread_join(mapper, NULL);
    for (i = 0; i < NSOCKS; i++) {
        if (!receive(&socks[i], data, PAYLOAD)) {
            fprintf(stderr, "socket %d: header of %d bytes does not fit into frames of %d\n",
                    i, socks[i].hdrlen, socks[i].rx.frame_size);
            bad = 1;
        }
        free(socks[i].rx.mem);
    }
    printf("%d mapped, %d refused\n", mapped, refused);
    return bad;
}
