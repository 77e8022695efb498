/* Complex one-dimensional FFT of N = 2^M points by the six-step method, in the
 * way of SPLASH-2's FFT: the points are a square matrix of R = sqrt(N) rows,
 * each thread owns a band of rows, and threads meet only in the transposes,
 * between barriers. Every round transforms forward and back; at the end the
 * points must be what they were. Usage: fft [-p threads] [-m M] [-i rounds] */
#include "team.h"

#include <math.h>
#include <unistd.h>

enum { PATCH = 8 }; /* side of the square patches in which a transpose moves */

struct point {
    double re, im;
};

static struct {
    unsigned threads, log_root, rounds;
    size_t root;            /* R; the matrices below are R x R, row-major */
    struct point *data;     /* input, and output of every transform */
    struct point *scratch;  /* the transposed matrix in between */
    struct point *twiddles; /* [r * R + c] = w_N^(r c) */
    struct point *roots;    /* [h + j] = w_(2h)^j for h = 1, 2, 4 ... R/2 and j < h */
    pthread_barrier_t barrier;
    double error[TEAM_MAX];    /* each thread's largest deviation after the last round */
    double checksum[TEAM_MAX]; /* each thread's part of the spectrum's checksum */
} fft;

static struct point times(struct point a, struct point b)
{
    return (struct point){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* w_n^k, the k-th power of the principal n-th root of unity. */
static struct point unity(size_t k, size_t n)
{
    double angle = -2.0 * M_PI * (double)(k % n) / (double)n;
    return (struct point){cos(angle), sin(angle)};
}

static struct point sample(size_t index)
{
    return (struct point){team_mix_real(2 * index), team_mix_real(2 * index + 1)};
}

static void wait_for_all(void)
{
    pthread_barrier_wait(&fft.barrier);
}

/* The powers w_N^(r c) of one row by repeated doubling: w^(2c) = (w^c)^2 and
 * w^(2c+1) = w^(2c) w keep the error logarithmic in R. */
static void make_twiddle_row(size_t r)
{
    struct point *row = &fft.twiddles[r * fft.root];
    struct point step = unity(r, fft.root * fft.root);
    row[0] = (struct point){1.0, 0.0};
    for (size_t c = 1; c < fft.root; c++) {
        struct point half = row[c / 2];
        struct point even = times(half, half);
        row[c] = c % 2 == 0 ? even : times(even, step);
    }
}

static void make_roots(void)
{
    for (size_t half = 1; half < fft.root; half *= 2) {
        for (size_t j = 0; j < half; j++) {
            fft.roots[half + j] = unity(j, 2 * half);
        }
    }
}

static size_t reverse_bits(size_t index, unsigned bits)
{
    size_t reversed = 0;
    for (unsigned i = 0; i < bits; i++) {
        reversed = reversed << 1 | (index >> i & 1);
    }
    return reversed;
}

static void permute_row(struct point *row)
{
    for (size_t i = 0; i < fft.root; i++) {
        size_t j = reverse_bits(i, fft.log_root);
        if (i < j) {
            struct point swapped = row[i];
            row[i] = row[j];
            row[j] = swapped;
        }
    }
}

/* In-place radix-2 FFT of one row; sign is 1 forward and -1 back. */
static void transform_row(struct point *row, double sign)
{
    permute_row(row);
    for (size_t half = 1; half < fft.root; half *= 2) {
        const struct point *roots = &fft.roots[half];
        for (size_t start = 0; start < fft.root; start += 2 * half) {
            struct point *low = &row[start], *high = &row[start + half];
            for (size_t j = 0; j < half; j++) {
                struct point root = {roots[j].re, sign * roots[j].im};
                struct point product = times(root, high[j]);
                high[j] = (struct point){low[j].re - product.re, low[j].im - product.im};
                low[j] = (struct point){low[j].re + product.re, low[j].im + product.im};
            }
        }
    }
}

static void twiddle_row(struct point *row, const struct point *twiddles, double sign)
{
    for (size_t c = 0; c < fft.root; c++) {
        row[c] = times(row[c], (struct point){twiddles[c].re, sign * twiddles[c].im});
    }
}

static void scale_row(struct point *row, double factor)
{
    for (size_t c = 0; c < fft.root; c++) {
        row[c].re *= factor;
        row[c].im *= factor;
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void transpose_patch(struct point *to, const struct point *from, size_t row, size_t row_end,
                            size_t column, size_t column_end)
{
    for (size_t r = row; r < row_end; r++) {
        for (size_t c = column; c < column_end; c++) {
            to[r * fft.root + c] = from[c * fft.root + r];
        }
    }
}

/* Fills this thread's rows of `to` from the columns of `from`. Each thread
 * begins with the band of the next one, so that not all read the same band. */
static void transpose(struct point *to, const struct point *from, unsigned self)
{
    size_t row_end = team_share(fft.root, self + 1, fft.threads);
    for (unsigned i = 1; i <= fft.threads; i++) {
        unsigned other = (self + i) % fft.threads;
        size_t column_end = team_share(fft.root, other + 1, fft.threads);
        for (size_t r = team_share(fft.root, self, fft.threads); r < row_end; r += PATCH) {
            size_t patch_end = smaller(r + PATCH, row_end);
            for (size_t c = team_share(fft.root, other, fft.threads); c < column_end; c += PATCH) {
                transpose_patch(to, from, r, patch_end, c, smaller(c + PATCH, column_end));
            }
        }
    }
}

static void transform(unsigned self, double sign)
{
    size_t first = team_share(fft.root, self, fft.threads);
    size_t end = team_share(fft.root, self + 1, fft.threads);

    wait_for_all();
    transpose(fft.scratch, fft.data, self);
    for (size_t r = first; r < end; r++) {
        transform_row(&fft.scratch[r * fft.root], sign);
        twiddle_row(&fft.scratch[r * fft.root], &fft.twiddles[r * fft.root], sign);
    }
    wait_for_all();
    transpose(fft.data, fft.scratch, self);
    for (size_t r = first; r < end; r++) {
        transform_row(&fft.data[r * fft.root], sign);
        if (sign < 0.0) {
            scale_row(&fft.data[r * fft.root], 1.0 / (double)(fft.root * fft.root));
        }
    }
    wait_for_all();
    transpose(fft.scratch, fft.data, self);
    /* The others may still read this thread's rows of data: copy only then. */
    wait_for_all();
    memcpy(&fft.data[first * fft.root], &fft.scratch[first * fft.root],
           (end - first) * fft.root * sizeof *fft.data);
}

static void work(unsigned self)
{
    size_t first = team_share(fft.root, self, fft.threads);
    size_t end = team_share(fft.root, self + 1, fft.threads);
    for (size_t r = first; r < end; r++) {
        make_twiddle_row(r);
    }
    for (size_t i = first * fft.root; i < end * fft.root; i++) {
        fft.data[i] = sample(i);
    }

    double checksum = 0.0, error = 0.0;
    for (unsigned round = 0; round < fft.rounds; round++) {
        transform(self, 1.0);
        if (round == 0) {
            for (size_t i = first * fft.root; i < end * fft.root; i++) {
                checksum += fabs(fft.data[i].re) + fabs(fft.data[i].im);
            }
        }
        transform(self, -1.0);
    }
    for (size_t i = first * fft.root; i < end * fft.root; i++) {
        struct point expected = sample(i);
        error = fmax(error, fabs(fft.data[i].re - expected.re));
        error = fmax(error, fabs(fft.data[i].im - expected.im));
    }
    fft.checksum[self] = checksum;
    fft.error[self] = error;
}

static void read_options(int argc, char **argv)
{
    fft.threads = TEAM_DEFAULT;
    fft.rounds = 2;
    unsigned log_points = 20;
    for (int option; (option = getopt(argc, argv, "p:m:i:")) != -1;) {
        switch (option) {
        case 'p': fft.threads = team_number('p', optarg, 1, TEAM_MAX); break;
        case 'm': log_points = team_number('m', optarg, 2, 28); break;
        case 'i': fft.rounds = team_number('i', optarg, 1, 1000); break;
        default: team_die("usage: fft [-p threads] [-m M] [-i rounds]");
        }
    }
    if (log_points % 2 != 0) {
        team_die("option -m wants an even number: 2^M points must be a square");
    }
    fft.log_root = log_points / 2;
    fft.root = (size_t)1 << fft.log_root;
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    size_t points = fft.root * fft.root;
    fft.data = team_alloc(points, sizeof *fft.data);
    fft.scratch = team_alloc(points, sizeof *fft.scratch);
    fft.twiddles = team_alloc(points, sizeof *fft.twiddles);
    fft.roots = team_alloc(fft.root, sizeof *fft.roots);
    make_roots();
    team_barrier_init(&fft.barrier, fft.threads);
    team_run(fft.threads, work);
    pthread_barrier_destroy(&fft.barrier);

    double checksum = 0.0, error = 0.0;
    for (unsigned i = 0; i < fft.threads; i++) {
        checksum += fft.checksum[i];
        error = fmax(error, fft.error[i]);
    }
    int good = error < 1e-10;
    printf("fft: %zu points, checksum %.6e, inverse %s\n", points, checksum,
           good ? "good" : "WRONG");
    free(fft.data);
    free(fft.scratch);
    free(fft.twiddles);
    free(fft.roots);
    return good ? 0 : 1;
}
