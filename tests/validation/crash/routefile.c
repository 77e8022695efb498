/* Reads a routing file and prints the resulting table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_ROOM 48

struct gateway {
    char name[24];
    int uses;
    struct gateway *next;
};

struct route {
    unsigned dest, mask;
    struct route *next;
    int metric;
    int line;
    struct gateway *gw;         /* NULL: on the local link */
    char flag[16];
};

struct table {
    struct route *first, **last;
    struct gateway *gateways;
    int routes;
};

static const char *const file[] = {
    "# site routes, changed by hand",
    "net 10.1.0.0/16   via core-router   metric 10",
    "net 10.2.0.0/16   via core-router   metric 10",
    "net 192.168.7.0/24  local  link  metric  1",
    "net 172.16.0.0/12 via edge-router   metric 30",
};

static struct gateway *gateway_get(struct table *t, const char *name)
{
    struct gateway *g;

    for (g = t->gateways; g; g = g->next)
        if (strcmp(g->name, name) == 0)
            break;
    if (!g) {
        g = calloc(1, sizeof *g);
        if (!g)
            exit(1);
        snprintf(g->name, sizeof g->name, "%s", name);
        g->next = t->gateways;
        t->gateways = g;
    }
    g->uses++;
    return g;
}

static struct route *route_new(struct table *t, unsigned dest, int bits)
{
    struct route *r = malloc(sizeof *r);

    if (!r)
        exit(1);
    r->dest = dest;
    r->mask = bits ? ~0u << (32 - bits) : 0;
    r->metric = 1;
    r->flag[0] = '\0';
    r->next = NULL;
    *t->last = r;
    t->last = &r->next;
    t->routes++;
    return r;
}

static void read_line(struct table *t, const char *text, int no)
{
    char *line = malloc(LINE_ROOM), via[24] = "", word[16] = "";
    unsigned a, b, c, d;
    int bits, at = 0, metric = 1, fields;
    struct route *r;

    if (!line)
        exit(1);
    snprintf(line, LINE_ROOM, "%s", text);
    fields = sscanf(line, "net %u.%u.%u.%u/%d %15s%n", &a, &b, &c, &d, &bits, word, &at);
    if (fields == 6 && strcmp(word, "via") == 0)
        sscanf(line + at, " %23s metric %d", via, &metric);
    else if (fields == 6)
        sscanf(line + at, " %*s metric %d", &metric);
    free(line);
    if (fields != 6)
        return;
    r = route_new(t, a << 24 | b << 16 | c << 8 | d, bits);
    r->line = no;
    r->metric = metric;
    if (via[0]) {
        r->gw = gateway_get(t, via);
        strcpy(r->flag, "UG");
    } else {
        strcpy(r->flag, "U");
    }
}

static void print_table(const struct table *t)
{
    const struct route *r;

    printf("%d routes\n", t->routes);
    for (r = t->first; r; r = r->next) {
        const char *gw = r->gw ? r->gw->name : "*";

        printf("%08x/%08x %c%-15.15s %-3s %d\n", r->dest, r->mask,
               gw[0], gw[0] ? gw + 1 : "", r->flag, r->metric);
    }
}

int main(void)
{
    struct table t = { NULL, NULL, NULL, 0 };
    size_t i;

    t.last = &t.first;
    for (i = 0; i < sizeof file / sizeof *file; i++)
        read_line(&t, file[i], (int)i + 1);
    print_table(&t);
    while (t.first) {
        struct route *r = t.first;
        t.first = r->next;
        free(r);
    }
    while (t.gateways) {
        struct gateway *g = t.gateways;
        t.gateways = g->next;
        free(g);
    }
    return 0;
}
