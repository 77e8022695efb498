/* Draws with carriage return and blanks only, so that any terminal will do, and
 * writes each line with one call so that it never tears.
 */
#include "base/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

#define COLUMNS 80
#define BAR_MOST 24
#define BAR_LEAST 8
#define BETWEEN_S 0.1

struct progress {
	int fd;
	uint64_t total;
	double started, drawn; /* seconds; drawn is 0 before the first time */
	int width;             /* of what stands on the line */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

struct progress *progress_start(int fd, uint64_t total)
{
	if (!isatty(fd))
		return NULL;
	struct progress *progress = memory_alloc(sizeof *progress);

	progress->fd = fd;
	progress->total = total;
	progress->started = now();
	return progress;
}

/* One column stays free: writing into the last one may wrap. */
static int line_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_col < COLUMNS)
		return size.ws_col - 1;
	return COLUMNS - 1;
}

static void time_left(const struct progress *progress, uint64_t done, char *out, size_t size)
{
	double left = (now() - progress->started) / (double)done * (double)(progress->total - done);

	*out = '\0';
	if (done == 0 || left > 1e7)
		return;
	unsigned s = (unsigned)(left + 0.5);

	if (s < 60)
		snprintf(out, size, "  %u s left", s);
	else if (s < 3600)
		snprintf(out, size, "  %u min %u s left", s / 60, s % 60);
	else
		snprintf(out, size, "  %u h %u min left", s / 3600, s / 60 % 60);
}

/* Replaces what stands on the line by `text`, cut to fit. */
static void draw(struct progress *progress, const char *text)
{
	int room = line_width(progress->fd);
	int length = (int)strnlen(text, (size_t)room);
	int rest = progress->width > length ? progress->width - length : 0;
	_cleanup_free_ char *line = memory_format("\r%.*s%*s%s", length, text, rest, "", rest ? "\r" : "");
	size_t size = strlen(line);

	/* A bar that cannot be drawn is no reason to stop. */
	if (write(progress->fd, line, size) < (ssize_t)size)
		progress->width = room;
	else
		progress->width = length;
}

void progress_show(struct progress *progress, uint64_t done, const char *words)
{
	char bar[BAR_MOST + 4] = "", left[48];

	if (!progress || (progress->drawn > 0 && now() - progress->drawn < BETWEEN_S))
		return;
	progress->drawn = now();
	time_left(progress, done, left, sizeof left);
	_cleanup_free_ char *text = memory_format("%llu/%llu  %s%s", (unsigned long long)done,
						  (unsigned long long)progress->total, words, left);
	int room = line_width(progress->fd) - (int)strlen(text) - 4;

	if (room > BAR_MOST)
		room = BAR_MOST;
	if (room >= BAR_LEAST) {
		uint64_t total = progress->total ? progress->total : 1;
		int full = (int)((double)room * (double)done / (double)total);

		bar[0] = '[';
		for (int i = 0; i < room; i++)
			bar[1 + i] = i < full ? '#' : '.';
		bar[room + 1] = ']';
		bar[room + 2] = ' ';
	}
	_cleanup_free_ char *line = memory_format("%s%s", bar, text);

	draw(progress, line);
}

void progress_stop(struct progress *progress)
{
	if (!progress)
		return;
	if (progress->drawn > 0) {
		/* All of it: the terminal may have echoed a key behind the bar. */
		progress->width = line_width(progress->fd);
		draw(progress, "");
	}
	free(progress);
}

void progress_stopp(struct progress **progress)
{
	progress_stop(*progress);
}
