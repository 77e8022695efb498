#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA 12

enum op { NUM, NEG, ADD, MUL };

struct node {
    enum op op;
    long value;
    struct node *left;
    struct node *right;
};

struct insn {
    enum op op;
    long value;
};

struct arena {
    struct node nodes[ARENA];
    int used;
    int peak;
};

struct compiler {
    struct arena arena;
    const char *src;
    struct insn code[2 * ARENA];
    int ncode;
};

static struct node *node_new(struct arena *a, enum op op)
{
    struct node *n;
    if (a->used == ARENA)
        abort();
    n = &a->nodes[a->used++];
    if (a->used > a->peak)
        a->peak = a->used;
    n->op = op;
    n->value = 0;
    return n;
}

static void arena_reset(struct arena *a)
{
    a->used = 0;
}

static struct node *parse(struct compiler *c)
{
    struct node *n;
    char ch = *c->src++;
    if (ch == '-') {
        n = node_new(&c->arena, NEG);
        n->left = parse(c);
        return n;
    }
    if (ch == '+' || ch == '*') {
        n = node_new(&c->arena, ch == '+' ? ADD : MUL);
        n->left = parse(c);
        n->right = parse(c);
        return n;
    }
    n = node_new(&c->arena, NUM);
    n->value = ch - '0';
    n->left = NULL;
    n->right = NULL;
    return n;
}

static void emit(struct compiler *c, const struct node *n)
{
    struct insn *in;
    if (!n)
        return;
    emit(c, n->left);
    emit(c, n->right);
    in = &c->code[c->ncode++];
    in->op = n->op;
    in->value = n->value;
}

static long run(const struct compiler *c)
{
    long stack[ARENA];
    int sp = 0;
    int i;
    for (i = 0; i < c->ncode; i++) {
        const struct insn *in = &c->code[i];
        if (in->op == NUM) {
            stack[sp++] = in->value;
        } else if (in->op == NEG) {
            stack[sp - 1] = -stack[sp - 1];
        } else {
            long b = stack[--sp];
            long a = stack[sp - 1];
            stack[sp - 1] = in->op == ADD ? a + b : a * b;
        }
    }
    assert(sp == 1);
    return stack[0];
}

static long compile(struct compiler *c, const char *src)
{
    struct node *root;
    arena_reset(&c->arena);
    c->src = src;
    root = parse(c);
    c->ncode = 0;
    emit(c, root);
    return run(c);
}

int main(void)
{
    static struct compiler c;
    long sum = 0;
    sum += compile(&c, "-7");
    sum += compile(&c, "+*234");
    sum += compile(&c, "*+12-3");
    sum += compile(&c, "-*+126");
    printf("sum %ld, peak %d\n", sum, c.arena.peak);
    return sum == -24 ? 0 : 1;
}
