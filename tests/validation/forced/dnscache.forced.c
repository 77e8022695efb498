/* Resolver cache: answers are kept in a small list; an expiry pass throws
 * out old answers while clients look names up. */
#include <unistd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    unsigned char addr[4];
    unsigned ttl;
    unsigned sum;
    char name[32];
    struct answer *next;
};

static struct answer *answers;
static pthread_mutex_t dns_lock = PTHREAD_MUTEX_INITIALIZER;
static int wrong;

static unsigned addr_sum(const unsigned char *a, const char *name)
{
    unsigned s = 0;
    for (int i = 0; i < 4; i++)
        s = s * 257 + a[i];
    return s ^ (unsigned)strlen(name);
}

static void add(const char *name, int last, unsigned ttl)
{
    struct answer *a = calloc(1, sizeof *a);
    snprintf(a->name, sizeof a->name, "%s", name);
    a->addr[0] = 192;
    a->addr[1] = 0;
    a->addr[2] = 2;
    a->addr[3] = (unsigned char)last;
    a->ttl = ttl;
    a->sum = addr_sum(a->addr, a->name);
    pthread_mutex_lock(&dns_lock);
    a->next = answers;
    answers = a;
    pthread_mutex_unlock(&dns_lock);
}

static struct answer *lookup(const char *name)
{
    struct answer *a;
    pthread_mutex_lock(&dns_lock);
    for (a = answers; a; a = a->next)
        if (!strcmp(a->name, name))
            break;
    pthread_mutex_unlock(&dns_lock);
    return a;
}

static void expire(unsigned now)
{
    struct answer **pp, *a;
    pthread_mutex_lock(&dns_lock);
    for (pp = &answers; (a = *pp) != NULL;) {
        if (a->ttl < now) {
            *pp = a->next;
            free(a);
        } else {
            pp = &a->next;
        }
    }
    pthread_mutex_unlock(&dns_lock);
}

static void *client(void *arg)
{
    const char *const *names = arg;
    for (; *names; names++) {
        struct answer *a = lookup(*names);
        if (!a)
            continue;
 usleep(30000);
        unsigned s = addr_sum(a->addr, *names);
        if (s != a->sum) {
            pthread_mutex_lock(&dns_lock);
            wrong++;
            pthread_mutex_unlock(&dns_lock);
        }
    }
    return NULL;
}

static void *sweeper(void *arg)
{
 usleep(10000);
    expire(*(unsigned *)arg);
    return NULL;
}

int main(void)
{
    static const char *const want[] = { "www.example.org", "ns1.example.net", NULL };
    pthread_t c, s;
    unsigned now = 50;

    add("ns1.example.net", 7, 40);
    add("mail.example.com", 9, 90);
    add("www.example.org", 80, 45);
    pthread_create(&c, NULL, client, (void *)want);
    pthread_create(&s, NULL, sweeper, &now);
    pthread_join(c, NULL);
    pthread_join(s, NULL);
    if (wrong) {
        fprintf(stderr, "%d answer(s) damaged\n", wrong);
        return 1;
    }
    puts("lookups ok");
    return 0;
}
