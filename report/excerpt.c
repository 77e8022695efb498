/* Reads each source file once and remembers where its lines begin. The names
 * come from site tables and may point anywhere: only regular files of moderate
 * size are read, and nothing is ever waited for.
 */
#include "report/excerpt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/text.h"

#define LARGEST_FILE (16 << 20)

struct excerpt_file {
	char *name; /* as the sites call it */
	char *text; /* NULL when it could not be read */
	size_t size;
	int64_t changed;   /* Unix time, microseconds */
	VEC(size_t) lines; /* where each begins */
};

/* Fills text, size and changed; leaves them alone when that fails. */
static bool load(struct excerpt_file *file, const char *path)
{
	/* Nonblocking: the name of a pipe must not hold us up. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat about;
	size_t at = 0;

	if (fd < 0 || fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) || about.st_size > LARGEST_FILE)
		return false;
	_cleanup_free_ char *text = memory_alloc((size_t)about.st_size + 1);

	while (at < (size_t)about.st_size) {
		ssize_t got = read(fd, text + at, (size_t)about.st_size - at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		at += (size_t)got;
	}
	file->text = text;
	text = NULL;
	file->size = at;
	file->changed = (int64_t)about.st_mtim.tv_sec * 1000000 + about.st_mtim.tv_nsec / 1000;
	return true;
}

static struct excerpt_file *read_file(struct excerpts *excerpts, const char *name)
{
	struct excerpt_file *file = memory_alloc(sizeof *file);

	*VEC_PUSH(&excerpts->files) = file;
	file->name = memory_string(name);
	if (!load(file, name)) {
		if (name[0] == '/' || !excerpts->folder)
			return file;
		_cleanup_free_ char *path = memory_format("%s/%s", excerpts->folder, name);

		if (!load(file, path))
			return file;
	}
	for (size_t at = 0; at < file->size;) {
		*VEC_PUSH(&file->lines) = at;
		const char *end = memchr(file->text + at, '\n', file->size - at);

		at = end ? (size_t)(end - file->text) + 1 : file->size;
	}
	return file;
}

char *excerpt_line(struct excerpts *excerpts, const char *name, uint32_t line)
{
	struct excerpt_file *file = NULL;

	if (!*name || line == 0)
		return NULL;
	for (size_t i = 0; i < excerpts->files.n && !file; i++)
		if (!strcmp(excerpts->files.items[i]->name, name))
			file = excerpts->files.items[i];
	if (!file)
		file = read_file(excerpts, name);
	if (line > file->lines.n)
		return NULL;
	const char *text = file->text + file->lines.items[line - 1];
	size_t size = line < file->lines.n ? file->lines.items[line] : file->size;

	size -= file->lines.items[line - 1];
	while (size && strchr(" \t\r\n", text[size - 1]))
		size--;
	while (size && strchr(" \t", *text)) {
		text++;
		size--;
	}
	return text_clean_size(text, size);
}

const char *excerpt_changed(const struct excerpts *excerpts, int64_t time)
{
	for (size_t i = 0; i < excerpts->files.n; i++)
		if (excerpts->files.items[i]->text && excerpts->files.items[i]->changed > time)
			return excerpts->files.items[i]->name;
	return NULL;
}

void excerpt_free(struct excerpts *excerpts)
{
	for (size_t i = 0; i < excerpts->files.n; i++) {
		struct excerpt_file *file = excerpts->files.items[i];

		free(file->name);
		free(file->text);
		VEC_FREE(&file->lines);
		free(file);
	}
	VEC_FREE(&excerpts->files);
	free(excerpts->folder);
	excerpts->folder = NULL;
}
