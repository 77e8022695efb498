/* The token changes hands. Each thread has a kernel thread of its own, which sleeps
 * on a futex while others run. Where the run allows it, threads are *carried*: the
 * running kernel thread puts on the other one's stack and thread pointer and goes on
 * as it, which takes a hundredth of the time of waking another kernel thread. What
 * the kernel keeps per thread (masks of signals, its number, its end) is not carried,
 * so a thread ends on its own kernel thread, and calls about such things end the
 * carrying for all (carry.c). */
#include "loom/runtime/control/control.h"

#include <sys/auxv.h>
#include <sys/syscall.h>

#define LEAVING_NS 5000000000ull    /* longest real wait for a thread that has ended, on a busy machine, */
#define LEAVING_LEAST_NS 2000000ull /* and for one that waits, perhaps for a lock that another thread has */
#define WATCH_SECONDS 2
#define HWCAP2_BASES 2u /* user code may set the thread pointer */

/* Saves where the caller stands in *save and goes on at `to`, saved likewise, with another thread
 * pointer. Registers that calls do not keep are nobody's concern. */
void token_put_on(void **save, void *to, uint64_t pointer);
/* Saves likewise, then calls land(from, next) on another stack. */
void token_step_off(void **save, void *stack, uint64_t pointer, struct agent *from, struct agent *next,
		    void (*land)(struct agent *, struct agent *));
/* Goes on at `to` for good. */
void token_resume(void *to) __attribute__((noreturn));

__asm__(".pushsection .text\n"
	".type token_put_on, @function\n"
	".hidden token_put_on\n"
	"token_put_on:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n"
	"	subq $8, %rsp\n"
	"	stmxcsr (%rsp)\n	fnstcw 4(%rsp)\n"
	"	movq %rsp, (%rdi)\n"
	"	wrfsbase %rdx\n"
	"	movq %rsi, %rdi\n"
	".size token_put_on, . - token_put_on\n"
	".type token_resume, @function\n"
	".hidden token_resume\n"
	"token_resume:\n"
	"	movq %rdi, %rsp\n"
	"	ldmxcsr (%rsp)\n	fldcw 4(%rsp)\n"
	"	addq $8, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	popq %rbp\n"
	"	ret\n"
	".size token_resume, . - token_resume\n"
	".type token_step_off, @function\n"
	".hidden token_step_off\n"
	"token_step_off:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n"
	"	subq $8, %rsp\n"
	"	stmxcsr (%rsp)\n	fnstcw 4(%rsp)\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	wrfsbase %rdx\n"
	"	movq %rcx, %rdi\n"
	"	movq %r8, %rsi\n"
	"	xorl %ebp, %ebp\n"
	"	call *%r9\n"
	"	ud2\n"
	".size token_step_off, . - token_step_off\n"
	".popsection\n");

/* A thread that has ended still runs libc's code for a moment, which frees memory: wait until it is gone,
 * or memory would be reused in another order in another run. */
static void await_leaving(void)
{
	int tid = control.leaving;
	control.leaving = 0;
	struct timespec start, now;
	raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&start, 0, 0, 0, 0);
	while (raw_call(SYS_tgkill, control.pid, tid, 0, 0, 0, 0) == 0) {
		raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
		int64_t passed = (now.tv_sec - start.tv_sec) * 1000000000ll + now.tv_nsec - start.tv_nsec;
		bool waits = passed > (int64_t)LEAVING_LEAST_NS && control_state_of(tid) == 'S';
		if (passed > (int64_t)LEAVING_NS || waits) {
			control_uncontrolled("a thread that does not end after its last destructor");
			return;
		}
	}
}

/* The calling kernel thread is that of `home`. */
static void sleep_until_called(struct agent *home)
{
	uint64_t points = 0;
	/* Acquire pairs with the release in call: all that the last holder did. */
	while (!__atomic_load_n(&home->go, __ATOMIC_ACQUIRE))
		if (!raw_wait(&home->go, 0, WATCH_SECONDS))
			control_watch(&points);
	home->go = 0;
	if (UNLIKELY(control.leaving))
		await_leaving();
}

/* From here on the kernel thread of `next` runs; the caller touches nothing any more. */
static void call(struct agent *next)
{
	control.carrier = next;
	__atomic_store_n(&next->go, 1, __ATOMIC_RELEASE);
	raw_wake(&next->go);
}

/* On the resting stack of `home`, whose kernel thread calls another one and sleeps. When it is called
 * it goes on as its own thread, which somebody has left standing somewhere. */
static void rest(struct agent *home, struct agent *next)
{
	call(next);
	sleep_until_called(home);
	token_resume(home->context);
}

/* Right below what is said of the thread, which is there already: a page less to fault in. */
static void *resting_stack(const struct agent *home)
{
	return home->thread;
}

/* The running kernel thread leaves `me` standing here and calls that of `next`. */
static void step_off(struct agent *me, struct agent *next)
{
	struct agent *home = control.carrier;
	token_step_off(&me->context, resting_stack(home), home->pointer, home, next, rest);
}

static uint64_t thread_pointer(void)
{
	uint64_t pointer;
	__asm__("movq %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

void token_start(struct agent *me)
{
	control.carrier = me;
	me->pointer = thread_pointer();
	control.carries = control.options.carry && getauxval(AT_HWCAP2) & HWCAP2_BASES;
}

void token_begin(struct agent *me)
{
	me->pointer = thread_pointer();
	sleep_until_called(me);
}

void token_give(struct agent *me, struct agent *next)
{
	control.current = next;
	if (control.carries && next->context) {
		void *to = next->context;
		next->context = NULL;
		token_put_on(&me->context, to, next->pointer);
	} else if (control.carries) {
		step_off(me, next);
	} else {
		call(next);
		sleep_until_called(me);
	}
	me->context = NULL;
}

void token_leave(struct agent *next)
{
	control.current = next;
	call(next);
}

void token_go_home(struct agent *me)
{
	if (control.carrier == me)
		return;
	step_off(me, me);
	me->context = NULL;
}

void token_carry_no_more(struct agent *me)
{
	if (!control.carries)
		return;
	token_go_home(me);
	control.carries = false;
}
