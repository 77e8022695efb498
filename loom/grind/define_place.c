/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where in the program something was done: an instruction of its own, or the call of its own that led to a library's
 * function or to a header's. */
#include "loom/grind/define.h"

static uint32_t module_number(const HChar *path)
{
	struct isolate_area *area = define.area;
	uint32_t i = 0;

	while (i < area->nmodules && VG_(strcmp)(area->modules[i], path) != 0)
		i++;
	if (i == area->nmodules && i + 1 < ISOLATE_MODULES) {
		VG_(strncpy)(area->modules[i], path, ISOLATE_PATH - 1);
		area->nmodules++;
	}
	return i;
}

struct isolate_place define_place(Addr pc, Addr call)
{
	bool own = pc && code_kind(pc) == CODE_PROGRAM;
	Addr at = own ? pc : call;
	const DebugInfo *info = at ? VG_(find_DebugInfo)(VG_(current_DiEpoch)(), at) : NULL;

	if (!info)
		return (struct isolate_place){ 0 };
	const PtrdiffT bias = VG_(DebugInfo_get_text_bias)(info);
	bool led = own && call && site_in_header(pc) &&
		   info == VG_(find_DebugInfo)(VG_(current_DiEpoch)(), call);

	return (struct isolate_place){ .address = at - (Addr)bias,
				       .led = led ? call - (Addr)bias : 0,
				       .module = (uint16_t)module_number(VG_(DebugInfo_get_filename)(info)),
				       .own = own };
}

struct isolate_place define_calling_place(Addr call)
{
	return call && code_kind(call) == CODE_PROGRAM ? define_place(call, 0) : (struct isolate_place){ 0 };
}

Addr define_own_call(void)
{
	const struct value_thread *thread = define_thread();
	Addr led = site_own_call();

	for (uint32_t i = thread->nreturns; !led && i-- > 0;) {
		Addr call = thread->returns[i] - 1;

		if (code_kind(call) == CODE_PROGRAM && !site_in_header(call))
			led = call;
	}
	return led;
}

void define_note_led(uint32_t site)
{
	Addr pc = site_header_code(site), led = pc ? define_own_call() : 0;

	if (led)
		define.area->led[define.area->nled++ % ISOLATE_LED] =
			(struct isolate_led){ .place = define_place(pc, led),
					      .order = *grind.thread->order,
					      .thread = grind.thread->number };
}
