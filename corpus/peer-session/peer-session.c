/* The skeleton of a file-sharing session: peers announce how much they would
 * like to send, and an event thread hands out bandwidth to them in pulses. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../pause.h"

#define PEERS 3
#define REQUESTS 20
#define BANDWIDTH_MAGIC 0x62616e64u
#define PULSE_BYTES 15000
#define PULSE_USEC 300

struct bandwidth {
	uint32_t magic;
	unsigned long limit; /* bytes per pulse */
	unsigned long spent; /* since the session started */
};

struct peer {
	struct session *session;
	pthread_t thread;
	int id;
	unsigned long wanted;  /* asked for, not granted yet */
	unsigned long granted;
	uint32_t pieces; /* hash over the pieces that were checked */
};

struct session {
	struct bandwidth *bandwidth;
	struct peer peer[PEERS];
	int peers_left; /* peers that may still ask */
	unsigned pulses;
	pthread_t events;
	pthread_mutex_t lock;
};

static struct bandwidth *bandwidth_new(unsigned long limit)
{
	struct bandwidth *b = calloc(1, sizeof(*b));

	if (b == NULL)
		abort();
	b->magic = BANDWIDTH_MAGIC;
	b->limit = limit;
	return b;
}

static int bandwidth_valid(const struct bandwidth *b)
{
	return b != NULL && b->magic == BANDWIDTH_MAGIC;
}

/* Shares one pulse among the peers that wait for it; session lock held. */
static unsigned long bandwidth_allocate(struct bandwidth *b, struct session *h)
{
	unsigned long left = b->limit, given = 0;

	for (int i = 0; i < PEERS && left > 0; i++) {
		struct peer *p = &h->peer[i];
		unsigned long n = p->wanted < left ? p->wanted : left;

		p->wanted -= n;
		p->granted += n;
		left -= n;
		given += n;
	}
	b->spent += given;
	return given;
}

static int session_has_work(const struct session *h)
{
	for (int i = 0; i < PEERS; i++)
		if (h->peer[i].wanted > 0)
			return 1;
	return 0;
}

static void bandwidth_pulse(struct session *h)
{
	struct bandwidth *b = h->bandwidth;

	assert(bandwidth_valid(b));
	bandwidth_allocate(b, h);
	h->pulses++;
}

static void *event_main(void *arg)
{
	struct session *h = arg;
	int more;

	do {
		usleep(PULSE_USEC);
		pthread_mutex_lock(&h->lock);
		bandwidth_pulse(h);
		more = session_has_work(h) || h->peers_left > 0;
		pthread_mutex_unlock(&h->lock);
	} while (more);
	return NULL;
}

static uint32_t check_piece(int peer, int n)
{
	uint32_t h = (uint32_t)(peer * 1000 + n);

	for (int i = 0; i < 12000; i++)
		h = (h << 9 | h >> 23) * 5u + 0xe6546b64u;
	return h;
}

static void *peer_main(void *arg)
{
	struct peer *p = arg;
	struct session *h = p->session;

	for (int n = 0; n < REQUESTS; n++) {
		p->pieces += check_piece(p->id, n);
		pthread_mutex_lock(&h->lock);
		p->wanted += 1000 + 100 * (unsigned long)(n % 5);
		pthread_mutex_unlock(&h->lock);
	}
	pthread_mutex_lock(&h->lock);
	h->peers_left--;
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

static struct session *session_new(unsigned long limit)
{
	struct session *h = calloc(1, sizeof(*h));

	if (h == NULL)
		abort();
	pthread_mutex_init(&h->lock, NULL);
	h->peers_left = PEERS;
	int err = pthread_create(&h->events, NULL, event_main, h); PAUSE(60);
	if (err != 0)
		abort();
	h->bandwidth = bandwidth_new(limit);
	return h;
}

static void session_add_peer(struct session *h, int i)
{
	struct peer *p = &h->peer[i];

	p->session = h;
	p->id = i;
	if (pthread_create(&p->thread, NULL, peer_main, p) != 0)
		abort();
}

static void session_free(struct session *h)
{
	free(h->bandwidth);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

int main(void)
{
	struct session *h = session_new(PULSE_BYTES);
	unsigned long granted = 0;
	uint32_t pieces = 0;

	for (int i = 0; i < PEERS; i++)
		session_add_peer(h, i);
	for (int i = 0; i < PEERS; i++) {
		pthread_join(h->peer[i].thread, NULL);
		pieces ^= h->peer[i].pieces;
	}
	pthread_join(h->events, NULL);
	for (int i = 0; i < PEERS; i++)
		granted += h->peer[i].granted;
	printf("%lu bytes granted, %lu spent, pieces %08x\n", granted, h->bandwidth->spent, pieces);
	session_free(h);
	return 0;
}
