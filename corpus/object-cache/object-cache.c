/* Object cache of a small web server. Handlers look objects up, serve them and
 * give them back; a janitor throws objects out now and then, and whoever holds
 * the last reference to such an object frees it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pause.h"

#define HANDLERS 3
#define REQUESTS 16
#define EVICTIONS 10
#define KEYS 3
#define BODY 64
#define OBJECT_ROOM 1200 /* all objects come in one size */

struct object {
	unsigned key;
	unsigned char body[OBJECT_ROOM];
	int refcount; /* one for the cache, one per handler that serves it */
};

static struct cache {
	struct object *slot[KEYS];
	unsigned loads;
	pthread_mutex_t lock;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct object *object_load(unsigned key)
{
	struct object *o = malloc(sizeof(*o));
	uint32_t x = key + 99;

	if (o == NULL)
		abort();
	o->key = key;
	o->refcount = 1;
	for (int i = 0; i < BODY; i++) {
		x = x * 22695477u + 1;
		o->body[i] = (unsigned char)(x >> 16);
	}
	return o;
}

static void object_retain(struct object *o)
{
	__atomic_add_fetch(&o->refcount, 1, __ATOMIC_RELAXED);
}

static void object_release(struct object *o)
{
	__atomic_sub_fetch(&o->refcount, 1, __ATOMIC_ACQ_REL); PAUSE(5);
	if (o->refcount == 0)
		free(o);
}

/* A reference to the object with this key, loaded if it is not there. */
static struct object *cache_get(struct cache *c, unsigned key)
{
	pthread_mutex_lock(&c->lock);
	if (c->slot[key] == NULL) {
		c->slot[key] = object_load(key);
		c->loads++;
	}
	struct object *o = c->slot[key];

	object_retain(o);
	pthread_mutex_unlock(&c->lock);
	return o;
}

static void cache_evict(struct cache *c, unsigned key)
{
	pthread_mutex_lock(&c->lock);
	struct object *o = c->slot[key];

	c->slot[key] = NULL;
	pthread_mutex_unlock(&c->lock);
	if (o != NULL)
		object_release(o);
}

/* Deflates the body, more or less; the result only depends on key and n. */
static uint32_t send_object(const struct object *o, unsigned n)
{
	unsigned char out[BODY];
	uint32_t sum = n;

	memcpy(out, o->body, BODY);
	for (unsigned pass = 0; pass < 600 + (o->key + n) % 5 * 150; pass++)
		for (int i = 0; i < BODY; i++)
			sum = (sum << 3 | sum >> 29) + out[i];
	return sum;
}

struct handler {
	pthread_t thread;
	unsigned id;
	uint32_t sent;
};

static void *handler_main(void *arg)
{
	struct handler *h = arg;

	for (unsigned n = 0; n < REQUESTS; n++) {
		struct object *o = cache_get(&cache, (h->id + n) % KEYS);

		h->sent ^= send_object(o, n);
		object_release(o);
	}
	return NULL;
}

static uint32_t find_stale(uint32_t seen, unsigned n)
{
	for (int i = 0; i < 70000; i++)
		seen = seen * 1103515245u + n;
	return seen;
}

static void *janitor_main(void *arg)
{
	uint32_t *stale = arg;

	for (unsigned n = 0; n < EVICTIONS; n++) {
		*stale = find_stale(*stale, n); PAUSE(2);
		cache_evict(&cache, n % KEYS);
	}
	return NULL;
}

int main(void)
{
	struct handler handlers[HANDLERS] = {0};
	pthread_t janitor;
	uint32_t sent = 0, stale = 1;

	for (unsigned i = 0; i < HANDLERS; i++) {
		handlers[i].id = i;
		if (pthread_create(&handlers[i].thread, NULL, handler_main, &handlers[i]) != 0)
			return 2;
	}
	if (pthread_create(&janitor, NULL, janitor_main, &stale) != 0)
		return 2;
	for (unsigned i = 0; i < HANDLERS; i++) {
		pthread_join(handlers[i].thread, NULL);
		sent = sent * 17 + handlers[i].sent;
	}
	pthread_join(janitor, NULL);
	for (unsigned key = 0; key < KEYS; key++)
		cache_evict(&cache, key);

	printf("%d requests, sent %08x, stale %08x\n", HANDLERS * REQUESTS, sent, stale);
	return 0;
}
