#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CONTOURS 320

struct point {
    int x, y;
};

struct outline {
    unsigned char n_contours;
    unsigned hints;
    unsigned end_points[MAX_CONTOURS];
    struct point *points;
    int allocated;
};

struct metrics {
    unsigned n_points;
    int left, right;
    int top, bottom;
};

struct glyph_stream {
    int contours;
    int per_contour;
    unsigned hints;
    int step;
};

static void outline_alloc(struct outline *o, int points)
{
    o->points = malloc(points * sizeof *o->points);
    if (o->points == NULL)
        abort();
    o->allocated = points;
}

static void load_points(struct outline *o, const struct glyph_stream *s)
{
    int i;
    for (i = 0; i < s->contours * s->per_contour; i++) {
        o->points[i].x = i * s->step % 1000;
        o->points[i].y = i * s->step % 700;
    }
}

static void load_outline(struct outline *o, const struct glyph_stream *s)
{
    int i;
    memset(o, 0, sizeof *o);
    if (s->contours > MAX_CONTOURS)
        abort();
    o->n_contours = (unsigned char)s->contours;
    o->hints = s->hints;
    for (i = 0; i < s->contours; i++)
        o->end_points[i] = (unsigned)((i + 1) * s->per_contour - 1);
    outline_alloc(o, s->contours * s->per_contour);
    load_points(o, s);
}

static unsigned last_point(const unsigned *ends, int contours)
{
    return ends[contours - 1];
}

static void measure(const struct outline *o, struct metrics *m)
{
    m->n_points = last_point(o->end_points, o->n_contours) + 1;
    m->left = m->top = 1 << 20;
    m->right = m->bottom = -(1 << 20);
}

static void bounding_box(const struct outline *o, struct metrics *m)
{
    unsigned i;
    for (i = 0; i < m->n_points; i++) {
        const struct point *p = &o->points[i];
        if (p->x < m->left)
            m->left = p->x;
        if (p->x > m->right)
            m->right = p->x;
        if (p->y < m->top)
            m->top = p->y;
        if (p->y > m->bottom)
            m->bottom = p->y;
    }
}

static void show_glyph(int code, const struct glyph_stream *s)
{
    struct outline *o = malloc(sizeof *o);
    struct metrics m;
    if (o == NULL)
        abort();
    load_outline(o, s);
    measure(o, &m);
    bounding_box(o, &m);
    printf("glyph %d: %u points, x %d to %d, y %d to %d\n", code, m.n_points, m.left, m.right, m.top, m.bottom);
    fflush(stdout);
    free(o->points);
    free(o);
}

int main(void)
{
    static const struct glyph_stream glyphs[] = {
        { 2, 12, 0x40000011, 17 }, { 1, 8, 0x40000000, 29 }, { 64, 4, 0x40000003, 13 }, { 256, 3, 0x40000007, 11 }
    };
    int i;
    for (i = 0; i < (int)(sizeof glyphs / sizeof glyphs[0]); i++)
        show_glyph('A' + i, &glyphs[i]);
    return 0;
}
