#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLIP_SIZE 64
#define FLIP_MAGIC 0x5401
#define CHUNK 16
#define NWRITES 3

struct flip_buffer {
    int used;
    int commit;
    char data[FLIP_SIZE];
    unsigned magic;
};

struct tty_port {
    pthread_mutex_t lock;
    struct flip_buffer buf;
    long received;
    long throttled;
    int closing;
};

struct source {
    struct tty_port *port;
    char fill;
    int writes;
    pthread_t thread;
};

static void port_init(struct tty_port *port)
{
    memset(port, 0, sizeof *port);
    pthread_mutex_init(&port->lock, NULL);
    port->buf.magic = FLIP_MAGIC;
}

static int flip_request_room(struct tty_port *port, int size)
{
    int left;
    pthread_mutex_lock(&port->lock);
    left = FLIP_SIZE - port->buf.used;
    pthread_mutex_unlock(&port->lock);
    return left < size ? left : size;
}

static int flip_insert(struct tty_port *port, const char *chars, int size)
{
    struct flip_buffer *b = &port->buf;
    int space = flip_request_room(port, size);
    if (space <= 0)
        return 0;
    pthread_mutex_lock(&port->lock);
    memcpy(b->data + b->used, chars, space);
    b->used += space;
    pthread_mutex_unlock(&port->lock);
    return space;
}

static int flip_flush(struct tty_port *port, char *out)
{
    struct flip_buffer *b = &port->buf;
    int n;
    pthread_mutex_lock(&port->lock);
    n = b->used;
    if (b->magic != FLIP_MAGIC) {
        fprintf(stderr, "tty: flip buffer overrun (%d used)\n", n);
        abort();
    }
    memcpy(out, b->data, n);
    b->used = 0;
    b->commit += n;
    port->received += n;
    pthread_mutex_unlock(&port->lock);
    return n;
}

static void *source_main(void *arg)
{
    struct source *s = arg;
    char line[CHUNK];
    int i, lost = 0;
    memset(line, s->fill, sizeof line);
    for (i = 0; i < s->writes; i++)
        lost += CHUNK - flip_insert(s->port, line, CHUNK);
    pthread_mutex_lock(&s->port->lock);
    s->port->throttled += lost;
    s->port->closing++;
    pthread_mutex_unlock(&s->port->lock);
    return NULL;
}

int main(void)
{
    static struct tty_port port;
    static struct source sources[2] = {
        { .fill = 'e', .writes = NWRITES }, { .fill = 'o', .writes = NWRITES }
    };
    static char out[4 * FLIP_SIZE];
    int i, flushed = 0;
    port_init(&port);
    for (i = 0; i < 2; i++) {
        sources[i].port = &port;
        pthread_create(&sources[i].thread, NULL, source_main, &sources[i]);
    }
    for (i = 0; i < 2; i++) {
        pthread_join(sources[i].thread, NULL);
        flushed += flip_flush(&port, out);
    }
    printf("%d flushed, %ld received, %ld throttled\n", flushed, port.received, port.throttled);
    return 0;
}
