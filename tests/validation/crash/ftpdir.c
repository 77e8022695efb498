#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES 8

struct file_entry {
    char name[128];
    char owner[16];
    long size;
    int directory;
};

struct listing {
    struct file_entry files[MAX_FILES];
    int count;
    int skipped;
};

struct scanner {
    const char *at;
    int line;
};

static void skip_blanks(struct scanner *s)
{
    while (*s->at == ' ')
        s->at++;
}

static int get_word(struct scanner *s, char *word)
{
    int n = 0;
    skip_blanks(s);
    while (*s->at != '\0' && *s->at != ' ' && *s->at != '\n')
        word[n++] = *s->at++;
    word[n] = '\0';
    return n;
}

static long get_number(struct scanner *s)
{
    long value = 0;
    skip_blanks(s);
    while (*s->at >= '0' && *s->at <= '9')
        value = 10 * value + (*s->at++ - '0');
    return value;
}

static void end_line(struct scanner *s)
{
    while (*s->at != '\0' && *s->at != '\n')
        s->at++;
    if (*s->at == '\n')
        s->at++;
    s->line++;
}

static int parse_owner(struct scanner *s, struct file_entry *e)
{
    char owner[16];
    int n;
    n = get_word(s, owner);
    if (n == 0)
        return -1;
    snprintf(e->owner, sizeof e->owner, "%s", owner);
    return 0;
}

static int parse_line(struct scanner *s, struct file_entry *e)
{
    int n = 0;
    skip_blanks(s);
    if (*s->at != 'd' && *s->at != '-')
        return -1;
    e->directory = *s->at == 'd';
    while (*s->at != ' ' && *s->at != '\0')
        s->at++;
    if (parse_owner(s, e) < 0)
        return -1;
    e->size = get_number(s);
    skip_blanks(s);
    while (*s->at != '\0' && *s->at != '\n' && n < (int)sizeof e->name - 1)
        e->name[n++] = *s->at++;
    e->name[n] = '\0';
    return n > 0 ? 0 : -1;
}

static void parse_listing(struct listing *l, const char *text)
{
    struct scanner s = { text, 1 };
    while (*s.at != '\0' && l->count < MAX_FILES) {
        if (parse_line(&s, &l->files[l->count]) == 0)
            l->count++;
        else
            l->skipped++;
        end_line(&s);
    }
}

static void print_listing(const struct listing *l)
{
    int i;
    for (i = 0; i < l->count; i++)
        printf("%c %-16s %8ld %s\n", l->files[i].directory ? 'd' : '-', l->files[i].owner, l->files[i].size,
               l->files[i].name);
    printf("%d files, %d lines skipped\n", l->count, l->skipped);
    fflush(stdout);
}

int main(void)
{
    static const char local[] = "-rw-r--r-- root 120 motd\ndrwxr-xr-x ftp 4096 pub\ntotal 2\n";
    static const char remote[] =
        "-rw-r--r-- mirror 88211 release.tar\n"
        "-rw-r--r-- DOMAIN\\backup-operators-of-the-research-department-and-its-branches-in-three-countries-abroad 5120 notes.txt\n"
        "drwxr-xr-x ftp 4096 incoming\n";
    static struct listing first, second;
    parse_listing(&first, local);
    print_listing(&first);
    parse_listing(&second, remote);
    print_listing(&second);
    return 0;
}
