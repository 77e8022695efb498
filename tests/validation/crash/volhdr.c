#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_MAX 11
#define SECTOR 512
#define TAG_GEOM 1
#define TAG_LABEL 2
#define TAG_COUNT 3
#define TAG_END 0

struct super {
    uint32_t sectors;
    char label[LABEL_MAX];
    uint8_t sec_per_clus;
    uint8_t fats;
    uint16_t reserved;
};

struct volume {
    struct super sb;
    uint32_t clus_bytes;
    uint32_t clusters;
    uint32_t free_hint;
};

struct extent {
    uint32_t first;
    uint32_t count;
};

static void read_geometry(struct super *sb, const uint8_t *p)
{
    sb->sec_per_clus = p[0];
    sb->fats = p[1];
    sb->reserved = p[2] | p[3] << 8;
}

static void read_label(struct super *sb, const uint8_t *p, int len)
{
    int n = len;
    while (n > 0 && p[n - 1] == ' ')
        n--;
    if (n > LABEL_MAX)
        n = LABEL_MAX;
    memcpy(sb->label, p, n);
    sb->label[n] = 0;
}

static void read_count(struct super *sb, const uint8_t *p)
{
    sb->sectors = p[0] | p[1] << 8;
    sb->sectors |= (uint32_t)p[2] << 16;
}

static int parse_super(struct super *sb, const uint8_t *p)
{
    memset(sb, 0, sizeof(*sb));
    while (p[0] != TAG_END) {
        int len = p[1];
        const uint8_t *body = p + 2;
        switch (p[0]) {
        case TAG_GEOM:
            read_geometry(sb, body);
            break;
        case TAG_LABEL:
            read_label(sb, body, len);
            break;
        case TAG_COUNT:
            read_count(sb, body);
            break;
        default:
            return -1;
        }
        p = body + len;
    }
    if (sb->sectors == 0 || sb->fats == 0)
        return -1;
    return 0;
}

static void volume_setup(struct volume *v)
{
    v->clus_bytes = v->sb.sec_per_clus * SECTOR;
    v->clusters = v->sb.sectors - v->sb.reserved;
    v->free_hint = 2;
}

static struct extent map_range(const struct volume *v,
                               uint32_t off, uint32_t len)
{
    struct extent ex;
    uint32_t last;
    ex.first = off / v->clus_bytes;
    last = (off + len - 1) / v->clus_bytes;
    ex.count = last - ex.first + 1;
    return ex;
}

static uint32_t reserve_file(struct volume *v, uint32_t size)
{
    struct extent ex = map_range(v, 0, size);
    uint32_t start = v->free_hint + ex.first;
    v->free_hint = start + ex.count;
    return start;
}

static int mount(const uint8_t *image, const char *what)
{
    struct volume v;
    uint32_t a;
    uint32_t b;
    if (parse_super(&v.sb, image) < 0)
        return -1;
    volume_setup(&v);
    a = reserve_file(&v, 3000);
    b = reserve_file(&v, 9000);
    printf("%s: files at %u and %u\n", what, a, b);
    return 0;
}

int main(void)
{
    static const uint8_t floppy[] =
        "\x01\x04\x01\x02\x01\x00"
        "\x03\x03\x40\x0b\x00"
        "\x02\x06" "BOOT  ";
    static const uint8_t stick[] =
        "\x01\x04\x08\x02\x20\x00"
        "\x03\x03\x00\x00\x3c"
        "\x02\x0b" "CAMERA CARD";
    int failed = 0;

    if (mount(floppy, "floppy") < 0)
        failed++;
    if (mount(stick, "stick") < 0)
        failed++;
    printf("failed %d\n", failed);
    return failed;
}
