/* The log: one line for a violation, made on the stack and written by one call to a file
 * that is opened for it, so that nothing is held open in the program, lines of many
 * threads and processes do not mix, and a full disk costs the line and nothing else.
 * Format: doc/formats.md, "Guard log".
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "loom/guard/guard.h"

struct line {
	char bytes[3072];
	size_t n;
};

static void put(struct line *line, const char *text)
{
	while (*text && line->n < sizeof line->bytes - 2)
		line->bytes[line->n++] = *text++;
}

static void put_digits(struct line *line, uint64_t number, unsigned base)
{
	char digits[24];
	unsigned at = sizeof digits;

	digits[--at] = '\0';
	do
		digits[--at] = "0123456789abcdef"[number % base];
	while (number /= base);
	put(line, digits + at);
}

static void put_number(struct line *line, const char *before, uint64_t number)
{
	put(line, before);
	put_digits(line, number, 10);
}

static void put_access(struct line *line, uint32_t word)
{
	const struct guard_name *name = &unsnarl_guard_data->names[guard_word_site(word)];

	put_number(line, " thread ", guard_word_thread(word) == GUARD_SEVERAL ? 0 : guard_word_thread(word));
	put(line, " site 0x");
	put_digits(line, name->id, 16);
	put(line, " ");
	put(line, name->kind);
	put(line, " ");
	put(line, name->file);
	put_number(line, " ", name->line);
	put_number(line, ":", name->column);
	put(line, " ");
	put(line, name->function);
	put(line, " ");
	put(line, name->variable);
}

static void put_time(struct line *line)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	put_number(line, " ", (uint64_t)now.tv_sec);
	put(line, ".");
	for (long unit = 100000000, rest = now.tv_nsec; unit >= 1000; rest %= unit, unit /= 10)
		put_digits(line, (uint64_t)(rest / unit), 10);
}

/* The log may lie in a folder where others can put things: what they point to is not followed, and what they
 * put there under its name is no log. */
static int open_log(void)
{
	int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
	int file = (int)syscall(SYS_openat, AT_FDCWD, guard_settings.log, flags | O_CREAT | O_EXCL, 0644);
	struct stat st;

	if (file >= 0 || errno != EEXIST)
		return file;
	file = (int)syscall(SYS_openat, AT_FDCWD, guard_settings.log, flags);
	if (file < 0 || (fstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1))
		return file;
	syscall(SYS_close, file);
	return -1;
}

/* A limit on file sizes would end the process by a signal: it is held back and taken in here. */
static void append(const char *bytes, size_t n)
{
	int file = open_log();
	sigset_t held, before, waiting;
	struct timespec none = { 0 };

	if (file < 0)
		return;
	sigemptyset(&held);
	sigaddset(&held, SIGXFSZ);
	sigaddset(&held, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &held, &before);
	sigpending(&waiting);
	if (syscall(SYS_write, file, bytes, n) < 0) {
		for (int number = 1; number < 32; number++) {
			sigset_t one;

			if (!sigismember(&held, number) || sigismember(&waiting, number))
				continue;
			sigemptyset(&one);
			sigaddset(&one, number);
			syscall(SYS_rt_sigtimedwait, &one, NULL, &none, 8);
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	syscall(SYS_close, file);
}

void guard_log_text(const char *sentence)
{
	struct line line = { .n = 0 };
	int saved = errno;

	if (!guard_settings.log[0])
		return;
	put(&line, "#");
	put_time(&line);
	put_number(&line, " pid ", (uint64_t)syscall(SYS_getpid));
	put(&line, ": ");
	put(&line, sentence);
	line.bytes[line.n++] = '\n';
	append(line.bytes, line.n);
	errno = saved;
}

/* The last word of a line: how it was against the set or a rule, when the two accesses do not say it. */
static const char *how(const struct guard_violation *violation)
{
	uint32_t site = guard_word_site(violation->site), before = guard_word_site(violation->before);

	if (violation->why != GUARD_AFTER)
		return violation->why == GUARD_INSIDE ? " inside" : " early";
	if (guard_tally_is_doubted(site, before))
		return " seldom";
	/* It may come after that one: then it is the thread's own access in between that it may not come after. */
	return unsnarl_guard_data->traits[site] & GUARD_TURN && guard_allows(site, before) ? " again" : "";
}

void guard_log(const struct guard_violation *violation, uint64_t times, const char *outcome)
{
	struct line line = { .n = 0 };
	int saved = errno;

	if (!guard_settings.log[0])
		return;
	put(&line, "violation 1");
	put_time(&line);
	put_number(&line, " pid ", (uint64_t)syscall(SYS_getpid));
	put(&line, " set 0x");
	put_digits(&line, unsnarl_guard_data->hash, 16);
	put(&line, " ");
	put(&line, outcome);
	put_number(&line, " waited ", violation->waited_us);
	put_number(&line, " times ", times);
	put_access(&line, violation->site);
	put(&line, " after");
	if (guard_word_site(violation->before))
		put_access(&line, violation->before);
	else
		put(&line, " nobody");
	put(&line, how(violation));
	line.bytes[line.n++] = '\n';
	append(line.bytes, line.n);
	errno = saved;
}
