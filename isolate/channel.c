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

struct error *channel_open(struct channel *channel)
{
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

void channel_close(struct channel *channel)
{
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
	snprintf(number, sizeof number, "%d", channel->fd);
	setenv(ISOLATE_ENVIRONMENT, number, 1);
	struct error *error = launch_run(&options, run);

	unsetenv(ISOLATE_ENVIRONMENT);
	return error;
}
