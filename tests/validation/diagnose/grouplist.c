#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXIF 16

struct iface {
    int index;
    unsigned long octets;
};

struct iftable {
    pthread_mutex_t lock;
    struct iface rows[MAXIF];
    int count;
};

struct reply {
    int declared;
    struct iface rows[MAXIF];
    int filled;
};

struct agent {
    pthread_mutex_t lock;
    int served;
    int malformed;
};

static struct iftable table = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct agent agent = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void table_add(int index)
{
    pthread_mutex_lock(&table.lock);
    table.rows[table.count].index = index;
    table.rows[table.count].octets = 1000ul * (unsigned)index;
    table.count++;
    pthread_mutex_unlock(&table.lock);
}

static int table_count(void)
{
    int n;
    pthread_mutex_lock(&table.lock);
    n = table.count;
    pthread_mutex_unlock(&table.lock);
    return n;
}

static int table_copy(struct iface *out)
{
    int n;
    pthread_mutex_lock(&table.lock);
    n = table.count;
    memcpy(out, table.rows, (size_t)n * sizeof *out);
    pthread_mutex_unlock(&table.lock);
    return n;
}

static void build_reply(struct reply *r)
{
    memset(r, 0, sizeof *r);
    r->declared = table_count();
    r->filled = table_copy(r->rows);
}

static int check_reply(const struct reply *r)
{
    int i;
    if (r->filled != r->declared)
        return -1;
    for (i = 0; i < r->filled; i++)
        if (r->rows[i].index != i + 1)
            return -1;
    return 0;
}

static void serve(void)
{
    struct reply r;
    int bad;
    build_reply(&r);
    bad = check_reply(&r) < 0;
    pthread_mutex_lock(&agent.lock);
    agent.served++;
    agent.malformed += bad;
    pthread_mutex_unlock(&agent.lock);
}

static void *hotplug_main(void *arg)
{
    int i;
    for (i = 3; i <= 6; i++)
        table_add(i);
    return arg;
}

int main(void)
{
    pthread_t t;
    int i;
    table_add(1);
    table_add(2);
    pthread_create(&t, NULL, hotplug_main, NULL);
    for (i = 0; i < 5; i++)
        serve();
    pthread_join(t, NULL);
    printf("%d served, %d malformed\n", agent.served, agent.malformed);
    return agent.malformed ? 1 : 0;
}
