/* Copies a web site, here a small one held in memory. The options of the mirror
 * are kept in one place that every part of the program can reach; the crawl
 * runs in its own thread so that the front end stays responsive. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pause.h"

#define MAX_LINKS 4

struct page {
    const char *url;
    const char *body;
    int link[MAX_LINKS]; /* page numbers, -1 ends the list */
};

struct options {
    int max_depth;
    int verbosity;
    size_t max_bytes;
    char accept[16];
};

struct mirror {
    int fetched;
    size_t bytes;
    uint32_t digest;
    unsigned char seen[8];
};

static const struct page site[] = {
    {"/index.html", "<h1>Welcome</h1> to the garden club", {1, 2, 3, -1}},
    {"/news.html", "The spring sale of seedlings begins in May", {0, 4, -1, -1}},
    {"/about.html", "Founded by six neighbours with one wheelbarrow", {0, 5, -1, -1}},
    {"/logo.png", "\x89PNG not really a picture", {-1, -1, -1, -1}},
    {"/archive.html", "Older news, oldest last", {1, 6, -1, -1}},
    {"/contact.html", "Ring the bell at the green gate", {2, -1, -1, -1}},
    {"/archive-old.html", "News from before the flood", {4, -1, -1, -1}},
};
#define PAGES ((int)(sizeof site / sizeof site[0]))

static struct options *mirror_options;

/* Notes are for the curious; before the options are known there are none. */
static void note(const char *what, const char *url)
{
    if (mirror_options != NULL && mirror_options->verbosity > 1)
        fprintf(stderr, "%s %s\n", what, url);
}

/* Lower-case digest of all page addresses, to recognise a page by its hash. */
static uint32_t index_site(void)
{
    uint32_t h = 5381;

    for (int r = 0; r < 1200; r++)
        for (int p = 0; p < PAGES; p++)
            for (const char *c = site[p].url; *c != '\0'; c++)
                h = h * 33 + (unsigned char)*c;
    return h;
}

static int wanted(const struct page *p, const struct options *opt)
{
    const char *suffix = strrchr(p->url, '.');

    return suffix != NULL && strcmp(suffix, opt->accept) == 0;
}

static void fetch(struct mirror *m, int number, int depth, const struct options *opt)
{
    const struct page *p = &site[number];
    size_t n = strlen(p->body);

    if (m->seen[number] || depth > opt->max_depth || !wanted(p, opt))
        return;
    if (m->bytes + n > opt->max_bytes)
        return;
    note("fetch", p->url);
    m->seen[number] = 1;
    m->fetched++;
    m->bytes += n;
    for (size_t i = 0; i < n; i++)
        m->digest = (m->digest ^ (unsigned char)p->body[i]) * 16777619u;
    for (int i = 0; i < MAX_LINKS && p->link[i] >= 0; i++)
        fetch(m, p->link[i], depth + 1, opt);
}

static void *crawl_main(void *arg)
{
    struct mirror *m = arg;

    note("start", site[0].url);
    m->digest = index_site();
    const struct options *opt = mirror_options;
    fetch(m, 0, opt->max_depth > 0 ? 0 : opt->max_depth, opt);
    note("done", site[0].url);
    return NULL;
}

static struct options *options_new(int argc, char **argv)
{
    struct options *opt = calloc(1, sizeof *opt);

    if (opt == NULL)
        abort();
    opt->max_depth = argc > 1 ? atoi(argv[1]) : 2;
    opt->verbosity = argc > 2 ? atoi(argv[2]) : 1;
    opt->max_bytes = 4096;
    snprintf(opt->accept, sizeof opt->accept, ".html");
    return opt;
}

int main(int argc, char **argv)
{
    struct mirror m = {0};
    pthread_t crawl;
    struct options *opt = options_new(argc, argv);

    if (pthread_create(&crawl, NULL, crawl_main, &m) != 0)
        return 2;
    note("mirroring", site[0].url); PAUSE(40);
    mirror_options = opt;

    pthread_join(crawl, NULL);
    printf("%d pages, %zu bytes, digest %08x\n", m.fetched, m.bytes, (unsigned)m.digest);
    free(opt);
    return 0;
}
