/* Two threads read lines of one stream, each line whole, while others write them. */
#include "check.h"

#include <unistd.h>

static FILE *from;
static int ends[2];

static void *reader(void *none)
{
	long sum = 0;
	char line[16];
	for (int i = 0; i < 3; i++) {
		CHECK(fgets(line, sizeof line, from));
		EQUAL(strlen(line), 4);
		sum += strtol(line, NULL, 10);
	}
	return (void *)sum;
}

static void *writer(void *none)
{
	for (int i = 0; i < 6; i++) {
		char line[8];
		snprintf(line, sizeof line, "%03d\n", i);
		EQUAL(write(ends[1], line, 2), 2);
		EQUAL(write(ends[1], line + 2, 2), 2);
	}
	return none;
}

int main(void)
{
	EQUAL(pipe(ends), 0);
	from = fdopen(ends[0], "r");
	CHECK(from);
	pthread_t a = start(reader, NULL), b = start(reader, NULL), c = start(writer, NULL);
	long sum = (long)finish(a) + (long)finish(b);
	finish(c);
	EQUAL(fclose(from), 0);
	printf("%ld\n", sum);
	return 0;
}
