/* The caller's standard input, kept so that every run can read the same bytes. A
 * file is opened anew by each worker; what comes through a pipe is read to its end
 * once, into memory. */
#include "loom/world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define SILENCE_MS 1000 /* how long a pipe may keep silent before it counts as one that nobody writes to */
#define INPUT_MOST ((off_t)1 << 30)
#define READ_BYTES 65536

struct error *world_open(struct world *world)
{
	*world = (struct world){ .input = -1, .turns = memfd_create("unsnarl-turns", MFD_CLOEXEC) };
	return world->turns < 0 ? error_errno(errno, "cannot make a file to take turns by") : NULL;
}

void world_close(struct world *world)
{
	cleanup_close(&world->input);
	cleanup_close(&world->turns);
	world->input = world->turns = -1;
}

/* Above the three descriptors that programs have. */
static int above(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	close(fd);
	return moved;
}

static struct error *write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t done = write(fd, bytes, size);

		if (done < 0 && errno != EINTR)
			return error_errno(errno, "cannot keep the standard input");
		if (done > 0) {
			bytes += done;
			size -= (size_t)done;
		}
	}
	return NULL;
}

static struct error *keep(int from, int *kept)
{
	_cleanup_close_ int file = memfd_create("unsnarl-input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char bytes[READ_BYTES];
	off_t total = 0;

	if (file < 0)
		return error_errno(errno, "cannot keep the standard input");
	for (;;) {
		ssize_t n = read(from, bytes, sizeof bytes);

		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			return error_new("interrupted while reading the standard input");
		if (n < 0)
			return error_errno(errno, "cannot read the standard input; give a file with --input");
		total += n;
		if (total > INPUT_MOST)
			return error_new("more than 1 GiB came through standard input, and every run has to "
					 "read it again; give it as a file with --input");
		TRY(write_all(file, bytes, (size_t)n));
	}
	fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	*kept = above(dup(file));
	return *kept < 0 ? error_errno(errno, "cannot keep the standard input") : NULL;
}

static struct error *take_file(struct world *world, const char *path)
{
	_cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (file < 0 || fstat(file, &status) < 0)
		return error_errno(errno, "cannot read the input %s", path);
	if (S_ISDIR(status.st_mode))
		return error_new("the input %s is a folder; give a file", path);
	if (!S_ISREG(status.st_mode))
		return keep(file, &world->input);
	world->input = above(dup(file));
	return world->input < 0 ? error_errno(errno, "cannot read the input %s", path) : NULL;
}

/* Whether a pipe or socket says anything, be it that it has ended. */
static bool speaks(int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };

	return poll(&polled, 1, SILENCE_MS) > 0;
}

struct error *world_take_input(struct world *world, const char *path, bool *silent)
{
	struct stat status;

	*silent = false;
	if (path && strcmp(path, "-") != 0)
		return take_file(world, path);
	if (fstat(STDIN_FILENO, &status) < 0)
		return NULL; /* closed: empty */
	if (path)
		return keep(STDIN_FILENO, &world->input);
	if (S_ISREG(status.st_mode)) {
		world->input = above(dup(STDIN_FILENO));
		world->input_from = lseek(STDIN_FILENO, 0, SEEK_CUR);
		return NULL;
	}
	if (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode))
		return NULL; /* a terminal, /dev/null */
	if (speaks(STDIN_FILENO))
		return keep(STDIN_FILENO, &world->input);
	*silent = true;
	return NULL;
}
