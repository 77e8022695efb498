#include <stdio.h>
#include <stdlib.h>

#define POOL 32

enum kind { NUMBER, ADD, IF };

struct node {
    enum kind kind;
    int line;
    union {
        struct node *kid[3];
        long number[3];
    } u;
};

struct pool {
    struct node nodes[POOL];
    int top;
    int most;
};

struct program {
    struct node *root;
    struct node *pending;
    int line;
};

static struct pool pool;

static struct node *new_node(enum kind kind, int line)
{
    struct node *n;
    if (pool.top == POOL)
        abort();
    n = &pool.nodes[pool.top++];
    if (pool.top > pool.most)
        pool.most = pool.top;
    n->kind = kind;
    n->line = line;
    return n;
}

static void pool_reset(void)
{
    pool.top = 0;
}

static struct node *number(long value, int line)
{
    struct node *n = new_node(NUMBER, line);
    n->u.number[0] = value;
    n->u.number[1] = value < 0;
    n->u.number[2] = value * value;
    return n;
}

static struct node *add(struct node *left, struct node *right, int line)
{
    struct node *n = new_node(ADD, line);
    n->u.kid[0] = left;
    n->u.kid[1] = right;
    return n;
}

static struct node *parse_if(struct node *test, struct node *then, struct node *other, int line)
{
    struct node *n = new_node(IF, line);
    n->u.kid[0] = test;
    n->u.kid[1] = then;
    if (other != NULL)
        n->u.kid[2] = other;
    return n;
}

static struct node *simplify(struct node *n)
{
    if (n->kind != IF || n->u.kid[0]->kind != NUMBER)
        return n;
    return n->u.kid[0]->u.number[0] != 0 ? n->u.kid[1] : n->u.kid[2];
}

static long eval(const struct node *n)
{
    if (n == NULL)
        return 0;
    switch (n->kind) {
    case NUMBER:
        return n->u.number[0];
    case ADD:
        return eval(n->u.kid[0]) + eval(n->u.kid[1]);
    case IF:
        return eval(eval(n->u.kid[0]) != 0 ? n->u.kid[1] : n->u.kid[2]);
    }
    return -1;
}

static void run(struct program *p)
{
    p->pending = simplify(p->root);
    printf("line %d: %ld\n", p->line, eval(p->pending));
    fflush(stdout);
    pool_reset();
    p->line++;
}

static struct node *parse_sum(int terms, long first, int line)
{
    struct node *values[4];
    struct node *sum;
    int i;
    for (i = 0; i < terms; i++)
        values[i] = number(first + i, line);
    sum = values[0];
    for (i = 1; i < terms; i++)
        sum = add(sum, values[i], line);
    return sum;
}

static struct node *parse_choice(long test, long then, const long *other, int line)
{
    struct node *t = number(test, line);
    struct node *a = number(then, line);
    struct node *b = other != NULL ? number(*other, line) : NULL;
    return parse_if(t, a, b, line);
}

int main(void)
{
    struct program p = { NULL, NULL, 1 };
    const long other = 8;
    p.root = parse_choice(0, 5, NULL, 1);
    run(&p);
    p.root = parse_sum(2, 20, 2);
    run(&p);
    p.root = parse_choice(0, 7, &other, 3);
    run(&p);
    p.root = parse_sum(3, 11, 4);
    run(&p);
    p.root = parse_choice(0, 9, NULL, 5);
    run(&p);
    printf("at most %d nodes\n", pool.most);
    return 0;
}
