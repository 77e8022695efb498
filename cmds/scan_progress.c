/* Draws the stages of a scan. */
#include "cmds/scan_progress.h"

#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"
#include "report/candidate.h"

static void show(void *context, enum scan_stage stage, size_t done, size_t total)
{
	_cleanup_free_ char *words = scan_stage_words(stage, done, total);

	progress_show(context, stage, words);
}

struct error *scan_with_bar(const struct llvm_entrances *llvm, struct scan_options options, struct scan *out)
{
	_cleanup_(progress_stopp) struct progress *bar = progress_start(STDERR_FILENO, SCAN_STAGES);

	options.progress = bar ? show : NULL;
	options.context = bar;
	return llvm->static_scan(&options, out);
}
