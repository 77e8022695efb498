/* Serves a fixed list of page requests from a small pool of workers and keeps
 * the numbers a status page would show. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "../pause.h"

#define WORKERS 3
#define REQUESTS 8
#define MILESTONE 10

struct page {
	const char *path;
	unsigned size;
};

static const struct page pages[] = {
	{"/index.html", 42000}, {"/news.html", 58000},	  {"/archive/2009.html", 67000},
	{"/about.html", 39000}, {"/img/banner.svg", 74000}, {"/contact.html", 36000},
};
#define PAGES (sizeof(pages) / sizeof(pages[0]))

struct site {
	unsigned long hits;	      /* requests answered since start */
	unsigned long bytes;	      /* payload of all answers */
	unsigned long per_page[PAGES];
	unsigned long last_milestone; /* newest multiple of MILESTONE seen */
	pthread_mutex_t lock;
};

static struct site site = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct worker {
	pthread_t thread;
	unsigned id;
	uint32_t etag; /* folded over all answers of this worker */
};

/* Renders a page into nothing but its Adler checksum. */
static uint32_t render(const struct page *p, unsigned visitor)
{
	uint32_t a = 1, b = 0;
	uint32_t text = 2166136261u ^ visitor;

	for (unsigned i = 0; i < p->size; i++) {
		text = text * 16777619u + i;
		a = (a + (text >> 24)) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

static void note_milestone(struct site *s, unsigned long hit)
{
	pthread_mutex_lock(&s->lock);
	if (hit > s->last_milestone)
		s->last_milestone = hit;
	pthread_mutex_unlock(&s->lock);
}

static void note_payload(struct site *s, size_t page, unsigned sent)
{
	pthread_mutex_lock(&s->lock);
	s->bytes += sent;
	s->per_page[page]++;
	pthread_mutex_unlock(&s->lock);
}

static void note_hit(struct site *s)
{
	unsigned long hit = s->hits + 1; PAUSE(4);

	if (hit % MILESTONE == 0)
		note_milestone(s, hit);
	s->hits = hit;
}

static void *serve(void *arg)
{
	struct worker *w = arg;

	for (unsigned i = 0; i < REQUESTS; i++) {
		size_t page = (w->id * 5 + i * 7) % PAGES;

		w->etag = w->etag * 31 + render(&pages[page], w->id * 100 + i);
		note_hit(&site);
		note_payload(&site, page, pages[page].size);
	}
	return NULL;
}

static void print_status(const struct site *s)
{
	printf("hits %lu bytes %lu\n", s->hits, s->bytes);
	for (size_t i = 0; i < PAGES; i++)
		printf("%4lu %s\n", s->per_page[i], pages[i].path);
}

int main(void)
{
	struct worker workers[WORKERS] = {0};
	uint32_t etag = 0;

	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i].id = i + 1;
		if (pthread_create(&workers[i].thread, NULL, serve, &workers[i]) != 0) {
			fprintf(stderr, "cannot start worker %u\n", i);
			return 2;
		}
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		etag ^= workers[i].etag;
	}

	assert(site.hits == WORKERS * REQUESTS);
	print_status(&site);
	printf("etag %08x\n", etag);
	return 0;
}
