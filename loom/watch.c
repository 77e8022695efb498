/* The loop around one process. It never waits for the pipes to close: a
 * descendant may hold them open for ever. When the process has ended, the rest
 * is killed first and what the pipes then hold is taken, which is bounded.
 */
#include "loom/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "loom/sweep.h"

#define READ_BYTES 65536
#define LEAST_DELAY_S 0.01    /* what other work took of the time before it is given back */
#define LONGEST_TIMEOUT_S 1e8 /* years: as good as none, and no overflow */

enum { CHILDREN, STOP, STREAMS = STOP + 2, NPOLLED = STREAMS + 2 };

double watch_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* For how many seconds the thread of the process that waited longest could have run but other work of the
 * machine did; 0 where the kernel does not tell. */
static double delayed_s(pid_t pid)
{
	char path[64];
	double most = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	for (struct dirent *task; tasks && (task = readdir(tasks));) {
		unsigned long long ran, delayed;
		char name[sizeof path + 280];

		snprintf(name, sizeof name, "%s/%s/schedstat", path, task->d_name);
		_cleanup_fclose_ FILE *file = task->d_name[0] == '.' ? NULL : fopen(name, "re");
		if (file && fscanf(file, "%llu %llu", &ran, &delayed) == 2)
			most = fmax(most, (double)delayed * 1e-9);
	}
	if (tasks)
		closedir(tasks);
	return most;
}

double watch_later(const struct watch *watch, pid_t pid, double deadline)
{
	double later = watch->start + watch->timeout_s + delayed_s(pid);

	return later > deadline + LEAST_DELAY_S ? later : deadline;
}

struct error *watch_pipe(int *read_end, int *write_end)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(errno, "cannot make a pipe for the program's output");
	*read_end = ends[0];
	*write_end = ends[1];
	/* Only this end: the program must not find its stdout non-blocking. */
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return NULL;
}

static void close_stream(struct watch *watch, int i)
{
	close(watch->streams[i]);
	watch->streams[i] = -1;
}

/* One piece of a stream; false when there is nothing to read now. */
static bool take(struct watch *watch, int i)
{
	char bytes[READ_BYTES];
	ssize_t n = read(watch->streams[i], bytes, sizeof bytes);

	if (n > 0)
		output_take(watch->outputs[i], bytes, (size_t)n);
	else if (n == 0)
		close_stream(watch, i);
	return n > 0;
}

/* Waits for news until the deadline. */
static void wait_for(struct pollfd *polled, double deadline)
{
	struct timespec left, *limit = NULL;

	if (deadline > 0) {
		double seconds = fmax(deadline - watch_now(), 0);

		left.tv_sec = (time_t)seconds;
		left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
		limit = &left;
	}
	if (ppoll(polled, NPOLLED, limit, NULL) < 0)
		for (int i = 0; i < NPOLLED; i++)
			polled[i].revents = 0;
}

/* Until the process has ended, timed out or is to be stopped. */
static void follow(struct watch *watch, double deadline, struct ending *ending)
{
	struct pollfd polled[NPOLLED];

	polled[CHILDREN] = (struct pollfd){ .fd = watch->children, .events = POLLIN };
	/* A socket of which only the hang-up counts, and a process. */
	polled[STOP] = (struct pollfd){ .fd = watch->stop[0], .events = POLLRDHUP };
	polled[STOP + 1] = (struct pollfd){ .fd = watch->stop[1], .events = POLLIN };
	for (;;) {
		for (int i = 0; i < 2; i++)
			polled[STREAMS + i] = (struct pollfd){ .fd = watch->streams[i], .events = POLLIN };
		wait_for(polled, deadline);
		if (polled[STOP].revents || polled[STOP + 1].revents) {
			ending->stopped = true;
			return;
		}
		for (int i = 0; i < 2; i++)
			if (polled[STREAMS + i].revents)
				take(watch, i);
		if (polled[CHILDREN].revents && sweep_ended(watch->children, watch->pid))
			return;
		/* A flood of output may keep the poll from ever timing out. */
		if (deadline > 0 && watch_now() >= deadline) {
			double later = watch_later(watch, watch->pid, deadline);

			if (later > deadline) {
				deadline = later;
				continue;
			}
			ending->timed_out = !sweep_ended(watch->children, watch->pid);
			return;
		}
	}
}

struct error *watch_end(struct watch *watch, struct ending *ending)
{
	bool limited = watch->timeout_s > 0 && watch->timeout_s < LONGEST_TIMEOUT_S;

	*ending = (struct ending){ 0 };
	follow(watch, limited ? watch->start + watch->timeout_s : 0, ending);
	ending->wall_s = watch_now() - watch->start;
	struct error *error = sweep(watch->pid, &ending->status, &ending->usage);

	for (int i = 0; i < 2; i++) {
		while (watch->streams[i] >= 0 && !error && take(watch, i))
			;
		if (watch->streams[i] >= 0)
			close_stream(watch, i);
	}
	return error;
}
