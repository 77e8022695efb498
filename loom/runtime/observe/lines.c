/* Edges between 64-byte lines: BUGABOO's coarser granularity, as a cache would
 * see it. Used instead of exact locations when the run asks for it; the exact
 * cells go on to serve pairs and predecessors. */
#include "loom/runtime/observe/cells.h"

#include "model/run.h" /* enum context_event */

struct line {
	uint64_t write;   /* event word of the last writer */
	uint16_t context; /* of the last writer */
	uint16_t lock;
	uint32_t readers; /* slots that read since the write, one bit each, slot modulo 32 */
};

void lines_start(void)
{
	if (runtime.options.line & AREA_MACHINE)
		machine_start();
	else
		runtime_map(LINES_START, LINES_SIZE);
}

/* Those that have ended too: they read it all the same. Beyond 31 threads several share a bit: then all of
 * them count as readers. */
static void meet_readers(struct thread *self, uint32_t readers)
{
	for (uint32_t slot = 1; readers && slot < SLOT_GONE; slot++)
		if (readers >> slot % 32 & 1 && slot != self->slot &&
		    RELAXED_GET(runtime.threads[slot].state) != THREAD_FREE)
			context_meet(self, slot, ACCESS_WRITE);
}

static void touch_line(struct thread *self, struct line *line, uint64_t word, enum access access)
{
	uint32_t bit = 1u << self->slot % 32;
	bool write = access == ACCESS_WRITE, first = write || !(line->readers & bit);
	uint32_t context = self->context;
	if (line->write && WORD_SLOT(line->write) != self->slot) {
		observe_edge(self, WORD_SITE(line->write), line->context, WORD_SITE(word), context, write);
		if (first)
			context_meet(self, WORD_SLOT(line->write), access);
	} else if (!line->write && !write && first) {
		observe_edge(self, 0, 0, WORD_SITE(word), context, false);
	}
	if (write)
		meet_readers(self, line->readers);
	context_end(self, access);
	if (write) {
		line->write = word;
		line->context = (uint16_t)context;
		line->readers = 0;
	} else {
		line->readers |= bit;
	}
}

void lines_access(struct thread *self, uint64_t word, uint64_t address, size_t size, enum access access)
{
	/* Called inside trace_begin/trace_end: one access at a time. */
	if (runtime.options.line & AREA_MACHINE) {
		machine_see(self, word, address, size, access);
		return;
	}
	for (uint64_t at = address & ~63ull; at < address + size; at += 64)
		touch_line(self, (struct line *)(LINES_START + ((at & ADDRESS_MASK) >> 2)), word, access);
}
