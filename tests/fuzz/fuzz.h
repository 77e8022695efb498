/* What the fuzz targets share: bytes of the input taken one after the other, and files
 * that lie in memory. A target reads one kind of file that others may have written; any
 * answer is right but a crash. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz {
	const uint8_t *at, *end;
};

static inline size_t fuzz_left(const struct fuzz *fuzz)
{
	return (size_t)(fuzz->end - fuzz->at);
}

static inline uint64_t fuzz_number(struct fuzz *fuzz, size_t bytes)
{
	uint64_t number = 0;

	for (size_t i = 0; i < bytes && fuzz->at < fuzz->end; i++)
		number = number << 8 | *fuzz->at++;
	return number;
}

/* A copy of the next bytes, exactly so long, that the address sanitizer watches. */
static inline void *fuzz_copy(struct fuzz *fuzz, size_t size)
{
	void *copy = malloc(size ? size : 1);

	memcpy(copy, fuzz->at, size);
	fuzz->at += size;
	return copy;
}

/* A file in memory and its path. */
struct fuzz_file {
	int fd;
	char path[64];
};

static inline struct fuzz_file fuzz_file(const void *bytes, size_t size)
{
	struct fuzz_file file = { .fd = memfd_create("fuzz", MFD_CLOEXEC) };

	if (file.fd < 0 || (size && pwrite(file.fd, bytes, size, 0) != (ssize_t)size))
		abort();
	snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
	return file;
}

#endif
