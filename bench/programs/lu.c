/* Dense LU factorisation without pivoting, in the way of SPLASH-2's LU with
 * contiguous blocks: the matrix is cut in blocks of 16 x 16 that lie one after
 * the other in memory and belong to the threads in a two-dimensional pattern.
 * Then A x = b is solved from the factors and the residual must be small.
 * Usage: lu [-p threads] [-n order] */
#include "team.h"

#include <math.h>
#include <unistd.h>

enum { SIDE = 16, AREA = SIDE * SIDE };

static struct {
    unsigned threads, grid_rows, grid_columns; /* threads = grid_rows * grid_columns */
    size_t order;                              /* n */
    size_t blocks;                             /* blocks in a row or column */
    double *matrix;                            /* blocks * blocks blocks, each row-major */
    pthread_barrier_t barrier;
} lu;

static double *block(size_t row, size_t column)
{
    return &lu.matrix[(row * lu.blocks + column) * AREA];
}

static unsigned owner(size_t row, size_t column)
{
    return (unsigned)(row % lu.grid_rows * lu.grid_columns + column % lu.grid_columns);
}

/* The element of A before factoring: diagonally dominant, so that no pivot is
 * needed. Beyond the order A goes on as identity, which fills the last blocks
 * without any effect on the rest. */
static double element(size_t row, size_t column)
{
    if (row >= lu.order || column >= lu.order) {
        return row == column ? 1.0 : 0.0;
    }
    double value = team_mix_real(row * lu.order + column);
    return row == column ? value + (double)lu.order : value;
}

static void fill_block(double *a, size_t row, size_t column)
{
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t j = 0; j < SIDE; j++) {
            a[i * SIDE + j] = element(row * SIDE + i, column * SIDE + j);
        }
    }
}

/* to -= factor * from, for the elements [first, SIDE) of two rows. */
static void subtract_row(double *to, const double *from, double factor, size_t first)
{
    for (size_t j = first; j < SIDE; j++) {
        to[j] -= factor * from[j];
    }
}

/* A diagonal block becomes its own L (unit diagonal, not stored) and U. */
static void factor_diagonal(double *a)
{
    for (size_t k = 0; k < SIDE; k++) {
        for (size_t i = k + 1; i < SIDE; i++) {
            a[i * SIDE + k] /= a[k * SIDE + k];
            subtract_row(&a[i * SIDE], &a[k * SIDE], a[i * SIDE + k], k + 1);
        }
    }
}

/* A block below the diagonal block: a := a U^-1. */
static void solve_upper(double *a, const double *diagonal)
{
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t k = 0; k < SIDE; k++) {
            a[i * SIDE + k] /= diagonal[k * SIDE + k];
            subtract_row(&a[i * SIDE], &diagonal[k * SIDE], a[i * SIDE + k], k + 1);
        }
    }
}

/* A block to the right of the diagonal block: a := L^-1 a. */
static void solve_lower(double *a, const double *diagonal)
{
    for (size_t k = 0; k < SIDE; k++) {
        for (size_t i = k + 1; i < SIDE; i++) {
            subtract_row(&a[i * SIDE], &a[k * SIDE], diagonal[i * SIDE + k], 0);
        }
    }
}

/* An interior block: a -= left * above. */
static void update_interior(double *a, const double *left, const double *above)
{
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t k = 0; k < SIDE; k++) {
            subtract_row(&a[i * SIDE], &above[k * SIDE], left[i * SIDE + k], 0);
        }
    }
}

static void update_perimeter(unsigned self, size_t k)
{
    for (size_t i = k + 1; i < lu.blocks; i++) {
        if (owner(i, k) == self) {
            solve_upper(block(i, k), block(k, k));
        }
        if (owner(k, i) == self) {
            solve_lower(block(k, i), block(k, k));
        }
    }
}

static void work(unsigned self)
{
    for (size_t i = 0; i < lu.blocks; i++) {
        for (size_t j = 0; j < lu.blocks; j++) {
            if (owner(i, j) == self) {
                fill_block(block(i, j), i, j);
            }
        }
    }
    for (size_t k = 0; k < lu.blocks; k++) {
        if (owner(k, k) == self) {
            factor_diagonal(block(k, k));
        }
        pthread_barrier_wait(&lu.barrier);
        update_perimeter(self, k);
        pthread_barrier_wait(&lu.barrier);
        for (size_t i = k + 1; i < lu.blocks; i++) {
            for (size_t j = k + 1; j < lu.blocks; j++) {
                if (owner(i, j) == self) {
                    update_interior(block(i, j), block(i, k), block(k, j));
                }
            }
        }
        /* No barrier: each block is changed next by the thread that changed it
         * now, and what the others read of step k never changes again. */
    }
}

static double factor_at(size_t row, size_t column)
{
    return block(row / SIDE, column / SIDE)[row % SIDE * SIDE + column % SIDE];
}

/* Replaces the right-hand side in x by the solution of A x = b. */
static void solve(double *x)
{
    for (size_t i = 0; i < lu.order; i++) {
        for (size_t j = 0; j < i; j++) {
            x[i] -= factor_at(i, j) * x[j];
        }
    }
    for (size_t i = lu.order; i-- > 0;) {
        for (size_t j = i + 1; j < lu.order; j++) {
            x[i] -= factor_at(i, j) * x[j];
        }
        x[i] /= factor_at(i, i);
    }
}

static double right_side(size_t row)
{
    return team_mix_real(~(uint64_t)row);
}

/* The largest element of |A x - b|. */
static double residual(const double *x)
{
    double largest = 0.0;
    for (size_t i = 0; i < lu.order; i++) {
        double sum = -right_side(i);
        for (size_t j = 0; j < lu.order; j++) {
            sum += element(i, j) * x[j];
        }
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

static void read_options(int argc, char **argv)
{
    lu.threads = TEAM_DEFAULT;
    lu.order = 1408;
    for (int option; (option = getopt(argc, argv, "p:n:")) != -1;) {
        switch (option) {
        case 'p': lu.threads = team_number('p', optarg, 1, TEAM_MAX); break;
        case 'n': lu.order = team_number('n', optarg, 1, 16384); break;
        default: team_die("usage: lu [-p threads] [-n order]");
        }
    }
    lu.blocks = (lu.order + SIDE - 1) / SIDE;
    lu.grid_rows = (unsigned)sqrt(lu.threads);
    while (lu.threads % lu.grid_rows != 0) {
        lu.grid_rows--;
    }
    lu.grid_columns = lu.threads / lu.grid_rows;
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    lu.matrix = team_alloc(lu.blocks * lu.blocks, AREA * sizeof *lu.matrix);
    team_barrier_init(&lu.barrier, lu.threads);
    team_run(lu.threads, work);
    pthread_barrier_destroy(&lu.barrier);

    double *x = team_alloc(lu.order, sizeof *x), checksum = 0.0;
    for (size_t i = 0; i < lu.order; i++) {
        x[i] = right_side(i);
    }
    solve(x);
    for (size_t i = 0; i < lu.order; i++) {
        checksum += fabs(x[i]);
    }
    int good = residual(x) < 1e-12 * (double)lu.order;
    printf("lu: order %zu, checksum %.6e, residual %s\n", lu.order, checksum,
           good ? "good" : "WRONG");
    free(x);
    free(lu.matrix);
    return good ? 0 : 1;
}
