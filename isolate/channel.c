/* The memory file that runs inherit, and one run with it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "diagnose/retell.h"
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

static struct error *watch_line(struct channel *channel, const char *watch, const char *program,
				const char *colon, unsigned line)
{
	struct symbols_range ranges[ISOLATE_WATCHED];
	struct symbols *symbols = symbols_new();
	_cleanup_free_ char *file = memory_format("%.*s", (int)(colon - watch), watch);
	size_t n = symbols_line_ranges(symbols, program, file, line, ranges, ISOLATE_WATCHED);

	symbols_free(symbols);
	if (!n)
		return error_new(
			"%s has no code for line %u of %s, or no debug information: build it with -g, and "
			"name a line that does something",
			program, line, file);
	for (size_t i = 0; i < n && i < ISOLATE_WATCHED; i++) {
		channel->area->watched[i].from = ranges[i].from;
		channel->area->watched[i].to = ranges[i].to;
	}
	channel->area->nwatched = (uint32_t)(n < ISOLATE_WATCHED ? n : ISOLATE_WATCHED);
	return NULL;
}

struct error *channel_watch(struct channel *channel, const char *watch, const char *program,
			    const char **variable)
{
	const char *colon = strchr(watch, ':');
	char *end;

	*variable = NULL;
	if (!colon) {
		channel->area->watched_address = strtoull(watch, &end, 16);
		if (*end || end == watch || !channel->area->watched_address)
			return error_new("--watch wants FILE:LINE, FILE:LINE:VARIABLE or an address like "
					 "0x4c20; %s is "
					 "none of these",
					 watch);
		return NULL;
	}
	unsigned long line = strtoul(colon + 1, &end, 10);

	if (colon == watch || end == colon + 1 || !line || line > INT32_MAX || (*end && *end != ':'))
		return error_new("--watch wants FILE:LINE or FILE:LINE:VARIABLE; there is no line in %s",
				 watch);
	*variable = *end && end[1] ? end + 1 : NULL;
	if (*variable && strpbrk(*variable, "+/%&|!?=<,;() "))
		return error_new("--watch wants the name of a variable after the line; %s is an expression",
				 *variable);
	return watch_line(channel, watch, program, colon, (unsigned)line);
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
	const size_t told = offsetof(struct isolate_area, met);
	char number[16];

	options.control.strict = 0;
	options.control.carry = 1;
	if (traced)
		options.area.observe |= OBSERVE_TRACE;
	memset((char *)channel->area + told, 0, sizeof *channel->area - told);
	snprintf(number, sizeof number, ENVIRONMENT_FORMAT, channel->fd);
	setenv(ISOLATE_ENVIRONMENT, number, 1);
	struct error *error = launch_run(&options, run);

	isolate_area_bound(channel->area);
	set_no_channel();
	return error;
}
