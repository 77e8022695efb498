/* A one-table database with statement replication. Every statement changes the
 * table and is then written to the binary log; when the sessions have ended, a
 * replica applies the log from the start and compares what it gets. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "../pause.h"

#define CLIENTS 2
#define INSERTS 14
#define CLEARS 3
#define MAX_ROWS (CLIENTS * INSERTS)
#define MAX_ENTRIES (CLIENTS * INSERTS + CLEARS)

struct table {
	uint32_t row[MAX_ROWS];
	unsigned rows;
	unsigned generation; /* counts the times the table was emptied */
	pthread_mutex_t lock;
};

enum statement { STMT_INSERT, STMT_DELETE_ALL };

struct log_entry {
	enum statement stmt;
	uint32_t value;	   /* STMT_INSERT */
	unsigned affected; /* rows that were changed on the master */
};

struct binlog {
	struct log_entry entry[MAX_ENTRIES];
	unsigned used;
	pthread_mutex_t lock;
};

static struct table master = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct binlog binlog = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void binlog_write(struct binlog *log, struct log_entry e)
{
	pthread_mutex_lock(&log->lock);
	unsigned at = log->used;
	log->entry[at] = e;
	log->used = at + 1;
	pthread_mutex_unlock(&log->lock);
}

static unsigned table_insert(struct table *t, uint32_t value)
{
	pthread_mutex_lock(&t->lock);
	unsigned at = t->rows;
	t->row[at] = value;
	t->rows = at + 1;
	pthread_mutex_unlock(&t->lock);
	return 1;
}

/* DELETE without a condition does not visit the rows one by one. */
static unsigned table_clear(struct table *t)
{
	pthread_mutex_lock(&t->lock);
	unsigned gone = t->rows;
	t->rows = 0;
	t->generation++;
	pthread_mutex_unlock(&t->lock);
	return gone;
}

static void sql_insert(uint32_t value)
{
	unsigned n = table_insert(&master, value);

	binlog_write(&binlog, (struct log_entry){STMT_INSERT, value, n});
}

static void sql_delete_all(void)
{
	unsigned n = table_clear(&master); PAUSE(12);

	binlog_write(&binlog, (struct log_entry){STMT_DELETE_ALL, 0, n});
}

/* Stands for the parser and the network: works on its own data only. */
static uint32_t prepare_statement(uint32_t session, int n, int length)
{
	uint32_t h = session * 0x9e3779b1u + (uint32_t)n;

	for (int i = 0; i < length; i++)
		h = (h << 7 | h >> 25) ^ (h * 0x85ebca6bu);
	return h;
}

static void *client_main(void *arg)
{
	uint32_t session = *(uint32_t *)arg;

	for (int n = 0; n < INSERTS; n++) {
		uint32_t value = prepare_statement(session, n, 80000); PAUSE(3);

		sql_insert(value);
	}
	return NULL;
}

static void *housekeeper_main(void *arg)
{
	uint32_t session = *(uint32_t *)arg;
	uint32_t sum = 0;

	for (int n = 0; n < CLEARS; n++) {
		sum ^= prepare_statement(session, n, 250000); PAUSE(1);
		sql_delete_all();
	}
	*(uint32_t *)arg = sum;
	return NULL;
}

/* Returns the number of statements that did not do what they did before. */
static int replica_apply(struct table *t, const struct binlog *log)
{
	int different = 0;

	for (unsigned i = 0; i < log->used; i++) {
		const struct log_entry *e = &log->entry[i];
		unsigned n;

		if (e->stmt == STMT_INSERT)
			n = table_insert(t, e->value);
		else
			n = table_clear(t);
		if (n != e->affected) {
			fprintf(stderr, "entry %u: %u rows affected, master had %u\n", i, n, e->affected);
			different++;
		}
	}
	return different;
}

int main(void)
{
	static struct table replica = {.lock = PTHREAD_MUTEX_INITIALIZER};
	uint32_t session[CLIENTS + 1];
	pthread_t thread[CLIENTS + 1];

	for (unsigned i = 0; i <= CLIENTS; i++) {
		session[i] = 101 + i;
		if (pthread_create(&thread[i], NULL, i < CLIENTS ? client_main : housekeeper_main,
				   &session[i]) != 0)
			return 2;
	}
	for (unsigned i = 0; i <= CLIENTS; i++)
		pthread_join(thread[i], NULL);

	int different = replica_apply(&replica, &binlog);

	printf("%u log entries, generation %u, key %08x\n", binlog.used, master.generation,
	       session[CLIENTS]);
	if (different != 0 || replica.rows != master.rows) {
		fprintf(stderr, "replica has %u rows, master %u\n", replica.rows, master.rows);
		return 1;
	}
	printf("replica in step\n");
	return 0;
}
