/* Symbol table of a small assembler: symbols with names and scopes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scope {
    int depth;
    int nsyms;
};

struct symbol {
    struct scope *scope;
    struct symbol *next;
    char *name;
    int addr;
};

static struct symbol *symbols;
static struct scope global_scope = { 0, 0 };

static char *copy_word(char *dst, const char *src)
{
    while (*src && *src != ' ' && *src != ':')
        *dst++ = *src++;
    *dst = 0;
    return dst;
}

static struct symbol *define(const char *line, int addr)
{
    char *name = malloc(24);
    struct symbol *s = malloc(sizeof *s);
    s->scope = &global_scope;
    s->next = symbols;
    s->name = name;
    s->addr = addr;
    copy_word(name, line);
    symbols = s;
    return s;
}

static int checksum(const char *name)
{
    int h = 0;
    for (; *name; name++)
        h = h * 31 + *name;
    return h & 0xffff;
}

static int resolve(void)
{
    int total = 0;
    for (struct symbol *s = symbols; s; s = s->next) {
        struct scope *sc = s->scope;
        sc->nsyms++;
        total += s->addr + checksum(s->name);
    }
    return total;
}

int main(void)
{
    static const char *const source[] = {
        "start: mov a, b",
        "loop: add a, 1",
        "very_long_label_for_the_interrupt_exit: ret",
        "end: halt",
    };
    for (int i = 0; i < 4; i++)
        define(source[i], 0x100 + i * 4);
    printf("total %d, %d symbols\n", resolve(), global_scope.nsyms);
    return 0;
}
