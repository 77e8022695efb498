#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NSESSIONS 2
#define NTRX 12
#define MAX_EVENTS 64
#define NROTATE 2

enum log_state { LOG_CLOSED, LOG_OPENED };

struct event {
    int session;
    int trx;
    int file_no;
};

struct binlog {
    pthread_mutex_t lock;
    enum log_state state;
    int file_no;
    char name[32];
    struct event events[MAX_EVENTS];
    int nevents;
};

struct session {
    pthread_t tid;
    int id;
    int committed;
    long balance;
};

static struct binlog binlog;

static void binlog_open(struct binlog *b, int no)
{
    pthread_mutex_lock(&b->lock);
    b->file_no = no;
    snprintf(b->name, sizeof b->name, "mysql-bin.%06d", no);
    b->state = LOG_OPENED;
    pthread_mutex_unlock(&b->lock);
}

static void binlog_close(struct binlog *b)
{
    pthread_mutex_lock(&b->lock);
    b->state = LOG_CLOSED;
    pthread_mutex_unlock(&b->lock);
}

static int binlog_number(struct binlog *b)
{
    int no;
    pthread_mutex_lock(&b->lock);
    no = b->file_no;
    pthread_mutex_unlock(&b->lock);
    return no;
}

static void binlog_write(struct binlog *b, int session, int trx)
{
    struct event *ev;
    pthread_mutex_lock(&b->lock);
    if (b->state == LOG_OPENED && b->nevents < MAX_EVENTS) {
        ev = &b->events[b->nevents++];
        ev->session = session;
        ev->trx = trx;
        ev->file_no = b->file_no;
    }
    pthread_mutex_unlock(&b->lock);
}

static void binlog_new_file(struct binlog *b)
{
    int no = binlog_number(b) + 1;
    binlog_close(b);
    binlog_open(b, no);
}

static void execute(struct session *s, int trx)
{
    s->balance += (trx * 7) % 5;
    s->committed++;
}

static void *session_main(void *p)
{
    struct session *s = p;
    int i;
    for (i = 0; i < NTRX; i++) {
        execute(s, i);
        binlog_write(&binlog, s->id, i);
    }
    return NULL;
}

static void *flush_main(void *p)
{
    int i;
    (void)p;
    for (i = 0; i < NROTATE; i++)
        binlog_new_file(&binlog);
    return NULL;
}

static int count_events(struct binlog *b, int session)
{
    int n = 0;
    int i;
    for (i = 0; i < b->nevents; i++) {
        if (b->events[i].session == session)
            n++;
    }
    return n;
}

int main(void)
{
    struct session s[NSESSIONS];
    pthread_t flusher;
    int rc = 0;
    int i;
    memset(s, 0, sizeof s);
    pthread_mutex_init(&binlog.lock, NULL);
    binlog_open(&binlog, 1);
    for (i = 0; i < NSESSIONS; i++) {
        s[i].id = i + 1;
        pthread_create(&s[i].tid, NULL, session_main, &s[i]);
    }
    pthread_create(&flusher, NULL, flush_main, NULL);
    for (i = 0; i < NSESSIONS; i++)
        pthread_join(s[i].tid, NULL);
    pthread_join(flusher, NULL);
    for (i = 0; i < NSESSIONS; i++) {
        int logged = count_events(&binlog, s[i].id);
        printf("session %d: %d/%d\n", s[i].id, logged, s[i].committed);
        if (logged != s[i].committed)
            rc = 1;
    }
    pthread_mutex_destroy(&binlog.lock);
    return rc;
}
