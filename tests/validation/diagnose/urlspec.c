/* The address of a document: its text, and where the path begins in it.  The
 * loader changes it on a redirect, others ask for the path. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define SPECMAX 96
#define NREDIR  3
#define NASK    4

struct url {
    pthread_mutex_t lock;
    char            spec[SPECMAX];
    int             redirects;
    int             path_pos;
};

struct asker {
    int       bad;
    long      asked;
    pthread_t thread;
};

static struct url doc = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_long security_checks;

static const char *const hops[NREDIR] = {
    "http://www.example.org/index.html",
    "https://a-much-longer-name.cdn.example.org:8443/index.html",
    "ftp://x.org/index.html",
};

static int find_path(const char *spec)
{
    const char *host = strstr(spec, "://");
    const char *slash = host ? strchr(host + 3, '/') : NULL;

    return slash ? (int)(slash - spec) : -1;
}

static void url_set_spec(struct url *u, const char *spec)
{
    pthread_mutex_lock(&u->lock);
    strncpy(u->spec, spec, SPECMAX - 1);
    u->redirects++;
    pthread_mutex_unlock(&u->lock);
}

static void url_set_path_pos(struct url *u, int pos)
{
    pthread_mutex_lock(&u->lock);
    u->path_pos = pos;
    pthread_mutex_unlock(&u->lock);
}

static void url_redirect(struct url *u, const char *to)
{
    int pos = find_path(to);

    if (pos < 0)
        return;
    url_set_spec(u, to);
    url_set_path_pos(u, pos);
}

static void url_get_path(struct url *u, char *out, size_t n)
{
    pthread_mutex_lock(&u->lock);
    if ((size_t)u->path_pos <= strlen(u->spec))
        snprintf(out, n, "%s", u->spec + u->path_pos);
    else
        snprintf(out, n, "(none)");
    pthread_mutex_unlock(&u->lock);
}

static void *loader_main(void *arg)
{
    (void)arg;
    for (int i = 1; i < NREDIR; i++) {
        atomic_fetch_add_explicit(&security_checks, 1, memory_order_relaxed);
        url_redirect(&doc, hops[i]);
    }
    return NULL;
}

static void *asker_main(void *arg)
{
    struct asker *a = arg;
    char path[SPECMAX];

    for (int i = 0; i < NASK; i++) {
        url_get_path(&doc, path, sizeof path);
        atomic_fetch_add_explicit(&security_checks, 1, memory_order_relaxed);
        a->asked++;
        if (strcmp(path, "/index.html") != 0) {
            fprintf(stderr, "path \"%s\"\n", path);
            a->bad++;
        }
    }
    return NULL;
}

int main(void)
{
    struct asker a[2];
    pthread_t loader;
    int bad = 0;

    url_redirect(&doc, hops[0]);
    for (int i = 0; i < 2; i++) {
        a[i] = (struct asker){ .bad = 0 };
        pthread_create(&a[i].thread, NULL, asker_main, &a[i]);
    }
    pthread_create(&loader, NULL, loader_main, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(a[i].thread, NULL);
        bad += a[i].bad;
    }
    pthread_join(loader, NULL);
    printf("%d redirects, %ld checks\n", doc.redirects - 1, atomic_load(&security_checks));
    return bad ? 1 : 0;
}
