#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSTATS 8

struct soa {
    char origin[16];
    unsigned serial;
    unsigned refresh;
    unsigned retry;
    unsigned minimum;
};

struct rr {
    char owner[16];
    unsigned ttl_class;
    unsigned type;
    unsigned rdata;
    unsigned flags;
};

struct answer {
    unsigned bucket;
    unsigned rdata;
};

struct zone {
    unsigned serial;
    unsigned minimum;
    struct rr *records[4];
    int count;
};

static unsigned long hits[NSTATS];

static unsigned ttl_bucket(unsigned ttl)
{
    unsigned b = 0;
    while (ttl > 60 && b < NSTATS - 1) {
        ttl /= 4;
        b++;
    }
    return b;
}

static int load_soa(struct zone *z, const char *line)
{
    struct soa *s = malloc(sizeof *s);
    int n = sscanf(line, "%15s SOA %u %u %u %u", s->origin, &s->serial,
                   &s->refresh, &s->retry, &s->minimum);
    if (n != 5) {
        free(s);
        return -1;
    }
    z->serial = s->serial;
    z->minimum = s->minimum;
    free(s);
    return 0;
}

static struct rr *parse_record(const char *line)
{
    struct rr *r = malloc(sizeof *r);
    char type[8];
    unsigned ttl, data;
    if (sscanf(line, "%15s %u %7s %u", r->owner, &ttl, type, &data) == 4) {
        r->ttl_class = ttl_bucket(ttl);
    } else if (sscanf(line, "%15s %7s %u", r->owner, type, &data) != 3) {
        free(r);
        return NULL;
    }
    r->type = type[0] == 'A' ? 1 : 15;
    r->rdata = data;
    r->flags = 0;
    return r;
}

static int zone_add(struct zone *z, const char *line)
{
    struct rr *r = parse_record(line);
    if (!r)
        return -1;
    z->records[z->count++] = r;
    return 0;
}

static struct answer make_answer(const struct rr *r)
{
    struct answer a;
    a.bucket = r->ttl_class;
    a.rdata = r->rdata;
    return a;
}

static unsigned respond(const struct answer *a)
{
    hits[a->bucket]++;
    return a->rdata;
}

int main(void)
{
    static const char *const lines[] = { "www A 41", "mail 7200 MX 10" };
    struct zone z = { 0 };
    unsigned sum = 0;
    int i;
    if (load_soa(&z, "example.org SOA 2026111901 7200 900 3600") < 0)
        return 2;
    for (i = 0; i < 2; i++)
        if (zone_add(&z, lines[i]) < 0)
            return 2;
    for (i = 0; i < z.count; i++) {
        struct answer a = make_answer(z.records[i]);
        sum += respond(&a);
    }
    printf("serial %u, minimum %u: %u\n", z.serial, z.minimum, sum);
    for (i = 0; i < z.count; i++)
        free(z.records[i]);
    return sum == 51 ? 0 : 1;
}
