/* stdio over pipes, sockets and terminals, under control. libc reads and writes there by calls of its
 * own that nobody can stand before, so what may have to wait is done here: wait, let libc fill its
 * buffer once, take what is there. Streams on ordinary files go straight to libc. Formatted reading
 * waits for its first byte only; for the rest of its input it waits in reality. */
#include "loom/runtime/sync/blocking.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* glibc's, in _flags */
#define STREAM_FAILED 0x20
#define STREAM_PUSHED_BACK 0x100

extern int __uflow(FILE *stream);

static size_t stream_holds(const FILE *stream)
{
	return (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
}

/* Would reading go to the file, and may that wait? */
static bool reading_waits(FILE *stream)
{
	if (stream_holds(stream) ||
	    (stream->_flags & STREAM_PUSHED_BACK && stream->_IO_save_base < stream->_IO_save_end))
		return false;
	return blocking_can_wait(fileno_unlocked(stream));
}

static bool is_in_use(const FILE *stream, const struct agent *me)
{
	for (uint32_t i = 0; i < control.nready; i++)
		if (control.ready[i] != me && control.ready[i]->stream == stream)
			return true;
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->stream == stream)
			return true;
	return false;
}

/* libc's lock of the stream is not held while its thread waits: this stands for it. */
static void stream_enter(struct agent *me, FILE *stream)
{
	blocking_point(me, fileno_unlocked(stream));
	while (is_in_use(stream, me)) {
		control_wait(me, WAIT_INPUT, (uint64_t)stream, NEVER);
		cancel_point(me);
	}
	me->stream = stream;
}

static void stream_leave(struct agent *me)
{
	uint64_t stream = (uint64_t)me->stream;
	me->stream = NULL;
	control_wake(WAIT_INPUT, stream);
	blocking_moved();
}

static bool stream_fill(struct agent *me, FILE *stream)
{
	if (!reading_waits(stream) || blocking_await(me, fileno_unlocked(stream), POLLIN, NEVER))
		return true;
	stream->_flags |= STREAM_FAILED;
	return false;
}

/* The next byte, or EOF. */
static int stream_next(struct agent *me, FILE *stream)
{
	if (stream_holds(stream))
		return (unsigned char)*stream->_IO_read_ptr++;
	if (!stream_fill(me, stream))
		return EOF;
	int byte = REAL(__uflow)(stream);
	control_call(me, stream);
	return byte;
}

/* Bytes up to and with `end`, at most `most`; *stopped when there are no more. */
static size_t stream_take(struct agent *me, FILE *stream, char *to, size_t most, int end, bool *stopped)
{
	size_t done = 0;
	*stopped = false;
	while (done < most) {
		size_t piece = stream_holds(stream) < most - done ? stream_holds(stream) : most - done;
		const char *found = piece && end != EOF ? memchr(stream->_IO_read_ptr, end, piece) : NULL;
		if (found)
			piece = (size_t)(found - stream->_IO_read_ptr) + 1;
		memcpy(to + done, stream->_IO_read_ptr, piece);
		stream->_IO_read_ptr += piece;
		done += piece;
		if (found || done == most)
			break;
		int byte = stream_next(me, stream);
		*stopped = byte == EOF;
		if (byte == EOF)
			break;
		to[done++] = (char)byte;
		if (byte == end)
			break;
	}
	return done;
}

/* The caller's agent when the call may wait, else NULL. */
static struct agent *stream_me(FILE *stream)
{
	struct agent *me = control_me();
	return me && stream && blocking_can_wait(fileno_unlocked(stream)) ? me : NULL;
}

/* ---- reading ---- */

static char *take_line(struct agent *me, char *line, int size, FILE *stream)
{
	bool stopped;
	if (size <= 0)
		return NULL;
	stream_enter(me, stream);
	int before = stream->_flags & STREAM_FAILED;
	stream->_flags &= ~STREAM_FAILED;
	size_t n = stream_take(me, stream, line, (size_t)size - 1, '\n', &stopped);
	bool failed = stream->_flags & STREAM_FAILED && errno != EAGAIN;
	stream->_flags |= before;
	stream_leave(me);
	if ((n == 0 && size > 1) || failed)
		return NULL;
	line[n] = '\0';
	return line;
}

INTERPOSE char *fgets(char *line, int size, FILE *stream)
{
	struct agent *me = stream_me(stream);
	return me ? take_line(me, line, size, stream) : REAL(fgets)(line, size, stream);
}

static size_t take_block(struct agent *me, void *to, size_t size, size_t n, FILE *stream)
{
	bool stopped;
	if (!size || !n)
		return 0;
	stream_enter(me, stream);
	size_t done = stream_take(me, stream, to, size * n, EOF, &stopped);
	stream_leave(me);
	return done / size;
}

INTERPOSE size_t fread(void *to, size_t size, size_t n, FILE *stream)
{
	struct agent *me = stream_me(stream);
	return me ? take_block(me, to, size, n, stream) : REAL(fread)(to, size, n, stream);
}

static int take_byte(struct agent *me, FILE *stream)
{
	stream_enter(me, stream);
	int byte = stream_next(me, stream);
	stream_leave(me);
	return byte;
}

INTERPOSE int fgetc(FILE *stream)
{
	struct agent *me = stream_holds(stream) ? NULL : stream_me(stream);
	return me ? take_byte(me, stream) : REAL(fgetc)(stream);
}

INTERPOSE int getc(FILE *stream)
{
	struct agent *me = stream_holds(stream) ? NULL : stream_me(stream);
	return me ? take_byte(me, stream) : REAL(getc)(stream);
}

/* Headers have definitions of their own of this and of getline, under their names. */
INTERPOSE int stream_getchar(void) __asm__("getchar");
int stream_getchar(void)
{
	struct agent *me = stream_holds(stdin) ? NULL : stream_me(stdin);
	return me ? take_byte(me, stdin) : REAL(fgetc)(stdin);
}

/* What compiled code calls when getc_unlocked finds the buffer empty. */
INTERPOSE int __uflow(FILE *stream)
{
	struct agent *me = control_me();
	if (me && reading_waits(stream) && !stream_fill(me, stream))
		return EOF;
	return REAL(__uflow)(stream);
}

/* Room for one more byte and the end; false when there is no memory. */
static bool line_grows(char **line, size_t *size, size_t used)
{
	if (*line && used + 2 <= *size)
		return true;
	size_t more = used + 2 > 60 ? 2 * (used + 2) : 120;
	char *grown = realloc(*line, more);
	if (!grown)
		return false;
	*line = grown;
	*size = more;
	return true;
}

static ssize_t take_field(struct agent *me, char **line, size_t *size, int end, FILE *stream)
{
	size_t used = 0;
	int byte = 0;
	if (!line || !size) {
		errno = EINVAL;
		return -1;
	}
	if (!*line)
		*size = 0;
	stream_enter(me, stream);
	while (line_grows(line, size, used) && (byte = stream_next(me, stream)) != EOF) {
		(*line)[used++] = (char)byte;
		if (byte == end)
			break;
	}
	stream_leave(me);
	if (!used)
		return -1;
	(*line)[used] = '\0';
	return (ssize_t)used;
}

INTERPOSE ssize_t getdelim(char **line, size_t *size, int end, FILE *stream)
{
	struct agent *me = stream_me(stream);
	return me ? take_field(me, line, size, end, stream) : REAL(getdelim)(line, size, end, stream);
}

INTERPOSE ssize_t __getdelim(char **line, size_t *size, int end, FILE *stream)
{
	return getdelim(line, size, end, stream);
}

INTERPOSE ssize_t stream_getline(char **line, size_t *size, FILE *stream) __asm__("getline");
ssize_t stream_getline(char **line, size_t *size, FILE *stream)
{
	return getdelim(line, size, '\n', stream);
}

/* ---- formatted reading ---- */

static void scan_waits(FILE *stream)
{
	struct agent *me = stream_me(stream);
	if (!me)
		return;
	stream_enter(me, stream);
	stream_fill(me, stream);
	stream_leave(me);
}

extern int __isoc99_vfscanf(FILE *stream, const char *format, va_list list);

INTERPOSE int __isoc99_fscanf(FILE *stream, const char *format, ...)
{
	va_list list;
	scan_waits(stream);
	va_start(list, format);
	int result = __isoc99_vfscanf(stream, format, list);
	va_end(list);
	return result;
}

INTERPOSE int __isoc99_scanf(const char *format, ...)
{
	va_list list;
	scan_waits(stdin);
	va_start(list, format);
	int result = __isoc99_vfscanf(stdin, format, list);
	va_end(list);
	return result;
}

/* ---- writing ---- */

/* A pipe that says it has room takes this much. */
static bool stream_has_room(struct agent *me, FILE *stream)
{
	if (blocking_await(me, fileno_unlocked(stream), POLLOUT, NEVER))
		return true;
	stream->_flags |= STREAM_FAILED;
	return false;
}

static size_t put_block(struct agent *me, const char *from, size_t size, FILE *stream)
{
	size_t done = 0;
	while (done < size) {
		size_t piece = size - done < PIPE_BUF ? size - done : PIPE_BUF, n;
		size_t room = (size_t)(stream->_IO_buf_end - stream->_IO_write_ptr);
		blocking_point(me, fileno_unlocked(stream));
		if (stream->_IO_write_ptr > stream->_IO_write_base && piece >= room &&
		    (!stream_has_room(me, stream) || REAL(fflush)(stream) != 0))
			break;
		if (!stream_has_room(me, stream))
			break;
		n = REAL(fwrite)(from + done, 1, piece, stream);
		blocking_moved();
		done += n;
		if (n != piece)
			break;
	}
	return done;
}

INTERPOSE size_t fwrite(const void *from, size_t size, size_t n, FILE *stream)
{
	struct agent *me = stream_me(stream);
	if (!me || !size || !n)
		return REAL(fwrite)(from, size, n, stream);
	size_t done = put_block(me, from, size * n, stream);
	return done == size * n ? n : done / size;
}

/* There is room for what the stream holds back. */
static void drain(struct agent *me, FILE *stream)
{
	blocking_point(me, fileno_unlocked(stream));
	if (stream->_IO_write_ptr > stream->_IO_write_base)
		stream_has_room(me, stream);
}

INTERPOSE int fflush(FILE *stream)
{
	struct agent *me = stream_me(stream);
	if (me)
		drain(me, stream);
	int result = REAL(fflush)(stream);
	if (control_me())
		blocking_moved();
	return result;
}

INTERPOSE int fclose(FILE *stream)
{
	struct agent *me = stream_me(stream);
	if (me)
		drain(me, stream);
	int result = REAL(fclose)(stream);
	if (control_me())
		blocking_moved();
	return result;
}

/* A byte that makes the buffer full sends it away. */
static void put_waits(FILE *stream)
{
	struct agent *me = stream->_IO_write_ptr >= stream->_IO_write_end ? stream_me(stream) : NULL;
	if (me)
		drain(me, stream);
}

INTERPOSE int fputc(int byte, FILE *stream)
{
	put_waits(stream);
	return REAL(fputc)(byte, stream);
}

INTERPOSE int putc(int byte, FILE *stream)
{
	put_waits(stream);
	return REAL(putc)(byte, stream);
}
