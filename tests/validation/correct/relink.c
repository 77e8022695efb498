#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NFOLDERS 3
#define NFILES 6
#define NMOVERS 3
#define NMOVES 6

struct folder {
    pthread_mutex_t lock;
    int members;
    long bytes;
};

struct file {
    pthread_mutex_t lock;
    int parent;
    unsigned generation;
    long size;
};

struct mover {
    int id;
    int moved;
    int retried;
    pthread_t thread;
};

static struct folder folders[NFOLDERS];
static struct file files[NFILES];
static atomic_long inspected;

static int file_parent(struct file *f, unsigned *generation)
{
    int parent;
    pthread_mutex_lock(&f->lock);
    parent = f->parent;
    *generation = f->generation;
    pthread_mutex_unlock(&f->lock);
    return parent;
}

static void lock_folders(int a, int b)
{
    pthread_mutex_lock(&folders[a < b ? a : b].lock);
    pthread_mutex_lock(&folders[a < b ? b : a].lock);
}

static void unlock_folders(int a, int b)
{
    pthread_mutex_unlock(&folders[a].lock);
    pthread_mutex_unlock(&folders[b].lock);
}

static int move_file(struct mover *m, struct file *f, int to)
{
    unsigned generation;
    int from;
    for (;;) {
        from = file_parent(f, &generation);
        if (from == to)
            return 0;
        lock_folders(from, to);
        pthread_mutex_lock(&f->lock);
        if (f->generation == generation)
            break;
        pthread_mutex_unlock(&f->lock);
        unlock_folders(from, to);
        m->retried++;
    }
    folders[from].members--;
    folders[from].bytes -= f->size;
    f->parent = to;
    f->generation++;
    folders[to].members++;
    folders[to].bytes += f->size;
    pthread_mutex_unlock(&f->lock);
    unlock_folders(from, to);
    return 1;
}

static void *mover_main(void *arg)
{
    struct mover *m = arg;
    int i;
    for (i = 0; i < NMOVES; i++)
        m->moved += move_file(m, &files[(m->id + i) % NFILES], (m->id + 2 * i) % NFOLDERS);
    return NULL;
}

static void *inspector_main(void *arg)
{
    int i;
    (void)arg;
    for (i = 0; i < NFOLDERS; i++) {
        pthread_mutex_lock(&folders[i].lock);
        atomic_fetch_add_explicit(&inspected, folders[i].bytes, memory_order_relaxed);
        pthread_mutex_unlock(&folders[i].lock);
    }
    return NULL;
}

int main(void)
{
    struct mover movers[NMOVERS];
    pthread_t inspector;
    int members[NFOLDERS] = { 0 }, i, moved = 0, bad = 0;
    long bytes[NFOLDERS] = { 0 };
    for (i = 0; i < NFOLDERS; i++)
        pthread_mutex_init(&folders[i].lock, NULL);
    for (i = 0; i < NFILES; i++) {
        pthread_mutex_init(&files[i].lock, NULL);
        files[i].parent = i % NFOLDERS;
        files[i].size = 10 << i;
        folders[i % NFOLDERS].members++;
        folders[i % NFOLDERS].bytes += files[i].size;
    }
    for (i = 0; i < NMOVERS; i++) {
        movers[i] = (struct mover) { .id = i };
        pthread_create(&movers[i].thread, NULL, mover_main, &movers[i]);
    }
    pthread_create(&inspector, NULL, inspector_main, NULL);
    for (i = 0; i < NMOVERS; i++) {
        pthread_join(movers[i].thread, NULL);
        moved += movers[i].moved;
    }
    pthread_join(inspector, NULL);
    for (i = 0; i < NFILES; i++) {
        members[files[i].parent]++;
        bytes[files[i].parent] += files[i].size;
        moved -= (int)files[i].generation;
    }
    for (i = 0; i < NFOLDERS; i++)
        bad |= members[i] != folders[i].members || bytes[i] != folders[i].bytes;
    printf("%s\n", bad || moved != 0 ? "folders are inconsistent" : "folders are consistent");
    return bad || moved != 0;
}
