/* Who watches a folder waits for the thread that makes a file there. */
#include "check.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

static char folder[] = "/tmp/watched-XXXXXX", path[64];

static void *maker(void *none)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	CHECK(fd >= 0);
	EQUAL(close(fd), 0);
	return none;
}

int main(void)
{
	char bytes[512];
	CHECK(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/file", folder);
	int watch = inotify_init1(IN_CLOEXEC);
	CHECK(watch >= 0);
	CHECK(inotify_add_watch(watch, folder, IN_CREATE) >= 0);
	pthread_t thread = start(maker, NULL);
	CHECK(read(watch, bytes, sizeof bytes) > 0);
	const struct inotify_event *event = (const struct inotify_event *)bytes;
	EQUAL(strcmp(event->name, "file"), 0);
	finish(thread);
	EQUAL(unlink(path), 0);
	EQUAL(rmdir(folder), 0);
	printf("%s\n", event->name);
	return 0;
}
