/* Two hundred guests at once.  The first to come opens the house (once);
   each has a bed as thread-specific data whose destructor needs two passes;
   every fourth guest detaches itself and reports by semaphore. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define GUESTS 200

struct bed { int guest, made, detached; };

static pthread_once_t open_once = PTHREAD_ONCE_INIT;
static pthread_key_t bed_key;
static int opened;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER;
static int arrived, left_house, used[GUESTS];
static sem_t gone;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void leave_bed(void *arg)
{
    struct bed *b = arg;
    int detached;

    if (!b->made) {             /* first pass: make it, then come again */
        b->made = 1;
        if (pthread_setspecific(bed_key, b))
            die("pthread_setspecific");
        return;
    }
    detached = b->detached;
    pthread_mutex_lock(&lock);
    used[b->guest]++;
    left_house++;
    pthread_mutex_unlock(&lock);
    free(b);
    if (detached)
        sem_post(&gone);
}

static void open_house(void)
{
    opened++;
    if (pthread_key_create(&bed_key, leave_bed))
        die("pthread_key_create");
}

static void *guest(void *arg)
{
    int no = *(int *)arg;
    struct bed *b;

    pthread_once(&open_once, open_house);
    b = calloc(1, sizeof *b);
    if (!b)
        die("calloc");
    b->guest = no;
    if (no % 4 == 0) {
        b->detached = 1;
        if (pthread_detach(pthread_self()))
            die("pthread_detach");
    }
    pthread_setspecific(bed_key, b);
    pthread_mutex_lock(&lock);
    if (++arrived == GUESTS)
        pthread_cond_broadcast(&full);
    while (arrived < GUESTS)
        pthread_cond_wait(&full, &lock);
    pthread_mutex_unlock(&lock);
    b = pthread_getspecific(bed_key);
    if (!b || b->guest != no)
        die("somebody else's bed");
    return NULL;
}

int main(void)
{
    static pthread_t t[GUESTS];
    static int no[GUESTS];
    pthread_attr_t at;
    int i, bad = 0;

    sem_init(&gone, 0, 0);
    pthread_attr_init(&at);
    pthread_attr_setstacksize(&at, 128 * 1024);
    for (i = 0; i < GUESTS; i++) {
        no[i] = i;
        if (pthread_create(&t[i], &at, guest, &no[i]))
            die("pthread_create");
    }
    pthread_attr_destroy(&at);
    for (i = 0; i < GUESTS; i++) {
        if (i % 4 == 0) {
            while (sem_wait(&gone) != 0) {
            }
        } else if (pthread_join(t[i], NULL)) {
            die("pthread_join");
        }
    }
    pthread_mutex_lock(&lock);
    for (i = 0; i < GUESTS; i++)
        bad += used[i] != 1;
    printf("opened %d, left %d, wrong %d\n", opened, left_house, bad);
    bad += opened != 1 || left_house != GUESTS;
    pthread_mutex_unlock(&lock);
    return bad ? 1 : 0;
}
