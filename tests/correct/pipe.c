/* A pipe between threads: the reader waits for bytes, the writer for room, the end is seen. */
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

#define CHUNK 3000
#define CHUNKS 6

static int ends[2], full[2];

static void *feed(void *none)
{
	for (int i = 1; i <= 5; i++) {
		unsigned char byte = (unsigned char)i;
		EQUAL(write(ends[1], &byte, 1), 1);
	}
	EQUAL(close(ends[1]), 0);
	return none;
}

/* More than the pipe holds. */
static void *flood(void *none)
{
	static char chunk[CHUNK];
	for (int i = 0; i < CHUNKS; i++)
		for (long done = 0; done < CHUNK;) {
			ssize_t n = write(full[1], chunk, (size_t)(CHUNK - done));
			CHECK(n > 0);
			done += n;
		}
	EQUAL(close(full[1]), 0);
	return none;
}

int main(void)
{
	int sum = 0;
	long bytes = 0;
	unsigned char byte;
	static char chunk[4096];
	EQUAL(pipe(ends), 0);
	EQUAL(pipe(full), 0);
	CHECK(fcntl(full[1], F_SETPIPE_SZ, 4096) >= 4096);
	pthread_t a = start(feed, NULL), b = start(flood, NULL);
	while (read(ends[0], &byte, 1) == 1)
		sum += byte;
	ssize_t n;
	while ((n = read(full[0], chunk, sizeof chunk)) > 0)
		bytes += n;
	EQUAL(n, 0);
	finish(a);
	finish(b);
	printf("%d %ld\n", sum, bytes);
	return 0;
}
