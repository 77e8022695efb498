#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXGLYPHS 12

struct font {
    int em;
    unsigned char width[128];
};

struct run {
    int advance[MAXGLYPHS];
    int cols;
    int nglyphs;
};

struct line {
    struct run run;
    int used;
};

struct layout {
    int cell;
    int rows;
};

static int glyph_width(const struct font *f, unsigned char c)
{
    int w = f->width[c & 127];
    return w ? w : f->em / 2;
}

static void run_init(struct run *r, int cols)
{
    memset(r, 0, sizeof *r);
    r->cols = cols;
}

static void run_shape(struct run *r, const struct font *f, const char *s)
{
    int *a = r->advance;
    int n = 0;
    while (*s) {
        if (n > MAXGLYPHS)
            break;
        *a++ = glyph_width(f, (unsigned char)*s) - f->em;
        s++;
        n++;
    }
    r->nglyphs = n < MAXGLYPHS ? n : MAXGLYPHS;
}

static void line_fill(struct line *l, const struct font *f, const char *s)
{
    int i;
    run_init(&l->run, 10);
    run_shape(&l->run, f, s);
    l->used = 0;
    for (i = 0; i < l->run.nglyphs; i++)
        l->used += l->run.advance[i] + f->em;
}

static struct layout measure(const struct line *l)
{
    struct layout lay;
    lay.cell = l->run.cols;
    lay.rows = 0;
    return lay;
}

static int rows_for(struct layout *lay, int used)
{
    lay->rows = (used + 9) / lay->cell;
    return lay->rows;
}

static int show(const struct font *f, const char *s)
{
    struct line l;
    struct layout lay;
    int rows;
    line_fill(&l, f, s);
    lay = measure(&l);
    rows = rows_for(&lay, l.used);
    printf("%-14s %d units, %d rows\n", s, l.used, rows);
    fflush(stdout);
    return rows;
}

int main(void)
{
    static struct font f = { .em = 8 };
    int rows = 0;
    f.width['i'] = 3;
    f.width['m'] = 8;
    rows += show(&f, "minimum");
    rows += show(&f, "immediately");
    rows += show(&f, "bookkeeping marks");
    return rows > 0 ? 0 : 1;
}
