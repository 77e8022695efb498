/* Reads from /proc what each other thread of this process sleeps on. A thread that waits
 * on a futex without a time limit moves only when another thread wakes it; one that runs,
 * waits for a file, a child, a signal or a clock may move by itself. Lives in other
 * people's programs: system calls only, nothing allocated. */
#include "loom/active/stalled.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct entry { /* what getdents64 gives */
	uint64_t inode, next;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* The next number of a line such as "202 0x7f.. 0x80 0x2 0x0 0x0 0x0 0x.. 0x.."; false at its end. */
static bool next_number(const char **at, uint64_t *out)
{
	unsigned base = 10;

	while (**at == ' ')
		++*at;
	if ((*at)[0] == '0' && (*at)[1] == 'x') {
		base = 16;
		*at += 2;
	}
	const char *start = *at;

	for (*out = 0;; ++*at) {
		unsigned char c = (unsigned char)**at;
		unsigned digit = c >= 'a' ? c - 'a' + 10u : c - '0';

		if (c < '0' || (c > '9' && c < 'a') || digit >= base)
			return *at != start;
		*out = *out * base + digit;
	}
}

static bool is_endless_wait(const char *line, uintptr_t held, size_t size)
{
	uint64_t call, word, operation, value, limit;

	if (!next_number(&line, &call) || call != SYS_futex || !next_number(&line, &word) ||
	    !next_number(&line, &operation) || !next_number(&line, &value) || !next_number(&line, &limit))
		return false;
	operation &= (uint64_t)FUTEX_CMD_MASK;
	if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET && operation != FUTEX_LOCK_PI)
		return false;
	return limit == 0 || (word >= held && word - held < size);
}

/* Does the thread sleep until another wakes it? */
static bool is_stalled(int tasks, const char *name, uintptr_t held, size_t size, uint64_t *mark)
{
	char path[64], line[256];

	if (strlen(name) > 20)
		return false;
	strcpy(path, name);
	strcat(path, "/syscall");
	int fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	line[n] = '\0';
	for (ssize_t i = 0; i < n; i++)
		*mark = (*mark ^ (unsigned char)line[i]) * 0x100000001b3ull;
	return is_endless_wait(line, held, size);
}

bool stalled_all_others(const void *held, size_t size, uint64_t *mark)
{
	_Alignas(struct entry) char buffer[2048];
	char own[24];
	int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool all = tasks >= 0;
	long n = 0;

	snprintf(own, sizeof own, "%ld", (long)syscall(SYS_gettid));
	*mark = 0xcbf29ce484222325ull;
	while (all && (n = syscall(SYS_getdents64, tasks, buffer, sizeof buffer)) > 0)
		for (long at = 0; all && at < n;) {
			const struct entry *entry = (const struct entry *)(buffer + at);

			at += entry->length;
			if (entry->name[0] != '.' && strcmp(entry->name, own) != 0)
				all = is_stalled(tasks, entry->name, (uintptr_t)held, size, mark);
		}
	if (tasks >= 0)
		close(tasks);
	return all && n == 0;
}
