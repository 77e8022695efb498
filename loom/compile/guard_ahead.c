/* Hoisting: a thread that stalls inside a lock keeps out whoever would resolve it. So an
 * access that certainly comes after a lock is taken, at an address that is known before,
 * is looked at before the lock is taken (AI, section 4.1, does so to expose; here it is to
 * tolerate). For sets only straight code counts: what may not be executed must not stall
 * anybody. Rules are for one known fault, and somebody waits only while a thread is in the
 * middle of it; there all ways from the lock on count. */
#include <string.h>

#include "loom/compile/guard_weave.h"

#define BLOCKS_MOST 64u /* followed from a lock on */
#define DEPTH_MOST 4u   /* steps of address arithmetic that are done over before the lock */

static const char *callee_name(LLVMValueRef instruction)
{
	if (!LLVMIsACallInst(instruction) && !LLVMIsAInvokeInst(instruction))
		return NULL;
	LLVMValueRef callee = LLVMGetCalledValue(instruction);
	size_t length;
	return LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : NULL;
}

static bool takes_lock(LLVMValueRef instruction)
{
	const char *name = callee_name(instruction);
	return name && (strcmp(name, "pthread_mutex_lock") == 0 || strcmp(name, "mtx_lock") == 0);
}

static bool gives_lock(LLVMValueRef instruction)
{
	const char *name = callee_name(instruction);
	return name && (strstr(name, "unlock") || strstr(name, "cond_") || strstr(name, "cnd_"));
}

/* ---- addresses that are known before the lock is taken ---- */

struct reach {
	LLVMBasicBlockRef blocks[256];
	unsigned n;
};

static bool visit(struct reach *reach, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < reach->n; i++)
		if (reach->blocks[i] == block)
			return true;
	if (reach->n == 256)
		return false;
	reach->blocks[reach->n++] = block;
	return true;
}

/* Do all ways from the function's entry to `to` pass `through`? In very large functions: not that we know. */
static bool dominates(LLVMBasicBlockRef through, LLVMBasicBlockRef to)
{
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(to));
	struct reach reach = { .n = 0 };
	if (through == entry)
		return true;
	visit(&reach, entry);
	for (unsigned at = 0; at < reach.n; at++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(reach.blocks[at]);
		if (reach.blocks[at] == to)
			return false;
		for (unsigned i = 0; end && i < LLVMGetNumSuccessors(end); i++) {
			LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
			if (next != through && !visit(&reach, next))
				return false;
		}
	}
	return true;
}

static bool is_before(LLVMValueRef value, LLVMValueRef place)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
	if (block != LLVMGetInstructionParent(place))
		return dominates(block, LLVMGetInstructionParent(place)) && !LLVMIsAInvokeInst(value);
	for (LLVMValueRef i = LLVMGetPreviousInstruction(place); i; i = LLVMGetPreviousInstruction(i))
		if (i == value)
			return true;
	return false;
}

/* A value that is `pointer` and known at `place`, where the builder stands; NULL when there is none. */
static LLVMValueRef known_at(struct weave *weave, LLVMValueRef pointer, LLVMValueRef place, unsigned depth)
{
	if (!LLVMIsAInstruction(pointer) || is_before(pointer, place))
		return pointer;
	if (!LLVMIsAGetElementPtrInst(pointer) || depth == 0)
		return NULL;
	LLVMValueRef operands[8];
	int n = LLVMGetNumOperands(pointer);
	if (n > 8)
		return NULL;
	for (int i = 0; i < n; i++) {
		operands[i] = known_at(weave, LLVMGetOperand(pointer, (unsigned)i), place, depth - 1);
		if (!operands[i])
			return NULL;
	}
	return LLVMBuildGEP2(weave->builder, LLVMGetGEPSourceElementType(pointer), operands[0], operands + 1,
			     (unsigned)n - 1, "");
}

/* ---- what certainly follows a lock ---- */

static const struct guarded_access *guarded_at(const struct guarded_unit *unit, size_t *from,
					       LLVMValueRef instruction)
{
	/* Accesses are in program order, and mostly the next one is asked for. */
	for (size_t tries = 0; tries < unit->accesses.n; tries++) {
		const struct guarded_access *guarded =
			&unit->accesses.items[(*from + tries) % unit->accesses.n];
		if (guarded->access.instruction == instruction) {
			*from = (*from + tries + 1) % unit->accesses.n;
			return guarded;
		}
	}
	return NULL;
}

static bool is_other(const struct guard_rule *rule, uint32_t site)
{
	for (size_t i = 0; i < rule->others.n; i++)
		if (rule->others.items[i] == site)
			return true;
	return false;
}

/* Others may have come between the look and the lock: the same look right behind it, before anything is done
 * inside. It is told whether the lock was taken. */
static void look_again(struct weave *weave, LLVMValueRef lock, const LLVMValueRef ahead[3])
{
	if (!LLVMIsACallInst(lock) || !guard_after(weave, lock))
		return;
	LLVMValueRef taken = LLVMBuildZExt(weave->builder, lock, weave->i64, "");
	LLVMValueRef arguments[] = { ahead[0], ahead[1], ahead[2], taken };
	guard_call(weave, "unsnarl_guard_locked", arguments, 4);
}

/* Hooks before the lock for an access behind it. */
static void look_ahead(struct weave *weave, LLVMValueRef lock, const struct guarded_access *guarded)
{
	const struct guard_site *site = guard_set_site(weave->options->guard, guarded->site);
	weave_before(weave, lock);
	LLVMValueRef pointer = known_at(weave, guarded->access.pointer, lock, DEPTH_MOST);
	if (!pointer || site->any || site->idle || guarded->access.extent)
		return;
	LLVMValueRef mutex = LLVMBuildPtrToInt(weave->builder, LLVMGetOperand(lock, 0), weave->i64, "");
	LLVMValueRef arguments[] = { guard_address(weave, pointer, site->grain),
				     weave_constant(weave, guarded->site), mutex };
	guard_call(weave, "unsnarl_guard_ahead", arguments, 3);
	look_again(weave, lock, arguments);
}

/* Who would touch a group's location inside a lock makes a group of its own of it, from before the lock on: else
 * the thread that the group belongs to could go in between, and wait for the lock for ever. */
static void wait_ahead(struct weave *weave, struct guarded_unit *unit, LLVMValueRef lock,
		       const struct guarded_access *guarded)
{
	const struct guard_set *set = weave->options->guard;
	for (size_t i = 0; i < set->rules.n; i++) {
		const struct guard_rule *rule = &set->rules.items[i];
		bool other = is_other(rule, guarded->site) && guarded->site != rule->first;
		if (rule->kind != GUARD_ATOMIC || (guarded->site != rule->first && !other))
			continue;
		weave_before(weave, lock);
		LLVMValueRef pointer = known_at(weave, guarded->access.pointer, lock, DEPTH_MOST);
		if (!pointer && !rule->apart)
			continue;
		LLVMValueRef address = pointer ? LLVMBuildPtrToInt(weave->builder, pointer, weave->i64, "")
					       : weave_constant(weave, 0);
		guard_call_rule(weave, "unsnarl_guard_enter", i, address, guard_rule_size(&guarded->access),
				0);
		if (other)
			*VEC_PUSH(&unit->doors) = (struct guarded_door){ weave->function, i };
		if (other && guarded->site != rule->second && !guard_rule_updates(set, rule, guarded->site) &&
		    guard_after(weave, guarded->access.instruction))
			guard_call_rule(weave, "unsnarl_guard_leave", i, NULL, 0, 0);
	}
}

/* The guarded accesses of a block from `at` on; false when the lock is given back in it. */
static bool follow_block(struct weave *weave, struct guarded_unit *unit, LLVMValueRef lock, LLVMValueRef at,
			 bool straight)
{
	size_t from = 0;
	for (; at; at = LLVMGetNextInstruction(at)) {
		if (gives_lock(at) || takes_lock(at))
			return false;
		const struct guarded_access *guarded = guarded_at(unit, &from, at);
		if (!guarded || !guarded->site)
			continue;
		if (straight)
			look_ahead(weave, lock, guarded);
		wait_ahead(weave, unit, lock, guarded);
	}
	return true;
}

/* All ways from `lock` on, until it is given back. */
static void follow(struct weave *weave, struct guarded_unit *unit, LLVMValueRef lock)
{
	struct reach reach = { .n = 0 };
	LLVMBasicBlockRef straight = LLVMGetInstructionParent(lock);
	LLVMValueRef first = LLVMIsAInvokeInst(lock) ? NULL : LLVMGetNextInstruction(lock);
	if (!follow_block(weave, unit, lock, first, true))
		return;
	for (unsigned at = 0; at <= reach.n && at < BLOCKS_MOST; at++) {
		LLVMBasicBlockRef block = at ? reach.blocks[at - 1] : LLVMGetInstructionParent(lock);
		LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
		bool is_straight = block == straight && (LLVMGetNumSuccessors(end) == 1 || end == lock);
		if (at && !follow_block(weave, unit, lock, LLVMGetFirstInstruction(block), block == straight))
			continue;
		for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
			visit(&reach, LLVMGetSuccessor(end, i));
		straight = is_straight ? LLVMIsAInvokeInst(end) ? LLVMGetNormalDest(end)
								: LLVMGetSuccessor(end, 0)
				       : NULL;
	}
}

void guard_ahead_weave(struct weave *weave, struct guarded_unit *unit)
{
	if (!unit->accesses.n)
		return;
	for (LLVMValueRef f = LLVMGetFirstFunction(weave->module); f; f = LLVMGetNextFunction(f)) {
		if (!weave_wants_hooks(f))
			continue;
		weave->function = f;
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
				if (takes_lock(i))
					follow(weave, unit, i);
	}
}
