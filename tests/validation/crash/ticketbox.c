/* Seats of a show are numbered as they are sold; later the plan of the hall
   is made from the bookings and printed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NSELLERS 3
#define PER_SELLER 5
#define NSEATS (NSELLERS * PER_SELLER)

struct booking {
    int seat;
    int seller;
    char customer[16];
};

struct row {
    const struct booking *first;
    int taken;
};

static pthread_mutex_t office_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_seat;
static struct booking bookings[NSEATS];
static const struct booking *plan[NSEATS];
static struct row rows[NSELLERS];
static atomic_int sold;

static int peek_seat(void)
{
    int seat;

    pthread_mutex_lock(&office_lock);
    seat = next_seat;
    pthread_mutex_unlock(&office_lock);
    return seat;
}

static void confirm_seat(int seat)
{
    pthread_mutex_lock(&office_lock);
    next_seat = seat + 1;
    pthread_mutex_unlock(&office_lock);
}

static void sell(int seller, int n)
{
    int seat = peek_seat();
    struct booking *b = &bookings[seller * PER_SELLER + n];

    b->seller = seller;
    snprintf(b->customer, sizeof b->customer, "c%d-%d", seller, n);
    b->seat = seat;
    confirm_seat(seat);
    atomic_fetch_add(&sold, 1);
}

static void *seller_main(void *arg)
{
    long id = (long)arg;
    int i;

    for (i = 0; i < PER_SELLER; i++)
        sell((int)id, i);
    return NULL;
}

static void make_plan(void)
{
    int i;

    for (i = 0; i < NSEATS; i++)
        plan[bookings[i].seat] = &bookings[i];
}

static void make_rows(void)
{
    int i, r;

    for (r = 0; r < NSELLERS; r++) {
        rows[r].first = plan[r * PER_SELLER];
        for (i = 0; i < PER_SELLER; i++)
            rows[r].taken += plan[r * PER_SELLER + i] != NULL;
    }
}

static unsigned print_rows(void)
{
    unsigned sum = 0;
    int r;

    for (r = 0; r < NSELLERS; r++)
        sum = sum * 7 + (unsigned)rows[r].first->customer[0];
    for (r = 0; r < NSEATS; r++)
        sum = sum * 7 + (unsigned)plan[r]->customer[0];
    return sum;
}

int main(void)
{
    pthread_t t[NSELLERS];
    long i;

    for (i = 0; i < NSELLERS; i++)
        pthread_create(&t[i], NULL, seller_main, (void *)i);
    for (i = 0; i < NSELLERS; i++)
        pthread_join(t[i], NULL);
    make_plan();
    make_rows();
    printf("%d sold, check %x\n", atomic_load(&sold), print_rows());
    return 0;
}
