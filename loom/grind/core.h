/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the tool uses of Valgrind's core: the public tool headers, and a few
 * functions of the core that they do not declare. The tool is linked with the
 * core of one version (meson.build checks it), so these stay as they are. */
#ifndef GRIND_CORE_H
#define GRIND_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pub_tool_basics.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_clreq.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_guest.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_redir.h"
#include "pub_tool_replacemalloc.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* ---- of the core, not declared for tools ---- */

/* What a thread is when it has given the big lock away. */
enum core_rest { CORE_WAITS = 3 /* VgTs_WaitSys */, CORE_YIELDS = 4 /* VgTs_Yielding */ };

void VG_(release_BigLock)(ThreadId tid, UInt rest, const HChar *who);
void VG_(acquire_BigLock)(ThreadId tid, const HChar *who);
SysRes VG_(do_syscall)(UWord number, UWord, UWord, UWord, UWord, UWord, UWord, UWord, UWord);
SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt protection, Int fd, Off64T offset);
SysRes VG_(am_mmap_anon_float_valgrind)(SizeT size);
Bool VG_(am_is_valid_for_client)(Addr start, SizeT length, UInt protection);
Int VG_(safe_fd)(Int fd);                          /* moves it to where programs do not see it */
extern const HChar *VG_(args_the_exename);         /* the file that is executed */
extern Int VG_(fd_soft_limit), VG_(fd_hard_limit); /* of the program's descriptors; more are the core's */
void VG_(gdbserver)(ThreadId tid);                 /* hands the thread to gdb, returns when it is to go on */
extern Int VG_(clo_vgdb);                          /* 0: there is no gdb */
void VG_(discard_translations)(Addr start, ULong length, const HChar *who);
Bool VG_(get_fnname_raw)(DiEpoch epoch, Addr address, const HChar **name); /* not demangled */
Bool VG_(is_exiting)(ThreadId tid);                                        /* it has been told to end */
extern Bool VG_(in_generated_code);
extern UInt VG_(stats__n_xIndirs_32), VG_(stats__n_xIndir_hits1_32), VG_(stats__n_xIndir_hits2_32),
	VG_(stats__n_xIndir_hits3_32), VG_(stats__n_xIndir_misses_32);

/* ---- of VEX, likewise: to decode one instruction ---- */
enum core_what_next { CORE_STOPS = 0x10, CORE_CONTINUES = 0x11 };
struct core_decoded {   /* DisResult */
	UInt length;    /* 0 = it is none */
	UInt what_next; /* enum core_what_next */
	UInt hint;
	IRJumpKind jump; /* when it stops */
};
struct core_decoded disInstr_AMD64(IRSB *out, const UChar *code, Long delta, Addr address, VexArch arch,
				   const VexArchInfo *machine, const VexAbiInfo *conventions,
				   VexEndness endness, Bool tells);
extern HChar *private_LibVEX_alloc_curr; /* where the memory goes on that is given back after a translation */

static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
	SysRes result = VG_(do_syscall)((UWord)number, (UWord)a, (UWord)b, (UWord)c, (UWord)d, (UWord)e,
					(UWord)f, 0, 0);

	return sr_isError(result) ? -(long)sr_Err(result) : (long)sr_Res(result);
}

#endif
