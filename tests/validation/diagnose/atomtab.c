/* Table of interned strings ("atoms") of a script engine.  Two atoms are the
 * same string exactly if they are the same pointer. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBUCKETS 16
#define NNAMES   8
#define NTHREADS 3

struct atom {
    struct atom *next;
    unsigned     hash;
    unsigned     number;
    size_t       length;
    char         chars[24];
};

struct atom_state {
    pthread_mutex_t lock;
    struct atom    *bucket[NBUCKETS];
    unsigned        count;
    unsigned        live_bytes;
    atomic_uint     lookups;
};

static struct atom_state state = { .lock = PTHREAD_MUTEX_INITIALIZER };
static unsigned last_hash;      /* shown by the debugger only */

static const char *const names[NNAMES] = {
    "length", "prototype", "constructor", "toString",
    "valueOf", "arguments", "callee", "undefined"
};

static struct atom *pinned[NTHREADS][NNAMES];

static unsigned hash_chars(const char *s)
{
    unsigned h = 0;

    while (*s != '\0')
        h = (h >> 28) ^ (h << 4) ^ (unsigned char)*s++;
    last_hash = h;
    return h;
}

static struct atom *find_atom(unsigned hash, const char *s)
{
    struct atom *a;

    for (a = state.bucket[hash % NBUCKETS]; a != NULL; a = a->next) {
        if (a->hash == hash && strcmp(a->chars, s) == 0)
            return a;
    }
    return NULL;
}

static struct atom *make_atom(unsigned hash, const char *s)
{
    struct atom *a = calloc(1, sizeof(*a));

    if (a == NULL)
        abort();
    a->hash = hash;
    a->length = strlen(s);
    memcpy(a->chars, s, a->length + 1);
    return a;
}

static void link_atom(struct atom *a)
{
    struct atom **head = &state.bucket[a->hash % NBUCKETS];

    a->number = state.count++;
    state.live_bytes += (unsigned)sizeof(*a);
    a->next = *head;
    *head = a;
}

/* Allocating may run the collector, which takes the table's lock itself:
 * the new atom is made with the lock released. */
static struct atom *atomize(const char *s)
{
    unsigned hash = hash_chars(s);
    struct atom *a;

    atomic_fetch_add_explicit(&state.lookups, 1, memory_order_relaxed);
    pthread_mutex_lock(&state.lock);
    a = find_atom(hash, s);
    pthread_mutex_unlock(&state.lock);
    if (a != NULL)
        return a;

    a = make_atom(hash, s);
    pthread_mutex_lock(&state.lock);
    link_atom(a);
    pthread_mutex_unlock(&state.lock);
    return a;
}

static void *compile_script(void *arg)
{
    int id = *(int *)arg;

    for (int i = 0; i < NNAMES; i++) {
        int k = (i + id * 3) % NNAMES;

        pinned[id][k] = atomize(names[k]);
    }
    return NULL;
}

static int same_atoms(void)
{
    for (int k = 0; k < NNAMES; k++)
        for (int id = 1; id < NTHREADS; id++)
            if (pinned[id][k] != pinned[0][k]) {
                fprintf(stderr, "\"%s\" != \"%s\"\n", pinned[0][k]->chars, pinned[id][k]->chars);
                return 0;
            }
    return 1;
}

int main(void)
{
    pthread_t t[NTHREADS];
    int ids[NTHREADS];

    for (int i = 0; i < NTHREADS; i++) {
        ids[i] = i;
        pthread_create(&t[i], NULL, compile_script, &ids[i]);
    }
    for (int i = 0; i < NTHREADS; i++)
        pthread_join(t[i], NULL);
    printf("%u atoms, %u lookups\n", state.count, atomic_load(&state.lookups));
    return same_atoms() ? 0 : 1;
}
