#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NHASH 4
#define NBLOCKS 4

struct mapping {
    int blocks[NBLOCKS];
    int nblocks;
};

struct inode {
    int ino;
    int is_new;
    int count;
    struct mapping *map;
    struct inode *next;
};

struct file {
    struct inode *inode;
    struct mapping *map;
    int pos;
};

static pthread_mutex_t hash_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t unlocked = PTHREAD_COND_INITIALIZER;
static struct inode *hash[NHASH];

static struct inode *find_inode(int ino)
{
    struct inode *i = hash[ino % NHASH];
    while (i && i->ino != ino)
        i = i->next;
    return i;
}

static void read_inode(struct inode *i)
{
    struct mapping *m = calloc(1, sizeof *m);
    int k;
    m->nblocks = NBLOCKS;
    for (k = 0; k < NBLOCKS; k++)
        m->blocks[k] = i->ino * 10 + k;
    pthread_mutex_lock(&hash_lock);
    i->map = m;
    i->is_new = 0;
    pthread_cond_broadcast(&unlocked);
    pthread_mutex_unlock(&hash_lock);
}

static struct inode *iget(int ino)
{
    struct inode *i;
    pthread_mutex_lock(&hash_lock);
    i = find_inode(ino);
    if (i) {
        i->count++;
        while (i->is_new)
            pthread_cond_wait(&unlocked, &hash_lock);
        pthread_mutex_unlock(&hash_lock);
        return i;
    }
    i = calloc(1, sizeof *i);
    i->ino = ino;
    i->is_new = 1;
    i->count = 1;
    i->next = hash[ino % NHASH];
    hash[ino % NHASH] = i;
    pthread_mutex_unlock(&hash_lock);
    read_inode(i);
    return i;
}

static struct inode *ilookup(int ino)
{
    struct inode *i;
    pthread_mutex_lock(&hash_lock);
    i = find_inode(ino);
    if (i)
        i->count++;
    pthread_mutex_unlock(&hash_lock);
    return i;
}

static void file_open(struct file *f, struct inode *i)
{
    pthread_mutex_lock(&hash_lock);
    f->inode = i;
    f->map = i->map;
    pthread_mutex_unlock(&hash_lock);
    f->pos = 0;
}

static int file_read(struct file *f)
{
    struct mapping *m = f->map;
    int sum = 0;
    while (f->pos < m->nblocks)
        sum += m->blocks[f->pos++];
    return sum;
}

static void *export_main(void *arg)
{
    struct inode *i;
    struct file f;
    i = ilookup(5);
    if (i) {
        file_open(&f, i);
        *(int *)arg = file_read(&f);
    }
    return NULL;
}

int main(void)
{
    struct file f;
    pthread_t t;
    int other = 0;
    int sum;
    pthread_create(&t, NULL, export_main, &other);
    file_open(&f, iget(1));
    sum = file_read(&f);
    file_open(&f, iget(5));
    sum += file_read(&f);
    pthread_join(t, NULL);
    printf("sum %d, exported %d\n", sum, other);
    return sum == 252 && (other == 0 || other == 206) ? 0 : 1;
}
