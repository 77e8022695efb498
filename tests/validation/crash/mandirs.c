/* Manual page browser: lays the pages of the configured sections out in
   columns and jumps to the page under the cursor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SECTIONS 9
#define SECTION_LEN 8
#define MAX_PAGES 64

struct page {
    const char *name;
    const char *section;
};

struct browser {
    char section[MAX_SECTIONS][SECTION_LEN];
    int columns;
    int width;
    int nsections;
    int npages;
    struct page *page[MAX_PAGES];
};

struct layout {
    int per_row;
    int rows;
};

struct cursor {
    int row, column;
    int at;
};

static const struct page catalogue[] = {
    { "ls", "1" }, { "open", "2" }, { "printf", "3" }, { "null", "4" },
    { "passwd", "5" }, { "rogue", "6" }, { "ascii", "7" }, { "mount", "8" },
    { "kmod", "9" }, { "grep", "1" }, { "read", "2" }, { "malloc", "3" },
    { "tclsh", "tcl" }, { "expr", "tcl" },
};

/* Splits a list such as "1:8:3" into names; returns how many there are. */
static int split_sections(const char *list, char (*out)[SECTION_LEN], int room)
{
    int n = 0;

    while (*list) {
        size_t len = strcspn(list, ":");

        if (n > room)
            break;
        if (len > 0) {
            snprintf(out[n], SECTION_LEN, "%.*s", (int)len, list);
            n++;
        }
        list += len;
        if (*list == ':')
            list++;
    }
    return n;
}

static void load_pages(struct browser *b)
{
    size_t k;
    int i, limit;

    limit = b->nsections < MAX_SECTIONS ? b->nsections : MAX_SECTIONS;
    for (i = 0; i < limit; i++)
        for (k = 0; k < sizeof catalogue / sizeof *catalogue; k++)
            if (strcmp(catalogue[k].section, b->section[i]) == 0) {
                struct page *p = malloc(sizeof *p);

                if (!p)
                    exit(1);
                *p = catalogue[k];
                b->page[b->npages++] = p;
            }
}

static struct browser *browser_open(const char *sections, int width)
{
    struct browser *b = calloc(1, sizeof *b);

    if (!b)
        exit(1);
    b->width = width;
    b->columns = width / 20;
    b->nsections = split_sections(sections, b->section, MAX_SECTIONS);
    load_pages(b);
    return b;
}

static void make_layout(const struct browser *b, struct layout *l)
{
    l->per_row = b->columns > 0 ? b->columns : 1;
    l->rows = (b->npages + l->per_row - 1) / l->per_row;
}

static void move_down(const struct layout *l, struct cursor *c)
{
    c->row++;
    c->at = c->row * l->per_row + c->column;
}

static const char *page_name(const struct browser *b, const struct cursor *c)
{
    return b->page[c->at]->name;
}

int main(void)
{
    struct browser *b = browser_open("1:8:2:3:4:5:6:7:9:tcl", 80);
    struct cursor c = { 0, 1, 1 };
    struct layout l;
    int i;

    make_layout(b, &l);
    printf("%d sections, %d pages\n", b->nsections, b->npages);
    printf("cursor on %s\n", page_name(b, &c));
    move_down(&l, &c);
    printf("cursor on %s\n", page_name(b, &c));
    for (i = 0; i < b->npages; i++)
        free(b->page[i]);
    free(b);
    return 0;
}
