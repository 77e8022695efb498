#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NAMELEN 24
#define NREADERS 2
#define NREADS 4
#define NSETS 3

struct uts {
    pthread_mutex_t setters;
    pthread_rwlock_t lock;
    char node[NAMELEN];
    int length;
    char domain[NAMELEN];
    unsigned changes;
};

struct reader {
    struct uts *uts;
    int torn;
    int seen;
};

static const char *const names[] = { "primary.example", "standby-host-two", "db" };
static atomic_int reads;

static void set_name(struct uts *u, const char *name)
{
    int i;
    pthread_mutex_lock(&u->setters);
    for (i = 0; name[i] != 0 && i < NAMELEN - 1; i++) {
        u->node[i] = name[i];
    }
    u->node[i] = 0;
    u->length = i;
    u->changes++;
    pthread_mutex_unlock(&u->setters);
}

static void set_domain(struct uts *u, const char *domain)
{
    pthread_rwlock_wrlock(&u->lock);
    strcpy(u->domain, domain);
    pthread_rwlock_unlock(&u->lock);
}

static int get_name(struct uts *u, char *to)
{
    int i, length;
    pthread_rwlock_rdlock(&u->lock);
    length = u->length;
    for (i = 0; i < length; i++)
        to[i] = u->node[i];
    pthread_rwlock_unlock(&u->lock);
    to[length] = 0;
    return length;
}

static int get_domain(struct uts *u, char *to)
{
    pthread_rwlock_rdlock(&u->lock);
    strcpy(to, u->domain);
    pthread_rwlock_unlock(&u->lock);
    return (int)strlen(to);
}

static int known(const char *name)
{
    unsigned i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;
    char name[NAMELEN], domain[NAMELEN];
    int i;
    for (i = 0; i < NREADS; i++) {
        get_name(r->uts, name);
        if (!known(name))
            r->torn++;
        r->seen += get_domain(r->uts, domain) > 0;
        atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    static struct uts u = { .setters = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_RWLOCK_INITIALIZER };
    struct reader readers[NREADERS];
    pthread_t t[NREADERS];
    int i, torn = 0, seen = 0;
    set_name(&u, names[0]);
    set_domain(&u, "lan");
    for (i = 0; i < NREADERS; i++) {
        readers[i] = (struct reader){ &u, 0, 0 };
        pthread_create(&t[i], NULL, reader_main, &readers[i]);
    }
    for (i = 1; i <= NSETS; i++) {
        set_name(&u, names[i % 3]);
        set_domain(&u, i % 2 ? "wan" : "lan");
    }
    for (i = 0; i < NREADERS; i++) {
        pthread_join(t[i], NULL);
        torn += readers[i].torn;
        seen += readers[i].seen;
    }
    printf("%d torn names, %d of %d domains, %u changes\n", torn, seen, atomic_load(&reads), u.changes);
    return torn != 0 || seen != NREADERS * NREADS;
}
