/* Random numbers from everywhere decide which thread works on what; the sum is always the same. */
#include "check.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

static int taken[32];
static long sum;

static void *worker(void *none)
{
	unsigned seed = 0, more = 0;
	CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed);
	CHECK(getentropy(&more, sizeof more) == 0);
	seed ^= more ^ (unsigned)time(NULL);
	for (int left = 16; left;) {
		unsigned at = (unsigned)rand_r(&seed) % 32;
		if (!__atomic_exchange_n(&taken[at], 1, __ATOMIC_ACQ_REL)) {
			__atomic_fetch_add(&sum, at, __ATOMIC_RELAXED);
			left--;
		}
	}
	return none;
}

int main(void)
{
	unsigned bytes[2];
	int fd = open("/dev/urandom", O_RDONLY);
	CHECK(fd >= 0 && read(fd, bytes, sizeof bytes) == sizeof bytes);
	EQUAL(close(fd), 0);
	FILE *file = fopen("/dev/urandom", "r");
	CHECK(file && fread(bytes, sizeof bytes, 1, file) == 1);
	fclose(file);
	srand((unsigned)time(NULL) ^ bytes[0]);
	pthread_t a = start(worker, NULL), b = start(worker, NULL);
	finish(a);
	finish(b);
	printf("%ld\n", sum);
	return 0;
}
