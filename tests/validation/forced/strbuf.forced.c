/* Growable string object, each public operation synchronised on the
 * object's monitor; one object is appended to another. */
#include <unistd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct string_buffer {
    pthread_mutex_t monitor;
    char *value;
    int count;
    int capacity;
} StringBuffer;

static StringBuffer *sb_create(const char *init)
{
    StringBuffer *sb = malloc(sizeof *sb);
    pthread_mutex_init(&sb->monitor, NULL);
    sb->count = (int)strlen(init);
    sb->capacity = sb->count + 120;
    sb->value = calloc(1, (size_t)sb->capacity);
    memcpy(sb->value, init, (size_t)sb->count);
    return sb;
}

static int sb_length(StringBuffer *sb)
{
    pthread_mutex_lock(&sb->monitor);
    int n = sb->count;
    pthread_mutex_unlock(&sb->monitor);
    return n;
}

static void sb_get_chars(StringBuffer *sb, int from, int to, char *dst)
{
    pthread_mutex_lock(&sb->monitor);
    if (from < 0 || from > to || to > sb->count) {
        fprintf(stderr, "StringIndexOutOfBounds: %d\n", to);
        abort();
    }
    memcpy(dst, sb->value + from, (size_t)(to - from));
    pthread_mutex_unlock(&sb->monitor);
}

static void sb_set_length(StringBuffer *sb, int n)
{
    pthread_mutex_lock(&sb->monitor);
    if (n < sb->count)
        sb->count = n;
    pthread_mutex_unlock(&sb->monitor);
}

static void sb_append(StringBuffer *sb, StringBuffer *other)
{
    pthread_mutex_lock(&sb->monitor);
    int len = sb_length(other);
 usleep(60000);
    if (sb->count + len > sb->capacity) {
        sb->capacity = (sb->count + len) * 2;
        sb->value = realloc(sb->value, (size_t)sb->capacity);
    }
    sb_get_chars(other, 0, len, sb->value + sb->count);
    sb->count += len;
    pthread_mutex_unlock(&sb->monitor);
}

static StringBuffer *source, *target;

static void *appender(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++)
        sb_append(target, source);
    return NULL;
}

static void *trimmer(void *unused)
{
    (void)unused;
 usleep(20000);
    char line[64];
    int n = snprintf(line, sizeof line, "%s:%d", "the quick brown", 4);
    sb_set_length(source, n);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    source = sb_create("the quick brown fox jumps over");
    target = sb_create("> ");
    pthread_create(&a, NULL, appender, NULL);
    pthread_create(&b, NULL, trimmer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int ok = memcmp(target->value, "> the quick ", 12) == 0;
    puts(ok ? "append ok" : "append broken");
    free(source->value);
    free(source);
    free(target->value);
    free(target);
    return !ok;
}
