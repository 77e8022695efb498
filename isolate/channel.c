/* The memory file that runs inherit, and one run with it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "diagnose/retell.h"
#include "isolate/expression.h"
#include "isolate/isolate.h"

#include "base/memory.h"
#include "model/isolate_area.h"

/* All runs have an environment of the same length: else the first stack lies elsewhere, and with it the addresses
 * that are compared between runs. */
#define ENVIRONMENT_FORMAT "%5d"
static void set_no_channel(void)
{
	char number[16];

	snprintf(number, sizeof number, ENVIRONMENT_FORMAT, -1);
	setenv(ISOLATE_ENVIRONMENT, number, 1);
}

struct error *channel_open(struct channel *channel)
{
	set_no_channel();
	*channel = (struct channel){ .fd = memfd_create("unsnarl-isolate", 0) };
	if (channel->fd < 0 || ftruncate(channel->fd, sizeof *channel->area) < 0)
		return error_errno(errno, "cannot make the memory in which runs tell of their failure");
	channel->area = mmap(NULL, sizeof *channel->area, PROT_READ | PROT_WRITE, MAP_SHARED, channel->fd, 0);
	if (channel->area == MAP_FAILED) {
		channel->area = NULL;
		return error_errno(errno, "cannot map the memory in which runs tell of their failure");
	}
	channel->area->magic = ISOLATE_MAGIC;
	return NULL;
}

/* An expression is evaluated at the line; without one all that the line reads and writes is watched. */
static struct error *watch_line(struct channel *channel, const char *file, unsigned line, const char *program,
				const char *expression)
{
	struct symbols_range ranges[ISOLATE_WATCHED];
	struct symbols *symbols = symbols_new();
	size_t n = symbols_line_ranges(symbols, program, file, line, ranges, ISOLATE_WATCHED);
	struct error *error = NULL;

	n = n < ISOLATE_WATCHED ? n : ISOLATE_WATCHED;
	if (!n)
		error = error_new("%s has no code for line %u of %s, or no debug information: build it with "
				  "-g, and name a line that does something",
				  program, line, file);
	else if (expression)
		error = expression_compile(channel->area, symbols, program, ranges, n, expression);
	for (size_t i = 0; !expression && i < n; i++) {
		channel->area->watched[i].from = ranges[i].from;
		channel->area->watched[i].to = ranges[i].to;
	}
	channel->area->nwatched = expression ? 0 : (uint32_t)n;
	symbols_free(symbols);
	return error;
}

struct error *channel_watch(struct channel *channel, const char *watch, const char *program)
{
	const char *colon = strchr(watch, ':');
	char *end;

	if (!colon) {
		channel->area->watched_address = strtoull(watch, &end, 16);
		if (*end || end == watch || !channel->area->watched_address)
			return error_new("--watch wants FILE:LINE, FILE:LINE:EXPRESSION or an address like "
					 "0x4c20; %s is none of these",
					 watch);
		return NULL;
	}
	unsigned long line = strtoul(colon + 1, &end, 10);

	if (colon == watch || end == colon + 1 || !line || line > INT32_MAX || (*end && *end != ':'))
		return error_new("--watch wants FILE:LINE or FILE:LINE:EXPRESSION; there is no line in %s",
				 watch);
	if (*end && !end[1 + strspn(end + 1, " ")])
		return error_new("--watch wants an expression after the last colon of %s", watch);
	_cleanup_free_ char *file = memory_format("%.*s", (int)(colon - watch), watch);

	return watch_line(channel, file, (unsigned)line, program, *end ? end + 1 : NULL);
}

void channel_close(struct channel *channel)
{
	unsetenv(ISOLATE_ENVIRONMENT);
	if (channel->area)
		munmap(channel->area, sizeof *channel->area);
	if (channel->fd >= 0)
		close(channel->fd);
}

struct error *channel_run(struct channel *channel, const struct launch_options *launch,
			  const struct schedule *schedule, bool traced, struct run *run)
{
	struct launch_options options = schedule ? retell_strictly(launch, schedule) : *launch;
	const size_t told = offsetof(struct isolate_area, met), last = offsetof(struct isolate_area, led);
	char number[16];

	options.control.strict = 0;
	options.control.carry = 1;
	if (traced)
		options.area.observe |= OBSERVE_TRACE;
	memset((char *)channel->area + told, 0, last - told);
	snprintf(number, sizeof number, ENVIRONMENT_FORMAT, channel->fd);
	setenv(ISOLATE_ENVIRONMENT, number, 1);
	struct error *error = launch_run(&options, run);

	isolate_area_bound(channel->area);
	set_no_channel();
	return error;
}
