/* Tests of base/: errors, cleanup, memory, hash and map. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"

static uint64_t random_state = 1;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct error *fails_when(bool fail)
{
	TRY(fail ? error_new("it %s", "failed") : NULL);
	return NULL;
}

static void test_errors_are_values(void **state)
{
	(void)state;
	_cleanup_(error_freep) struct error *error = fails_when(true);
	_cleanup_(error_freep) struct error *number = error_errno(ENOENT, "no %d", 7);

	assert_null(fails_when(false));
	assert_string_equal(error->message, "it failed");
	assert_string_equal(number->message, "no 7: No such file or directory");
	error_free(NULL);
}

static void test_long_messages_are_whole(void **state)
{
	(void)state;
	_cleanup_free_ char *filler = memory_alloc(100001);

	memset(filler, 'x', 100000);
	_cleanup_(error_freep) struct error *error = error_new("<%s>", filler);

	assert_int_equal(strlen(error->message), 100002);
	assert_int_equal(error->message[100001], '>');
}

static int open_and_leave(void)
{
	_cleanup_close_ int fd = open("/dev/null", O_RDONLY);
	_cleanup_close_ int none = -1;
	_cleanup_fclose_ FILE *file = fopen("/dev/null", "r");
	_cleanup_fclose_ FILE *nothing = NULL;

	assert_true(fd >= 0 && file);
	(void)none;
	(void)nothing;
	errno = EXDEV;
	return fd;
}

static void test_cleanup_closes_and_keeps_errno(void **state)
{
	(void)state;
	int fd = open_and_leave();

	assert_int_equal(errno, EXDEV);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
}

struct two {
	uint64_t a, b;
};

static void test_vec_grows_and_zeroes(void **state)
{
	(void)state;
	VEC(struct two) vec = { 0 };

	for (uint64_t i = 0; i < 1000; i++) {
		VEC_PUSH(&vec)->a = i;
		vec.items[i].b = ~i;
	}
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(vec.items[i].a == i && vec.items[i].b == ~i);
	vec.n = 10;
	assert_int_equal(VEC_PUSH(&vec)->b, 0); /* also where something was before */
	VEC_FREE(&vec);
	assert_null(vec.items);
	assert_int_equal(vec.n + vec.room, 0);
}

static void test_allocations(void **state)
{
	(void)state;
	_cleanup_free_ char *nothing = memory_alloc(0);
	_cleanup_free_ char *copy = memory_string("loom");
	_cleanup_free_ char *text = memory_format("%s/%u", copy, 5u);
	_cleanup_free_ char *resized = memory_resize(memory_string("ab"), 4096);

	assert_non_null(nothing);
	assert_string_equal(text, "loom/5");
	assert_string_equal(resized, "ab");
}

static void test_no_memory_ends_with_a_sentence(void **state)
{
	(void)state;
	char text[200] = "";
	int fds[2], status;

	assert_int_equal(pipe(fds), 0);
	pid_t child = fork();

	if (!child) {
		size_t room = SIZE_MAX / 2;

		dup2(fds[1], STDERR_FILENO);
		memory_grow(NULL, room, &room, 16);
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(read(fds[0], text, sizeof text - 1) > 0);
	close(fds[0]);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 2);
	assert_non_null(strstr(text, "unsnarl: out of memory"));
}

/* The hash is part of file formats: these values must never change. */
static void test_hash_is_frozen(void **state)
{
	(void)state;
	unsigned char bytes[256];

	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)i;
	assert_true(hash_bytes(HASH_START, bytes, 0) == 0x1812135529e2de5bu);
	assert_true(hash_bytes(HASH_START, bytes, 1) == 0x5161dcc15994a10fu);
	assert_true(hash_bytes(HASH_START, bytes, 13) == 0x5860fe589d360911u);
	assert_true(hash_bytes(HASH_START, bytes, 256) == 0x7adb08f2c88bed5eu);
	assert_true(hash_string(HASH_START, "unsnarl") == hash_bytes(HASH_START, "unsnarl", 8));
}

/* A byte behind a reading error would be seen here: the same bytes at all alignments. */
static void test_hash_ignores_alignment(void **state)
{
	(void)state;
	unsigned char bytes[64 + 16];

	for (size_t size = 0; size <= 64; size++) {
		uint64_t first = 0;

		for (size_t shift = 0; shift < 16; shift++) {
			memset(bytes, 0xaa, sizeof bytes);
			for (size_t i = 0; i < size; i++)
				bytes[shift + i] = (unsigned char)(i * 37);
			uint64_t hash = hash_bytes(HASH_START, bytes + shift, size);

			if (!shift)
				first = hash;
			assert_true(hash == first);
		}
	}
}

/* Each flipped bit of the input flips each bit of the output about half of the time. */
static void test_hash_mixes(void **state)
{
	(void)state;
	enum { SIZE = 20, ROUNDS = 2000 };
	static unsigned flips[SIZE * 8][64];

	for (int round = 0; round < ROUNDS; round++) {
		unsigned char bytes[SIZE];

		for (size_t i = 0; i < SIZE; i++)
			bytes[i] = (unsigned char)random_next();
		uint64_t before = hash_bytes(HASH_START, bytes, SIZE);

		for (unsigned bit = 0; bit < SIZE * 8; bit++) {
			bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			uint64_t changed = before ^ hash_bytes(HASH_START, bytes, SIZE);

			bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			for (unsigned out = 0; out < 64; out++)
				flips[bit][out] += changed >> out & 1;
		}
	}
	for (unsigned bit = 0; bit < SIZE * 8; bit++)
		for (unsigned out = 0; out < 64; out++)
			assert_in_range(flips[bit][out], ROUNDS * 2 / 5, ROUNDS * 3 / 5);
}

/* Structured input: two flipped bits in two words, small counters, runs of zeroes. */
static void test_hash_has_no_cheap_collisions(void **state)
{
	(void)state;
	struct map seen = { 0 };
	unsigned char bytes[24] = { 0 };
	bool fresh;

	for (unsigned a = 0; a < 192; a++)
		for (unsigned b = a + 1; b < 192; b++) {
			bytes[a / 8] ^= (unsigned char)(1 << a % 8);
			bytes[b / 8] ^= (unsigned char)(1 << b % 8);
			map_put(&seen, hash_bytes(HASH_START, bytes, 24), &fresh);
			assert_true(fresh);
			memset(bytes, 0, sizeof bytes);
		}
	for (uint32_t i = 0; i < 200000; i++) {
		map_put(&seen, hash_bytes(HASH_START, &i, sizeof i), &fresh);
		assert_true(fresh);
	}
	_cleanup_free_ unsigned char *zeroes = memory_alloc(3000);

	for (size_t size = 0; size < 3000; size++) {
		map_put(&seen, hash_bytes(1, zeroes, size), &fresh);
		assert_true(fresh);
	}
	map_free(&seen);
}

/* Against a plain array, with keys that crowd: small, large, and multiples of a power of two. */
static void test_map_against_naive(void **state)
{
	(void)state;
	enum { MOST = 700 };
	uint64_t keys[MOST], values[MOST];

	for (int round = 0; round < 60; round++) {
		struct map map = { 0 };
		size_t n = 0;

		assert_null(map_get(&map, 5));
		for (int step = 0; step < 1500; step++) {
			uint64_t key = random_next() % (round % 3 ? 400 : 40) << (round % 5 ? 0 : 40);
			size_t at = 0;
			bool fresh;

			while (at < n && keys[at] != key)
				at++;
			uint64_t *found = map_get(&map, key);

			assert_true(!found == (at == n));
			if (found)
				assert_true(*found == values[at]);
			found = map_put(&map, key, &fresh);
			assert_true(fresh == (at == n));
			if (fresh) {
				assert_true(*found == 0);
				keys[n++] = key;
			}
			*found = values[at] = random_next();
			assert_int_equal(map.n, n);
		}
		map_free(&map);
		assert_null(map.slots);
	}
}

/* Against a map, in batches that hold the same key several times and the key 0. */
static void test_set_against_map(void **state)
{
	(void)state;
	enum { MOST = 300 };
	uint64_t keys[MOST];

	for (int round = 0; round < 60; round++) {
		struct map map = { 0 };
		struct set set = { 0 };

		for (int step = 0; step < 40; step++) {
			size_t n = random_next() % MOST, fresh = 0;

			for (size_t i = 0; i < n; i++) {
				bool new;

				keys[i] = random_next() % (round % 3 ? 4000 : 40) << (round % 5 ? 0 : 40);
				map_put(&map, keys[i], &new);
				fresh += new;
			}
			assert_int_equal(set_add(&set, keys, n), fresh);
			assert_int_equal(set.n + set.has_zero, map.n);
		}
		map_free(&map);
		set_free(&set);
		assert_null(set.slots);
	}
}

static void test_numbers_against_map(void **state)
{
	(void)state;
	for (int round = 0; round < 60; round++) {
		struct map map = { 0 };
		struct numbers numbers = { 0 };

		assert_int_equal(numbers_find(&numbers, 0), NUMBERS_NONE);
		if (round % 2)
			numbers_reserve(&numbers, random_next() % 1000);
		for (int step = 0; step < 1500; step++) {
			uint64_t key = random_next() % (round % 3 ? 4000 : 40) << (round % 5 ? 0 : 52);
			const uint64_t *known = map_get(&map, key);
			bool fresh;

			assert_int_equal(numbers_find(&numbers, key), known ? *known : NUMBERS_NONE);
			uint64_t *number = map_put(&map, key, &fresh);

			if (fresh)
				*number = map.n - 1;
			assert_int_equal(numbers_put(&numbers, key), *number);
			assert_int_equal(numbers.n, map.n);
			assert_true(numbers.keys[*number] == key);
		}
		map_free(&map);
		numbers_free(&numbers);
		assert_null(numbers.slots);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors_are_values),
		cmocka_unit_test(test_long_messages_are_whole),
		cmocka_unit_test(test_cleanup_closes_and_keeps_errno),
		cmocka_unit_test(test_vec_grows_and_zeroes),
		cmocka_unit_test(test_allocations),
		cmocka_unit_test(test_no_memory_ends_with_a_sentence),
		cmocka_unit_test(test_hash_is_frozen),
		cmocka_unit_test(test_hash_ignores_alignment),
		cmocka_unit_test(test_hash_mixes),
		cmocka_unit_test(test_hash_has_no_cheap_collisions),
		cmocka_unit_test(test_map_against_naive),
		cmocka_unit_test(test_set_against_map),
		cmocka_unit_test(test_numbers_against_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
