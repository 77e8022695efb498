/* Traffic accounting of a file sharing client: each block received is
 * charged to its torrent and to the session totals. */
#include <unistd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TORRENTS 4

struct session {
    pthread_mutex_t lock;
    uint64_t downloaded;
    uint64_t per_torrent[TORRENTS];
    int peers_left;
};

struct peer {
    struct session *s;
    int torrent;
    unsigned blocks;
};

static struct session sess;
static int snapshots_bad;

static void torrent_got(struct session *s, int t, unsigned n)
{
    pthread_mutex_lock(&s->lock);
    s->per_torrent[t] += n;
    pthread_mutex_unlock(&s->lock);
}

static void session_got(struct session *s, unsigned n)
{
    pthread_mutex_lock(&s->lock);
    s->downloaded += n;
    pthread_mutex_unlock(&s->lock);
}

static void block_received(struct peer *p, unsigned n)
{
    torrent_got(p->s, p->torrent, n);
 usleep(30000);
    session_got(p->s, n);
}

static unsigned block_len(int torrent, unsigned i)
{
    return 16384u >> ((torrent + i) % 3);
}

static void *peer_io(void *arg)
{
    struct peer *p = arg;
    for (unsigned i = 0; i < p->blocks; i++)
        block_received(p, block_len(p->torrent, i));
    pthread_mutex_lock(&p->s->lock);
    p->s->peers_left--;
    pthread_mutex_unlock(&p->s->lock);
    return NULL;
}

static int snapshot(struct session *s, uint64_t *total)
{
    uint64_t sum = 0;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < TORRENTS; i++)
        sum += s->per_torrent[i];
    *total = s->downloaded;
    pthread_mutex_unlock(&s->lock);
    return sum == *total;
}

static void *ui(void *arg)
{
    uint64_t total;
 usleep(15000);
    for (int i = 0; i < 2; i++)
        if (!snapshot(arg, &total))
            snapshots_bad++;
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    struct peer p[2] = { { &sess, 1, 2 }, { &sess, 3, 2 } };
    uint64_t total;

    pthread_mutex_init(&sess.lock, NULL);
    sess.peers_left = 2;
    pthread_create(&t[0], NULL, peer_io, &p[0]);
    pthread_create(&t[1], NULL, ui, &sess);
    pthread_create(&t[2], NULL, peer_io, &p[1]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    snapshot(&sess, &total);
    if (snapshots_bad) {
        fprintf(stderr, "totals disagree in %d snapshot(s)\n", snapshots_bad);
        return 1;
    }
    printf("downloaded %llu\n", (unsigned long long)total);
    return 0;
}
