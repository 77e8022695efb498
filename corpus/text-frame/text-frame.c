/* A text frame of a page layout. The layout thread moves lines into the frame
 * before it, so that this frame starts later in the text and holds less of it;
 * the painter draws the part that the frame holds. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../pause.h"

#define LINES 24
#define LINE_CHARS 32
#define TEXT_CHARS (LINES * LINE_CHARS)
#define PAINTS 2

struct damage {
    pthread_mutex_t lock;
    int first;
    int last;
};

struct text_frame {
    const char *text;
    int text_chars;
    int offset; /* first character of the text in this frame */
    struct damage damage;
    int length; /* characters in this frame */
};

struct surface {
    char pixels[TEXT_CHARS];
    uint32_t drawn;
};

static void damage_add(struct damage *d, int first, int last)
{
    pthread_mutex_lock(&d->lock);
    if (first < d->first)
        d->first = first;
    if (last > d->last)
        d->last = last;
    pthread_mutex_unlock(&d->lock);
}

static void damage_clear(struct damage *d)
{
    pthread_mutex_lock(&d->lock);
    d->first = TEXT_CHARS;
    d->last = 0;
    pthread_mutex_unlock(&d->lock);
}

static void frame_set_start(struct text_frame *f, int start)
{
    f->offset = start;
    damage_add(&f->damage, start, f->text_chars); PAUSE(30);
    f->length = f->text_chars - start;
}

/* Width of a line in layout units, from the widths of its characters. */
static uint32_t measure_line(const char *line)
{
    uint32_t width = 17;

    for (int r = 0; r < 400; r++)
        for (int i = 0; i < LINE_CHARS; i++)
            width = width * 31 + (unsigned char)line[i] % 13;
    return width;
}

static void *layout_main(void *arg)
{
    struct text_frame *f = arg;
    uint32_t used = 0;

    for (int line = 0; line + 4 < LINES; line++) {
        used += measure_line(f->text + line * LINE_CHARS);
        frame_set_start(f, (line + 1) * LINE_CHARS);
    }
    return (void *)(uintptr_t)(used & 1);
}

static void frame_paint(struct text_frame *f, struct surface *s)
{
    int start = f->offset;
    int end = start + f->length;
    assert(end <= f->text_chars);
    memcpy(s->pixels, f->text + start, (size_t)(end - start));
    for (int i = start; i < end; i++)
        s->drawn = (s->drawn ^ (unsigned char)s->pixels[i - start]) * 16777619u;
    damage_clear(&f->damage);
}

static void *painter_main(void *arg)
{
    struct text_frame *f = arg;
    struct surface surface = {.drawn = 0}; PAUSE(10);

    for (int i = 0; i < PAINTS; i++) {
        frame_paint(f, &surface);
        for (int row = 0; row < 3; row++)
            surface.drawn += measure_line(surface.pixels + row * LINE_CHARS);
    }
    return (void *)(uintptr_t)(surface.drawn & 1);
}

int main(void)
{
    static char text[TEXT_CHARS];
    static struct surface page;
    static struct text_frame frame = {
        .text = text, .text_chars = TEXT_CHARS, .length = TEXT_CHARS,
        .damage = {PTHREAD_MUTEX_INITIALIZER, TEXT_CHARS, 0},
    };
    pthread_t layout, painter;

    for (int i = 0; i < TEXT_CHARS; i++)
        text[i] = (char)('a' + (i * 7 + i / LINE_CHARS) % 26);
    if (pthread_create(&layout, NULL, layout_main, &frame) != 0 ||
        pthread_create(&painter, NULL, painter_main, &frame) != 0)
        return 2;
    pthread_join(layout, NULL);
    pthread_join(painter, NULL);

    frame_paint(&frame, &page);
    printf("frame holds %d of %d characters from %d\n", frame.length, frame.text_chars,
           frame.offset);
    printf("first line: %.*s\n", LINE_CHARS, page.pixels);
    printf("digest %08x\n", (unsigned)page.drawn);
    return 0;
}
