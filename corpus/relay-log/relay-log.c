/* The two threads of a replication slave. The I/O thread queues events from
 * the master into the hot relay log and starts a new log when one is full; the
 * SQL thread applies the events. While it is in the hot log, the SQL thread
 * reads through the handle of the I/O thread, in older logs through its own. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pause.h"

#define LOGS 5
#define EVENTS_PER_LOG 6

struct log_file {
	char header[16]; /* name of the log, written when it is created */
	uint32_t event[EVENTS_PER_LOG];
	int events;
};

struct relay_log {
	struct log_file file[LOGS];
	const char *hot_name;	 /* log that the I/O thread appends to */
	struct log_file *cur_log; /* its open handle */
	pthread_mutex_t handle_lock;
	int logs;	      /* that have been started */
	int finished;	      /* the master has nothing more */
	pthread_mutex_t lock; /* files, logs and finished */
	pthread_cond_t more;
};

static const char *const log_names[LOGS] = {
	"relay.000001", "relay.000002", "relay.000003", "relay.000004", "relay.000005",
};

static struct relay_log relay = {
	.handle_lock = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.more = PTHREAD_COND_INITIALIZER,
};

static struct log_file *log_create(struct relay_log *rl, int n)
{
	pthread_mutex_lock(&rl->lock);
	snprintf(rl->file[n].header, sizeof(rl->file[n].header), "%s", log_names[n]);
	pthread_mutex_unlock(&rl->lock);
	return &rl->file[n];
}

static void relay_rotate(struct relay_log *rl, int n)
{
	struct log_file *fresh = log_create(rl, n);

	rl->hot_name = log_names[n];
	pthread_mutex_lock(&rl->handle_lock);
	rl->cur_log = fresh;
	pthread_mutex_unlock(&rl->handle_lock);

	pthread_mutex_lock(&rl->lock);
	rl->logs = n + 1;
	pthread_cond_signal(&rl->more);
	pthread_mutex_unlock(&rl->lock);
}

static uint32_t receive_event(int log, int n)
{
	uint32_t e = (uint32_t)(log * 100 + n);

	for (int i = 0; i < 30000 + n * 4000; i++)
		e = (e ^ e >> 15) * 0x2c1b3c6du + 5;
	return e;
}

static void *io_main(void *arg)
{
	struct relay_log *rl = arg;

	for (int log = 0; log < LOGS; log++) {
		if (log > 0)
			relay_rotate(rl, log);
		for (int n = 0; n < EVENTS_PER_LOG; n++) {
			uint32_t e = receive_event(log, n); PAUSE(1);

			pthread_mutex_lock(&rl->lock);
			rl->cur_log->event[n] = e;
			rl->cur_log->events = n + 1;
			pthread_cond_signal(&rl->more);
			pthread_mutex_unlock(&rl->lock);
		}
	}
	pthread_mutex_lock(&rl->lock);
	rl->finished = 1;
	pthread_cond_signal(&rl->more);
	pthread_mutex_unlock(&rl->lock);
	return NULL;
}

struct reader {
	int log; /* log and position of the next event */
	int pos;
};

/* The log that the reader is in, or NULL if what is there is not that log. */
static struct log_file *open_current(struct relay_log *rl, const struct reader *rd)
{
	const char *name = log_names[rd->log];
	struct log_file *f;

	if (rl->hot_name == name) { PAUSE(15);
		pthread_mutex_lock(&rl->handle_lock);
		f = rl->cur_log;
		pthread_mutex_unlock(&rl->handle_lock);
	} else {
		f = &rl->file[rd->log];
	}
	if (memcmp(f->header, name, strlen(name) + 1) != 0) {
		fprintf(stderr, "%s: log starts with '%s'\n", name, f->header);
		return NULL;
	}
	return f;
}

/* 1: *e is the next event, 0: the end, -1: the log cannot be read. */
static int next_event(struct relay_log *rl, struct reader *rd, uint32_t *e)
{
	int result = 0;

	if (rd->pos == EVENTS_PER_LOG && rd->log + 1 < LOGS) {
		pthread_mutex_lock(&rl->lock);
		while (rl->logs <= rd->log + 1)
			pthread_cond_wait(&rl->more, &rl->lock);
		pthread_mutex_unlock(&rl->lock);
		rd->log++;
		rd->pos = 0;
	}
	struct log_file *f = open_current(rl, rd);

	if (f == NULL)
		return -1;
	pthread_mutex_lock(&rl->lock);
	while (rd->pos >= f->events && !rl->finished)
		pthread_cond_wait(&rl->more, &rl->lock);
	if (rd->pos < f->events) {
		*e = f->event[rd->pos++];
		result = 1;
	}
	pthread_mutex_unlock(&rl->lock);
	return result;
}

static uint32_t apply_event(uint32_t e)
{
	uint32_t rows = 0, work = 5000 + e % 8 * 5000;

	for (uint32_t i = 0; i < work; i++) {
		e ^= e << 13;
		e ^= e >> 17;
		e ^= e << 5;
		rows += e & 1;
	}
	return rows;
}

static void *sql_main(void *arg)
{
	struct relay_log *rl = arg;
	struct reader rd = {0, 0};
	uint32_t e, digest = 0;
	int applied = 0, got;

	while ((got = next_event(rl, &rd, &e)) > 0) {
		digest = digest * 31 + apply_event(e);
		applied++;
	}
	if (got < 0) {
		fprintf(stderr, "slave stopped after %d events\n", applied);
		abort();
	}
	printf("%d events applied, digest %08x\n", applied, digest);
	return NULL;
}

int main(void)
{
	pthread_t io, sql;

	relay.cur_log = log_create(&relay, 0);
	relay.hot_name = log_names[0];
	relay.logs = 1;
	if (pthread_create(&io, NULL, io_main, &relay) != 0 || pthread_create(&sql, NULL, sql_main, &relay) != 0)
		return 2;
	pthread_join(io, NULL);
	pthread_join(sql, NULL);
	return 0;
}
