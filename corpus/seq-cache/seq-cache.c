/* A cache of exchange rates for many readers and one writer. The writer makes
 * the version odd while it changes an entry; a reader that finds the version
 * odd or changed has seen a mixture and reads again. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "../pause.h"

#define CURRENCIES 4
#define UPDATES 60
#define READERS 2
#define READS 150

struct rate {
    _Atomic unsigned version;
    _Atomic long buy;
    _Atomic long sell;
    _Atomic long day;
};

struct quote {
    long buy;
    long sell;
    long day;
};

struct reader {
    struct rate *rates;
    int number;
    int wrong;
    int backwards;
};

/* Prices follow from the day, so that a reader can tell a mixture. */
static struct quote quote_of_day(int currency, long day)
{
    long buy = 1000 * (currency + 1) + day * 7 % 90;

    return (struct quote){buy, buy + 25 + day % 10, day};
}

static void rate_write(struct rate *r, struct quote q)
{
    unsigned v = atomic_load_explicit(&r->version, memory_order_relaxed);

    atomic_store_explicit(&r->version, v + 1, memory_order_relaxed);
    /* no store below becomes visible before the odd version */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&r->buy, q.buy, memory_order_relaxed);
    atomic_store_explicit(&r->sell, q.sell, memory_order_relaxed);
    if (q.day == UPDATES / 2) PAUSE(5);
    atomic_store_explicit(&r->day, q.day, memory_order_relaxed);
    /* pairs with the acquire load that starts rate_read */
    atomic_store_explicit(&r->version, v + 2, memory_order_release);
}

static struct quote rate_read(struct rate *r)
{
    struct quote q;

    for (;;) {
        unsigned before = atomic_load_explicit(&r->version, memory_order_acquire);
        if (before % 2 != 0) {
            sched_yield();
            continue;
        }
        q.buy = atomic_load_explicit(&r->buy, memory_order_relaxed);
        q.sell = atomic_load_explicit(&r->sell, memory_order_relaxed);
        q.day = atomic_load_explicit(&r->day, memory_order_relaxed);
        /* the loads above are done before the version is read again */
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&r->version, memory_order_relaxed) == before)
            return q;
    }
}

static void *reader_main(void *arg)
{
    struct reader *rd = arg;
    long last_day[CURRENCIES] = {0};

    for (int i = 0; i < READS; i++) {
        int c = (i + rd->number) % CURRENCIES;
        struct quote q = rate_read(&rd->rates[c]);
        struct quote expected = quote_of_day(c, q.day);
        rd->wrong += q.buy != expected.buy || q.sell != expected.sell;
        rd->backwards += q.day < last_day[c];
        last_day[c] = q.day;
        if (i == READS / 3) PAUSE(2);
    }
    return NULL;
}

static void *writer_main(void *arg)
{
    struct rate *rates = arg;

    for (int day = 1; day <= UPDATES; day++)
        for (int c = 0; c < CURRENCIES; c++)
            rate_write(&rates[c], quote_of_day(c, day));
    return NULL;
}

int main(void)
{
    static struct rate rates[CURRENCIES];
    struct reader reader[READERS];
    pthread_t thread[READERS], writer;
    int wrong = 0, backwards = 0;

    for (int c = 0; c < CURRENCIES; c++)
        rate_write(&rates[c], quote_of_day(c, 0));
    for (int i = 0; i < READERS; i++) {
        reader[i] = (struct reader){.rates = rates, .number = i};
        if (pthread_create(&thread[i], NULL, reader_main, &reader[i]) != 0)
            return 2;
    }
    if (pthread_create(&writer, NULL, writer_main, rates) != 0)
        return 2;
    for (int i = 0; i < READERS; i++) {
        pthread_join(thread[i], NULL);
        wrong += reader[i].wrong;
        backwards += reader[i].backwards;
    }
    pthread_join(writer, NULL);
    for (int c = 0; c < CURRENCIES; c++) {
        struct quote q = rate_read(&rates[c]);
        printf("currency %d: buy %ld, sell %ld on day %ld\n", c, q.buy, q.sell, q.day);
    }
    printf("%d mixed, %d backwards\n", wrong, backwards);
    return wrong == 0 && backwards == 0 ? 0 : 1;
}
