/* Decodes a run-length coded picture row by row and prints it with the
   letters of a palette. */
#include <stdio.h>
#include <string.h>

#define ROW 48

struct palette {
    const char *name;
    char letter[16];
};

struct source {
    const unsigned char *at, *end;
};

struct decoder {
    unsigned char row[ROW];
    const struct palette *palette;
    int width;
    int rows_done;
    unsigned long checksum;
};

static const struct palette shades = { "shades", " .:-=+*#%@abcdef" };

/* 11cccccc vvvvvvvv is a run of c times v, anything else one value. */
static const unsigned char picture[] = {
    0xc8, 1, 0xd0, 2, 0xd8, 3,
    0x04, 0x05, 0xc6, 6, 0xe0, 7, 0xc8, 8,
    0xd0, 9, 0xd4, 10, 0xd4, 11,
    0xf0, 12,
};

static int next_byte(struct source *s)
{
    return s->at < s->end ? *s->at++ : -1;
}

static int decode_row(struct decoder *d, struct source *s)
{
    int x = 0, c, n;

    while (x < d->width) {
        c = next_byte(s);
        n = 1;
        if (c >= 0xc0) {
            n = c & 0x3f;
            c = next_byte(s);
        }
        if (c < 0)
            return 0;
        memset(d->row + x, c, (size_t)n);
        x += n;
    }
    d->rows_done++;
    return 1;
}

static void sum_row(struct decoder *d)
{
    int x;

    for (x = 0; x < d->width; x++)
        d->checksum = d->checksum * 31 + d->row[x];
}

static void print_row(const struct decoder *d, char *out)
{
    int x;

    for (x = 0; x < d->width; x++)
        out[x] = d->palette->letter[d->row[x] & 15];
    out[x] = '\0';
    printf("|%s|\n", out);
}

static int show_picture(const unsigned char *data, size_t n)
{
    struct source s = { data, data + n };
    char text[ROW + 1];
    struct decoder d;

    memset(&d, 0, sizeof d);
    d.width = ROW;
    d.palette = &shades;
    while (s.at < s.end && decode_row(&d, &s)) {
        sum_row(&d);
        print_row(&d, text);
    }
    printf("%d rows, %lx, %s\n", d.rows_done, d.checksum, d.palette->name);
    return d.rows_done;
}

int main(void)
{
    return show_picture(picture, sizeof picture) == 4 ? 0 : 1;
}
