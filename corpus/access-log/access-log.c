/* Buffered access log of a web server. Workers format one line per request
 * and copy it to the log buffer, which goes to the log when it is full. The
 * report at the end is made from the log, as a statistics tool would do. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../pause.h"

#define WORKERS 3
#define REQUESTS 5
#define MAX_LINE 128 /* the buffer always has room for one */
#define LOG_BUFSIZE 512
#define LOG_FILESIZE 4096

struct log_buffer {
	size_t outcnt;
	char outbuf[LOG_BUFSIZE];
};

static struct access_log {
	struct log_buffer buf;
	char file[LOG_FILESIZE];
	size_t size;
	pthread_mutex_t file_lock;
} access_log = {.file_lock = PTHREAD_MUTEX_INITIALIZER};

static void log_write_file(struct access_log *log, const char *text, size_t len)
{
	pthread_mutex_lock(&log->file_lock);
	if (log->size + len < sizeof(log->file)) {
		memcpy(log->file + log->size, text, len);
		log->size += len;
	}
	pthread_mutex_unlock(&log->file_lock);
}

static void log_flush(struct access_log *log)
{
	log_write_file(log, log->buf.outbuf, log->buf.outcnt);
	log->buf.outcnt = 0;
}

static void log_line(struct access_log *log, const char *line, size_t len)
{
	struct log_buffer *buf = &log->buf;

	char *to = &buf->outbuf[buf->outcnt]; PAUSE(3);
	memcpy(to, line, len);
	buf->outcnt += len;
	if (buf->outcnt > LOG_BUFSIZE - MAX_LINE)
		log_flush(log);
}

static void log_open(struct access_log *log)
{
	static const char head[] = "#fields: client method path status bytes\n";

	log_line(log, head, sizeof(head) - 1);
	log_flush(log);
}

static const char *const paths[] = {"/", "/docs/manual.html", "/img/logo.png", "/cgi/search?q=threads"};
#define PATHS (sizeof(paths) / sizeof(paths[0]))

/* Answers a request; the size of the answer depends on the request alone. */
static unsigned handle_request(unsigned worker, unsigned n)
{
	uint32_t h = worker * 1009u + n;

	for (unsigned i = 0; i < 120000 + (worker * 3 + n * 5) % 11 * 20000; i++)
		h = (h ^ (h >> 7)) * 0x9e3779b1u;
	return 200 + h % 9000;
}

struct worker {
	pthread_t thread;
	unsigned id;
};

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	char line[MAX_LINE];

	for (unsigned n = 0; n < REQUESTS; n++) {
		unsigned bytes = handle_request(w->id, n);
		int len = snprintf(line, sizeof(line), "10.0.0.%u GET %s 200 %u\n", w->id,
				   paths[(w->id + n) % PATHS], bytes);

		log_line(&access_log, line, (size_t)len);
	}
	return NULL;
}

/* One line of the log; 0 if it does not look like one. */
static int parse_line(const char *line, unsigned *client, unsigned *bytes)
{
	char path[64];
	char end;

	return sscanf(line, "10.0.0.%u GET %63s 200 %u%c", client, path, bytes, &end) == 4 && end == '\n';
}

static void print_report(const struct access_log *log)
{
	unsigned requests[WORKERS + 1] = {0}, sent[WORKERS + 1] = {0};
	unsigned unreadable = 0;
	const char *at = log->file, *end = log->file + log->size;

	while (at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		unsigned client = 0, bytes = 0;

		if (parse_line(at, &client, &bytes) && client <= WORKERS) {
			requests[client]++;
			sent[client] += bytes;
		} else if (*at != '#') {
			unreadable++;
		}
		if (nl == NULL)
			break;
		at = nl + 1;
	}
	for (unsigned c = 1; c <= WORKERS; c++)
		printf("10.0.0.%u: %u requests, %u bytes\n", c, requests[c], sent[c]);
	printf("%u unreadable lines\n", unreadable);
}

int main(void)
{
	struct worker workers[WORKERS];

	log_open(&access_log);
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i].id = i + 1;
		if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0)
			return 2;
	}
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	log_flush(&access_log);
	print_report(&access_log);
	return 0;
}
