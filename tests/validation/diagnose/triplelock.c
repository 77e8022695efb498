/* Server with tables, status counters and system variables, each with a lock
 * of its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NTABLES 3

struct table {
    char name[16];
    int  version;
    int  in_use;
};

static pthread_mutex_t LOCK_open = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t LOCK_status = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t LOCK_sysvar = PTHREAD_MUTEX_INITIALIZER;

static struct table tables[NTABLES];            /* LOCK_open */
static int refresh_version = 1;                 /* LOCK_open */
static struct { long opened, flushed, shown; } status;  /* LOCK_status */
static struct { int cache_size, log_level; } sysvar = { 2, 1 };  /* LOCK_sysvar */
static atomic_long questions;

static void count_opened(void)
{
    pthread_mutex_lock(&LOCK_status);
    status.opened++;
    pthread_mutex_unlock(&LOCK_status);
}

static void open_table(int n)
{
    pthread_mutex_lock(&LOCK_open);
    if (tables[n].version != refresh_version) {
        snprintf(tables[n].name, sizeof tables[n].name, "t%d", n);
        tables[n].version = refresh_version;
        count_opened();
    }
    tables[n].in_use++;
    pthread_mutex_unlock(&LOCK_open);
}

static void close_table(int n)
{
    pthread_mutex_lock(&LOCK_open);
    tables[n].in_use--;
    pthread_mutex_unlock(&LOCK_open);
}

static int get_log_level(void)
{
    int level;

    pthread_mutex_lock(&LOCK_sysvar);
    level = sysvar.log_level;
    pthread_mutex_unlock(&LOCK_sysvar);
    return level;
}

static int show_status(char *out, size_t n)
{
    int len = 0;

    pthread_mutex_lock(&LOCK_status);
    status.shown++;
    if (get_log_level() > 0)
        len = snprintf(out, n, "opened %ld flushed %ld", status.opened, status.flushed);
    pthread_mutex_unlock(&LOCK_status);
    return len;
}

static void shrink_cache(int size)
{
    pthread_mutex_lock(&LOCK_open);
    for (int i = size; i < NTABLES; i++)
        if (tables[i].in_use == 0)
            tables[i].version = 0;
    pthread_mutex_unlock(&LOCK_open);
}

static void set_cache_size(int size)
{
    pthread_mutex_lock(&LOCK_sysvar);
    sysvar.cache_size = size;
    shrink_cache(size);
    pthread_mutex_unlock(&LOCK_sysvar);
}

static void *query_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < NTABLES; i++) {
        atomic_fetch_add_explicit(&questions, 1, memory_order_relaxed);
        open_table(i);
        close_table(i);
    }
    return NULL;
}

static void *monitor_thread(void *arg)
{
    char text[64];
    int *total = arg;

    for (int i = 0; i < 2; i++) {
        atomic_fetch_add_explicit(&questions, 1, memory_order_relaxed);
        *total += show_status(text, sizeof text) > 0;
    }
    return NULL;
}

static void *admin_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        atomic_fetch_add_explicit(&questions, 1, memory_order_relaxed);
        set_cache_size(1 + i);
    }
    return NULL;
}

int main(void)
{
    pthread_t q, m, a;
    int shown = 0;

    pthread_create(&q, NULL, query_thread, NULL);
    pthread_create(&m, NULL, monitor_thread, &shown);
    pthread_create(&a, NULL, admin_thread, NULL);
    pthread_join(q, NULL);
    pthread_join(m, NULL);
    pthread_join(a, NULL);
    printf("%ld questions, %d shown\n", atomic_load(&questions), shown);
    return shown == 2 ? 0 : 1;
}
