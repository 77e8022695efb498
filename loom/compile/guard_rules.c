/* Hooks of the rules by which one fault is held down: a group of accesses that is one step
 * for others, an early access that waits for a late one. */
#include <llvm-c/DebugInfo.h>

#include "loom/compile/guard_weave.h"

void guard_call_rule(struct weave *weave, const char *name, size_t rule, LLVMValueRef address, uint64_t size,
		     uint32_t site)
{
	LLVMValueRef arguments[] = { weave_constant(weave, rule), address, weave_constant(weave, size),
				     weave_constant(weave, site) };
	guard_call(weave, name, arguments, site ? 4 : address ? 3 : 1);
}

bool guard_after(struct weave *weave, LLVMValueRef instruction)
{
	LLVMValueRef next = LLVMGetNextInstruction(instruction);
	if (!next)
		return false;
	weave_before(weave, next);
	LLVMSetCurrentDebugLocation2(weave->builder, LLVMInstructionGetDebugLoc(instruction));
	return true;
}

static bool holds(const struct guard_rule *rule, uint32_t site)
{
	for (size_t i = 0; i < rule->others.n; i++)
		if (rule->others.items[i] == site)
			return true;
	return false;
}

static void weave_touch(struct weave *weave, const struct guarded_access *guarded, size_t number,
			LLVMValueRef address, uint64_t size)
{
	/* Behind what ends its block there is no place for a hook. */
	bool whole = LLVMGetNextInstruction(guarded->access.instruction) != NULL;
	guard_call_rule(weave, whole ? "unsnarl_guard_touch" : "unsnarl_guard_wait", number, address, size,
			guarded->site);
	const struct guard_set *set = weave->options->guard;
	bool goes_on = guard_rule_updates(set, &set->rules.items[number], guarded->site);
	if (whole && !goes_on && guard_after(weave, guarded->access.instruction))
		guard_call_rule(weave, "unsnarl_guard_touched", number, NULL, 0, 0);
}

static void weave_atomic(struct weave *weave, const struct guarded_access *guarded, size_t number,
			 LLVMValueRef address, uint64_t size)
{
	const struct guard_rule *rule = &weave->options->guard->rules.items[number];
	if (guarded->site == rule->first)
		guard_call_rule(weave, "unsnarl_guard_enter", number, address, size, 0);
	else if (holds(rule, guarded->site))
		weave_touch(weave, guarded, number, address, size);
	if (guarded->site == rule->second && guard_after(weave, guarded->access.instruction))
		guard_call_rule(weave, "unsnarl_guard_leave", number, NULL, 0, 0);
}

static void weave_order(struct weave *weave, const struct guarded_access *guarded, size_t number,
			LLVMValueRef address, uint64_t size)
{
	const struct guard_rule *rule = &weave->options->guard->rules.items[number];
	if (guarded->site == rule->second)
		guard_call_rule(weave, "unsnarl_guard_await", number, address, size, 0);
	if (guarded->site == rule->first && guard_after(weave, guarded->access.instruction))
		guard_call_rule(weave, "unsnarl_guard_done", number, address, size, 0);
}

/* Library calls are taken by the first word of what they access. */
uint64_t guard_rule_size(const struct access *access)
{
	return access->extent || !access->size ? 1 : access->size;
}

void guard_rules_weave(struct weave *weave, const struct guarded_access *guarded)
{
	const struct guard_set *set = weave->options->guard;
	uint64_t size = guard_rule_size(&guarded->access);
	for (size_t i = 0; i < set->rules.n; i++) {
		weave_before(weave, guarded->access.instruction);
		LLVMValueRef address =
			LLVMBuildPtrToInt(weave->builder, guarded->access.pointer, weave->i64, "");
		if (set->rules.items[i].kind == GUARD_ATOMIC)
			weave_atomic(weave, guarded, i, address, size);
		else
			weave_order(weave, guarded, i, address, size);
	}
}

static bool has_site(const struct guarded_unit *unit, LLVMValueRef function, uint32_t site)
{
	for (size_t i = 0; i < unit->accesses.n; i++)
		if (unit->accesses.items[i].function == function && unit->accesses.items[i].site == site)
			return true;
	return false;
}

static bool has_door(const struct guarded_unit *unit, LLVMValueRef function, size_t rule)
{
	for (size_t i = 0; i < unit->doors.n; i++)
		if (unit->doors.items[i].function == function && unit->doors.items[i].rule == rule)
			return true;
	return false;
}

/* A group that a function begins and may leave without its last access is over when the function returns, if
 * the last access is the function's own. */
void guard_rules_leave(struct weave *weave, const struct guarded_unit *unit)
{
	const struct guard_set *set = weave->options->guard;
	for (size_t r = 0; r < set->rules.n; r++) {
		const struct guard_rule *rule = &set->rules.items[r];
		if (rule->kind != GUARD_ATOMIC)
			continue;
		for (LLVMValueRef f = LLVMGetFirstFunction(weave->module); f; f = LLVMGetNextFunction(f)) {
			bool whole = has_site(unit, f, rule->first) && has_site(unit, f, rule->second);
			if (!whole && !has_door(unit, f, r))
				continue;
			weave->function = f;
			for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
			     b = LLVMGetNextBasicBlock(b)) {
				LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
				LLVMValueRef before = end ? LLVMGetPreviousInstruction(end) : NULL;
				if (!end || !LLVMIsAReturnInst(end))
					continue;
				/* Nothing may stand between a call that must be a tail call and the return. */
				if (before && LLVMIsACallInst(before) && LLVMIsTailCall(before))
					end = before;
				weave_before(weave, end);
				guard_call_rule(weave, "unsnarl_guard_leave", r, NULL, 0, 0);
			}
		}
	}
}
