#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NSLOTS 16
#define NRECORDS 5

struct record {
    unsigned lsn;
    unsigned len;
    char body[12];
};

struct wal {
    pthread_mutex_t lock;
    unsigned reserved;
    unsigned flushed;
    struct record slots[NSLOTS];
};

struct disk {
    pthread_mutex_t lock;
    struct record sectors[NSLOTS];
    unsigned count;
};

static struct wal wal = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned wal_reserve(struct wal *w)
{
    unsigned lsn;
    pthread_mutex_lock(&w->lock);
    lsn = ++w->reserved;
    pthread_mutex_unlock(&w->lock);
    return lsn;
}

static void wal_append(struct wal *w, const char *text)
{
    unsigned lsn = wal_reserve(w);
    struct record *r = &w->slots[lsn - 1];
    pthread_mutex_lock(&w->lock);
    snprintf(r->body, sizeof r->body, "%s", text);
    r->len = (unsigned)strlen(r->body);
    r->lsn = lsn;
    pthread_mutex_unlock(&w->lock);
}

static void disk_write(const struct record *r)
{
    pthread_mutex_lock(&disk.lock);
    disk.sectors[disk.count++] = *r;
    pthread_mutex_unlock(&disk.lock);
}

static void wal_flush(struct wal *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->flushed < w->reserved) {
        disk_write(&w->slots[w->flushed]);
        w->flushed++;
    }
    pthread_mutex_unlock(&w->lock);
}

static void *flusher(void *arg)
{
    int i;
    for (i = 0; i < 4; i++) {
        wal_flush(&wal);
    }
    return arg;
}

static unsigned long replay(const struct disk *d)
{
    unsigned long sum = 0;
    unsigned next = 1;
    unsigned i;
    for (i = 0; i < d->count; i++) {
        struct record rec = d->sectors[i];
        assert(rec.lsn == next);
        sum += rec.len;
        next++;
    }
    return sum;
}

int main(void)
{
    pthread_t t;
    char text[12];
    unsigned long sum;
    int i;
    pthread_create(&t, NULL, flusher, NULL);
    for (i = 0; i < NRECORDS; i++) {
        snprintf(text, sizeof text, "put k%d", i);
        wal_append(&wal, text);
    }
    pthread_join(t, NULL);
    wal_flush(&wal);
    sum = replay(&disk);
    printf("%u records, %lu bytes\n", disk.count, sum);
    return disk.count == NRECORDS ? 0 : 1;
}
