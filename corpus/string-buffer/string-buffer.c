/* Growable strings that threads may share, and a small program on top: units
 * of a plant post what they are doing in one status line, and a reporter
 * copies that line into its report from time to time. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pause.h"

struct strbuf {
	char *text;
	size_t len;
	size_t cap;
	pthread_mutex_t lock;
};

static void strbuf_init(struct strbuf *sb, size_t cap)
{
	sb->text = malloc(cap);
	if (sb->text == NULL)
		abort();
	sb->len = 0;
	sb->cap = cap;
	pthread_mutex_init(&sb->lock, NULL);
}

static void strbuf_free(struct strbuf *sb)
{
	pthread_mutex_destroy(&sb->lock);
	free(sb->text);
}

/* Caller holds the lock. */
static void strbuf_reserve(struct strbuf *sb, size_t cap)
{
	if (cap <= sb->cap)
		return;
	char *text = realloc(sb->text, cap * 2);

	if (text == NULL)
		abort();
	sb->text = text;
	sb->cap = cap * 2;
}

static size_t strbuf_length(struct strbuf *sb)
{
	pthread_mutex_lock(&sb->lock);
	size_t len = sb->len;
	pthread_mutex_unlock(&sb->lock);
	return len;
}

/* Shortens the text to at most len characters. */
static void strbuf_cut(struct strbuf *sb, size_t len)
{
	pthread_mutex_lock(&sb->lock);
	if (len < sb->len)
		sb->len = len;
	pthread_mutex_unlock(&sb->lock);
}

static void strbuf_add(struct strbuf *sb, const char *s)
{
	size_t n = strlen(s);

	pthread_mutex_lock(&sb->lock);
	strbuf_reserve(sb, sb->len + n);
	memcpy(sb->text + sb->len, s, n);
	sb->len += n;
	pthread_mutex_unlock(&sb->lock);
}

/* Copies the characters from..to to a place that has room for them. */
static void strbuf_get(struct strbuf *sb, size_t from, size_t to, char *out)
{
	pthread_mutex_lock(&sb->lock);
	assert(from <= to && to <= sb->len);
	memcpy(out, sb->text + from, to - from);
	pthread_mutex_unlock(&sb->lock);
}

static void strbuf_append(struct strbuf *dst, struct strbuf *src)
{
	pthread_mutex_lock(&dst->lock);
	size_t n = strbuf_length(src); PAUSE(35);
	strbuf_reserve(dst, dst->len + n);
	strbuf_get(src, 0, n, dst->text + dst->len);
	dst->len += n;
	pthread_mutex_unlock(&dst->lock);
}

#define UNITS 2
#define POSTS 10
#define REPORTS 10

static struct strbuf status;
static struct strbuf report;

static uint32_t simulate(uint32_t state, int steps)
{
	for (int i = 0; i < steps; i++)
		state = (state ^ (state >> 15)) * 2246822519u + 3;
	return state;
}

static void *unit_main(void *arg)
{
	const char *name = arg;
	uint32_t state = (unsigned char)name[0];
	char line[80];

	for (int i = 0; i < POSTS; i++) {
		state = simulate(state, 90000); PAUSE(20);
		snprintf(line, sizeof(line), "%s: cycle %d, load %u%%\n", name, i, state % 100);
		strbuf_cut(&status, 0); PAUSE(30);
		strbuf_add(&status, line);
	}
	return NULL;
}

static void *reporter_main(void *arg)
{
	uint32_t *digest = arg;

	for (int i = 0; i < REPORTS; i++) {
		strbuf_append(&report, &status);
		strbuf_add(&report, "--\n");
		*digest = simulate(*digest + 1, 90000);
	}
	return NULL;
}

static int count_rules(const struct strbuf *sb)
{
	int rules = 0;

	for (size_t i = 0; i + 2 < sb->len; i++)
		if (memcmp(sb->text + i, "--\n", 3) == 0)
			rules++;
	return rules;
}

int main(void)
{
	static char *names[UNITS] = {"boiler", "press"};
	pthread_t unit[UNITS], reporter;
	uint32_t digest = 0;

	strbuf_init(&status, 16);
	strbuf_init(&report, 64);
	strbuf_add(&status, "plant: all units starting\n");

	for (int i = 0; i < UNITS; i++)
		pthread_create(&unit[i], NULL, unit_main, names[i]);
	pthread_create(&reporter, NULL, reporter_main, &digest);
	for (int i = 0; i < UNITS; i++)
		pthread_join(unit[i], NULL);
	pthread_join(reporter, NULL);

	printf("%d reports, digest %08x\n", count_rules(&report), digest);
	strbuf_free(&report);
	strbuf_free(&status);
	return 0;
}
