/* Readers look into a page under a read lock while an editor maps a new
   edition and unmaps the old one.  The lock prefers writers; in the end it
   is shown that a waiting writer turns new readers away. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define READERS 3
#define EDITORS 2
#define EDITIONS 15
#define LOOKS 40
#define SIZE 8192
#define WORDS (SIZE / sizeof(unsigned))

static pthread_rwlock_t lock;
static unsigned *page;          /* all words hold the number of the edition */
static unsigned edition;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void *reader(void *arg)
{
    unsigned last = 0, i, *torn = arg;
    int n;

    for (n = 0; n < LOOKS; n++) {
        if (pthread_rwlock_rdlock(&lock))
            die("rdlock");
        for (i = 0; i < WORDS; i += 64)
            *torn += page[i] != edition;
        *torn += edition < last;
        last = edition;
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

static unsigned *print_page(void)
{
    unsigned *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        die("mmap");
    return p;
}

static void *editor(void *arg)
{
    int n;

    for (n = 0; n < EDITIONS; n++) {
        unsigned *fresh = print_page(), *old, i;

        if (pthread_rwlock_wrlock(&lock))
            die("wrlock");
        edition++;
        for (i = 0; i < WORDS; i++)
            fresh[i] = edition;
        mprotect(fresh, SIZE, PROT_READ);
        old = page;
        page = fresh;
        pthread_rwlock_unlock(&lock);
        /* No reader keeps the address beyond its lock. */
        if (munmap(old, SIZE) != 0)
            die("munmap");
    }
    return arg;
}

static void *closing(void *arg)
{
    if (pthread_rwlock_wrlock(&lock))
        die("wrlock");
    munmap(page, SIZE);
    page = NULL;
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t r[READERS], e[EDITORS], c;
    unsigned torn[READERS] = { 0 }, sum = 0;
    pthread_rwlockattr_t at;
    int i, err, seen;

    pthread_rwlockattr_init(&at);
    pthread_rwlockattr_setkind_np(&at,
                                  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    if (pthread_rwlock_init(&lock, &at))
        die("rwlock");
    page = print_page();
    for (i = 0; i < READERS; i++)
        if (pthread_create(&r[i], NULL, reader, &torn[i]))
            die("pthread_create");
    for (i = 0; i < EDITORS; i++)
        if (pthread_create(&e[i], NULL, editor, NULL))
            die("pthread_create");
    for (i = 0; i < READERS; i++) {
        pthread_join(r[i], NULL);
        sum += torn[i];
    }
    for (i = 0; i < EDITORS; i++)
        pthread_join(e[i], NULL);

    /* While we read, the writer waits; once it does, no second read lock. */
    pthread_rwlock_rdlock(&lock);
    if (pthread_create(&c, NULL, closing, NULL))
        die("pthread_create");
    while ((err = pthread_rwlock_tryrdlock(&lock)) == 0) {
        pthread_rwlock_unlock(&lock);
        sched_yield();
    }
    seen = page != NULL && page[0] == edition;
    pthread_rwlock_unlock(&lock);
    pthread_join(c, NULL);
    pthread_rwlock_destroy(&lock);
    printf("editions %u, torn %u\n", edition, sum);
    return sum == 0 && edition == EDITORS * EDITIONS && err == EBUSY &&
           seen && page == NULL ? 0 : 1;
}
