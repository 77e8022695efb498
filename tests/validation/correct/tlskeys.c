/* Per-thread scratch buffers by pthread_once and a key whose destructor adds
 * them up; a _Thread_local counter beside it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define CALLS   25

struct scratch {
    long used;
    char text[64];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int inits;
static _Thread_local int calls;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static long total_used;
static int released;

static void release(void *p)
{
    struct scratch *s = p;

    pthread_mutex_lock(&total_lock);
    total_used += s->used;
    released++;
    pthread_mutex_unlock(&total_lock);
    free(s);
}

static void init(void)
{
    inits++;
    if (pthread_key_create(&key, release))
        abort();
}

static struct scratch *get_scratch(void)
{
    struct scratch *s;

    pthread_once(&once, init);
    s = pthread_getspecific(key);
    if (!s) {
        s = calloc(1, sizeof *s);
        if (!s)
            abort();
        pthread_setspecific(key, s);
    }
    return s;
}

static const char *number_text(int n)
{
    struct scratch *s = get_scratch();

    calls++;
    s->used += snprintf(s->text, sizeof s->text, "%d", n);
    return s->text;
}

static void *worker(void *arg)
{
    int *count = arg, same = 1;

    for (int i = 0; i < CALLS; i++)
        same &= atoi(number_text(i)) == i;
    *count = same ? calls : -1;
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    int count[THREADS], bad = 0;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, worker, &count[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        bad |= count[i] != CALLS;
    }
    printf("%d init, %d released, %ld used, main %d\n", inits, released, total_used, calls);
    return bad || inits != 1 || released != THREADS || calls != 0;
}
