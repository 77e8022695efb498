/* The end of a story in which an access does not keep to a heap block: where the block
 * was allocated and freed, and who touched it how.
 */
#include "report/story.h"

#include <inttypes.h>

#include "base/memory.h"
#include "report/answer.h"
#include "report/words.h"

/* "the block's 24 bytes", with what the access has to do with them. */
static char *what_is_wrong(const struct schedule_fault *fault)
{
	_cleanup_free_ char *bytes = words_count(fault->size, "byte", "bytes");
	_cleanup_free_ char *all = words_count(fault->block, "byte", "bytes");
	const char *verb = fault->write ? "writes" : "reads";

	if (fault->kind == MEMORY_DOUBLE_FREE)
		return memory_format("T%u frees a block of %s that was freed before.", fault->thread, all);
	if (fault->kind == MEMORY_USE_AFTER_FREE)
		return memory_format("T%u %s %s at offset %" PRId64 " of a block of %s that was freed.",
				     fault->thread, verb, bytes, fault->offset, all);
	if (fault->offset < 0)
		return memory_format("T%u %s %s, from %" PRId64 " before the start of a block of %s on.",
				     fault->thread, verb, bytes, -fault->offset, all);
	return memory_format("T%u %s %s at offset %" PRId64 " of a block of %s.", fault->thread, verb, bytes,
			     fault->offset, all);
}

static void print_step(const struct story *story, uint32_t thread, const char *did, uint64_t site, FILE *out)
{
	_cleanup_free_ char *where = story_place(story, site);

	if (thread == THREAD_NONE)
		fprintf(out, "  %s at %s\n", did, where);
	else
		fprintf(out, "  T%u %s at %s\n", thread, did, where);
	story_print_line(story, site, out);
}

void story_print_fault(const struct story *story, FILE *out)
{
	const struct schedule_fault *fault = &story->schedule->fault;

	if (fault->kind == MEMORY_NO_FAULT)
		return;
	_cleanup_free_ char *what = what_is_wrong(fault);

	fprintf(out, "%s\n", what);
	if (fault->born_thread != THREAD_NONE)
		print_step(story, fault->born_thread, "allocated it", fault->born_site, out);
	if (fault->freed_thread != THREAD_NONE)
		print_step(story, fault->freed_thread, "freed it", fault->freed_site, out);
	print_step(story, fault->thread, fault->kind == MEMORY_DOUBLE_FREE ? "frees it again" : "uses it",
		   fault->site, out);
	fprintf(out, "\n");
}

void story_json_fault(const struct story *story, json_t *accesses)
{
	const struct schedule_fault *fault = &story->schedule->fault;

	if (fault->kind == MEMORY_NO_FAULT)
		return;
	if (fault->born_thread != THREAD_NONE)
		story_add_access(accesses, story, fault->born_thread, "allocate", fault->born_site);
	if (fault->freed_thread != THREAD_NONE)
		story_add_access(accesses, story, fault->freed_thread, "free", fault->freed_site);
	story_add_access(accesses, story, fault->thread,
			 fault->kind == MEMORY_DOUBLE_FREE ? "free"
			 : fault->write                    ? "write"
							   : "read",
			 fault->site);
}
