#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXCONN 16

struct conn;

struct timer {
    int when;
    int pos;
    struct conn *conn;
};

struct outbuf {
    size_t len;
    char data[48];
};

struct conn {
    int fd;
    struct outbuf *out;
    struct timer idle;
};

struct heap {
    struct timer *a[MAXCONN];
    int n;
};

struct server {
    struct conn conns[MAXCONN];
    struct heap timers;
    int timeouts;
    int now;
};

static int earlier(struct heap *h, int i, int j)
{
    return h->a[i]->when < h->a[j]->when;
}

static void heap_swap(struct heap *h, int i, int j)
{
    struct timer *t = h->a[i];
    h->a[i] = h->a[j];
    h->a[j] = t;
    h->a[i]->pos = i;
    h->a[j]->pos = j;
}

static void sift_up(struct heap *h, int i)
{
    while (i > 0) {
        int up = (i - 1) / 2;
        if (!earlier(h, i, up))
            break;
        heap_swap(h, i, up);
        i = up;
    }
}

static void sift_down(struct heap *h, int i)
{
    for (;;) {
        int best = i;
        int l = 2 * i + 1;
        int r = 2 * i + 2;
        if (l < h->n && earlier(h, l, best))
            best = l;
        if (r < h->n && earlier(h, r, best))
            best = r;
        if (best == i)
            break;
        heap_swap(h, i, best);
        i = best;
    }
}

static void heap_insert(struct heap *h, struct timer *t)
{
    h->a[h->n] = t;
    t->pos = h->n;
    h->n++;
    sift_up(h, t->pos);
}

static void heap_erase(struct heap *h, struct timer *t)
{
    int i = t->pos;
    struct timer *last = h->a[h->n - 1];
    h->n--;
    t->pos = -1;
    if (last == t)
        return;
    h->a[i] = last;
    sift_up(h, i);
    sift_down(h, i);
}

static void conn_open(struct server *sv, int fd, int timeout)
{
    struct conn *c = &sv->conns[fd];
    c->fd = fd;
    c->out = calloc(1, sizeof(*c->out));
    snprintf(c->out->data, sizeof(c->out->data), "hello %d\n", fd);
    c->out->len = strlen(c->out->data);
    c->idle.when = sv->now + timeout;
    c->idle.conn = c;
    heap_insert(&sv->timers, &c->idle);
}

static void conn_close(struct server *sv, int fd)
{
    struct conn *c = &sv->conns[fd];
    heap_erase(&sv->timers, &c->idle);
    free(c->out);
    c->out = NULL;
}

static void on_idle(struct server *sv, struct timer *t)
{
    struct conn *c = t->conn;
    printf("fd %d idle, %zu bytes unsent\n", c->fd, c->out->len);
    free(c->out);
    c->out = NULL;
    sv->timeouts++;
}

static void run_timers(struct server *sv, int now)
{
    struct heap *h = &sv->timers;
    sv->now = now;
    while (h->n > 0 && h->a[0]->when <= now) {
        struct timer *t = h->a[0];
        heap_erase(h, t);
        on_idle(sv, t);
    }
}

int main(void)
{
    static struct server sv;
    setvbuf(stdout, NULL, _IONBF, 0);

    for (int fd = 0; fd < 5; fd++)
        conn_open(&sv, fd, 10 * (fd + 1));
    conn_close(&sv, 3);
    conn_open(&sv, 5, 60);
    conn_open(&sv, 6, 70);
    run_timers(&sv, 5);
    conn_close(&sv, 4);

    for (int now = 10; now <= 90; now += 10)
        run_timers(&sv, now);
    printf("timeouts %d, left %d\n", sv.timeouts, sv.timers.n);
    return 0;
}
