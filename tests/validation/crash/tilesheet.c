/* Sheet of tiles for a game map: the size of the sheet comes from a header, the
   tiles are unpacked into one block. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct header {
    uint16_t columns, rows;
    uint8_t tile_w, tile_h;
};

struct palette {
    int colours;
    const uint32_t *rgb;
};

struct sheet {
    struct header h;
    uint8_t *pixels;
    struct palette *palette;
};

static const uint32_t rgb_table[16] = { 0, 0xff0000, 0x00ff00, 0x0000ff, 0xffffff };

static unsigned char arena[1 << 14];
static size_t arena_used;

/* Nothing is given back: a level is loaded and dropped as a whole. */
static void *arena_alloc(size_t n)
{
    void *p = arena + arena_used;

    arena_used += (n + 15) / 16 * 16;
    if (arena_used > sizeof arena)
        exit(1);
    return p;
}

static uint16_t sheet_bytes(const struct header *h)
{
    return (uint16_t)(h->columns * h->rows * h->tile_w * h->tile_h);
}

static struct sheet *sheet_open(const struct header *h)
{
    struct sheet *s = arena_alloc(sizeof *s);

    s->h = *h;
    s->pixels = arena_alloc(sheet_bytes(h));
    s->palette = arena_alloc(sizeof *s->palette);
    s->palette->colours = 16;
    s->palette->rgb = rgb_table;
    return s;
}

static void unpack_tile(struct sheet *s, int n)
{
    int size = s->h.tile_w * s->h.tile_h;

    memset(s->pixels + n * size, 1 + n % 4, (size_t)size);
}

static void unpack(struct sheet *s, int first, int count)
{
    int n;

    for (n = first; n < first + count; n++)
        unpack_tile(s, n);
}

static uint32_t average(const struct sheet *s, int n)
{
    uint32_t sum = 0;
    int size = s->h.tile_w * s->h.tile_h, i;

    for (i = 0; i < size; i++)
        sum += s->palette->rgb[s->pixels[n * size + i] % s->palette->colours] & 0xff;
    return sum / (uint32_t)size;
}

static uint32_t show(const struct header *h, int visible)
{
    struct sheet *s = sheet_open(h);
    uint32_t a = 0;
    int n;

    unpack(s, 0, visible);
    for (n = 0; n < visible; n++)
        a += average(s, n);
    return a;
}

int main(void)
{
    static const struct header small = { 4, 4, 8, 8 }, large = { 41, 25, 8, 8 };

    printf("small %u\n", show(&small, 16));
    printf("large %u\n", show(&large, 12));
    return 0;
}
