/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The start of the tool: what the core is asked for, and what is made ready
 * before the program's first instruction. */
#include "loom/grind/control.h"
#include "loom/grind/define.h"
#include "loom/grind/shadow.h"
#include "loom/grind/tool.h"

struct grind grind;

uint64_t grind_random(void)
{
	/* splitmix64 */
	uint64_t z = grind.random += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void *grind_reserve(SizeT size)
{
	SysRes result = VG_(am_mmap_anon_float_valgrind)(size);

	if (sr_isError(result))
		VG_(tool_panic)("there is no room for the tables of what is known of the program");
	return (void *)sr_Res(result);
}

static const HChar *only; /* file name of the program that is observed; NULL = whatever it is */

static bool is_wanted(void)
{
	const HChar *path = VG_(args_the_exename), *slash = path ? VG_(strrchr)(path, '/') : NULL;

	return !only || (path && VG_(strcmp)(slash ? slash + 1 : path, only) == 0);
}

static void begin_observing(void)
{
	if (!is_wanted() || !area_start())
		return;
	grind.random = grind.head->options.seed * 0xd1342543de82ef95u + 1;
	grind.context_events = grind.head->options.context < 8 ? grind.head->options.context : 8;
	grind.observes = grind.head->options.observe;
	grind.traced = grind.head->options.observe & OBSERVE_TRACE;
	grind.pointed |= grind.traced || grind.head->control.policy != POLICY_FREE;
	grind.faults = grind.head->control.policy != POLICY_FREE;
	shadow.inside =
		!grind.faults && !define.on && !(grind.observes & (OBSERVE_PREDECESSORS | OBSERVE_EDGES));
	control_start();
}

void grind_take_area(void)
{
	grind.serves = false;
	begin_observing();
	threads_enter_area();
}

static void start(void)
{
	threads_start();
	lock_start();
	shadow_start();
	define_start();
	grind.serves = server_prepare();
	grind.pointed = grind.serves;
	if (!grind.serves)
		begin_observing();
}

static void finish(Int status)
{
	(void)status;
}

static Bool take_option(const HChar *option)
{
	if (VG_STR_CLO(option, "--only", only))
		return True;
	return False;
}

/* ---- an error of the core, or of this tool: the program is not to blame ---- */

static void blame_nobody(void)
{
	if (!grind.observed)
		return;
	control_uncontrolled("Valgrind: ended with an error of its own");
	grind.schedule->end = END_SLOW;
}

void __real_vgPlain_core_panic(const HChar *text);
void __wrap_vgPlain_core_panic(const HChar *text);
void __wrap_vgPlain_core_panic(const HChar *text)
{
	blame_nobody();
	__real_vgPlain_core_panic(text);
}

void __real_vgPlain_core_panic_at(const HChar *text, const void *registers);
void __wrap_vgPlain_core_panic_at(const HChar *text, const void *registers);
void __wrap_vgPlain_core_panic_at(const HChar *text, const void *registers)
{
	blame_nobody();
	__real_vgPlain_core_panic_at(text, registers);
}

void __real_vgPlain_assert_fail(Bool core, const HChar *what, const HChar *file, Int line,
				const HChar *function, const HChar *format, UWord argument);
void __wrap_vgPlain_assert_fail(Bool core, const HChar *what, const HChar *file, Int line,
				const HChar *function, const HChar *format, UWord argument);
void __wrap_vgPlain_assert_fail(Bool core, const HChar *what, const HChar *file, Int line,
				const HChar *function, const HChar *format, UWord argument)
{
	blame_nobody();
	__real_vgPlain_assert_fail(core, what, file, line, function, format, argument);
}

static void no_usage(void)
{
}

/* The core writes about what happens to the program; the program's output must stay as it is. */
static void be_silent(void)
{
	VG_(clo_verbosity) = 0;
}

static void before_options(void)
{
	VG_(details_name)("unsnarl");
	VG_(details_version)(NULL);
	VG_(details_description)("the binary loom of unsnarl");
	VG_(details_copyright_author)("GPL-2.0-or-later");
	VG_(details_bug_reports_to)("the authors of unsnarl");
	VG_(details_avg_translation_sizeB)(600);
	VG_(basic_tool_funcs)(start, instrument, finish);
	VG_(needs_client_requests)(sync_request);
	VG_(needs_command_line_options)(take_option, no_usage, no_usage);
	be_silent();
	grind.shared_low = grind.loop_low = ~(Addr)0;
	threads_prepare();
	heap_start();
	calls_start();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
