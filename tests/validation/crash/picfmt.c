#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 64
#define MAX_PITCH 64
#define FRAMES 12

struct picture {
    int width;
    int height;
    unsigned char *rows[MAX_ROWS];
};

struct vout {
    pthread_mutex_t lock;
    struct picture pic;
    int changes;
    unsigned long checksum;
};

struct format {
    int width;
    int height;
    int frames;
};

static const struct format stream[] = {
    { 16, 8, 2 },
    { 32, 24, 2 },
    { 16, 12, 1 },
    { 48, 40, 3 },
    { 64, 16, 1 },
};

static void vout_set_visible(struct vout *v, int width, int height)
{
    pthread_mutex_lock(&v->lock);
    v->pic.width = width;
    v->pic.height = height;
    pthread_mutex_unlock(&v->lock);
}

static void vout_alloc_rows(struct vout *v, int height)
{
    pthread_mutex_lock(&v->lock);
    for (int y = 0; y < MAX_ROWS; y++) {
        if (y < height && v->pic.rows[y] == NULL) {
            v->pic.rows[y] = calloc(1, MAX_PITCH);
        } else if (y >= height) {
            free(v->pic.rows[y]);
            v->pic.rows[y] = NULL;
        }
    }
    v->changes++;
    pthread_mutex_unlock(&v->lock);
}

static void vout_reconfigure(struct vout *v, const struct format *f)
{
    vout_set_visible(v, f->width, f->height);
    vout_alloc_rows(v, f->height);
}

static void decode_frame(struct vout *v, int n)
{
    pthread_mutex_lock(&v->lock);
    for (int y = 0; y < v->pic.height; y++)
        memset(v->pic.rows[y], (n + y) & 0xff, v->pic.width);
    pthread_mutex_unlock(&v->lock);
}

static void *decoder_main(void *arg)
{
    struct vout *v = arg;
    int n = 0;
    for (size_t i = 1; i < sizeof(stream) / sizeof(stream[0]); i++) {
        vout_reconfigure(v, &stream[i]);
        for (int k = 0; k < stream[i].frames; k++)
            decode_frame(v, n++);
    }
    return NULL;
}

static unsigned long row_sum(const unsigned char *row, int width)
{
    unsigned long sum = 0;
    for (int x = 0; x < width; x++)
        sum = sum * 31 + row[x];
    return sum;
}

static void vout_display(struct vout *v)
{
    unsigned long sum = 0;
    pthread_mutex_lock(&v->lock);
    for (int y = 0; y < v->pic.height; y++)
        sum += row_sum(v->pic.rows[y], v->pic.width);
    v->checksum ^= sum;
    pthread_mutex_unlock(&v->lock);
}

static void *render_main(void *arg)
{
    struct vout *v = arg;
    for (int i = 0; i < FRAMES; i++) {
        vout_display(v);
    }
    return NULL;
}

static void vout_close(struct vout *v)
{
    for (int y = 0; y < MAX_ROWS; y++) {
        free(v->pic.rows[y]);
        v->pic.rows[y] = NULL;
    }
    pthread_mutex_destroy(&v->lock);
}

int main(void)
{
    static struct vout v;
    pthread_t dec;
    pthread_t ren;

    pthread_mutex_init(&v.lock, NULL);
    vout_reconfigure(&v, &stream[0]);
    decode_frame(&v, 0);

    pthread_create(&ren, NULL, render_main, &v);
    pthread_create(&dec, NULL, decoder_main, &v);
    pthread_join(dec, NULL);
    pthread_join(ren, NULL);

    printf("changes %d, checksum %lx\n", v.changes, v.checksum);
    vout_close(&v);
    return 0;
}
