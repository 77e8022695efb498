/* What launch_check says about files that cannot be run, and that no damaged
 * file makes it crash.
 */
#include "tests/launched.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "loom/area.h"
#include "model/unit_format.h"

static char folder[] = "/tmp/test-program-XXXXXX";

static char *make_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
	char *path = memory_format("%s/%s", folder, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	assert_int_equal(fchmod(fd, mode), 0);
	return path;
}

static struct error *check(const char *program, char **path, uint64_t *build)
{
	enum loom loom = LOOM_COMPILED;

	return launch_check(program, &loom, path, build);
}

static void assert_refused(const char *program, const char *words)
{
	char *path = NULL;
	uint64_t build;

	assert_fails_with(check(program, &path, &build), words);
	assert_null(path);
}

static void assert_text_refused(const char *text, mode_t mode, const char *words)
{
	_cleanup_free_ char *path = make_file("text", text, strlen(text), mode);

	assert_refused(path, words);
}

static void test_refusals(void **state)
{
	_cleanup_free_ char *plain = program_path("chatter");

	(void)state;
	assert_refused("", "empty");
	assert_refused("no-such-program-anywhere", "no program no-such-program-anywhere on PATH");
	assert_refused("./no-such-program", "cannot find the program ./no-such-program");
	assert_refused("/etc/passwd/x", "Not a directory");
	assert_refused(folder, "is a folder");
	assert_refused("/dev/null", "special file");
	assert_refused(plain, "built without hooks; build it with: unsnarl cc");
	assert_text_refused("#!/bin/sh\n", 0755, "is a script");
	assert_text_refused("hello", 0755, "no ELF file");
	assert_text_refused("", 0755, "empty file");
	assert_text_refused("hello", 0644, "chmod +x");
	assert_text_refused("\177ELF\1", 0755, "not a 64-bit x86 program");
}

static void test_found(void **state)
{
	_cleanup_free_ char *program = program_path("ends"), *again = NULL, *first = NULL, *for_folder = NULL;
	uint64_t build, same;

	(void)state;
	assert_none(check(program, &first, &build));
	for_folder = memory_string(program);
	_cleanup_free_ char *old = memory_string(getenv("PATH"));
	/* A folder of that name and an empty entry come first. */
	_cleanup_free_ char *trap = memory_format("%s/ends", folder);
	_cleanup_free_ char *path = memory_format("%s::%s", folder, dirname(for_folder));

	mkdir(trap, 0755);
	setenv("PATH", path, 1);
	assert_none(check("ends", &again, &same));
	setenv("PATH", old, 1);
	rmdir(trap);
	assert_int_equal(build, same);
	assert_string_equal(first, again);
	assert_int_equal(first[0], '/');
}

static char *read_program(const char *name, size_t *size)
{
	_cleanup_free_ char *path = program_path(name);
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	char *bytes = memory_alloc(1 << 20);

	assert_non_null(file);
	*size = fread(bytes, 1, 1 << 20, file);
	return bytes;
}

/* The place of four bytes of a section in a file: where a runtime says which version it is of. */
static size_t section_of_four(const char *bytes, size_t size, const char *name)
{
	Elf64_Ehdr head;
	Elf64_Shdr names, section;

	memcpy(&head, bytes, sizeof head);
	memcpy(&names, bytes + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
	for (size_t i = 0; i < head.e_shnum; i++) {
		memcpy(&section, bytes + head.e_shoff + i * sizeof section, sizeof section);
		if (strcmp(bytes + names.sh_offset + section.sh_name, name) == 0 && section.sh_size == 4)
			return section.sh_offset;
	}
	fail_msg("no section %s of four bytes in %zu", name, size);
	return 0;
}

static void test_other_version(void **state)
{
	size_t size;
	_cleanup_free_ char *bytes = read_program("ends", &size), *found = NULL;
	size_t place = section_of_four(bytes, size, UNIT_RUNTIME_SECTION);
	uint32_t other = AREA_VERSION - 1;
	uint64_t build;

	(void)state;
	_cleanup_free_ char *same = make_file("same", bytes, size, 0755);
	assert_none(check(same, &found, &build));
	memcpy(bytes + place, &other, sizeof other);
	_cleanup_free_ char *old = make_file("old", bytes, size, 0755);
	assert_refused(old, "built with another version of unsnarl");
}

static void test_damaged(void **state)
{
	size_t size, refused = 0;
	_cleanup_free_ char *sound = read_program("ends", &size), *damaged = memory_alloc(size);

	(void)state;
	srand(1);
	for (int i = 0; i < 300; i++) {
		memcpy(damaged, sound, size);
		size_t kept = i % 3 ? size : (size_t)rand() % size + 1;

		/* In the file header and in the section headers, which stand at the end. */
		for (int k = rand() % 6; k >= 0; k--) {
			damaged[rand() % 64] = (char)rand();
			damaged[size - 1 - (size_t)(rand() % 2000)] = (char)rand();
		}
		memcpy(damaged, "\177ELF\2", 5);
		_cleanup_free_ char *path = make_file("damaged", damaged, kept, 0755), *found = NULL;
		uint64_t build;
		_cleanup_(error_freep) struct error *error = check(path, &found, &build);

		refused += error != NULL;
	}
	assert_true(refused > 50);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *command = memory_format("rm -r %s", folder);

	(void)state;
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
