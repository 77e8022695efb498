/* A stream whose pipe is full: who writes waits in stdio for another thread to read. */
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

#define BYTES 20000

static int ends[2];

static void *reader(void *none)
{
	static char bytes[512];
	long n, all = 0;
	while ((n = read(ends[0], bytes, sizeof bytes)) > 0)
		all += n;
	EQUAL(all, BYTES);
	return none;
}

int main(void)
{
	static char block[BYTES];
	EQUAL(pipe(ends), 0);
	CHECK(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
	FILE *to = fdopen(ends[1], "w");
	CHECK(to);
	memset(block, 'x', sizeof block);
	pthread_t thread = start(reader, NULL);
	EQUAL(fwrite(block, 1, BYTES - 100, to), BYTES - 100);
	for (int i = 0; i < 100; i++)
		EQUAL(putc('y', to), 'y');
	EQUAL(fclose(to), 0);
	finish(thread);
	printf("%d\n", BYTES);
	return 0;
}
