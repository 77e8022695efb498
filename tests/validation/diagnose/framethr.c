/* Video decoder with one thread for each frame: a thread waits until the rows
 * of the frame before, which it refers to, are there. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NFRAMES 4
#define NROWS   6
#define WIDTH   24

struct frame {
    pthread_mutex_t lock;
    pthread_cond_t  cond;
    int             progress;           /* last row that may be used */
    unsigned char   rows[NROWS][WIDTH];
};

struct decoder {
    int            number;
    struct frame  *cur;
    struct frame  *ref;                 /* NULL for a key frame */
    pthread_t      thread;
};

static struct frame frames[NFRAMES];
static atomic_long waits, rows_decoded;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static long frames_done;

static void report_progress(struct frame *f, int row)
{
    pthread_mutex_lock(&f->lock);
    f->progress = row;
    pthread_cond_broadcast(&f->cond);
    pthread_mutex_unlock(&f->lock);
}

static void await_progress(struct frame *f, int row)
{
    pthread_mutex_lock(&f->lock);
    while (f->progress < row) {
        atomic_fetch_add_explicit(&waits, 1, memory_order_relaxed);
        pthread_cond_wait(&f->cond, &f->lock);
    }
    pthread_mutex_unlock(&f->lock);
}

/* Predicts from the row below in the frame before and adds a residual. */
static void reconstruct(unsigned char *dst, const unsigned char *pred, int number, int row)
{
    for (int x = 0; x < WIDTH; x++) {
        int residual = (number * 13 + row * 5 + x * 3) & 31;

        dst[x] = (unsigned char)((pred ? pred[x] : 64) + residual);
    }
}

static void loop_filter(unsigned char *dst)
{
    for (int x = 1; x < WIDTH - 1; x++)
        dst[x] = (unsigned char)((dst[x - 1] + 2 * dst[x] + dst[x + 1] + 2) / 4);
}

static void decode_row(struct decoder *d, int row)
{
    const unsigned char *pred = NULL;

    if (d->ref) {
        int below = row + 1 < NROWS ? row + 1 : row;

        await_progress(d->ref, below);
        pred = d->ref->rows[below];
    }
    reconstruct(d->cur->rows[row], pred, d->number, row);
    report_progress(d->cur, row);
    loop_filter(d->cur->rows[row]);
    atomic_fetch_add_explicit(&rows_decoded, 1, memory_order_relaxed);
}

static void *decoder_main(void *arg)
{
    struct decoder *d = arg;

    for (int row = 0; row < NROWS; row++)
        decode_row(d, row);
    pthread_mutex_lock(&stats_lock);
    frames_done++;
    pthread_mutex_unlock(&stats_lock);
    return NULL;
}

static unsigned long checksum(unsigned char rows[NROWS][WIDTH])
{
    unsigned long sum = 5381;

    for (int y = 0; y < NROWS; y++)
        for (int x = 0; x < WIDTH; x++)
            sum = sum * 33 + rows[y][x];
    return sum;
}

/* The same, one frame after the other. */
static unsigned long reference(void)
{
    unsigned char last[NROWS][WIDTH], cur[NROWS][WIDTH];

    for (int n = 0; n < NFRAMES; n++) {
        for (int y = 0; y < NROWS; y++) {
            reconstruct(cur[y], n ? last[y + 1 < NROWS ? y + 1 : y] : NULL, n, y);
            loop_filter(cur[y]);
        }
        memcpy(last, cur, sizeof(last));
    }
    return checksum(last);
}

int main(void)
{
    struct decoder d[NFRAMES];
    unsigned long sum;

    for (int i = 0; i < NFRAMES; i++) {
        pthread_mutex_init(&frames[i].lock, NULL);
        pthread_cond_init(&frames[i].cond, NULL);
        frames[i].progress = -1;
        d[i] = (struct decoder){ i, &frames[i], i ? &frames[i - 1] : NULL, 0 };
    }
    for (int i = 0; i < NFRAMES; i++)
        pthread_create(&d[i].thread, NULL, decoder_main, &d[i]);
    for (int i = 0; i < NFRAMES; i++)
        pthread_join(d[i].thread, NULL);
    sum = checksum(frames[NFRAMES - 1].rows);
    printf("%ld frames, %ld rows, %ld waits, checksum %lx\n", frames_done,
           atomic_load(&rows_decoded), atomic_load(&waits), sum);
    return sum == reference() ? 0 : 1;
}
