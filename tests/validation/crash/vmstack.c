#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NGLOBAL 8
#define STACK_INIT 8

enum tag { T_NIL, T_INT, T_STR };

struct str {
    size_t len;
    char data[56];
};

struct value {
    enum tag tag;
    union {
        long i;
        struct str *s;
    } u;
};

struct vm {
    struct value *stack;
    int sp;
    int cap;
    struct value globals[NGLOBAL];
    int calls;
};

typedef struct value (*native_fn)(struct vm *vm, int argc);

static const struct value NIL = { T_NIL, { 0 } };

static void vm_grow(struct vm *vm)
{
    int cap = vm->cap * 2;
    struct value *fresh = calloc(cap, sizeof(*fresh));
    memcpy(fresh, vm->stack, vm->sp * sizeof(*fresh));
    free(vm->stack);
    vm->stack = fresh;
    vm->cap = cap;
}

static void vm_push(struct vm *vm, struct value v)
{
    if (vm->sp == vm->cap)
        vm_grow(vm);
    vm->stack[vm->sp] = v;
    vm->sp++;
}

static struct value vm_pop(struct vm *vm)
{
    vm->sp--;
    return vm->stack[vm->sp];
}

static struct value make_str(const char *text)
{
    struct value v;
    v.tag = T_STR;
    v.u.s = calloc(1, sizeof(struct str));
    snprintf(v.u.s->data, sizeof(v.u.s->data), "%s", text);
    v.u.s->len = strlen(v.u.s->data);
    return v;
}

static struct value native_join(struct vm *vm, int argc)
{
    char out[56] = "";
    int first = vm->sp - 1 - argc;
    for (int i = 0; i < argc; i++) {
        struct value v = vm->stack[first + i];
        struct value tmp;
        tmp = make_str(v.u.s->data);
        vm_push(vm, tmp);
        strncat(out, tmp.u.s->data, sizeof(out) - strlen(out) - 1);
    }
    for (int i = 0; i < argc; i++)
        free(vm_pop(vm).u.s);
    return make_str(out);
}

static void vm_call(struct vm *vm, native_fn fn, int argc)
{
    struct value *ret;
    struct value result;
    vm_push(vm, NIL);
    ret = &vm->stack[vm->sp - 1];
    result = fn(vm, argc);
    *ret = result;
    vm->calls++;
}

static void store_global(struct vm *vm, int k, int argc)
{
    vm->globals[k] = vm_pop(vm);
    for (int i = 0; i < argc; i++)
        free(vm_pop(vm).u.s);
}

static void assign_joined(struct vm *vm, int k, int argc)
{
    char word[16];
    for (int i = 0; i < argc; i++) {
        snprintf(word, sizeof(word), "w%d;", k * 10 + i);
        vm_push(vm, make_str(word));
    }
    vm_call(vm, native_join, argc);
    store_global(vm, k, argc);
}

static size_t global_len(struct vm *vm, int k)
{
    struct str *s = vm->globals[k].u.s;
    return s->len;
}

static size_t report(struct vm *vm)
{
    size_t total = 0;
    for (int k = 0; k < NGLOBAL; k++)
        total += global_len(vm, k);
    return total;
}

int main(void)
{
    struct vm vm = { 0 };
    vm.cap = STACK_INIT;
    vm.stack = calloc(vm.cap, sizeof(*vm.stack));

    for (int k = 0; k < NGLOBAL; k++)
        assign_joined(&vm, k, k == 5 ? 4 : 2);
    printf("calls %d\n", vm.calls);
    printf("globals hold %zu bytes\n", report(&vm));

    for (int k = 0; k < NGLOBAL; k++)
        free(vm.globals[k].u.s);
    free(vm.stack);
    return 0;
}
