/* Prints: the texts given, or without end. An ordinary program without hooks. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void flood(long kilobytes)
{
	char block[1024];

	memset(block, 'x', sizeof block);
	block[1023] = '\n';
	while (kilobytes-- != 0)
		if (write(1, block, sizeof block) < 0)
			_exit(1);
}

/* All of it in one write. */
static void burst(size_t kilobytes)
{
	char *block = calloc(kilobytes, 1024);

	if (!block || write(1, block, kilobytes * 1024) < 0)
		_exit(1);
	free(block);
}

/* chatter [out TEXT | err TEXT | nul "" | flood KIB | burst KIB | pipe BYTES | status N]… */
int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		const char *what = argv[i], *text = argv[i + 1];

		if (strcmp(what, "out") == 0)
			fputs(text, stdout);
		else if (strcmp(what, "err") == 0)
			fputs(text, stderr);
		else if (strcmp(what, "flood") == 0)
			fflush(stdout), flood(atol(text));
		else if (strcmp(what, "burst") == 0)
			burst((size_t)atol(text));
		else if (strcmp(what, "pipe") == 0)
			fcntl(1, F_SETPIPE_SZ, atoi(text));
		else if (strcmp(what, "nul") == 0)
			putchar(0);
		else if (strcmp(what, "status") == 0)
			return atoi(text);
	}
	return 0;
}
