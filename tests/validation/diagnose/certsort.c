#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OBJECTS 32
#define NCERTS 24
#define NVERIFIERS 3

struct x509_object {
    char subject[16];
    unsigned serial;
};

struct object_stack {
    struct x509_object *data[MAX_OBJECTS];
    int num;
    int sorted;
};

struct cert_store {
    pthread_rwlock_t lock;
    struct object_stack objs;
    unsigned flags;
};

struct verifier {
    struct cert_store *store;
    int from;
    int missing;
    pthread_t thread;
};

static atomic_long lookups;

static void stack_sort(struct object_stack *s)
{
    int i, j;
    for (i = 1; i < s->num; i++) {
        struct x509_object *o = s->data[i];
        for (j = i - 1; j >= 0 && strcmp(s->data[j]->subject, o->subject) > 0; j--)
            s->data[j + 1] = s->data[j];
        s->data[j + 1] = o;
    }
    s->sorted = 1;
}

static struct x509_object *stack_find(struct object_stack *s, const char *subject)
{
    int low = 0, high = s->num - 1;
    if (!s->sorted)
        stack_sort(s);
    while (low <= high) {
        int mid = (low + high) / 2;
        int c = strcmp(subject, s->data[mid]->subject);
        if (c == 0)
            return s->data[mid];
        if (c < 0)
            high = mid - 1;
        else
            low = mid + 1;
    }
    return NULL;
}

static int store_add(struct cert_store *store, const char *subject, unsigned serial)
{
    struct x509_object *o = malloc(sizeof *o);
    if (o == NULL)
        return -1;
    snprintf(o->subject, sizeof o->subject, "%s", subject);
    o->serial = serial;
    pthread_rwlock_wrlock(&store->lock);
    if (store->objs.num == MAX_OBJECTS)
        abort();
    store->objs.data[store->objs.num++] = o;
    store->objs.sorted = 0;
    pthread_rwlock_unlock(&store->lock);
    return 0;
}

static unsigned store_get_serial(struct cert_store *store, const char *subject)
{
    struct x509_object *o;
    unsigned serial = 0;
    pthread_rwlock_rdlock(&store->lock);
    o = stack_find(&store->objs, subject);
    if (o != NULL)
        serial = o->serial;
    pthread_rwlock_unlock(&store->lock);
    atomic_fetch_add_explicit(&lookups, 1, memory_order_relaxed);
    return serial;
}

static void *verifier_main(void *arg)
{
    struct verifier *v = arg;
    char subject[16];
    int i;
    for (i = 0; i < NCERTS; i++) {
        snprintf(subject, sizeof subject, "CN=ca%03d", (v->from + i * 7) % 100);
        if ((v->from + i * 7) % 100 < NCERTS && store_get_serial(v->store, subject) == 0)
            v->missing++;
    }
    return NULL;
}

int main(void)
{
    static struct cert_store store = { .lock = PTHREAD_RWLOCK_INITIALIZER };
    struct verifier verifiers[NVERIFIERS];
    char subject[16];
    int i, missing = 0;
    for (i = 0; i < NCERTS; i++) {
        int n = (i * 13 + 5) % NCERTS;
        snprintf(subject, sizeof subject, "CN=ca%03d", n);
        store_add(&store, subject, 1000u + n);
    }
    for (i = 0; i < NVERIFIERS; i++) {
        verifiers[i] = (struct verifier) { .store = &store, .from = i * 11 };
        pthread_create(&verifiers[i].thread, NULL, verifier_main, &verifiers[i]);
    }
    for (i = 0; i < NVERIFIERS; i++) {
        pthread_join(verifiers[i].thread, NULL);
        missing += verifiers[i].missing;
    }
    for (i = 0; i < NCERTS; i++) {
        snprintf(subject, sizeof subject, "CN=ca%03d", i);
        missing += store_get_serial(&store, subject) != 1000u + i;
    }
    printf("%ld lookups, %d certificates not found\n", atomic_load(&lookups), missing);
    return missing != 0;
}
