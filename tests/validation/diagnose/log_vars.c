#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NQUERIES 6
#define NSETS 3
#define NROTATES 2

struct sys_vars {
    pthread_mutex_t lock;
    int log_enabled;
    int long_query_time;
    char log_dir[32];
};

struct query_log {
    pthread_mutex_t lock;
    char path[64];
    char last[48];
    unsigned lines;
    unsigned rotations;
};

static struct sys_vars vars = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .log_enabled = 1,
    .long_query_time = 10,
    .log_dir = "/var/lib/db"
};

static struct query_log qlog = {
    .lock = PTHREAD_MUTEX_INITIALIZER
};

static void log_line(const char *what, int n)
{
    pthread_mutex_lock(&qlog.lock);
    snprintf(qlog.last, sizeof qlog.last, "%s %d", what, n);
    qlog.lines++;
    pthread_mutex_unlock(&qlog.lock);
}

static void get_log_dir(char *out, size_t size)
{
    pthread_mutex_lock(&vars.lock);
    snprintf(out, size, "%s", vars.log_dir);
    pthread_mutex_unlock(&vars.lock);
}

static int get_log_enabled(void)
{
    int on;
    pthread_mutex_lock(&vars.lock);
    on = vars.log_enabled;
    pthread_mutex_unlock(&vars.lock);
    return on;
}

static void set_query_time(int seconds)
{
    pthread_mutex_lock(&vars.lock);
    if (vars.long_query_time != seconds) {
        vars.long_query_time = seconds;
        log_line("SET long_query_time", seconds);
    }
    pthread_mutex_unlock(&vars.lock);
}

static void rotate_log(unsigned no)
{
    char dir[32];
    pthread_mutex_lock(&qlog.lock);
    get_log_dir(dir, sizeof dir);
    snprintf(qlog.path, sizeof qlog.path, "%s/query.%u", dir, no);
    qlog.rotations++;
    pthread_mutex_unlock(&qlog.lock);
}

static void *query_main(void *arg)
{
    int i;
    (void)arg;
    for (i = 0; i < NQUERIES; i++) {
        if (get_log_enabled())
            log_line("SELECT", i);
    }
    return NULL;
}

static void *admin_main(void *arg)
{
    int i;
    (void)arg;
    for (i = 0; i < NSETS; i++)
        set_query_time(i + 1);
    return NULL;
}

static void *rotate_main(void *arg)
{
    unsigned i;
    (void)arg;
    for (i = 0; i < NROTATES; i++)
        rotate_log(i + 2);
    return NULL;
}

int main(void)
{
    pthread_t query;
    pthread_t admin;
    pthread_t rotate;
    rotate_log(1);
    pthread_create(&query, NULL, query_main, NULL);
    pthread_create(&admin, NULL, admin_main, NULL);
    pthread_create(&rotate, NULL, rotate_main, NULL);
    pthread_join(query, NULL);
    pthread_join(admin, NULL);
    pthread_join(rotate, NULL);
    printf("%s: %u lines, last %s\n", qlog.path, qlog.lines, qlog.last);
    return qlog.lines == NQUERIES + NSETS ? 0 : 1;
}
