/* Arena selection of a small multi-threaded allocator.
 *
 * Every thread is attached to an arena.  Arenas left by all their threads go
 * to a free list; when the limit of arenas is reached, threads share them. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NTHREADS   4
#define NROUNDS    3
#define NARENA_MAX 2
#define CHUNK      48

struct arena {
    pthread_mutex_t mutex;          /* guards the heap fields */
    size_t          system_mem;
    size_t          in_use;
    long            nalloc;
    int             id;
    int             attached;       /* guarded by free_list_lock */
    struct arena   *next;           /* guarded by list_lock */
    struct arena   *next_free;      /* guarded by free_list_lock */
};

static struct arena *arena_list;
static struct arena *next_to_use;
static int narenas;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

static struct arena *free_list;
static pthread_mutex_t free_list_lock = PTHREAD_MUTEX_INITIALIZER;

static atomic_long stat_reused, stat_recycled;
static long stat_contended;

static struct arena *get_free_list(void)
{
    struct arena *a;

    pthread_mutex_lock(&free_list_lock);
    a = free_list;
    if (a != NULL) {
        free_list = a->next_free;
        assert(a->attached == 0);
        a->attached = 1;
        atomic_fetch_add(&stat_recycled, 1);
    }
    pthread_mutex_unlock(&free_list_lock);
    return a;
}

static struct arena *new_arena(void)
{
    struct arena *a = NULL;

    pthread_mutex_lock(&list_lock);
    if (narenas < NARENA_MAX) {
        a = calloc(1, sizeof(*a));
        if (a == NULL)
            abort();
        pthread_mutex_init(&a->mutex, NULL);
        a->id = narenas++;
        a->attached = 1;
        a->system_mem = 4096;
        a->next = arena_list;
        arena_list = a;
    }
    pthread_mutex_unlock(&list_lock);
    return a;
}

static struct arena *reused_arena(void)
{
    struct arena *a;

    pthread_mutex_lock(&list_lock);
    if (next_to_use == NULL)
        next_to_use = arena_list;
    a = next_to_use;
    next_to_use = a->next;
    pthread_mutex_unlock(&list_lock);

    pthread_mutex_lock(&free_list_lock);
    ++a->attached;
    pthread_mutex_unlock(&free_list_lock);
    atomic_fetch_add(&stat_reused, 1);
    return a;
}

static struct arena *arena_get(void)
{
    struct arena *a = get_free_list();

    if (a == NULL)
        a = new_arena();
    if (a == NULL)
        a = reused_arena();
    return a;
}

static void arena_detach(struct arena *a)
{
    pthread_mutex_lock(&free_list_lock);
    if (--a->attached == 0) {
        a->next_free = free_list;
        free_list = a;
    }
    pthread_mutex_unlock(&free_list_lock);
}

static void arena_alloc(struct arena *a, size_t n)
{
    if (pthread_mutex_trylock(&a->mutex) != 0) {
        stat_contended++;
        pthread_mutex_lock(&a->mutex);
    }
    a->in_use += n;
    a->nalloc++;
    pthread_mutex_unlock(&a->mutex);
}

static void *thread_main(void *arg)
{
    int id = *(int *)arg;

    for (int r = 0; r < NROUNDS; r++) {
        struct arena *a = arena_get();

        for (int i = 0; i < 4 + id; i++)
            arena_alloc(a, CHUNK);
        arena_detach(a);
    }
    return NULL;
}

static int check_free_list(void)
{
    int n = 0;

    for (struct arena *a = free_list; a != NULL; a = a->next_free) {
        if (a->attached != 0 || ++n > narenas)
            return 0;
    }
    return n == narenas;
}

int main(void)
{
    pthread_t t[NTHREADS];
    int ids[NTHREADS];
    long n = 0;

    for (int i = 0; i < NTHREADS; i++) {
        ids[i] = i;
        pthread_create(&t[i], NULL, thread_main, &ids[i]);
    }
    for (int i = 0; i < NTHREADS; i++)
        pthread_join(t[i], NULL);
    for (struct arena *a = arena_list; a != NULL; a = a->next)
        n += a->nalloc;
    printf("%d arenas, %ld chunks, %ld reused, %ld recycled\n", narenas, n,
           atomic_load(&stat_reused), atomic_load(&stat_recycled));
    if (!check_free_list()) {
        fprintf(stderr, "free list corrupted\n");
        return 1;
    }
    return 0;
}
