/* Programs may print without bounds: nothing here grows with the output but the
 * spool file, which exists only when a check command wants to read it.
 */
#include "loom/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/memory.h"

static struct error *read_all(int fd, const char *path, struct expect *expect)
{
	size_t room = 0;

	for (;;) {
		if (expect->size == room) {
			room = room ? room * 2 : 4096;
			expect->bytes = memory_resize(expect->bytes, room);
		}
		ssize_t n = read(fd, expect->bytes + expect->size, room - expect->size);

		if (n == 0)
			return NULL;
		if (n > 0)
			expect->size += (size_t)n;
		else if (errno != EINTR)
			break;
	}
	struct error *error = error_errno(errno, "cannot read the expected output %s", path);

	expect_free(expect);
	return error;
}

static struct expect copy_of(const struct expect *from)
{
	struct expect copy = { .bytes = memory_alloc(from->size + 1), .size = from->size };

	memcpy(copy.bytes, from->bytes, from->size);
	return copy;
}

struct error *expect_read(const char *path, struct expect *expect)
{
	/* The pipe that a command line may name can be read once. */
	static struct expect piped;
	static char *pipe_path;
	struct stat status;

	*expect = (struct expect){ 0 };
	if (pipe_path && !strcmp(path, pipe_path)) {
		*expect = copy_of(&piped);
		return NULL;
	}
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(errno, "cannot read the expected output %s", path);
	TRY(read_all(fd, path, expect));
	if (!pipe_path && fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)) {
		piped = copy_of(expect);
		pipe_path = memory_string(path);
	}
	return NULL;
}

void expect_free(struct expect *expect)
{
	free(expect->bytes);
	*expect = (struct expect){ 0 };
}

void output_start(struct output *output, const struct expect *expect, int spool)
{
	output->expect = expect;
	output->spool = spool;
	output->spool_error = 0;
	output->equal = 0;
	output->line = 1;
	output->total = 0;
}

/* Only called while everything so far was equal. */
static void compare(struct output *output, const char *bytes, size_t size)
{
	const char *wanted = output->expect->bytes + output->equal;
	size_t left = output->expect->size - output->equal, n = 0;

	if (size <= left && memcmp(bytes, wanted, size) == 0)
		n = size;
	while (n < size && n < left && bytes[n] == wanted[n])
		n++;
	output->equal += n;
	for (const char *at = bytes; (at = memchr(at, '\n', (size_t)(bytes + n - at))); at++)
		output->line++;
}

static void spool(struct output *output, const char *bytes, size_t size)
{
	while (size && !output->spool_error) {
		ssize_t n = write(output->spool, bytes, size);

		if (n < 0 && errno != EINTR)
			output->spool_error = errno;
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		}
	}
}

void output_take(struct output *output, const char *bytes, size_t size)
{
	if (output->expect && output->equal == output->total)
		compare(output, bytes, size);
	if (output->spool >= 0)
		spool(output, bytes, size);
	output->total += size;

	/* Bytes that would be overwritten at once need not be copied. */
	size_t kept = size < OUTPUT_TAIL ? size : OUTPUT_TAIL;
	size_t at = (size_t)((output->total - kept) % OUTPUT_TAIL);
	size_t first = kept < OUTPUT_TAIL - at ? kept : OUTPUT_TAIL - at;

	memcpy(output->tail + at, bytes + (size - kept), first);
	memcpy(output->tail, bytes + (size - kept) + first, kept - first);
}

uint64_t output_differs(const struct output *output)
{
	if (!output->expect)
		return 0;
	return output->equal < output->total || output->equal < output->expect->size ? output->line : 0;
}

static size_t kept_bytes(const struct output *output)
{
	return output->total < OUTPUT_TAIL ? (size_t)output->total : OUTPUT_TAIL;
}

/* The bytes that each of the outputs may give when all may give OUTPUT_TAIL: the
 * short ones all they have, the long ones the same. */
static size_t fair_share(const struct output *const *outputs, size_t n)
{
	size_t share = OUTPUT_TAIL;

	for (size_t sum = OUTPUT_TAIL + 1; sum > OUTPUT_TAIL;) {
		size_t longer = 0;

		sum = 0;
		for (size_t i = 0; i < n; i++) {
			size_t kept = kept_bytes(outputs[i]);

			longer += kept >= share;
			sum += kept < share ? kept : share;
		}
		if (sum > OUTPUT_TAIL)
			share -= (sum - OUTPUT_TAIL + longer - 1) / longer;
	}
	return share;
}

char *output_join(const struct output *const *outputs, size_t n)
{
	size_t share = fair_share(outputs, n), size = 0;
	/* One newline more between two that do not end in one. */
	char *text = memory_alloc(OUTPUT_TAIL + n + 1);

	for (size_t i = 0; i < n; i++) {
		size_t kept = kept_bytes(outputs[i]);

		kept = kept < share ? kept : share;
		if (kept && size && text[size - 1] != '\n')
			text[size++] = '\n';
		for (uint64_t at = outputs[i]->total - kept; at < outputs[i]->total; at++) {
			char byte = outputs[i]->tail[at % OUTPUT_TAIL];

			text[size++] = byte ? byte : '?';
		}
	}
	if (size)
		return text;
	free(text);
	return NULL;
}

uint64_t output_hash(uint64_t state, const struct output *output)
{
	state = hash_bytes(state, &output->total, sizeof output->total);
	return hash_bytes(state, output->tail, kept_bytes(output));
}

struct error *output_spool(int *fd)
{
	const char *folder = getenv("TMPDIR");
	_cleanup_free_ char *name = memory_format("%s/unsnarl-XXXXXX", folder && *folder ? folder : "/tmp");

	*fd = mkostemp(name, O_CLOEXEC);
	if (*fd < 0)
		return error_errno(errno, "cannot make a temporary file %s for the program's output", name);
	unlink(name);
	return NULL;
}
