#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAYLOAD_MAX 64
#define UDP_HEADER 8

struct capture {
    const uint8_t *bytes;
    size_t size;
    size_t pos;
};

struct record {
    uint16_t source_port;
    uint16_t dest_port;
    long size;
};

struct stream {
    struct capture *capture;
    int port;
    int packets;
    long bytes;
};

static size_t capture_read(struct capture *c, void *to, size_t want)
{
    size_t left = c->size - c->pos;
    size_t n = want < left ? want : left;
    memcpy(to, c->bytes + c->pos, n);
    c->pos += n;
    return n;
}

static uint16_t get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static int read_header(struct capture *c, struct record *r)
{
    uint8_t h[UDP_HEADER];
    if (capture_read(c, h, sizeof h) != sizeof h)
        return -1;
    r->source_port = get16(h);
    r->dest_port = get16(h + 2);
    r->size = (long)get16(h + 4) - UDP_HEADER;
    return 0;
}

static long read_payload(struct capture *c, const struct record *r, uint8_t *payload, long room)
{
    long take = r->size;
    if (take > room)
        take = room;
    return (long)capture_read(c, payload, (size_t)take);
}

static int checksum(const uint8_t *p, long n)
{
    int sum = 0;
    while (n-- > 0)
        sum = (sum + *p++) & 0xffff;
    return sum;
}

static int next_packet(struct stream *s)
{
    uint8_t payload[PAYLOAD_MAX];
    struct record r;
    long got;
    if (read_header(s->capture, &r) != 0)
        return 0;
    got = read_payload(s->capture, &r, payload, sizeof payload);
    if (r.dest_port == s->port) {
        s->packets++;
        s->bytes += got;
    }
    printf("%u -> %u: %ld bytes, sum %04x\n", r.source_port, r.dest_port, got, checksum(payload, got));
    fflush(stdout);
    return 1;
}

static size_t append(uint8_t *file, size_t at, int port, unsigned length, int payload)
{
    int i;
    put16(file + at, 4000);
    put16(file + at + 2, (unsigned)port);
    put16(file + at + 4, length);
    put16(file + at + 6, 0);
    at += UDP_HEADER;
    for (i = 0; i < payload; i++)
        file[at++] = (uint8_t)('A' + i % 23);
    return at;
}

int main(void)
{
    static uint8_t file[1024];
    static struct capture c = { file, 0, 0 };
    static struct stream s = { &c, 5060, 0, 0 };
    c.size = append(file, c.size, 5060, 48, 40);
    c.size = append(file, c.size, 53, 32, 24);
    c.size = append(file, c.size, 5060, 8, 0);
    c.size = append(file, c.size, 5060, 4, 0);
    while (c.size < sizeof file - 100)
        c.size = append(file, c.size, 5060, 60, 52);
    while (next_packet(&s))
        ;
    printf("%d packets, %ld bytes\n", s.packets, s.bytes);
    return 0;
}
