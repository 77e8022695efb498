/* Frame-threaded video decoder.  A frame is predicted from the one before;
 * its thread waits until the rows it refers to are there. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NFRAMES 4
#define ROWS    6
#define WIDTH   24

struct picture {
    unsigned char   pix[ROWS][WIDTH];
    int             progress;           /* last row that may be referred to */
    pthread_mutex_t progress_mutex;
    pthread_cond_t  progress_cond;
};

struct decoder {
    int            number;
    struct picture cur;
    struct picture *ref;
    int            damaged_rows;        /* own thread only */
    pthread_t      thread;
};

static struct decoder dec[NFRAMES];
static atomic_int rows_decoded;
static int last_row_seen;               /* progress bar */

static int residual(int frame, int y, int x)
{
    return (frame * 13 + y * 7 + x * 3) & 0x3f;
}

static int row_is_damaged(int frame, int y)
{
    return (frame + 2 * y) % 5 == 3;
}

static void report_progress(struct picture *p, int y)
{
    pthread_mutex_lock(&p->progress_mutex);
    p->progress = y;
    pthread_cond_broadcast(&p->progress_cond);
    pthread_mutex_unlock(&p->progress_mutex);
}

static void await_progress(struct picture *p, int y)
{
    pthread_mutex_lock(&p->progress_mutex);
    while (p->progress < y)
        pthread_cond_wait(&p->progress_cond, &p->progress_mutex);
    pthread_mutex_unlock(&p->progress_mutex);
}

static void decode_row(struct decoder *d, int y)
{
    for (int x = 0; x < WIDTH; x++) {
        int pred = d->ref != NULL ? d->ref->pix[y][x] : 128;

        d->cur.pix[y][x] = (unsigned char)(pred + residual(d->number, y, x));
    }
    atomic_fetch_add_explicit(&rows_decoded, 1, memory_order_relaxed);
}

/* Replaces a row that could not be decoded by the one above it. */
static void conceal_row(struct decoder *d, int y)
{
    for (int x = 0; x < WIDTH; x++)
        d->cur.pix[y][x] = y > 0 ? d->cur.pix[y - 1][x] : 128;
    d->damaged_rows++;
}

static void decode_picture(struct decoder *d)
{
    for (int y = 0; y < ROWS; y++) {
        if (d->ref != NULL)
            await_progress(d->ref, y);
        decode_row(d, y);
        report_progress(&d->cur, y);
        if (row_is_damaged(d->number, y))
            conceal_row(d, y);
        last_row_seen = y;
    }
}

static void *frame_thread(void *arg)
{
    decode_picture(arg);
    return NULL;
}

static unsigned long checksum(void)
{
    unsigned long sum = 5381;

    for (int n = 0; n < NFRAMES; n++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < WIDTH; x++)
                sum = sum * 33 + dec[n].cur.pix[y][x];
    return sum;
}

static void reset(void)
{
    for (int n = 0; n < NFRAMES; n++) {
        memset(dec[n].cur.pix, 0, sizeof(dec[n].cur.pix));
        dec[n].cur.progress = -1;
        dec[n].damaged_rows = 0;
    }
}

int main(void)
{
    unsigned long expected, got;
    int damaged = 0;

    for (int n = 0; n < NFRAMES; n++) {
        dec[n].number = n;
        dec[n].ref = n > 0 ? &dec[n - 1].cur : NULL;
        pthread_mutex_init(&dec[n].cur.progress_mutex, NULL);
        pthread_cond_init(&dec[n].cur.progress_cond, NULL);
    }
    reset();
    for (int n = 0; n < NFRAMES; n++)
        decode_picture(&dec[n]);
    expected = checksum();

    reset();
    for (int n = 0; n < NFRAMES; n++)
        pthread_create(&dec[n].thread, NULL, frame_thread, &dec[n]);
    for (int n = 0; n < NFRAMES; n++) {
        pthread_join(dec[n].thread, NULL);
        damaged += dec[n].damaged_rows;
    }
    got = checksum();
    printf("%d rows, %d concealed, checksum %lx\n", atomic_load(&rows_decoded), damaged, got);
    if (got != expected) {
        fprintf(stderr, "checksum %lx, expected %lx\n", got, expected);
        return 1;
    }
    return 0;
}
