#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NCLIENTS 2
#define NREQ 6
#define NSLOTS 64

struct request {
    int xid;
    int owner;
    int answered;
};

struct zhandle {
    int xid;
    pthread_mutex_t to_send_lock;
    struct request sent[NSLOTS];
    int nsent;
    long bytes;
};

struct client {
    pthread_t thread;
    struct zhandle *zh;
    int id;
    int last;
};

static int get_xid(struct zhandle *zh)
{
    int x = zh->xid;
    zh->xid = x + 1;
    return x;
}

static int serialize(int xid, int id)
{
    int h = xid;
    int i;
    for (i = 0; i < 500; i++)
        h = h * 31 % 65521 + id;
    return 16 + h % 48;
}

static void queue_request(struct zhandle *zh, int xid, int id)
{
    int len = serialize(xid, id);
    struct request *r;
    pthread_mutex_lock(&zh->to_send_lock);
    r = &zh->sent[zh->nsent++];
    r->xid = xid;
    r->owner = id;
    zh->bytes += len;
    pthread_mutex_unlock(&zh->to_send_lock);
}

static struct request *find_request(struct zhandle *zh, int xid)
{
    int i;
    for (i = 0; i < zh->nsent; i++)
        if (zh->sent[i].xid == xid)
            return &zh->sent[i];
    return NULL;
}

static void *client_main(void *arg)
{
    struct client *c = arg;
    int i;
    for (i = 0; i < NREQ; i++) {
        c->last = get_xid(c->zh);
        queue_request(c->zh, c->last, c->id);
    }
    return NULL;
}

static int process_replies(struct zhandle *zh)
{
    int n = zh->nsent;
    int i;
    for (i = 0; i < n; i++) {
        struct request *r = find_request(zh, zh->sent[i].xid);
        assert(r && !r->answered);
        r->answered = 1;
    }
    return n;
}

int main(void)
{
    static struct zhandle zh;
    static struct client c[NCLIENTS];
    int n, i;
    zh.xid = 1000;
    pthread_mutex_init(&zh.to_send_lock, NULL);
    for (i = 0; i < NCLIENTS; i++) {
        c[i].zh = &zh;
        c[i].id = i;
        pthread_create(&c[i].thread, NULL, client_main, &c[i]);
    }
    for (i = 0; i < NCLIENTS; i++)
        pthread_join(c[i].thread, NULL);
    n = process_replies(&zh);
    printf("%d replies, %ld bytes\n", n, zh.bytes);
    return n == NCLIENTS * NREQ ? 0 : 1;
}
