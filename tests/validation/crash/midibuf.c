#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVENTS 6
#define NREADS 3

struct midi_event {
    unsigned char length;
    unsigned char data[7];
};

struct substream {
    pthread_mutex_t lock;
    struct midi_event **buffer;
    unsigned size;
    unsigned appl;
    unsigned avail;
    unsigned overruns;
};

static struct substream input = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_long bytes_read;

static struct midi_event *new_event(unsigned char status, unsigned char note)
{
    struct midi_event *e = malloc(sizeof *e);
    if (e == NULL)
        abort();
    e->length = 3;
    e->data[0] = status;
    e->data[1] = note;
    e->data[2] = 64;
    return e;
}

static void receive_event(struct substream *s, struct midi_event *e)
{
    pthread_mutex_lock(&s->lock);
    if (s->avail == s->size) {
        s->overruns++;
        free(e);
    } else {
        s->buffer[(s->appl + s->avail) % s->size] = e;
        s->avail++;
    }
    pthread_mutex_unlock(&s->lock);
}

static void set_params(struct substream *s, unsigned size)
{
    struct midi_event **fresh = calloc(size, sizeof *fresh);
    struct midi_event **old;
    unsigned i, n;
    if (fresh == NULL)
        abort();
    pthread_mutex_lock(&s->lock);
    old = s->buffer;
    n = s->avail;
    for (i = 0; i < n; i++) {
        free(old[(s->appl + i) % s->size]);
        old[(s->appl + i) % s->size] = NULL;
    }
    s->buffer = fresh;
    s->size = size;
    s->appl = 0;
    s->avail = 0;
    pthread_mutex_unlock(&s->lock);
    free(old);
}

static unsigned readable(struct substream *s)
{
    unsigned n;
    pthread_mutex_lock(&s->lock);
    n = s->avail;
    pthread_mutex_unlock(&s->lock);
    return n;
}

static unsigned take_events(struct substream *s, unsigned n, unsigned char *to)
{
    unsigned i, length = 0;
    pthread_mutex_lock(&s->lock);
    for (i = 0; i < n; i++) {
        struct midi_event *e = s->buffer[s->appl];
        memcpy(to + length, e->data, e->length);
        length += e->length;
        s->buffer[s->appl] = NULL;
        s->appl = (s->appl + 1) % s->size;
        s->avail--;
        free(e);
    }
    pthread_mutex_unlock(&s->lock);
    return length;
}

static void *reader_main(void *arg)
{
    struct substream *s = arg;
    unsigned char bytes[64];
    int i;
    for (i = 0; i < NREADS; i++) {
        unsigned n = readable(s);
        if (n > 2)
            n = 2;
        atomic_fetch_add(&bytes_read, take_events(s, n, bytes));
    }
    return NULL;
}

static void *control_main(void *arg)
{
    struct substream *s = arg;
    set_params(s, 4);
    receive_event(s, new_event(0x80, 60));
    return NULL;
}

int main(void)
{
    pthread_t reader, control;
    int i;
    set_params(&input, 8);
    for (i = 0; i < NEVENTS; i++)
        receive_event(&input, new_event(0x90, (unsigned char)(60 + i)));
    pthread_create(&reader, NULL, reader_main, &input);
    pthread_create(&control, NULL, control_main, &input);
    pthread_join(reader, NULL);
    pthread_join(control, NULL);
    printf("%ld bytes read, %u events left, %u overruns\n", atomic_load(&bytes_read), input.avail, input.overruns);
    return 0;
}
