/* Strings of a script engine. Script threads create property keys, all padded
 * to one width; the runtime counts strings and characters, and the heap
 * reporter derives the mean length from both, which must be the key width. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pause.h"

#define SCRIPTS 2
#define KEYS_PER_SCRIPT 24
#define KEY_WIDTH 24
#define SAMPLES 2

struct script_string {
    struct script_string *next;
    uint32_t hash;
    size_t length;
    char chars[KEY_WIDTH];
};

struct runtime {
    pthread_mutex_t lock;
    struct script_string *strings;
    long string_count;
    long string_chars;
};

struct script {
    struct runtime *rt;
    int number;
    uint32_t checksum;
};

struct report {
    struct runtime *rt;
    int inconsistent;
};

static uint32_t hash_chars(const char *chars, size_t n, uint32_t h)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)chars[i]) * 16777619u;
    return h;
}

/* An empty string, linked into the heap. */
static struct script_string *string_alloc(struct runtime *rt)
{
    struct script_string *s = calloc(1, sizeof *s);

    if (s == NULL)
        abort();
    pthread_mutex_lock(&rt->lock);
    s->next = rt->strings;
    rt->strings = s;
    rt->string_count++;
    pthread_mutex_unlock(&rt->lock);
    return s;
}

static void string_fill(struct runtime *rt, struct script_string *s, const char *chars, size_t n)
{
    memcpy(s->chars, chars, n);
    s->length = n;
    pthread_mutex_lock(&rt->lock);
    rt->string_chars += (long)n;
    pthread_mutex_unlock(&rt->lock);
}

static struct script_string *string_new(struct runtime *rt, const char *chars, size_t n)
{
    struct script_string *s = string_alloc(rt); PAUSE(20);

    string_fill(rt, s, chars, n);
    return s;
}

static void make_key(char *key, int script, int index)
{
    char text[KEY_WIDTH + 16];

    int n = snprintf(text, sizeof text, "prop_%d_%d", script, index);
    memset(key, ' ', KEY_WIDTH);
    memcpy(key, text, (size_t)n < KEY_WIDTH ? (size_t)n : KEY_WIDTH);
}

static void *script_main(void *arg)
{
    struct script *sc = arg;
    char key[KEY_WIDTH];

    for (int i = 0; i < KEYS_PER_SCRIPT; i++) {
        make_key(key, sc->number, i);
        struct script_string *s = string_new(sc->rt, key, sizeof key);
        s->hash = 2166136261u;
        for (int r = 0; r < 400; r++)
            s->hash = hash_chars(s->chars, s->length, s->hash);
        sc->checksum += s->hash;
    }
    return NULL;
}

/* True when the mean length of all strings is the key width. */
static int check_mean(struct runtime *rt)
{
    pthread_mutex_lock(&rt->lock);
    long count = rt->string_count;
    long chars = rt->string_chars;
    pthread_mutex_unlock(&rt->lock);
    if (count == 0)
        return 1;
    double mean = (double)chars / (double)count;
    if (mean != KEY_WIDTH)
        fprintf(stderr, "string heap: mean length %.2f, expected %d\n", mean, KEY_WIDTH);
    return mean == KEY_WIDTH;
}

static void *reporter_main(void *arg)
{
    struct report *r = arg; PAUSE(10);

    for (int i = 0; i < SAMPLES; i++)
        if (!check_mean(r->rt))
            r->inconsistent++;
    return NULL;
}

int main(void)
{
    static struct runtime rt = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct script script[SCRIPTS];
    struct report report = {&rt, 0};
    pthread_t thread[SCRIPTS], reporter;
    uint32_t checksum = 0;

    for (int i = 0; i < SCRIPTS; i++) {
        script[i] = (struct script){&rt, i, 0};
        if (pthread_create(&thread[i], NULL, script_main, &script[i]) != 0)
            return 2;
    }
    if (pthread_create(&reporter, NULL, reporter_main, &report) != 0)
        return 2;
    for (int i = 0; i < SCRIPTS; i++) {
        pthread_join(thread[i], NULL);
        checksum += script[i].checksum;
    }
    pthread_join(reporter, NULL);
    if (!check_mean(&rt))
        report.inconsistent++;

    while (rt.strings != NULL) {
        struct script_string *s = rt.strings;
        rt.strings = s->next;
        free(s);
    }
    if (report.inconsistent > 0)
        return 1;
    printf("%ld strings, checksum %08x\n", rt.string_count, (unsigned)checksum);
    return 0;
}
