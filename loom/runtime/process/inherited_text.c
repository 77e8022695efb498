/* Text that the runs of a fork server inherit. The kernel does not copy page tables of text at a fork: each run
 * faults it in anew, sixteen pages at a time, of which it needs one or two, and all of them are taken out again when
 * it ends. A run learns which pages are needed, and another one where runs of the program end in both ways; the
 * server then makes private copies of just these, which forks hand on. Only a mapping that is as it was in its file is
 * touched, and what cannot be learnt stays as it was. */
#include "loom/runtime/process/process.h"

#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PAGE 4096ull
#define IMAGES_MOST 64u   /* segments without write access that are looked at, */
#define PAGES_MOST 16384u /* and pages of them: 64 MiB */
#define RUNS_BEFORE 8u    /* runs of a server before one of them learns: few runs do not pay for it, */
#define LEARNERS_MOST 4u  /* which takes the time of three, and some do not end in a way that can be seen */
#define IS_THERE (1ull << 63) /* in the kernel's map of pages: in memory, */
#define IS_SWAPPED (1ull << 62)
#define IS_OF_FILE (1ull << 61) /* and not a private copy */

extern int __cxa_atexit(void (*function)(void *), void *argument, void *object);

static struct text_segment {
	uint64_t low, high;
} segments[IMAGES_MOST];
static uint32_t nsegments, npages, nruns, nlearners;
static uint8_t copied[PAGES_MOST]; /* pages that the server has as copies of its own */
static bool learnt[2];             /* of runs that end by themselves, of those that control ends */
static int page_map = -1;          /* of the run that learns */

/* Shared with it, beside the note and as that one where the program has nothing. */
#define LESSON_START (NOTE_START + 0x100000ull)
static struct lesson {
	uint8_t learnt[2];
	uint8_t needed[PAGES_MOST];
} *lesson;
_Static_assert(LESSON_START + sizeof(struct lesson) <= REGION_START, "the lesson lies on no table");

/* Calls look(page, its entry in the map of pages) for each page; false when the map cannot be read or look() ends it. */
static bool each_page(int map, bool (*look)(uint32_t page, uint64_t entry))
{
	uint64_t entries[64];
	uint32_t page = 0;
	for (uint32_t i = 0; i < nsegments; i++)
		for (uint64_t at = segments[i].low, n; at < segments[i].high; at += n * PAGE) {
			n = (segments[i].high - at) / PAGE;
			n = n < 64 ? n : 64;
			long bytes = (long)(n * sizeof *entries);
			if (raw_call(SYS_pread64, map, (long)entries, bytes,
				     (long)(at / PAGE * sizeof *entries), 0, 0) != bytes)
				return false;
			for (uint64_t k = 0; k < n; k++)
				if (!look(page++, entries[k]))
					return false;
		}
	return true;
}

static bool note_need(uint32_t page, uint64_t entry)
{
	lesson->needed[page] = (entry & IS_THERE) != 0;
	return true;
}

void text_learn(bool controlled)
{
	if (page_map >= 0 && each_page(page_map, note_need))
		lesson->learnt[controlled] = 1;
}

/* Behind the last exit handler. */
static void finish_lesson(void *nothing)
{
	(void)nothing;
	text_learn(false);
}

void text_prepare(void)
{
	__cxa_atexit(finish_lesson, NULL, NULL); /* no image's: it goes after the libraries' own */
}

static int add_image(struct dl_phdr_info *info, size_t size, void *nothing)
{
	(void)size;
	(void)nothing;
	uint64_t kernels = getauxval(AT_SYSINFO_EHDR);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t low = (info->dlpi_addr + segment->p_vaddr) & ~(PAGE - 1);
		uint64_t high =
			(info->dlpi_addr + segment->p_vaddr + segment->p_filesz + PAGE - 1) & ~(PAGE - 1);
		if (segment->p_type != PT_LOAD || segment->p_flags & PF_W || kernels - low < high - low ||
		    nsegments == IMAGES_MOST || (high - low) / PAGE > PAGES_MOST - npages)
			continue;
		segments[nsegments++] = (struct text_segment){ low, high };
		npages += (uint32_t)((high - low) / PAGE);
	}
	return 0;
}

/* Those that are not copies. */
static void drop_pages(void)
{
	for (uint32_t i = 0, page = 0; i < nsegments; i++)
		for (uint64_t at = segments[i].low, n; at < segments[i].high; at += n * PAGE, page += n) {
			n = 1;
			while (!copied[page] && at + n * PAGE < segments[i].high && !copied[page + n])
				n++;
			if (!copied[page])
				raw_call(SYS_madvise, (long)at, (long)(n * PAGE), MADV_DONTNEED, 0, 0, 0);
		}
}

static bool is_as_in_file(uint32_t page, uint64_t entry)
{
	return copied[page] || !(entry & (IS_THERE | IS_SWAPPED)) || entry & IS_OF_FILE;
}

static int open_here(const char *path, int flags)
{
	return (int)raw_call(SYS_open, (long)path, flags | O_CLOEXEC, 0, 0, 0, 0);
}

/* Are the server's own pages of text those of the files? Breakpoints, for one, are not. */
static bool all_as_in_file(void)
{
	int map = open_here("/proc/self/pagemap", O_RDONLY);
	bool same = map >= 0 && each_page(map, is_as_in_file);
	raw_call(SYS_close, map, 0, 0, 0, 0, 0);
	return same;
}

/* Writing a page's first byte as it is makes a private copy, and that alone: reading would bring its neighbours. */
static void copy_needed(void)
{
	static uint8_t bytes[PAGES_MOST];
	int memory = open_here("/proc/self/mem", O_RDWR);
	if (memory < 0)
		return;
	for (uint32_t i = 0, page = 0; i < nsegments; i++)
		for (uint64_t at = segments[i].low; at < segments[i].high; at += PAGE, page++)
			if (lesson->needed[page] && !copied[page])
				bytes[page] = *(const volatile uint8_t *)at;
	drop_pages();
	for (uint32_t i = 0, page = 0; i < nsegments; i++)
		for (uint64_t at = segments[i].low; at < segments[i].high; at += PAGE, page++)
			if (lesson->needed[page] && !copied[page] &&
			    raw_call(SYS_pwrite64, memory, (long)&bytes[page], 1, (long)at, 0, 0) == 1)
				copied[page] = 1;
	raw_call(SYS_close, memory, 0, 0, 0, 0, 0);
}

static void open_lesson(void)
{
	long at = raw_call(SYS_mmap, (long)LESSON_START, sizeof *lesson, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (at != (long)LESSON_START)
		return;
	if (!nsegments)
		dl_iterate_phdr(add_image, NULL);
	if (all_as_in_file())
		lesson = (struct lesson *)LESSON_START;
	else
		raw_call(SYS_munmap, at, sizeof *lesson, 0, 0, 0, 0);
}

/* What the last run has learnt, if it did. */
static void end_lesson(void)
{
	for (uint32_t i = 0; i < 2; i++)
		learnt[i] |= lesson->learnt[i];
	if ((lesson->learnt[0] || lesson->learnt[1]) && all_as_in_file())
		copy_needed();
	raw_call(SYS_munmap, (long)lesson, sizeof *lesson, 0, 0, 0, 0);
	lesson = NULL;
}

void text_before_run(bool controlled)
{
	if (lesson)
		end_lesson();
	if (++nruns < RUNS_BEFORE || learnt[controlled] || nlearners == LEARNERS_MOST)
		return;
	nlearners++;
	open_lesson();
}

/* A run begins that learns, if there is a lesson. Pages with another advice than their neighbours are mappings of
 * their own, beyond which the kernel brings nothing. `number`: of a descriptor that the program does not expect. */
void text_begin_run(int number)
{
	if (!lesson)
		return;
	int map = open_here("/proc/self/pagemap", O_RDONLY);
	page_map = (int)raw_call(SYS_fcntl, map, F_DUPFD_CLOEXEC, number, 0, 0, 0);
	raw_call(SYS_close, map, 0, 0, 0, 0, 0);
	if (page_map < 0)
		return;
	for (uint32_t i = 0; i < nsegments; i++)
		for (uint64_t at = segments[i].low; at < segments[i].high; at += 2 * PAGE)
			raw_call(SYS_madvise, (long)at, PAGE, MADV_RANDOM, 0, 0, 0);
	drop_pages();
}
