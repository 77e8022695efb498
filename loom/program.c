/* Finds the program that is to be run and says beforehand, in a sentence, what
 * would keep it from being observed.
 */
#include "loom/launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/memory.h"
#include "loom/area.h" /* AREA_VERSION */
#include "loom/binary.h"
#include "model/unit_format.h" /* names of the sections */

#define ADVICE "build it with: unsnarl cc"

struct image {
	unsigned char *bytes;
	size_t size;
};

static void unmap(struct image *image)
{
	if (image->bytes)
		munmap(image->bytes, image->size);
}

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* The first program of that name on PATH; NULL when there is none. */
static char *on_path(const char *name)
{
	const char *path = getenv("PATH");

	for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin";;) {
		size_t length = strcspn(at, ":");
		/* An empty entry is the working folder. */
		char *candidate = length ? memory_format("%.*s/%s", (int)length, at, name)
					 : memory_format("./%s", name);

		if (is_program(candidate))
			return candidate;
		free(candidate);
		if (!at[length])
			return NULL;
		at += length + 1;
	}
}

/* Absolute, with the last name as it is: some programs go by it. */
static struct error *absolute(const char *path, char **out)
{
	_cleanup_free_ char *for_folder = memory_string(path), *for_name = memory_string(path);
	_cleanup_free_ char *folder = realpath(dirname(for_folder), NULL);

	if (!folder)
		return error_errno(errno, "cannot find the folder of %s", path);
	*out = memory_format("%s/%s", strcmp(folder, "/") == 0 ? "" : folder, basename(for_name));
	return NULL;
}

static struct error *resolve(const char *program, char **out)
{
	_cleanup_free_ char *found = strchr(program, '/') ? memory_string(program) : on_path(program);
	struct stat status;

	if (!found && is_program(program))
		return error_new("there is no program %s on PATH; for the one in this folder write ./%s",
				 program, program);
	if (!found)
		return error_new("there is no program %s on PATH; give the path of the file", program);
	if (stat(found, &status) < 0)
		return error_errno(errno, "cannot find the program %s", found);
	if (S_ISDIR(status.st_mode))
		return error_new("%s is a folder; give the path of a program in it", found);
	if (!S_ISREG(status.st_mode))
		return error_new("%s is not a program but a special file", found);
	if (access(found, X_OK) < 0)
		return error_new("%s may not be executed; if it is a program, allow it with: chmod +x",
				 found);
	return absolute(found, out);
}

static struct error *map_file(const char *path, struct image *image)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_errno(errno, "cannot read %s", path);
	if (status.st_size == 0)
		return error_new("%s is an empty file, not a program; " ADVICE, path);
	void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (bytes == MAP_FAILED)
		return error_errno(errno, "cannot read %s", path);
	*image = (struct image){ bytes, (size_t)status.st_size };
	return NULL;
}

static bool copy(const struct image *image, uint64_t offset, void *to, size_t size)
{
	if (offset > image->size || size > image->size - offset)
		return false;
	memcpy(to, image->bytes + offset, size);
	return true;
}

static bool name_is(const struct image *image, uint64_t offset, const char *name)
{
	size_t size = strlen(name) + 1;

	return offset <= image->size && size <= image->size - offset &&
	       memcmp(image->bytes + offset, name, size) == 0;
}

/* Whether the file has a section that only a link by unsnarl cc puts there, and what version its runtime says
 * it is of (0: it has none of its own). */
static bool has_hooks(const struct image *image, const Elf64_Ehdr *head, uint32_t *version)
{
	Elf64_Shdr section, names;
	bool found = false;

	*version = 0;
	if (head->e_shentsize != sizeof section ||
	    !copy(image, head->e_shoff + (uint64_t)head->e_shstrndx * sizeof names, &names, sizeof names))
		return false;
	for (uint64_t i = 0; i < head->e_shnum; i++) {
		if (!copy(image, head->e_shoff + i * sizeof section, &section, sizeof section))
			continue;
		bool runtime = name_is(image, names.sh_offset + section.sh_name, UNIT_RUNTIME_SECTION);

		if (runtime && section.sh_size == sizeof *version &&
		    !copy(image, section.sh_offset, version, sizeof *version))
			*version = 0;
		found |= runtime || name_is(image, names.sh_offset + section.sh_name, UNIT_SECTION);
	}
	return found;
}

/* Sanitizers whose own pthread_create stands before ours, and whose shadow memory Valgrind has no room for. */
static const struct {
	const char *symbol, *name, *option;
} sanitizers[] = {
	{ "__asan_init", "AddressSanitizer", "address" },
	{ "__tsan_init", "ThreadSanitizer", "thread" },
	{ "__msan_init", "MemorySanitizer", "memory" },
	{ "__hwasan_init", "HWAddressSanitizer", "hwaddress" },
	{ "__lsan_do_leak_check", "LeakSanitizer", "leak" },
};

/* Is the whole name in a table of strings of the file? */
static bool has_symbol(const struct image *image, const char *symbol)
{
	char name[64] = "";
	size_t size = strlen(symbol) + 2;

	memcpy(name + 1, symbol, size - 1);
	return memmem(image->bytes, image->size, name, size) != NULL;
}

/* The sanitizer that the program was built with, -1 if none. */
static int find_sanitizer(const struct image *image)
{
	for (size_t i = 0; i < sizeof sanitizers / sizeof *sanitizers; i++)
		if (has_symbol(image, sanitizers[i].symbol))
			return (int)i;
	return -1;
}

/* Without hooks: seen as it is, if that is wanted and possible. */
static struct error *take_binary(const char *path, const struct image *image, const char *why,
				 enum loom *loom)
{
	int sanitizer = find_sanitizer(image);

	if (*loom == LOOM_COMPILED)
		return error_new("%s %s; " ADVICE, path, why);
	if (sanitizer >= 0)
		return error_new("%s was built with %s, which does not run under Valgrind; build it without "
				 "-fsanitize=%s",
				 path, sanitizers[sanitizer].name, sanitizers[sanitizer].option);
	*loom = LOOM_BINARY;
	return binary_check();
}

static struct error *check_image(const char *path, const struct image *image, enum loom *loom)
{
	Elf64_Ehdr head;
	uint32_t version;

	if (image->size >= 2 && memcmp(image->bytes, "#!", 2) == 0)
		return take_binary(path, image, "is a script; give the program that it starts", loom);
	if (image->size < SELFMAG || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
		return error_new("%s is not a program for this system (no ELF file); " ADVICE, path);
	if (image->size < EI_NIDENT || image->bytes[EI_CLASS] != ELFCLASS64 ||
	    !copy(image, 0, &head, sizeof head) || head.e_machine != EM_X86_64)
		return error_new("%s is not a 64-bit x86 program; " ADVICE, path);
	if (head.e_type != ET_EXEC && head.e_type != ET_DYN)
		return error_new("%s is not linked; link it with: unsnarl cc", path);
	if (!has_hooks(image, &head, &version) || *loom == LOOM_BINARY)
		return take_binary(path, image, "was built without hooks", loom);
	*loom = LOOM_COMPILED;
	if (version && version != AREA_VERSION)
		return error_new(
			"%s was built with another version of unsnarl (its runtime has number %u, not %u), "
			"and would run unobserved; build it again with: unsnarl cc",
			path, version, AREA_VERSION);
	return NULL;
}

struct error *launch_check(const char *program, enum loom *loom, char **path, uint64_t *build)
{
	_cleanup_free_ char *found = NULL;
	_cleanup_(unmap) struct image image = { 0 };

	if (!*program)
		return error_new("the name of the program is empty");
	TRY(resolve(program, &found));
	TRY(map_file(found, &image));
	TRY(check_image(found, &image, loom));
	*build = hash_bytes(HASH_START + (*loom == LOOM_BINARY), image.bytes, image.size);
	*path = found;
	found = NULL;
	return NULL;
}

struct error *launch_check_control(const char *path)
{
	_cleanup_(unmap) struct image image = { 0 };

	TRY(map_file(path, &image));
	int sanitizer = find_sanitizer(&image);

	if (sanitizer < 0)
		return NULL;
	return error_new(
		"%s was built with %s, which starts threads past unsnarl: they would run out of their "
		"turns; build it without -fsanitize=%s (-fsanitize=undefined may stay)",
		path, sanitizers[sanitizer].name, sanitizers[sanitizer].option);
}

const char *launch_leak_options(const char *path)
{
	_cleanup_(unmap) struct image image = { 0 };
	struct error *error = path ? map_file(path, &image) : NULL;

	if (error)
		error_free(error);
	if (error || !path)
		return NULL;
	if (has_symbol(&image, "__asan_init"))
		return "ASAN_OPTIONS";
	return has_symbol(&image, "__lsan_do_leak_check") ? "LSAN_OPTIONS" : NULL;
}
