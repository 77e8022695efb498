#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ALIASES 8
#define MAX_MEMBERS 4

struct alias {
    const char *name;
    const char *members[MAX_MEMBERS];
    int expanding;
    int uses;
};

struct result {
    char text[256];
    size_t length;
    int users;
};

static struct alias aliases[MAX_ALIASES];
static int n_aliases;

static struct alias *find_alias(const char *name)
{
    int i;
    for (i = 0; i < n_aliases; i++)
        if (strcmp(aliases[i].name, name) == 0)
            return &aliases[i];
    return NULL;
}

static void add_alias(const char *name, const char *a, const char *b, const char *c)
{
    struct alias *al;
    if (n_aliases == MAX_ALIASES)
        abort();
    al = &aliases[n_aliases++];
    al->name = name;
    al->members[0] = a;
    al->members[1] = b;
    al->members[2] = c;
}

static void add_user(struct result *r, const char *name)
{
    size_t n = strlen(name);
    if (r->length + n + 2 < sizeof r->text) {
        memcpy(r->text + r->length, name, n);
        r->length += n;
        r->text[r->length++] = ' ';
        r->text[r->length] = '\0';
    }
    r->users++;
}

static int alias_enter(struct alias *al)
{
    if (al->expanding)
        return 0;
    al->expanding = 1;
    return 1;
}

static void alias_leave(struct alias *al)
{
    al->expanding = 0;
    al->uses++;
}

static int count_members(const struct alias *al)
{
    int n = 0;
    while (n < MAX_MEMBERS && al->members[n] != NULL)
        n++;
    return n;
}

static int expand(struct result *r, const char *name)
{
    struct alias *al = find_alias(name);
    int i, n, depth, deepest = 0;
    if (al == NULL) {
        add_user(r, name);
        return 0;
    }
    if (!alias_enter(al))
        return 0;
    n = count_members(al);
    alias_leave(al);
    for (i = 0; i < n; i++) {
        depth = expand(r, al->members[i]);
        if (depth > deepest)
            deepest = depth;
    }
    return deepest + 1;
}

static void show(const char *name)
{
    struct result r = { "", 0, 0 };
    int depth = expand(&r, name);
    printf("%s: %d users, depth %d: %s\n", name, r.users, depth, r.text);
    fflush(stdout);
}

int main(void)
{
    add_alias("admins", "alice", "bob", NULL);
    add_alias("operators", "admins", "carol", NULL);
    add_alias("staff", "operators", "dave", "oncall");
    show("admins");
    show("operators");
    show("staff");
    add_alias("oncall", "erin", "staff", NULL);
    show("oncall");
    return 0;
}
