/* Faces of fonts by name: looked up under the lock, loaded outside of it
 * because that takes long, and entered if nobody was quicker. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NFACES   8
#define NTHREADS 4
#define NNAMES   3

struct face {
    char     name[16];
    unsigned checksum;
    int      refs;
};

static pthread_mutex_t faces_lock = PTHREAD_MUTEX_INITIALIZER;
static struct face *faces[NFACES];
static int nfaces;
static atomic_long loads, discards;

/* With the lock held. */
static struct face *find_face(const char *name)
{
    for (int i = 0; i < nfaces; i++)
        if (strcmp(faces[i]->name, name) == 0)
            return faces[i];
    return NULL;
}

static struct face *load_face(const char *name)
{
    struct face *f = calloc(1, sizeof *f);

    if (!f)
        abort();
    snprintf(f->name, sizeof f->name, "%s", name);
    f->checksum = 5381;
    for (int k = 0; k < 50; k++)
        for (const char *p = name; *p; p++)
            f->checksum = f->checksum * 33 + (unsigned char)*p;
    atomic_fetch_add_explicit(&loads, 1, memory_order_relaxed);
    return f;
}

static struct face *get_face(const char *name)
{
    struct face *f, *mine;

    pthread_mutex_lock(&faces_lock);
    f = find_face(name);
    if (f)
        f->refs++;
    pthread_mutex_unlock(&faces_lock);
    if (f)
        return f;

    mine = load_face(name);
    pthread_mutex_lock(&faces_lock);
    f = find_face(name);
    if (!f) {
        faces[nfaces++] = f = mine;
        mine = NULL;
    }
    f->refs++;
    pthread_mutex_unlock(&faces_lock);
    if (mine) {
        atomic_fetch_add_explicit(&discards, 1, memory_order_relaxed);
        free(mine);
    }
    return f;
}

static void *layout_main(void *arg)
{
    static const char *const names[NNAMES] = { "serif", "sans", "mono" };
    unsigned *sum = arg;

    for (int i = 0; i < NNAMES; i++)
        *sum += get_face(names[i])->checksum;
    return NULL;
}

int main(void)
{
    pthread_t t[NTHREADS];
    unsigned sum[NTHREADS] = { 0 };
    int bad = 0, refs = 0;

    for (int i = 0; i < NTHREADS; i++)
        pthread_create(&t[i], NULL, layout_main, &sum[i]);
    for (int i = 0; i < NTHREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 1; i < NTHREADS; i++)
        bad |= sum[i] != sum[0];
    for (int i = 0; i < nfaces; i++) {
        refs += faces[i]->refs;
        free(faces[i]);
    }
    printf("%d faces, %d references\n", nfaces, refs);
    if (atomic_load(&loads) - atomic_load(&discards) != NNAMES)
        bad = 1;
    return bad || nfaces != NNAMES || refs != NTHREADS * NNAMES;
}
