/* Command loop of a version control server.  "Directory" switches to another
   working directory, "Entry" and "Modified" refer to the one in force. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_ROOM 160

struct server {
    char *dir_name;
    char *last_entry;
    int entries;
    int errors;
    char error_text[96];
};

static const char *const script[] = {
    "Directory src/lib",
    "Entry regex.c",
    "Modified regex.c",
    "Directory src/../../etc",
    "Entry passwd",
    "Directory doc",
    "Entry manual.txt",
    "Modified manual.txt",
};

static int outside_root(const char *dir)
{
    int depth = 0;

    while (*dir) {
        size_t len = strcspn(dir, "/");

        if (len == 2 && strncmp(dir, "..", 2) == 0)
            depth--;
        else if (len > 0 && !(len == 1 && *dir == '.'))
            depth++;
        if (depth < 0)
            return 1;
        dir += len;
        while (*dir == '/')
            dir++;
    }
    return 0;
}

static void set_error(struct server *s, const char *what, const char *arg)
{
    s->errors++;
    snprintf(s->error_text, sizeof s->error_text, "E %s: %.60s", what, arg);
}

static char *copy_name(const char *base, const char *name)
{
    char *p = malloc(NAME_ROOM);

    if (!p)
        exit(1);
    snprintf(p, NAME_ROOM, "%.70s/%.70s", base, name);
    return p;
}

static void dirswitch(struct server *s, const char *dir)
{
    size_t len = strlen(dir);

    if (s->dir_name != NULL)
        free(s->dir_name);
    if (len > 0 && dir[len - 1] == '/') {
        set_error(s, "trailing slash in directory", dir);
        return;
    }
    if (outside_root(dir)) {
        set_error(s, "directory not within root", dir);
        return;
    }
    s->dir_name = copy_name("/var/repos", dir);
}

static void serve_entry(struct server *s, const char *name)
{
    size_t n = strlen(name) + 1;

    if (s->errors > 0)
        return;                 /* nothing more until the client resets */
    free(s->last_entry);
    s->last_entry = malloc(n);
    if (!s->last_entry)
        exit(1);
    memcpy(s->last_entry, name, n);
    s->entries++;
}

static void serve_modified(struct server *s, const char *name)
{
    if (s->errors > 0)
        return;
    if (s->last_entry && strcmp(s->last_entry, name) == 0)
        printf("M %s/%s\n", s->dir_name, name);
}

static void serve(struct server *s, const char *line)
{
    const char *arg = strchr(line, ' ');

    arg = arg ? arg + 1 : "";
    if (strncmp(line, "Directory ", 10) == 0)
        dirswitch(s, arg);
    else if (strncmp(line, "Entry ", 6) == 0)
        serve_entry(s, arg);
    else if (strncmp(line, "Modified ", 9) == 0)
        serve_modified(s, arg);
    else
        set_error(s, "unrecognized request", line);
}

int main(void)
{
    struct server s;
    size_t i;

    memset(&s, 0, sizeof s);
    for (i = 0; i < sizeof script / sizeof *script; i++)
        serve(&s, script[i]);
    printf("%d entries, %d errors %s\n", s.entries, s.errors, s.error_text);
    free(s.dir_name);
    free(s.last_entry);
    return 0;
}
