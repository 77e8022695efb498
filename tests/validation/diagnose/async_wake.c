#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NSENDERS 2
#define NMSGS 4

struct message {
    struct message *next;
    int sender;
    int value;
};

struct mailbox {
    pthread_mutex_t lock;
    struct message *head;
    atomic_int pending;
    int fds[2];
};

struct sender {
    pthread_t tid;
    struct mailbox *box;
    int id;
};

static int mailbox_open(struct mailbox *m)
{
    pthread_mutex_init(&m->lock, NULL);
    m->head = NULL;
    atomic_init(&m->pending, 0);
    return pipe(m->fds);
}

static void mailbox_close(struct mailbox *m)
{
    close(m->fds[0]);
    close(m->fds[1]);
    pthread_mutex_destroy(&m->lock);
}

static void wake_loop(struct mailbox *m)
{
    char c = 'w';
    if (atomic_exchange(&m->pending, 1) != 0)
        return;
    while (write(m->fds[1], &c, 1) < 0 && errno == EINTR)
        continue;
}

static void post_message(struct mailbox *m, int sender, int value)
{
    struct message *msg = malloc(sizeof *msg);
    msg->sender = sender;
    msg->value = value;
    pthread_mutex_lock(&m->lock);
    msg->next = m->head;
    m->head = msg;
    pthread_mutex_unlock(&m->lock);
    wake_loop(m);
}

static struct message *take_all(struct mailbox *m)
{
    struct message *list;
    pthread_mutex_lock(&m->lock);
    list = m->head;
    m->head = NULL;
    pthread_mutex_unlock(&m->lock);
    return list;
}

static int deliver(struct message *list, long *sum)
{
    int n = 0;
    while (list) {
        struct message *next = list->next;
        *sum += list->value * (list->sender + 1);
        free(list);
        list = next;
        n++;
    }
    return n;
}

static int wait_wakeup(struct mailbox *m)
{
    char c;
    ssize_t n;
    do {
        n = read(m->fds[0], &c, 1);
    } while (n < 0 && errno == EINTR);
    return n == 1;
}

static long run_loop(struct mailbox *m, int expected)
{
    long sum = 0;
    int got = 0;
    while (got < expected) {
        struct message *list;
        if (!wait_wakeup(m))
            break;
        list = take_all(m);
        atomic_store(&m->pending, 0);
        got += deliver(list, &sum);
    }
    return sum;
}

static void *sender_main(void *arg)
{
    struct sender *s = arg;
    int i;
    for (i = 0; i < NMSGS; i++)
        post_message(s->box, s->id, i + 1);
    return NULL;
}

int main(void)
{
    struct mailbox box;
    struct sender s[NSENDERS];
    long sum;
    int i;
    if (mailbox_open(&box) != 0)
        return 2;
    for (i = 0; i < NSENDERS; i++) {
        s[i].box = &box;
        s[i].id = i;
        pthread_create(&s[i].tid, NULL, sender_main, &s[i]);
    }
    sum = run_loop(&box, NSENDERS * NMSGS);
    for (i = 0; i < NSENDERS; i++)
        pthread_join(s[i].tid, NULL);
    mailbox_close(&box);
    printf("sum %ld\n", sum);
    return sum == 30 ? 0 : 1;
}
