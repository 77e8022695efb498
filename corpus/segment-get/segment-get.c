/* Segmented download that can be interrupted and taken up again. Each segment
 * has its own thread; a signal thread waits for SIGINT and then saves what is
 * needed to resume. The remote side is a generator here, and the user who
 * interrupts the download is the main thread. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../pause.h"

#define SEGMENTS 3
#define CHUNK 32
#define CHUNKS 24
#define SEGMENT_BYTES (CHUNK * CHUNKS)
#define FILE_BYTES (SEGMENTS * SEGMENT_BYTES)

struct segment {
	pthread_t thread;
	long start;
	long offset; /* next byte to fetch */
	long end;
};

/* What goes into the resume file. */
struct resume {
	long written;
	long offset[SEGMENTS];
	int unfinished; /* segments */
};

static struct download {
	unsigned char file[FILE_BYTES];
	struct segment seg[SEGMENTS];
	long written; /* of the whole file */
	pthread_mutex_t written_lock;
} dl = {.written_lock = PTHREAD_MUTEX_INITIALIZER};

static struct resume saved;

static unsigned char remote_byte(long at)
{
	uint32_t x = (uint32_t)at * 2654435761u;

	for (int i = 0; i < 400; i++)
		x = (x ^ x >> 13) * 0x5bd1e995u;
	return (unsigned char)(x >> 24);
}

static size_t fetch(long at, unsigned char *buf, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = remote_byte(at + (long)i);
	return len;
}

static void count_written(size_t n)
{
	pthread_mutex_lock(&dl.written_lock);
	dl.written += (long)n;
	pthread_mutex_unlock(&dl.written_lock);
}

static long bytes_written(void)
{
	pthread_mutex_lock(&dl.written_lock);
	long n = dl.written;
	pthread_mutex_unlock(&dl.written_lock);
	return n;
}

static void *segment_main(void *arg)
{
	struct segment *s = arg;
	unsigned char buf[CHUNK];

	while (s->offset < s->end) {
		size_t n = fetch(s->offset, buf, sizeof(buf));

		memcpy(dl.file + s->offset, buf, n);
		s->offset += (long)n; PAUSE(2);
		count_written(n);
	}
	return NULL;
}

static void save_resume(struct resume *r)
{
	r->written = bytes_written();
	for (int i = 0; i < SEGMENTS; i++) {
		long at = dl.seg[i].offset;

		r->offset[i] = at;
		if (at < dl.seg[i].end)
			r->unfinished++;
	}
}

static void *signal_main(void *arg)
{
	sigset_t *set = arg;
	int sig;

	do {
		if (sigwait(set, &sig) != 0)
			return NULL;
	} while (sig != SIGINT);
	save_resume(&saved);
	return NULL;
}

/* Presses ctrl-c once half of the file is there. */
static void interrupt_halfway(void)
{
	while (bytes_written() < FILE_BYTES / 2)
		usleep(100);
	kill(getpid(), SIGINT);
}

static int resume_consistent(const struct resume *r)
{
	long sum = 0;

	for (int i = 0; i < SEGMENTS; i++)
		sum += r->offset[i] - dl.seg[i].start;
	if (sum == r->written)
		return 1;
	fprintf(stderr, "resume file: %ld bytes written, %d unfinished segments have %ld\n", r->written,
		r->unfinished, sum);
	return 0;
}

static uint32_t file_digest(void)
{
	uint32_t h = 5381;

	for (long i = 0; i < FILE_BYTES; i++)
		h = h * 33 ^ dl.file[i];
	return h;
}

int main(void)
{
	pthread_t signals;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&signals, NULL, signal_main, &set) != 0)
		return 2;
	for (int i = 0; i < SEGMENTS; i++) {
		struct segment *s = &dl.seg[i];

		s->start = s->offset = (long)i * SEGMENT_BYTES;
		s->end = s->start + SEGMENT_BYTES;
	}
	for (int i = 0; i < SEGMENTS; i++)
		if (pthread_create(&dl.seg[i].thread, NULL, segment_main, &dl.seg[i]) != 0)
			return 2;
	interrupt_halfway();
	for (int i = 0; i < SEGMENTS; i++)
		pthread_join(dl.seg[i].thread, NULL);
	pthread_join(signals, NULL);

	printf("%ld bytes, digest %08x\n", dl.written, file_digest());
	return resume_consistent(&saved) ? 0 : 1;
}
