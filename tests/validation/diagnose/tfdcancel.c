#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NCONTEXTS 3
#define NSETTERS 2

#define TFD_ABSTIME 1
#define TFD_CANCEL_ON_SET 2

struct timerfd_ctx {
    struct timerfd_ctx *next;
    int might_cancel;
    int cancelled;
    atomic_long expires;
    atomic_int settings;
};

static pthread_mutex_t cancel_lock = PTHREAD_MUTEX_INITIALIZER;
static struct timerfd_ctx *cancel_list;
static int cancel_count;

static struct timerfd_ctx contexts[NCONTEXTS];

static void cancel_list_add(struct timerfd_ctx *ctx)
{
    pthread_mutex_lock(&cancel_lock);
    ctx->next = cancel_list;
    cancel_list = ctx;
    cancel_count++;
    pthread_mutex_unlock(&cancel_lock);
}

static void cancel_list_del(struct timerfd_ctx *ctx)
{
    struct timerfd_ctx **p;
    pthread_mutex_lock(&cancel_lock);
    for (p = &cancel_list; *p != NULL; p = &(*p)->next) {
        if (*p == ctx) {
            *p = ctx->next;
            cancel_count--;
            break;
        }
    }
    pthread_mutex_unlock(&cancel_lock);
}

static void setup_cancel(struct timerfd_ctx *ctx, int flags)
{
    if ((flags & TFD_ABSTIME) && (flags & TFD_CANCEL_ON_SET)) {
        if (!ctx->might_cancel) {
            ctx->might_cancel = 1;
            cancel_list_add(ctx);
        }
    } else if (ctx->might_cancel) {
        ctx->might_cancel = 0;
        cancel_list_del(ctx);
    }
}

static void do_settime(struct timerfd_ctx *ctx, int flags, long expires)
{
    setup_cancel(ctx, flags);
    atomic_store_explicit(&ctx->expires, expires, memory_order_relaxed);
    atomic_fetch_add_explicit(&ctx->settings, 1, memory_order_relaxed);
}

static int clock_was_set(void)
{
    struct timerfd_ctx *ctx;
    int n = 0;
    pthread_mutex_lock(&cancel_lock);
    for (ctx = cancel_list; ctx != NULL; ctx = ctx->next) {
        ctx->cancelled = 1;
        if (++n > NCONTEXTS) {
            fprintf(stderr, "cancel list of %d entries is corrupted\n", cancel_count);
            abort();
        }
    }
    pthread_mutex_unlock(&cancel_lock);
    return n;
}

static void *setter_main(void *arg)
{
    int i, id = *(int *)arg;
    for (i = 0; i < NCONTEXTS; i++)
        do_settime(&contexts[i], TFD_ABSTIME | TFD_CANCEL_ON_SET, 100L * i + id);
    return NULL;
}

int main(void)
{
    pthread_t setters[NSETTERS];
    int ids[NSETTERS], i, n, settings = 0;
    for (i = 0; i < NSETTERS; i++) {
        ids[i] = i;
        pthread_create(&setters[i], NULL, setter_main, &ids[i]);
    }
    for (i = 0; i < NSETTERS; i++)
        pthread_join(setters[i], NULL);
    n = clock_was_set();
    for (i = 0; i < NCONTEXTS; i++) {
        settings += atomic_load(&contexts[i].settings);
        do_settime(&contexts[i], 0, 0);
    }
    printf("%d timers cancelled after %d settings, %d left\n", n, settings, cancel_count);
    return n != NCONTEXTS;
}
