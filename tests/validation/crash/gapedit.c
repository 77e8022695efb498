/* Text buffer with a gap, for an editor: marks stay with their text when the
   gap moves or lines are inserted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAPSIZE 32
#define NMARKS 3

struct style {
    const char *name;
    int width;
};

struct mark {
    int pos;
    const struct style *style;
};

struct buffer {
    char text[GAPSIZE];
    int line_start[4];
    int nlines;
    struct mark mark[NMARKS];
    int gap, gap_end;
};

struct view {
    int column[4];
    const struct mark *current;
};

static const struct style styles[] = { { "plain", 1 }, { "bold", 2 }, { "code", 4 } };

static void buffer_init(struct buffer *b)
{
    int i;

    memset(b, 0, sizeof *b);
    b->gap_end = GAPSIZE;
    for (i = 0; i < NMARKS; i++)
        b->mark[i].style = &styles[i];
}

static void insert_char(struct buffer *b, char c)
{
    if (b->gap < b->gap_end)
        b->text[b->gap++] = c;
}

static void note_line(struct buffer *b)
{
    int n = b->nlines;

    if (n <= 4) {
        b->nlines = n + 1;
        b->line_start[n] = b->gap;
    }
}

static void insert_text(struct buffer *b, const char *s)
{
    note_line(b);
    for (; *s; s++) {
        insert_char(b, *s);
        if (*s == '\n')
            note_line(b);
    }
}

static void place_marks(struct buffer *b)
{
    int i, line;

    for (i = 0; i < NMARKS; i++) {
        line = b->nlines > i ? b->nlines - 1 - i : 0;
        b->mark[i].pos = b->line_start[line] + i;
    }
}

static void view_make(struct view *v, const struct buffer *b)
{
    int i;

    for (i = 0; i < 4; i++)
        v->column[i] = b->line_start[i] % 8;
    v->current = &b->mark[b->mark[0].pos / GAPSIZE];
}

static int view_width(const struct view *v)
{
    int i, w = 0;

    for (i = 0; i < 4; i++)
        w += v->column[i] * v->current->style->width;
    return w;
}

static int edit(const char *const *paste, int n)
{
    struct buffer *b = malloc(sizeof *b);
    struct view v;
    int i, w = 0;

    if (!b)
        return -1;
    for (i = 0; i < n; i++) {
        buffer_init(b);
        insert_text(b, paste[i]);
        place_marks(b);
        view_make(&v, b);
        w += view_width(&v);
    }
    free(b);
    return w;
}

int main(void)
{
    static const char *const paste[] = { "one line", "two\nlines",
                                         "aa\nbb\ncc\nddd\nand the rest" };

    printf("width %d\n", edit(paste, 3));
    return 0;
}
