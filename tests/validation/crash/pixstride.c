#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x51

struct header {
    uint8_t magic;
    uint8_t bpp;
    uint16_t width;
    uint16_t height;
};

struct image {
    uint16_t width;
    uint16_t height;
    uint16_t stride;
    uint8_t bpp;
    uint8_t *pixels;
};

struct sink {
    int (*row)(struct sink *sk, const uint8_t *row, int n);
    void (*done)(struct sink *sk);
    unsigned long sum;
    int rows;
};

static int sum_row(struct sink *sk, const uint8_t *row, int n)
{
    for (int i = 0; i < n; i++)
        sk->sum += row[i];
    sk->rows++;
    return 0;
}

static void sum_done(struct sink *sk)
{
    printf("%d rows, sum %lu\n", sk->rows, sk->sum);
}

static struct sink *sink_new(void)
{
    struct sink *sk = calloc(1, sizeof(*sk));
    sk->row = sum_row;
    sk->done = sum_done;
    return sk;
}

static int parse_header(const uint8_t *in, struct header *h)
{
    h->magic = in[0];
    h->bpp = in[1];
    h->width = in[2] | in[3] << 8;
    h->height = in[4] | in[5] << 8;
    if (h->magic != MAGIC)
        return -1;
    if (h->bpp != 1 && h->bpp != 3 && h->bpp != 4)
        return -1;
    if (h->width == 0 || h->height == 0)
        return -1;
    return 0;
}

static int image_init(struct image *im, const struct header *h)
{
    im->width = h->width;
    im->height = h->height;
    im->bpp = h->bpp;
    im->stride = h->width * h->bpp;
    im->pixels = calloc(im->height, im->stride);
    if (im->pixels == NULL)
        return -1;
    return 0;
}

static const uint8_t *decode_row(uint8_t *dst, size_t n, const uint8_t *in)
{
    while (n > 0) {
        size_t run = in[0] + 1;
        if (run > n)
            run = n;
        memset(dst, in[1], run);
        dst += run;
        n -= run;
    }
    return in + 2;
}

static void decode(struct image *im, const uint8_t *in)
{
    for (int y = 0; y < im->height; y++) {
        uint8_t *dst = im->pixels + (size_t)y * im->stride;
        size_t n = (size_t)im->width * im->bpp;
        in = decode_row(dst, n, in);
    }
}

static void emit(struct image *im, struct sink *sk)
{
    for (int y = 0; y < im->height; y++) {
        const uint8_t *row = im->pixels + (size_t)y * im->stride;
        sk->row(sk, row, im->stride);
    }
    sk->done(sk);
}

static int load(const uint8_t *in)
{
    struct header h;
    struct image im;
    if (parse_header(in, &h) < 0)
        return -1;
    if (image_init(&im, &h) < 0)
        return -1;
    struct sink *sk = sink_new();
    decode(&im, in + 6);
    emit(&im, sk);
    free(im.pixels);
    free(sk);
    return 0;
}

int main(void)
{
    static const uint8_t icon[] = {
        MAGIC, 3, 40, 0, 3, 0,
        9, 0x20, 19, 0x40, 9, 0x60,
    };
    static const uint8_t banner[] = {
        MAGIC, 4, 0x68, 0x42, 2, 0,
        255, 0x7e, 255, 0x5c,
    };
    int failed = 0;

    if (load(icon) < 0)
        failed++;
    if (load(banner) < 0)
        failed++;
    printf("failed %d\n", failed);
    return failed;
}
