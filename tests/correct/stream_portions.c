/* Lines that are printed in portions, each under the lock of the stream: none is torn, however a schedule that was
 * made from another one cuts its turns. */
#include "check.h"

static FILE *protocol;
static int entries;

static void *clerk(void *given)
{
	int number = *(int *)given;
	for (int i = 0; i < 20; i++) {
		flockfile(protocol);
		fprintf(protocol, "%d ", number);
		entries++;
		for (const char *p = "in portions\n"; *p; p++)
			putc_unlocked(*p, protocol);
		if (i % 7 == 0)
			fflush(protocol);
		funlockfile(protocol);
	}
	return NULL;
}

int main(void)
{
	static int numbers[] = { 1, 2, 3 };
	pthread_t threads[3];
	char line[64];
	int lines = 0;
	protocol = tmpfile();
	CHECK(protocol != NULL);
	for (int i = 0; i < 3; i++)
		threads[i] = start(clerk, &numbers[i]);
	for (int i = 0; i < 3; i++)
		finish(threads[i]);
	rewind(protocol);
	while (fgets(line, sizeof line, protocol)) {
		EQUAL(strcmp(line + 1, " in portions\n"), 0);
		lines++;
	}
	EQUAL(lines, 60);
	EQUAL(entries, 60);
	fclose(protocol);
	puts("whole lines");
	return 0;
}
