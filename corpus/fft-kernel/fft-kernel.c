/* Parallel radix-2 FFT of a synthetic signal. Every stage of butterflies ends
 * at a barrier, and each worker then adds up the power in its part of the
 * spectrum. The main thread watches the progress, prints the report and checks
 * the bins against a plain DFT. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../pause.h"

#define LOG_N 8
#define N (1 << LOG_N)
#define WORKERS 3

struct complex_number {
	double re, im;
};

static struct global {
	struct complex_number x[N];
	struct complex_number root[N]; /* root[k] = exp(-2*pi*i*k/N) */
	double band_power[WORKERS];
	long butterflies[WORKERS];
	int stages_done; /* by all workers together */
	pthread_mutex_t progress_lock;
	pthread_barrier_t stage_end;
} *global;

/* exp(-2*pi*i/256) */
static const struct complex_number first_root = {0.99969881869620425, -0.024541228522912288};

static struct complex_number multiply(struct complex_number a, struct complex_number b)
{
	return (struct complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static double power(struct complex_number a)
{
	return a.re * a.re + a.im * a.im;
}

static unsigned reverse_bits(unsigned i)
{
	unsigned r = 0;

	for (int b = 0; b < LOG_N; b++)
		r |= (i >> b & 1) << (LOG_N - 1 - b);
	return r;
}

static void make_signal(struct complex_number *signal)
{
	unsigned seed = 4711;

	for (int i = 0; i < N; i++) {
		seed = seed * 1103515245u + 12345u;
		signal[i].re = (i % 16 < 8 ? 1.0 : -1.0) + (seed >> 16 & 255) / 512.0;
		signal[i].im = (i % 50) / 25.0 - 1.0;
	}
}

static void make_roots(struct complex_number *root)
{
	root[0] = (struct complex_number){1.0, 0.0};
	for (int k = 1; k < N; k++)
		root[k] = multiply(root[k - 1], first_root);
}

/* This worker's share of the butterflies of one stage. */
static long do_stage(int id, int stage)
{
	int half = 1 << stage;
	int first = id * (N / 2) / WORKERS, last = (id + 1) * (N / 2) / WORKERS;

	for (int i = first; i < last; i++) {
		int k = i & (half - 1);
		int low = ((i >> stage) << (stage + 1)) + k;
		struct complex_number a = global->x[low];
		struct complex_number b = multiply(global->x[low + half], global->root[k * (N / 2 / half)]);

		global->x[low] = (struct complex_number){a.re + b.re, a.im + b.im};
		global->x[low + half] = (struct complex_number){a.re - b.re, a.im - b.im};
	}
	return last - first;
}

static void note_progress(void)
{
	pthread_mutex_lock(&global->progress_lock);
	global->stages_done++;
	pthread_mutex_unlock(&global->progress_lock);
}

static int progress(void)
{
	pthread_mutex_lock(&global->progress_lock);
	int done = global->stages_done;
	pthread_mutex_unlock(&global->progress_lock);
	return done;
}

static void transform_part(int id)
{
	long count = 0;
	double sum = 0.0;

	for (int stage = 0; stage < LOG_N; stage++) {
		count += do_stage(id, stage);
		pthread_barrier_wait(&global->stage_end);
		note_progress();
	}
	for (int i = id * N / WORKERS; i < (id + 1) * N / WORKERS; i++)
		sum += power(global->x[i]);
	global->butterflies[id] = count; PAUSE(80);
	global->band_power[id] = sum;
}

static void *worker_main(void *arg)
{
	transform_part(*(int *)arg);
	return NULL;
}

/* Largest squared distance between the transform and a plain DFT. */
static double check_bins(const struct complex_number *signal)
{
	struct complex_number step = {1.0, 0.0};
	double worst = 0.0;

	for (int k = 0; k < N; k++) {
		struct complex_number sum = {0.0, 0.0}, w = {1.0, 0.0};

		for (int i = 0; i < N; i++) {
			struct complex_number t = multiply(signal[i], w);

			sum.re += t.re;
			sum.im += t.im;
			w = multiply(w, step);
		}
		sum.re -= global->x[k].re;
		sum.im -= global->x[k].im;
		if (power(sum) > worst)
			worst = power(sum);
		step = multiply(step, first_root);
	}
	return worst;
}

static void print_report(void)
{
	double total = 0.0;
	long butterflies = 0;

	for (int i = 0; i < WORKERS; i++) {
		total += global->band_power[i];
		butterflies += global->butterflies[i];
	}
	printf("%d points, %ld butterflies\n", N, butterflies);
	printf("power %.6f\n", total / N);
}

int main(void)
{
	static struct complex_number signal[N];
	static int ids[WORKERS];
	pthread_t thread;

	global = calloc(1, sizeof(*global));
	if (global == NULL)
		return 2;
	make_signal(signal);
	make_roots(global->root);
	for (unsigned i = 0; i < N; i++)
		global->x[reverse_bits(i)] = signal[i];
	pthread_barrier_init(&global->stage_end, NULL, WORKERS);

	pthread_mutex_init(&global->progress_lock, NULL);

	for (int i = 0; i < WORKERS; i++) {
		ids[i] = i;
		if (pthread_create(&thread, NULL, worker_main, &ids[i]) != 0)
			return 2;
		pthread_detach(thread);
	}
	while (progress() < WORKERS * LOG_N)
		usleep(300);

	print_report();
	printf("transform %s\n", check_bins(signal) < 1e-15 ? "ok" : "inexact");
	return 0;
}
