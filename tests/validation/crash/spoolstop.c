/* Print spooler: pages are rendered by two threads, the spooler takes its
   tables away when it has seen the last page. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NPAGES 8
#define NTHREADS 2
#define LEVELS 64

struct spooler {
    pthread_mutex_t lock;
    pthread_cond_t all_done;
    int next, done;
    unsigned char *_Atomic halftone;
    atomic_long ink;
};

static struct spooler sp = { .lock = PTHREAD_MUTEX_INITIALIZER,
                             .all_done = PTHREAD_COND_INITIALIZER };

static void spooler_open(struct spooler *s)
{
    unsigned char *t = malloc(LEVELS);
    int i;

    if (!t)
        exit(1);
    for (i = 0; i < LEVELS; i++)
        t[i] = (unsigned char)(i * 4);
    atomic_store(&s->halftone, t);
}

static void spooler_close(struct spooler *s)
{
    unsigned char *t = atomic_load(&s->halftone);

    atomic_store(&s->halftone, NULL);
    free(t);
}

static int take_page(struct spooler *s)
{
    int page = -1;

    pthread_mutex_lock(&s->lock);
    if (s->next < NPAGES)
        page = s->next++;
    pthread_mutex_unlock(&s->lock);
    return page;
}

static void page_done(struct spooler *s)
{
    pthread_mutex_lock(&s->lock);
    if (++s->done == NPAGES)
        pthread_cond_signal(&s->all_done);
    pthread_mutex_unlock(&s->lock);
}

static long render(struct spooler *s, int page)
{
    long ink = 0;
    int i;

    for (i = 0; i < 300; i++)
        ink += atomic_load(&s->halftone)[(page * 7 + i) % LEVELS];
    return ink;
}

/* The page with the tear-off strip. */
static long render_footer(struct spooler *s, int page)
{
    unsigned char *t = atomic_load(&s->halftone);

    return t[page % LEVELS] + t[(page * 3) % LEVELS];
}

static void *render_main(void *arg)
{
    struct spooler *s = arg;
    int page;

    while ((page = take_page(s)) >= 0) {
        atomic_fetch_add(&s->ink, render(s, page));
        page_done(s);
        atomic_fetch_add(&s->ink, render_footer(s, page));
    }
    return NULL;
}

static void wait_all(struct spooler *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->done < NPAGES)
        pthread_cond_wait(&s->all_done, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

int main(void)
{
    pthread_t t[NTHREADS];
    int i;

    spooler_open(&sp);
    for (i = 0; i < NTHREADS; i++)
        pthread_create(&t[i], NULL, render_main, &sp);
    wait_all(&sp);
    spooler_close(&sp);
    for (i = 0; i < NTHREADS; i++)
        pthread_join(t[i], NULL);
    printf("%d pages\n", sp.done);
    return 0;
}
