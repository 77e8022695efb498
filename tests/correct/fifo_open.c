/* Opening a named pipe waits for the thread that opens its other end. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64], other[64];

static void *writer(void *none)
{
	int fd = open(path, O_WRONLY);
	CHECK(fd >= 0);
	EQUAL(write(fd, "hi\n", 3), 3);
	EQUAL(close(fd), 0);
	FILE *to = fopen(other, "w");
	CHECK(to);
	fputs("there\n", to);
	EQUAL(fclose(to), 0);
	return none;
}

int main(void)
{
	char text[8] = "", line[16];
	char folder[] = "/tmp/fifo-XXXXXX";
	CHECK(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/pipe", folder);
	snprintf(other, sizeof other, "%s/other", folder);
	EQUAL(mkfifo(path, 0600), 0);
	EQUAL(mkfifo(other, 0600), 0);
	pthread_t thread = start(writer, NULL);
	int fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	EQUAL(read(fd, text, 3), 3);
	EQUAL(close(fd), 0);
	FILE *from = fopen(other, "r");
	CHECK(from);
	CHECK(fgets(line, sizeof line, from));
	EQUAL(fclose(from), 0);
	finish(thread);
	EQUAL(unlink(path), 0);
	EQUAL(unlink(other), 0);
	EQUAL(rmdir(folder), 0);
	printf("%s%s", text, line);
	return 0;
}
