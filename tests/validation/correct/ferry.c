/* A ferry with the threads of C11: cars wait for a place with timed waits
   that go round again, the boat is a timed mutex, one lock attempt must
   run into its time limit. */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#define QUAYS 2
#define CARS 30
#define DECK 4

static mtx_t boat;              /* timed */
static cnd_t freed, loaded;
static int deck[DECK], on_deck, head, all_sent;
static once_flag painted = ONCE_FLAG_INIT;
static int coats;
static tss_t ticket;
static mtx_t office;
static int tickets_back;
static long ferried;
static int cars_over;

static void die(const char *what)
{
    fprintf(stderr, "ferry: %s\n", what);
    exit(1);
}

static struct timespec in_ms(long ms)
{
    struct timespec ts;

    if (timespec_get(&ts, TIME_UTC) != TIME_UTC)
        die("timespec_get");
    ts.tv_sec += ms / 1000;
    ts.tv_nsec += ms % 1000 * 1000000;
    if (ts.tv_nsec >= 1000000000) {
        ts.tv_sec++;
        ts.tv_nsec -= 1000000000;
    }
    return ts;
}

static void hand_in(void *p)
{
    mtx_lock(&office);
    tickets_back++;
    mtx_unlock(&office);
    free(p);
}

static void paint(void)
{
    coats++;
    if (tss_create(&ticket, hand_in) != thrd_success)
        die("tss_create");
}

static void board(void)
{
    int rc;

    do {                        /* a time-out is no reason to give up */
        struct timespec ts = in_ms(20000);
        rc = mtx_timedlock(&boat, &ts);
    } while (rc == thrd_timedout);
    if (rc != thrd_success)
        die("mtx_timedlock");
}

static void await(cnd_t *c)
{
    struct timespec ts = in_ms(20000);
    int rc = cnd_timedwait(c, &boat, &ts);

    if (rc != thrd_success && rc != thrd_timedout)
        die("cnd_timedwait");
}

static int quay(void *arg)
{
    int base = *(int *)arg, i, *tk = malloc(sizeof *tk);

    call_once(&painted, paint);
    if (!tk || tss_set(ticket, tk) != thrd_success)
        die("ticket");
    *tk = base;
    for (i = 0; i < CARS; i++) {
        board();
        while (on_deck == DECK)
            await(&freed);
        deck[(head + on_deck++) % DECK] = *(int *)tss_get(ticket) + i;
        cnd_signal(&loaded);
        mtx_unlock(&boat);
    }
    return i;
}

static int skipper(void *arg)
{
    (void)arg;
    board();
    for (;;) {
        while (on_deck == 0 && !all_sent)
            await(&loaded);
        if (on_deck == 0)
            break;
        ferried += deck[head];
        cars_over++;
        head = (head + 1) % DECK;
        on_deck--;
        cnd_broadcast(&freed);
    }
    mtx_unlock(&boat);
    return 0;
}

/* The boat is held by the main thread until this one has returned. */
static int impatient(void *arg)
{
    struct timespec ts = in_ms(5);

    (void)arg;
    return mtx_timedlock(&boat, &ts) == thrd_timedout &&
           mtx_trylock(&boat) == thrd_busy;
}

int main(void)
{
    thrd_t q[QUAYS], s, im;
    int base[QUAYS], i, k, n, gave_up;
    long want = 0;

    if (mtx_init(&boat, mtx_timed) != thrd_success ||
        mtx_init(&office, mtx_plain) != thrd_success ||
        cnd_init(&freed) != thrd_success || cnd_init(&loaded) != thrd_success)
        die("init");
    mtx_lock(&boat);
    if (thrd_create(&im, impatient, NULL) != thrd_success)
        die("thrd_create");
    thrd_join(im, &gave_up);
    mtx_unlock(&boat);

    if (thrd_create(&s, skipper, NULL) != thrd_success)
        die("thrd_create");
    for (i = 0; i < QUAYS; i++) {
        base[i] = 1000 * (i + 1);
        if (thrd_create(&q[i], quay, &base[i]) != thrd_success)
            die("thrd_create");
        for (k = 0; k < CARS; k++)
            want += base[i] + k;
    }
    for (i = 0; i < QUAYS; i++)
        if (thrd_join(q[i], &n) != thrd_success || n != CARS)
            die("thrd_join");
    board();
    all_sent = 1;
    cnd_broadcast(&loaded);
    mtx_unlock(&boat);
    thrd_join(s, NULL);
    printf("over %d, sum %ld of %ld, coats %d\n", cars_over, ferried, want, coats);
    return cars_over == QUAYS * CARS && ferried == want && coats == 1 &&
           gave_up == 1 && tickets_back == QUAYS ? 0 : 1;
}
