/* One message of a SOCK_SEQPACKET holds up to WORKER_HELD_MOST reports; a descriptor goes with
 * the last of them. None is held for longer than a moment, so that whoever watches a hunt
 * sees it go on.
 */
#include "loom/post.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/memory.h"
#include "loom/watch.h"

#define HOLD_S 0.02 /* longest that a report waits for others */

void post_open(struct post *post, int socket)
{
	*post = (struct post){ .socket = socket, .bytes = memory_alloc(WORKER_MESSAGE_SIZE) };
}

static void send_with(struct post *post, int area)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} beside = { .bytes = { 0 } };
	struct iovec part = { post->bytes, post->size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (area >= 0) {
		message.msg_control = &beside;
		message.msg_controllen = sizeof beside;
		beside.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						  .cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&beside.header), &area, sizeof(int));
	}
	ssize_t sent;

	do {
		sent = sendmsg(post->socket, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	/* The parent is gone or has lost interest; anything else it cannot be told. */
	post->broken |= sent < 0;
	post->n = post->size = 0;
}

void post_send(struct post *post)
{
	if (post->n)
		send_with(post, -1);
}

static void append(struct post *post, const void *bytes, size_t size)
{
	memcpy(post->bytes + post->size, bytes, size);
	post->size += size;
}

static void append_text(struct post *post, const char *text, size_t size)
{
	if (!size)
		return;
	append(post, text, size);
	post->bytes[post->size - 1] = '\0'; /* also where it was cut off */
}

static uint32_t text_size(const char *text, size_t limit)
{
	return text ? (uint32_t)(strnlen(text, limit - 1) + 1) : 0;
}

void post_put(struct post *post, struct worker_report *report, const char *reason, const char *output,
	      int area)
{
	report->sent = area >= 0;
	report->reason_size = text_size(reason, WORKER_REASON_SIZE);
	report->output_size = text_size(output, WORKER_OUTPUT_SIZE);
	if (!post->n++)
		post->since = watch_now();
	append(post, report, sizeof *report);
	append_text(post, reason, report->reason_size);
	append_text(post, output, report->output_size);
	if (area >= 0 || post->n == WORKER_HELD_MOST || watch_now() > post->since + HOLD_S)
		send_with(post, area);
}
