#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NTHREADS 4
#define NLOOKUPS 20
#define MAX_SERVERS 3

struct resolver_conf {
    int nservers;
    char servers[MAX_SERVERS][16];
    int timeout;
    int attempts;
};

static _Atomic(struct resolver_conf *) current_conf;
static pthread_mutex_t conf_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint loads;
static atomic_uint lookups;

static const char conf_text[] =
    "nameserver 10.0.0.1\n"
    "nameserver 10.0.0.2\n"
    "timeout 5\n"
    "attempts 2\n";

static void parse_line(struct resolver_conf *c, const char *line)
{
    char word[16];
    char arg[16];
    if (sscanf(line, "%15s %15s", word, arg) != 2)
        return;
    if (strcmp(word, "nameserver") == 0) {
        if (c->nservers < MAX_SERVERS)
            strcpy(c->servers[c->nservers++], arg);
    } else if (strcmp(word, "timeout") == 0) {
        c->timeout = atoi(arg);
    } else if (strcmp(word, "attempts") == 0) {
        c->attempts = atoi(arg);
    }
}

static struct resolver_conf *conf_load(void)
{
    struct resolver_conf *c = calloc(1, sizeof *c);
    const char *p = conf_text;
    atomic_fetch_add_explicit(&loads, 1, memory_order_relaxed);
    while (*p) {
        parse_line(c, p);
        p = strchr(p, '\n') + 1;
    }
    return c;
}

static struct resolver_conf *conf_get(void)
{
    struct resolver_conf *c;
    c = atomic_load_explicit(&current_conf, memory_order_acquire);
    if (c)
        return c;
    pthread_mutex_lock(&conf_lock);
    c = atomic_load_explicit(&current_conf, memory_order_relaxed);
    if (!c) {
        c = conf_load();
        atomic_store_explicit(&current_conf, c, memory_order_release);
    }
    pthread_mutex_unlock(&conf_lock);
    return c;
}

static size_t resolve(int n)
{
    struct resolver_conf *c = conf_get();
    const char *server = c->servers[n % c->nservers];
    size_t cost = strlen(server);
    atomic_fetch_add_explicit(&lookups, 1, memory_order_relaxed);
    return cost * (size_t)c->attempts;
}

static void *lookup_main(void *arg)
{
    size_t *total = arg;
    int i;
    for (i = 0; i < NLOOKUPS; i++)
        *total += resolve(i);
    return NULL;
}

int main(void)
{
    pthread_t tid[NTHREADS];
    size_t total[NTHREADS];
    unsigned n;
    int rc = 0;
    int i;
    for (i = 0; i < NTHREADS; i++) {
        total[i] = 0;
        pthread_create(&tid[i], NULL, lookup_main, &total[i]);
    }
    for (i = 0; i < NTHREADS; i++) {
        pthread_join(tid[i], NULL);
        if (total[i] != NLOOKUPS * 8 * 2)
            rc = 1;
    }
    n = atomic_load(&lookups);
    if (atomic_load(&loads) != 1 || n != NTHREADS * NLOOKUPS)
        rc = 1;
    printf("%u lookups\n", n);
    free(atomic_load(&current_conf));
    return rc;
}
