#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64
#define NAME_LEN 16
#define NUM_LEN 8

struct raw_header {
    char name[NAME_LEN];
    char size[NUM_LEN];
    char mtime[NUM_LEN];
    char type;
    char pad[BLOCK - NAME_LEN - 2 * NUM_LEN - 1];
};

struct entry {
    char name[NAME_LEN];
    unsigned long size;
    unsigned long mtime;
    char type;
};

struct cursor {
    const char *block;
    unsigned long left;
};

static unsigned long parse_octal(const char *field)
{
    unsigned long v = 0;
    while (*field == ' ')
        field++;
    while (*field >= '0' && *field <= '7')
        v = v * 8 + (unsigned long)(*field++ - '0');
    return v;
}

static int decode(struct entry *e, const char *block)
{
    const struct raw_header *h = (const struct raw_header *)block;
    if (h->name[0] == 0)
        return 0;
    memcpy(e->name, h->name, NAME_LEN - 1);
    e->name[NAME_LEN - 1] = 0;
    e->size = parse_octal(h->size);
    e->mtime = parse_octal(h->mtime);
    e->type = h->type;
    return 1;
}

static void advance(struct cursor *c, const struct entry *e)
{
    unsigned long blocks = (e->size + BLOCK - 1) / BLOCK;
    c->block += (blocks + 1) * BLOCK;
    c->left--;
}

static int list(const char *archive, unsigned long max)
{
    struct cursor c = { archive, max };
    struct entry e;
    int n = 0;
    while (c.left > 0 && decode(&e, c.block)) {
        printf("%c %-15s %lu\n", e.type, e.name, e.size);
        fflush(stdout);
        advance(&c, &e);
        n++;
    }
    return n;
}

static char *put(char *p, const char *name, const char *size, const char *mtime)
{
    struct raw_header h;
    memset(&h, 0, sizeof h);
    memcpy(h.name, name, strlen(name));
    memcpy(h.size, size, strlen(size));
    memcpy(h.mtime, mtime, strlen(mtime));
    h.type = '0';
    memcpy(p, &h, sizeof h);
    return p + 2 * BLOCK;
}

int main(void)
{
    static char archive[8 * BLOCK];
    char *p = archive;
    int n;
    p = put(p, "readme", "0000017", "1420015");
    p = put(p, "config.h", "00000052", "1420016");
    put(p, "main.c", "0000040", "1420017");
    n = list(archive, 4);
    printf("%d entries\n", n);
    return n == 3 ? 0 : 1;
}
