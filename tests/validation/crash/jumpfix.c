#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX 256
#define STACK_MAX 256

enum opcode { OP_HALT, OP_PUSH, OP_ADD, OP_JUMP_ZERO, OP_PRINT, OP_COUNT };

struct vm;
typedef void (*op_fn)(struct vm *);

struct function {
    unsigned char names[160];
    signed char code[CODE_MAX];
    int length;
};

struct vm {
    const struct function *function;
    long stack[STACK_MAX];
    int top;
    int pc;
    int halted;
    int steps;
};

static void op_halt(struct vm *vm)
{
    vm->halted = 1;
}

static void op_push(struct vm *vm)
{
    vm->stack[vm->top++] = vm->function->code[vm->pc++];
}

static void op_add(struct vm *vm)
{
    vm->top--;
    vm->stack[vm->top - 1] += vm->stack[vm->top];
}

static void op_jump_zero(struct vm *vm)
{
    int distance = vm->function->code[vm->pc++];
    if (vm->stack[--vm->top] == 0)
        vm->pc += distance;
}

static void op_print(struct vm *vm)
{
    printf("%ld\n", vm->stack[--vm->top]);
    fflush(stdout);
}

static const op_fn table[256] = {
    [OP_HALT] = op_halt, [OP_PUSH] = op_push, [OP_ADD] = op_add, [OP_JUMP_ZERO] = op_jump_zero, [OP_PRINT] = op_print
};

static void step(struct vm *vm)
{
    int op = (unsigned char)vm->function->code[vm->pc++];
    table[op](vm);
    vm->steps++;
}

static void emit(struct function *f, int byte)
{
    if (f->length == CODE_MAX)
        abort();
    f->code[f->length++] = (signed char)byte;
}

static int emit_jump(struct function *f)
{
    emit(f, OP_JUMP_ZERO);
    emit(f, 0);
    return f->length - 1;
}

static void patch(struct function *f, int at)
{
    f->code[at] = (signed char)(f->length - at - 1);
}

static void compile(struct function *f, int test, int terms)
{
    int i, jump;
    memset(f->names, 'n', sizeof f->names);
    f->length = 0;
    emit(f, OP_PUSH);
    emit(f, test);
    jump = emit_jump(f);
    emit(f, OP_PUSH);
    emit(f, 0);
    for (i = 0; i < terms; i++) {
        emit(f, OP_PUSH);
        emit(f, i);
        emit(f, OP_ADD);
    }
    emit(f, OP_PRINT);
    patch(f, jump);
    emit(f, OP_HALT);
}

static int run(const struct function *f)
{
    static struct vm vm;
    memset(&vm, 0, sizeof vm);
    vm.function = f;
    while (!vm.halted)
        step(&vm);
    return vm.steps;
}

int main(void)
{
    static struct function f;
    int steps = 0;
    compile(&f, 1, 5);
    steps += run(&f);
    compile(&f, 0, 12);
    steps += run(&f);
    compile(&f, 1, 43);
    steps += run(&f);
    compile(&f, 0, 43);
    steps += run(&f);
    printf("%d steps\n", steps);
    return 0;
}
