/* In place of the runtime: a library with hooks names this file as one that it needs, and
 * where the program brings no runtime the hooks find here what they touch. Nothing is
 * observed. A program's own runtime comes first in the search for symbols. */
#include "loom/runtime/runtime.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* As in thread.c: a thread whose fast path is never taken. */
struct thread unsnarl_nobody = {
	.tag = TAG_NEVER,
	.owner = OWNER_NEVER,
	.row = TAG_NEVER,
	.memos = (struct memo *)MEMOS_START,
};
EXPORT __thread struct thread *unsnarl_self __attribute__((tls_model("initial-exec"))) = &unsnarl_nobody;

/* Hooks that return at once; the caller may rely on any register. */
#define ABSENT(name)                                            \
	__asm__(".text\n.globl " name "\n"                      \
		".type " name ", @function\n" name ":\n\tret\n" \
		".size " name ", . - " name "\n.previous\n")
/* Groups are never quiet, and no call reaches far: 0. */
#define ABSENT_ZERO(name)                                                          \
	__asm__(".text\n.globl " name "\n"                                         \
		".type " name ", @function\n" name ":\n\txorl %eax, %eax\n\tret\n" \
		".size " name ", . - " name "\n.previous\n")

ABSENT("unsnarl_unit");
ABSENT("unsnarl_fresh");
ABSENT("unsnarl_free");
ABSENT("unsnarl_read");
ABSENT("unsnarl_write");
ABSENT("unsnarl_read1");
ABSENT("unsnarl_read2");
ABSENT("unsnarl_read4");
ABSENT("unsnarl_read8");
ABSENT("unsnarl_write1");
ABSENT("unsnarl_write2");
ABSENT("unsnarl_write4");
ABSENT("unsnarl_write8");
ABSENT("unsnarl_element_read1");
ABSENT("unsnarl_element_read2");
ABSENT("unsnarl_element_write1");
ABSENT("unsnarl_element_write2");
ABSENT("unsnarl_read_start");
ABSENT("unsnarl_read_string");
ABSENT("unsnarl_write_string");
ABSENT("unsnarl_alone_read");
ABSENT("unsnarl_alone_write");
ABSENT("unsnarl_lingers");
ABSENT("unsnarl_miss_read4");
ABSENT("unsnarl_miss_read8");
ABSENT("unsnarl_miss_read16");
ABSENT("unsnarl_miss_read32");
ABSENT("unsnarl_miss_write4");
ABSENT("unsnarl_miss_write8");
ABSENT("unsnarl_miss_write16");
ABSENT("unsnarl_miss_write32");
ABSENT_ZERO("unsnarl_reads_quietly");
ABSENT_ZERO("unsnarl_writes_quietly");
ABSENT_ZERO("unsnarl_library_state");
ABSENT_ZERO("unsnarl_reach_character");
ABSENT_ZERO("unsnarl_reach_byte");
ABSENT_ZERO("unsnarl_reach_sure_byte");
ABSENT_ZERO("unsnarl_reach_block");
ABSENT_ZERO("unsnarl_reach_word");
ABSENT_ZERO("unsnarl_reach_case_word");
ABSENT_ZERO("unsnarl_reach_any_of");
ABSENT_ZERO("unsnarl_reach_none_of");
ABSENT_ZERO("unsnarl_reach_difference");
ABSENT_ZERO("unsnarl_reach_difference_most");
ABSENT_ZERO("unsnarl_reach_case_difference");
ABSENT_ZERO("unsnarl_reach_case_difference_most");
ABSENT_ZERO("unsnarl_reach_decimal");
ABSENT_ZERO("unsnarl_reach_number");
ABSENT_ZERO("unsnarl_reach_real");

/* The runtime alone has this one. */
extern char unsnarl_failure[] __attribute__((weak));

static void map(uint64_t at, uint64_t size)
{
	static const char words[] = "unsnarl: no address space for a library with hooks (a limit on virtual "
				    "memory, or vm.overcommit_memory=2?)\n";

	if (mmap((void *)at, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED) {
		madvise((void *)at, size, MADV_DONTDUMP);
		return;
	}
	if (write(2, words, sizeof words - 1) < 0)
		_exit(125);
	_exit(125);
}

/* Inlined hooks look at cells whether or not anybody observes. Before the constructors of those who need
 * this library. */
__attribute__((constructor)) static void start(void)
{
	if (unsnarl_failure)
		return;
	map(REGION_START, REGION_END - REGION_START);
	map(CELLS_START & ~4095ull, CELLS_SIZE + 4096);
	map((CELLS_START & ~4095ull) + UPPER_DISPLACEMENT, CELLS_SIZE + 4096);
}
