#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NCONN 2
#define NQUERIES 8
#define ROW_MAX 96

struct thd {
    struct thd *next;
    pthread_t tid;
    unsigned id;
    char user[16];
    const char *volatile proc_info;
    unsigned long rows_sent;
};

struct row {
    char buf[ROW_MAX];
    size_t len;
};

static pthread_mutex_t lock_thread_count = PTHREAD_MUTEX_INITIALIZER;
static struct thd *threads;
static struct thd conns[NCONN];

static void row_append(struct row *r, const char *field)
{
    size_t n = strlen(field);
    if (r->len + n + 2 > ROW_MAX)
        return;
    memcpy(r->buf + r->len, field, n);
    r->len += n;
    r->buf[r->len++] = '|';
    r->buf[r->len] = 0;
}

static void add_thread(struct thd *t)
{
    pthread_mutex_lock(&lock_thread_count);
    t->next = threads;
    threads = t;
    pthread_mutex_unlock(&lock_thread_count);
}

static void remove_thread(struct thd *t)
{
    struct thd **pp;
    pthread_mutex_lock(&lock_thread_count);
    pp = &threads;
    while (*pp != t)
        pp = &(*pp)->next;
    *pp = t->next;
    pthread_mutex_unlock(&lock_thread_count);
}

static unsigned long scan_table(unsigned seed)
{
    unsigned long rows = 0;
    int i;
    for (i = 0; i < 50; i++) {
        seed = seed * 1103515245u + 12345u;
        if ((seed >> 16) & 1)
            rows++;
    }
    return rows;
}

static void run_query(struct thd *t, int n)
{
    t->proc_info = "Opening tables";
    t->rows_sent += scan_table(t->id + (unsigned)n);
    t->proc_info = "Sending data";
    t->rows_sent += scan_table((unsigned)n);
    t->proc_info = NULL;
}

static void *connection_main(void *p)
{
    struct thd *t = p;
    int i;
    add_thread(t);
    for (i = 0; i < NQUERIES; i++)
        run_query(t, i);
    remove_thread(t);
    return NULL;
}

static size_t list_processes(void)
{
    size_t total = 0;
    struct thd *t;
    struct row r;
    char num[16];
    pthread_mutex_lock(&lock_thread_count);
    for (t = threads; t; t = t->next) {
        r.len = 0;
        snprintf(num, sizeof num, "%u", t->id);
        row_append(&r, num);
        row_append(&r, t->user);
        if (t->proc_info) {
            row_append(&r, "state");
            row_append(&r, t->proc_info);
        }
        total += r.len;
    }
    pthread_mutex_unlock(&lock_thread_count);
    return total;
}

static void *admin_main(void *p)
{
    size_t *sent = p;
    int i;
    for (i = 0; i < 6; i++)
        *sent += list_processes();
    return NULL;
}

int main(void)
{
    pthread_t admin;
    size_t sent = 0;
    int i;
    for (i = 0; i < NCONN; i++) {
        struct thd *t = &conns[i];
        t->id = (unsigned)i + 10;
        snprintf(t->user, sizeof t->user, "app%d", i);
        pthread_create(&t->tid, NULL, connection_main, t);
    }
    pthread_create(&admin, NULL, admin_main, &sent);
    for (i = 0; i < NCONN; i++)
        pthread_join(conns[i].tid, NULL);
    pthread_join(admin, NULL);
    printf("rows %lu\n", conns[0].rows_sent + conns[1].rows_sent);
    return 0;
}
