/* In-memory event log. Writers fill the open page; a sweeper retires the page
 * now and then, and the next writer opens a new one. At the end all pages are
 * gone through and every event must be there. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pause.h"

#define WRITERS 3
#define EVENTS 12
#define SWEEPS 6
#define PAGE_BYTES 4096

struct page {
	struct page *older;
	size_t used;
	int events;
	char text[PAGE_BYTES];
};

struct event_log {
	struct page *open;    /* page being filled, NULL right after a sweep */
	struct page *retired; /* newest first */
	int pages;
	pthread_mutex_t lock;
};

static struct event_log event_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Makes sure that there is a page to write to. */
static void log_prepare(struct event_log *lg)
{
	pthread_mutex_lock(&lg->lock);
	if (lg->open == NULL) {
		lg->open = calloc(1, sizeof(struct page));
		if (lg->open == NULL)
			abort();
		lg->pages++;
	}
	pthread_mutex_unlock(&lg->lock);
}

static void log_write(struct event_log *lg, const char *line, size_t len)
{
	pthread_mutex_lock(&lg->lock);
	struct page *p = lg->open;
	memcpy(p->text + p->used, line, len);
	p->used += len;
	p->events++;
	pthread_mutex_unlock(&lg->lock);
}

static void log_event(struct event_log *lg, const char *line)
{
	log_prepare(lg); PAUSE(4);
	log_write(lg, line, strlen(line));
}

static void log_sweep(struct event_log *lg)
{
	pthread_mutex_lock(&lg->lock);
	if (lg->open != NULL) {
		lg->open->older = lg->retired;
		lg->retired = lg->open;
		lg->open = NULL;
	}
	pthread_mutex_unlock(&lg->lock);
}

/* Some work worth logging: counts the primes in a short interval. */
static int count_primes(int from, int to)
{
	int found = 0;

	for (int n = from | 1; n < to; n += 2) {
		int d = 3;

		while (d * d <= n && n % d != 0)
			d += 2;
		if (d * d > n)
			found++;
	}
	return found;
}

struct writer {
	pthread_t thread;
	int id;
};

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	char line[96];

	for (int i = 0; i < EVENTS; i++) {
		int from = 100000 * w->id + 500 * i;

		snprintf(line, sizeof(line), "writer %d: %d primes from %d\n", w->id,
			 count_primes(from, from + 500), from);
		log_event(&event_log, line);
	}
	return NULL;
}

static void *sweeper_main(void *arg)
{
	int *idle_primes = arg;

	for (int i = 0; i < SWEEPS; i++) {
		*idle_primes += count_primes(9000 + i, 14000 + i); PAUSE(5);
		log_sweep(&event_log);
	}
	return NULL;
}

static int drain(struct event_log *lg, long *primes)
{
	int events = 0;

	log_sweep(lg);
	for (struct page *p = lg->retired, *older; p != NULL; p = older) {
		char *at = p->text;

		for (int i = 0; i < p->events; i++) {
			int n = 0;

			sscanf(at, "writer %*d: %d", &n);
			*primes += n;
			at = strchr(at, '\n') + 1;
		}
		events += p->events;
		older = p->older;
		free(p);
	}
	return events;
}

int main(void)
{
	struct writer writers[WRITERS];
	pthread_t sweeper;
	int idle_primes = 0;
	long primes = 0;

	for (int i = 0; i < WRITERS; i++) {
		writers[i].id = i + 1;
		pthread_create(&writers[i].thread, NULL, writer_main, &writers[i]);
	}
	pthread_create(&sweeper, NULL, sweeper_main, &idle_primes);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i].thread, NULL);
	pthread_join(sweeper, NULL);

	int events = drain(&event_log, &primes);

	printf("%d events, %ld primes, %d idle\n", events, primes, idle_primes);
	return events == WRITERS * EVENTS ? 0 : 1;
}
