/* Message queues named by a key, after the calls of System V: get() gives the
 * identifier of the queue with that key and makes it if there is none. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NIDS   16
#define NPROCS 3
#define NKEYS  3

struct msg_queue {
    int  used;
    int  key;
    int  seq;
    long qnum;
    long cbytes;
};

struct ipc_ids {
    pthread_rwlock_t rwsem;
    struct msg_queue q[NIDS];
    int              in_use;
    int              seq;
};

struct proc {
    int       id;
    int       ids[NKEYS];
    pthread_t thread;
};

static struct ipc_ids ids = { .rwsem = PTHREAD_RWLOCK_INITIALIZER };
static atomic_long msgget_calls;

static int ipc_findkey(struct ipc_ids *s, int key)
{
    int found = -1;

    pthread_rwlock_rdlock(&s->rwsem);
    for (int i = 0; i < NIDS && found < 0; i++)
        if (s->q[i].used && s->q[i].key == key)
            found = i;
    pthread_rwlock_unlock(&s->rwsem);
    return found;
}

static int newque(struct ipc_ids *s, int key)
{
    int id = -1;

    pthread_rwlock_wrlock(&s->rwsem);
    for (int i = 0; i < NIDS; i++)
        if (!s->q[i].used) {
            id = i;
            break;
        }
    if (id >= 0) {
        memset(&s->q[id], 0, sizeof s->q[id]);
        s->q[id].key = key;
        s->q[id].seq = s->seq++;
        s->q[id].used = 1;
        s->in_use++;
    }
    pthread_rwlock_unlock(&s->rwsem);
    return id;
}

static int msgget(struct ipc_ids *s, int key)
{
    int id = ipc_findkey(s, key);

    atomic_fetch_add_explicit(&msgget_calls, 1, memory_order_relaxed);
    if (id < 0)
        id = newque(s, key);
    return id;
}

static void msgsnd(struct ipc_ids *s, int id, const char *text)
{
    pthread_rwlock_wrlock(&s->rwsem);
    s->q[id].qnum++;
    s->q[id].cbytes += (long)strlen(text);
    pthread_rwlock_unlock(&s->rwsem);
}

static void *proc_main(void *arg)
{
    struct proc *p = arg;
    char text[32];

    for (int k = 0; k < NKEYS; k++) {
        p->ids[k] = msgget(&ids, 0x4d00 + k);
        snprintf(text, sizeof text, "hello from %d", p->id);
        msgsnd(&ids, p->ids[k], text);
    }
    return NULL;
}

int main(void)
{
    struct proc p[NPROCS];
    int bad = 0;

    for (int i = 0; i < NPROCS; i++) {
        p[i].id = i;
        pthread_create(&p[i].thread, NULL, proc_main, &p[i]);
    }
    for (int i = 0; i < NPROCS; i++)
        pthread_join(p[i].thread, NULL);
    for (int k = 0; k < NKEYS; k++)
        for (int i = 1; i < NPROCS; i++)
            if (p[i].ids[k] != p[0].ids[k])
                bad = 1;
    printf("%d queues for %d keys, %ld calls\n", ids.in_use, NKEYS, atomic_load(&msgget_calls));
    if (bad)
        fprintf(stderr, "processes with the same key got different queues\n");
    return bad;
}
