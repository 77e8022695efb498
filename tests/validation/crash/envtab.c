#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NREADERS 2
#define NVARS 6
#define NREADS 4

struct environment {
    pthread_mutex_t lock;
    char **strings;
    int count;
    int grown;
};

static struct environment env = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_int lookups;

static char *make_string(const char *name, const char *value)
{
    size_t n = strlen(name) + strlen(value) + 2;
    char *s = malloc(n);
    if (s == NULL)
        abort();
    snprintf(s, n, "%s=%s", name, value);
    return s;
}

static int find(char **strings, const char *name)
{
    size_t n = strlen(name);
    int i;
    for (i = 0; strings[i] != NULL; i++)
        if (strncmp(strings[i], name, n) == 0 && strings[i][n] == '=')
            return i;
    return -1;
}

static void env_put(const char *name, const char *value)
{
    char **old, **fresh;
    int at;
    pthread_mutex_lock(&env.lock);
    at = env.strings != NULL ? find(env.strings, name) : -1;
    if (at >= 0) {
        env.strings[at] = make_string(name, value);
    } else {
        old = env.strings;
        fresh = malloc((env.count + 2) * sizeof *fresh);
        if (fresh == NULL)
            abort();
        if (env.count > 0)
            memcpy(fresh, old, env.count * sizeof *fresh);
        fresh[env.count] = make_string(name, value);
        fresh[env.count + 1] = NULL;
        env.strings = fresh;
        env.count++;
        env.grown++;
        free(old);
    }
    pthread_mutex_unlock(&env.lock);
}

static const char *env_get(const char *name)
{
    char **strings = env.strings;
    int at;
    atomic_fetch_add_explicit(&lookups, 1, memory_order_relaxed);
    at = find(strings, name);
    return at < 0 ? NULL : strings[at] + strlen(name) + 1;
}

static void *reader_main(void *arg)
{
    static const char *const names[] = { "HOME", "LANG", "TZ", "USER" };
    int i, *found = arg;
    for (i = 0; i < NREADS; i++) {
        const char *value = env_get(names[i % 4]);
        if (value != NULL && value[0] != '\0')
            ++*found;
    }
    return NULL;
}

static void *locale_main(void *arg)
{
    char name[16];
    int i;
    (void)arg;
    for (i = 0; i < NVARS; i++) {
        snprintf(name, sizeof name, "LC_%d", i);
        env_put(name, "C");
    }
    env_put("TZ", "UTC");
    return NULL;
}

int main(void)
{
    pthread_t readers[NREADERS], locale;
    int found[NREADERS] = { 0 }, i;
    env_put("HOME", "/root");
    env_put("LANG", "en");
    env_put("TZ", "CET");
    env_put("USER", "root");
    for (i = 0; i < NREADERS; i++)
        pthread_create(&readers[i], NULL, reader_main, &found[i]);
    pthread_create(&locale, NULL, locale_main, NULL);
    for (i = 0; i < NREADERS; i++)
        pthread_join(readers[i], NULL);
    pthread_join(locale, NULL);
    printf("%d lookups, %d and %d found, %d variables\n", atomic_load(&lookups), found[0], found[1], env.count);
    if (found[0] != NREADS || found[1] != NREADS)
        abort();
    return 0;
}
