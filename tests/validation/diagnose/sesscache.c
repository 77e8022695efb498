/* TLS session cache shared by connections: sessions are dropped on
 * shutdown alerts and by the periodic flush. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSESS     8
#define ST_LIVE   0x5e55
#define ST_FREED  0xdead

typedef struct session {
    struct session *next;
    long            timeout;
    atomic_int      state;
    int             id;
    unsigned char   master_key[48];
} session_t;

typedef struct {
    pthread_mutex_t lock;
    session_t      *list;
    int             count;
    atomic_int      freed;
    atomic_int      lookups;
} ctx_t;

static ctx_t ctx = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void session_new(ctx_t *c, int id)
{
    session_t *s = calloc(1, sizeof *s);

    s->id = id;
    s->timeout = id % 2 ? 10 : 300;
    atomic_store(&s->state, ST_LIVE);
    memset(s->master_key, id, sizeof s->master_key);
    s->next = c->list;
    c->list = s;
    c->count++;
}

static void session_free(ctx_t *c, session_t *s)
{
    int old = atomic_exchange(&s->state, ST_FREED);

    assert(old == ST_LIVE);
    memset(s->master_key, 0, sizeof s->master_key);
    atomic_fetch_add(&c->freed, 1);
    free(s);
}

/* caller holds the context lock */
static void list_unlink(ctx_t *c, session_t *s)
{
    for (session_t **pp = &c->list; *pp; pp = &(*pp)->next) {
        if (*pp == s) {
            *pp = s->next;
            c->count--;
            return;
        }
    }
}

static session_t *session_lookup(ctx_t *c, int id)
{
    session_t *s;

    atomic_fetch_add(&c->lookups, 1);
    pthread_mutex_lock(&c->lock);
    for (s = c->list; s; s = s->next)
        if (s->id == id)
            break;
    pthread_mutex_unlock(&c->lock);
    return s;
}

static void ctx_remove_session(ctx_t *c, int id)
{
    session_t *s = session_lookup(c, id);

    if (!s)
        return;
    pthread_mutex_lock(&c->lock);
    list_unlink(c, s);
    pthread_mutex_unlock(&c->lock);
    session_free(c, s);
}

static void ctx_flush_sessions(ctx_t *c, long now)
{
    session_t *expired = NULL;

    pthread_mutex_lock(&c->lock);
    for (session_t **pp = &c->list; *pp; ) {
        session_t *s = *pp;
        if (s->timeout < now) {
            *pp = s->next;
            s->next = expired;
            expired = s;
            c->count--;
        } else {
            pp = &s->next;
        }
    }
    pthread_mutex_unlock(&c->lock);
    while (expired) {
        session_t *s = expired;
        expired = s->next;
        session_free(c, s);
    }
}

static void *connection_main(void *arg)
{
    int first = (int)(long)arg;

    for (int i = first; i < NSESS; i += 2)
        ctx_remove_session(&ctx, i);
    return NULL;
}

static void *timer_main(void *arg)
{
    (void)arg;
    ctx_flush_sessions(&ctx, 100);
    return NULL;
}

int main(void)
{
    pthread_t conn[2], timer;

    for (int i = 0; i < NSESS; i++)
        session_new(&ctx, i);
    for (long i = 0; i < 2; i++)
        pthread_create(&conn[i], NULL, connection_main, (void *)i);
    pthread_create(&timer, NULL, timer_main, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(conn[i], NULL);
    pthread_join(timer, NULL);

    printf("lookups %d freed %d left %d\n", atomic_load(&ctx.lookups),
           atomic_load(&ctx.freed), ctx.count);
    return ctx.count == 0 && atomic_load(&ctx.freed) == NSESS ? 0 : 1;
}
