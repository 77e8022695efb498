/* Records of a mail filter come from a pool and go back to it; a rule without
   an action is meant to do nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL 4

struct message {
    char from[16];
    int score;
    const char *folder;
};

struct action {
    const char *name;
    int (*apply)(struct message *);
};

union record {
    struct {
        char text[32];
        unsigned hash;
    } token;
    struct {
        char from[16];
        int min_score;
        const struct action *action;
        struct action local;
    } rule;
    union record *next_free;
};

static union record pool[POOL];
static union record *free_list;

static void pool_init(void)
{
    int i;

    for (i = POOL - 1; i >= 0; i--) {
        pool[i].next_free = free_list;
        free_list = &pool[i];
    }
}

static union record *pool_get(void)
{
    union record *r = free_list;

    if (!r)
        exit(1);
    free_list = r->next_free;
    return r;
}

static void pool_put(union record *r)
{
    r->next_free = free_list;
    free_list = r;
}

static int move_to_junk(struct message *m)
{
    m->folder = "junk";
    return 1;
}

static int mark_read(struct message *m)
{
    m->score = 0;
    return 2;
}

static const struct action actions[] = { { "junk", move_to_junk }, { "read", mark_read } };

static unsigned hash_text(const char *s)
{
    union record *r = pool_get();
    unsigned h = 5381;

    memset(r->token.text, ' ', sizeof r->token.text);
    memcpy(r->token.text, s, strlen(s));
    for (size_t i = 0; i < sizeof r->token.text; i++)
        h = h * 33 + (unsigned char)r->token.text[i];
    r->token.hash = h;
    pool_put(r);
    return h;
}

/* "from score [action]" */
static union record *parse_rule(const char *line)
{
    union record *r = pool_get();
    char name[16] = "";
    size_t i;

    if (sscanf(line, "%15s %d %15s", r->rule.from, &r->rule.min_score, name) < 2)
        exit(1);
    for (i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(actions[i].name, name) == 0)
            r->rule.action = &actions[i];
    return r;
}

static int rule_apply(const union record *r, struct message *m)
{
    const struct action *a = r->rule.action;

    if (strcmp(r->rule.from, m->from) != 0 || m->score < r->rule.min_score)
        return 0;
    return a ? a->apply(m) : 0;
}

int main(void)
{
    static const char *const lines[] = { "spam 5 junk", "list 1 read", "boss 0" };
    struct message m = { "boss", 7, "inbox" };
    unsigned seen = 0;
    int i, done = 0;

    pool_init();
    for (i = 0; i < 3; i++) {
        seen ^= hash_text(lines[i]);
        done += rule_apply(parse_rule(lines[i]), &m);
    }
    printf("%s, %d done, %x\n", m.folder, done, seen);
    return 0;
}
