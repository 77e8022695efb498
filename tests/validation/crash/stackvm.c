/* A small stack machine with call frames. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 8

struct frame {
    int64_t stack[DEPTH];
    struct frame *caller;
    unsigned sp;
    int64_t result;
};

struct vm {
    struct frame *cur;
    int64_t acc;
    int calls;
};

struct resume {
    struct frame *to;
    int64_t value;
};

static struct frame *frame_new(struct frame *caller)
{
    struct frame *f = calloc(1, sizeof *f);
    f->caller = caller;
    return f;
}

static void push(struct frame *f, int64_t v)
{
    if (f->sp > DEPTH)
        f->sp = DEPTH - 1;
    *(f->stack + f->sp++) = v;
}

static int64_t fold(const struct frame *f)
{
    int64_t r = 0;
    for (unsigned i = 0; i < f->sp && i < DEPTH; i++)
        r = r * 3 + f->stack[i];
    return r;
}

static struct resume leave(struct frame *f)
{
    struct resume r;
    r.to = f->caller;
    r.value = fold(f);
    free(f);
    return r;
}

static void ret(struct vm *m)
{
    struct resume r = leave(m->cur);
    m->cur = r.to;
    m->acc += r.value;
}

static int64_t run(struct vm *m, const char *code)
{
    for (; *code; code++) {
        if (*code >= '0' && *code <= '9')
            push(m->cur, *code - '0');
        else if (*code == '(') {
            m->cur = frame_new(m->cur);
            m->calls++;
        } else if (*code == ')') {
            ret(m);
        } else if (*code == '+') {
            m->cur->result += m->acc;
        }
    }
    return m->cur->result;
}

int main(void)
{
    struct vm m = { .cur = frame_new(NULL) };
    int64_t r = run(&m, "12(345)+(1234567)+");
    printf("first %lld\n", (long long)r);
    r = run(&m, "(9(123456789)+1)+");
    printf("second %lld after %d calls\n", (long long)r, m.calls);
    free(m.cur);
    return 0;
}
