/* Text frame painted by a render thread while the layout thread reflows it. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#define CONTENT_LEN 48
#define NREFLOWS    10
#define NPAINTS     10

typedef struct {
    pthread_mutex_t lock;
    char            content[CONTENT_LEN];
    int             offset;
    int             length;
    int             dirty;
} text_frame;

typedef struct {
    pthread_mutex_t lock;
    int             painted;
    long            glyphs;
} paint_stats;

static text_frame frame = { .lock = PTHREAD_MUTEX_INITIALIZER };
static paint_stats stats = { .lock = PTHREAD_MUTEX_INITIALIZER };
static sem_t layout_ready;

static void frame_init(text_frame *f)
{
    for (int i = 0; i < CONTENT_LEN; i++)
        f->content[i] = (char)('A' + i % 26);
    f->offset = 0;
    f->length = CONTENT_LEN;
}

static int frame_get_offset(text_frame *f)
{
    int v;

    pthread_mutex_lock(&f->lock);
    v = f->offset;
    pthread_mutex_unlock(&f->lock);
    return v;
}

static int frame_get_length(text_frame *f)
{
    int v;

    pthread_mutex_lock(&f->lock);
    v = f->length;
    pthread_mutex_unlock(&f->lock);
    return v;
}

static void frame_set_range(text_frame *f, int offset, int length)
{
    pthread_mutex_lock(&f->lock);
    f->offset = offset;
    f->length = length;
    f->dirty = 1;
    pthread_mutex_unlock(&f->lock);
}

static int frame_take_dirty(text_frame *f)
{
    int d;

    pthread_mutex_lock(&f->lock);
    d = f->dirty;
    f->dirty = 0;
    pthread_mutex_unlock(&f->lock);
    return d;
}

static void paint_text(const char *text, int n)
{
    long sum = 0;

    for (int i = 0; i < n; i++)
        sum += text[i];
    pthread_mutex_lock(&stats.lock);
    stats.painted++;
    stats.glyphs += n;
    pthread_mutex_unlock(&stats.lock);
    (void)sum;
}

static void *layout_main(void *arg)
{
    (void)arg;
    frame_init(&frame);
    sem_post(&layout_ready);
    for (int i = 0; i < NREFLOWS; i++) {
        int offset = (i * 13) % CONTENT_LEN;
        frame_set_range(&frame, offset, CONTENT_LEN - offset);
    }
    return NULL;
}

static void *render_main(void *arg)
{
    char run[CONTENT_LEN];

    (void)arg;
    sem_wait(&layout_ready);
    for (int i = 0; i < NPAINTS; i++) {
        int offset = frame_get_offset(&frame);
        int length = frame_get_length(&frame);

        assert(offset + length <= CONTENT_LEN);
        memcpy(run, frame.content + offset, (size_t)length);
        paint_text(run, length);
        frame_take_dirty(&frame);
    }
    return NULL;
}

int main(void)
{
    pthread_t layout, render;

    sem_init(&layout_ready, 0, 0);
    pthread_create(&render, NULL, render_main, NULL);
    pthread_create(&layout, NULL, layout_main, NULL);
    pthread_join(layout, NULL);
    pthread_join(render, NULL);
    printf("painted %d runs, %ld glyphs\n", stats.painted, stats.glyphs);
    sem_destroy(&layout_ready);
    return 0;
}
