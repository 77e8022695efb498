/* Blocked LU factorisation without pivoting (the matrix is diagonally
 * dominant). Block columns are dealt out to the workers in turn; a worker
 * waits for each earlier column before it brings its own up to date. L keeps
 * its diagonal, U has ones there. The product is compared with the original. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "../pause.h"

#define WORKERS 3
#define B 4
#define BLOCKS 6
#define N (B * BLOCKS)

static struct lu {
	double a[N][N];
	double recip[N]; /* reciprocals of the diagonal of L */
	int column_done[BLOCKS];
	long flops;
	pthread_mutex_t lock;
} lu = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double original[N][N];

static void column_finish(int k)
{
	pthread_mutex_lock(&lu.lock);
	lu.column_done[k] = 1;
	pthread_mutex_unlock(&lu.lock);
}

static int column_finished(int k)
{
	pthread_mutex_lock(&lu.lock);
	int done = lu.column_done[k];
	pthread_mutex_unlock(&lu.lock);
	return done;
}

static void column_await(int k)
{
	while (!column_finished(k))
		usleep(50);
}

/* Column c becomes a column of L below the diagonal of its block, using the
 * columns of the same block to its left. */
static long factor_column(int c, int first)
{
	long flops = 0;

	for (int k = first; k < c; k++) {
		double u = lu.a[k][c] / lu.a[k][k];

		lu.a[k][c] = u;
		for (int r = k + 1; r < N; r++)
			lu.a[r][c] -= lu.a[r][k] * u;
		flops += 2 * (N - k - 1) + 1;
	}
	return flops;
}

/* Applies the finished row r of an earlier block column to column c. */
static long apply_row(int r, int c)
{
	double u = lu.a[r][c] * lu.recip[r];

	lu.a[r][c] = u;
	for (int i = r + 1; i < N; i++)
		lu.a[i][c] -= lu.a[i][r] * u;
	return 2 * (N - r - 1) + 1;
}

static long update_block(int j, int k)
{
	long flops = 0;

	for (int c = j * B; c < (j + 1) * B; c++)
		for (int r = k * B; r < (k + 1) * B; r++)
			flops += apply_row(r, c);
	return flops;
}

static long factor_block(int j)
{
	long flops = 0;

	for (int c = j * B; c < (j + 1) * B; c++)
		flops += factor_column(c, j * B);
	column_finish(j); PAUSE(25);
	for (int d = j * B; d < (j + 1) * B; d++)
		lu.recip[d] = 1.0 / lu.a[d][d];
	return flops;
}

static void *worker_main(void *arg)
{
	int id = *(int *)arg;
	long flops = 0;

	for (int j = id; j < BLOCKS; j += WORKERS) {
		for (int k = 0; k < j; k++) {
			column_await(k);
			flops += update_block(j, k);
		}
		flops += factor_block(j);
	}
	pthread_mutex_lock(&lu.lock);
	lu.flops += flops;
	pthread_mutex_unlock(&lu.lock);
	return NULL;
}

static void fill_matrix(void)
{
	uint32_t seed = 2024;

	for (int i = 0; i < N; i++) {
		for (int k = 0; k < N; k++) {
			seed = seed * 1664525u + 1013904223u;
			original[i][k] = (seed >> 16 & 1023) / 1024.0;
		}
		original[i][i] += N;
		for (int k = 0; k < N; k++)
			lu.a[i][k] = original[i][k];
	}
}

/* Largest difference between L*U and the original. */
static double residual(void)
{
	double worst = 0.0;

	for (int i = 0; i < N; i++) {
		for (int k = 0; k < N; k++) {
			int top = i < k ? i : k;
			double sum = 0.0;

			for (int m = 0; m <= top; m++)
				sum += lu.a[i][m] * (m == k ? 1.0 : lu.a[m][k]);
			sum -= original[i][k];
			if (sum < 0)
				sum = -sum;
			if (sum > worst)
				worst = sum;
		}
	}
	return worst;
}

int main(void)
{
	pthread_t thread[WORKERS];
	int id[WORKERS];
	double diagonal = 0.0;

	fill_matrix();
	for (int i = 0; i < WORKERS; i++) {
		id[i] = i;
		if (pthread_create(&thread[i], NULL, worker_main, &id[i]) != 0)
			return 2;
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);

	double worst = residual();

	for (int i = 0; i < N; i++)
		diagonal += lu.a[i][i];
	printf("%dx%d, %ld flops, diagonal %.6f\n", N, N, lu.flops, diagonal);
	if (!(worst < 1e-9)) {
		fprintf(stderr, "residual %g\n", worst);
		return 1;
	}
	return 0;
}
