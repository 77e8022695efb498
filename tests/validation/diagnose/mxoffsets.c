#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MULTI 64
#define MAX_MEMBERS 256
#define NCREATORS 2
#define NCREATES 6
#define NREADS 10

struct multixact_state {
    pthread_mutex_t lock;
    unsigned next_id;
    unsigned next_offset;
};

struct multixact_slru {
    pthread_mutex_t lock;
    unsigned offsets[MAX_MULTI];
    unsigned members[MAX_MEMBERS];
    long reads;
    long writes;
};

static struct multixact_state state = { .lock = PTHREAD_MUTEX_INITIALIZER, .next_id = 1, .next_offset = 1 };
static struct multixact_slru slru = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned new_multixact(int n, unsigned *offset)
{
    unsigned id;
    pthread_mutex_lock(&state.lock);
    id = state.next_id++;
    *offset = state.next_offset;
    state.next_offset += n;
    pthread_mutex_unlock(&state.lock);
    if (id >= MAX_MULTI || *offset + n > MAX_MEMBERS)
        abort();
    return id;
}

static void record_multixact(unsigned id, unsigned offset, const unsigned *xids, int n)
{
    pthread_mutex_lock(&slru.lock);
    slru.offsets[id] = offset;
    memcpy(&slru.members[offset], xids, n * sizeof *xids);
    slru.writes++;
    pthread_mutex_unlock(&slru.lock);
}

static unsigned create_multixact(const unsigned *xids, int n)
{
    unsigned offset;
    unsigned id = new_multixact(n, &offset);
    record_multixact(id, offset, xids, n);
    return id;
}

static unsigned newest_multixact(void)
{
    unsigned id;
    pthread_mutex_lock(&state.lock);
    id = state.next_id - 1;
    pthread_mutex_unlock(&state.lock);
    return id;
}

static int first_member(unsigned id, unsigned *xid)
{
    unsigned offset;
    pthread_mutex_lock(&slru.lock);
    offset = slru.offsets[id];
    *xid = slru.members[offset];
    slru.reads++;
    pthread_mutex_unlock(&slru.lock);
    return offset == 0 ? -1 : 0;
}

static void *creator_main(void *arg)
{
    unsigned base = *(unsigned *)arg;
    unsigned xids[3];
    int i;
    for (i = 0; i < NCREATES; i++) {
        xids[0] = base + i;
        xids[1] = base + i + 1;
        xids[2] = base + i + 2;
        create_multixact(xids, 2 + i % 2);
    }
    return NULL;
}

static void *reader_main(void *arg)
{
    int i, *bad = arg;
    for (i = 0; i < NREADS; i++) {
        unsigned xid, id = newest_multixact();
        if (id == 0)
            continue;
        if (first_member(id, &xid) < 0 || xid < 100) {
            fprintf(stderr, "MultiXact %u has invalid offset\n", id);
            ++*bad;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t creators[NCREATORS], reader;
    unsigned bases[NCREATORS];
    int i, bad = 0;
    for (i = 0; i < NCREATORS; i++) {
        bases[i] = 100 * (i + 1);
        pthread_create(&creators[i], NULL, creator_main, &bases[i]);
    }
    pthread_create(&reader, NULL, reader_main, &bad);
    for (i = 0; i < NCREATORS; i++)
        pthread_join(creators[i], NULL);
    pthread_join(reader, NULL);
    printf("%u multixacts, %ld reads, %ld writes\n", state.next_id - 1, slru.reads, slru.writes);
    return bad != 0;
}
