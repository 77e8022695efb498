/* Mail spool with a fixed ring: senders ask for room, then enqueue. */
#include <unistd.h>
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define RING 4

typedef struct {
    char subject[24];
    int prio;
} mail_t;

static struct {
    pthread_mutex_t mu;
    mail_t slot[RING];
    unsigned head;
    unsigned count;
    unsigned bounced;
} spool = { .mu = PTHREAD_MUTEX_INITIALIZER };

static bool spool_has_room(void)
{
    pthread_mutex_lock(&spool.mu);
    bool r = spool.count < RING;
    pthread_mutex_unlock(&spool.mu);
    return r;
}

static void spool_add(const mail_t *m)
{
    pthread_mutex_lock(&spool.mu);
    assert(spool.count < RING);
    spool.slot[(spool.head + spool.count) % RING] = *m;
    spool.count++;
    pthread_mutex_unlock(&spool.mu);
}

static void bounce(void)
{
    pthread_mutex_lock(&spool.mu);
    spool.bounced++;
    pthread_mutex_unlock(&spool.mu);
}

static void send_mail(const char *who, int n)
{
    mail_t m;
    snprintf(m.subject, sizeof m.subject, "%s #%d", who, n);
    m.prio = n % 3;
    if (spool_has_room())
 { usleep(who[0] == 'b' ? 90000 : 1000);
        spool_add(&m);
 }
    else
        bounce();
}

static void *sender(void *arg)
{
    for (int i = 0; i < 3; i++)
        send_mail(arg, i);
    return NULL;
}

int main(void)
{
    static char *names[2] = { "alice", "bob" };
    pthread_t t[2];
    unsigned prio = 0;

    send_mail("postmaster", 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, sender, names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    for (unsigned i = 0; i < spool.count; i++)
        prio += (unsigned)spool.slot[i].prio;
    printf("spooled %u bounced %u\n", spool.count, spool.bounced);
    return prio > 8;
}
