#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NDIRS 3
#define NMOVES 12

struct dir {
    pthread_mutex_t lock;
    int rank;
    int files;
    int moves;
};

struct mover {
    pthread_t thread;
    unsigned seed;
    int moved;
};

static struct dir dirs[NDIRS];
static pthread_mutex_t rename_lock = PTHREAD_MUTEX_INITIALIZER;
static int renames;

static void lock_two(struct dir *a, struct dir *b)
{
    if (a->rank < b->rank) {
        pthread_mutex_lock(&a->lock);
        pthread_mutex_lock(&b->lock);
    } else {
        pthread_mutex_lock(&b->lock);
        pthread_mutex_lock(&a->lock);
    }
}

static void unlock_two(struct dir *a, struct dir *b)
{
    pthread_mutex_unlock(&a->lock);
    pthread_mutex_unlock(&b->lock);
}

static int move_file(struct dir *from, struct dir *to)
{
    int ok = 0;
    if (from == to)
        return 0;
    lock_two(from, to);
    if (from->files > 0) {
        from->files--;
        to->files++;
        from->moves++;
        ok = 1;
        pthread_mutex_lock(&rename_lock);
        renames++;
        pthread_mutex_unlock(&rename_lock);
    }
    unlock_two(from, to);
    return ok;
}

static int count_files(void)
{
    int n = 0;
    int i;
    for (i = 0; i < NDIRS; i++)
        pthread_mutex_lock(&dirs[i].lock);
    for (i = 0; i < NDIRS; i++)
        n += dirs[i].files;
    for (i = NDIRS - 1; i >= 0; i--)
        pthread_mutex_unlock(&dirs[i].lock);
    return n;
}

static void *mover_main(void *arg)
{
    struct mover *m = arg;
    int i;
    for (i = 0; i < NMOVES; i++) {
        int a = rand_r(&m->seed) % NDIRS;
        int b = rand_r(&m->seed) % NDIRS;
        m->moved += move_file(&dirs[a], &dirs[b]);
    }
    return NULL;
}

int main(void)
{
    struct mover m[2] = { { .seed = 7 }, { .seed = 42 } };
    int bad = 0;
    int i;
    for (i = 0; i < NDIRS; i++) {
        pthread_mutex_init(&dirs[i].lock, NULL);
        dirs[i].rank = i;
        dirs[i].files = 5;
    }
    for (i = 0; i < 2; i++)
        pthread_create(&m[i].thread, NULL, mover_main, &m[i]);
    for (i = 0; i < 4; i++)
        bad += count_files() != 5 * NDIRS;
    for (i = 0; i < 2; i++)
        pthread_join(m[i].thread, NULL);
    printf("%d renames, %d bad counts\n", renames, bad);
    return !bad && renames == m[0].moved + m[1].moved ? 0 : 1;
}
