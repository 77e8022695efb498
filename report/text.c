/* Cleaning, measuring and cutting of text for terminals. A character gets out
 * only if it is known to be harmless: valid UTF-8 in a UTF-8 locale, printable,
 * and neither moving the cursor nor reordering or hiding its neighbours.
 */
#include "report/text.h"

#include <langinfo.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/memory.h"

#define LEAST_COLUMNS 60
#define MOST_COLUMNS 160

size_t text_decode(const char *bytes, size_t size, uint32_t *point)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	unsigned char lead = (unsigned char)bytes[0];
	size_t more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3; /* bytes that follow */

	*point = TEXT_BAD;
	if ((lead >= 0x80 && lead < 0xc0) || lead >= 0xf8 || more >= size)
		return 1;
	uint32_t value = more == 0 ? lead : lead & (0x3fu >> more);

	for (size_t i = 1; i <= more; i++) {
		unsigned char next = (unsigned char)bytes[i];

		if ((next & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (next & 0x3fu);
	}
	/* Overlong forms and surrogates are other names of characters: not let in. */
	if (value < least[more] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 1;
	*point = value;
	return more + 1;
}

bool text_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

const char *text_arrow(void)
{
	return text_utf8() ? "→" : "->";
}

/* Characters that move the cursor, reorder or hide text. */
static bool harmless(uint32_t point, bool utf8)
{
	if (point < 0x80)
		return point >= 0x20 && point != 0x7f;
	if (!utf8 || point < 0xa0 || point == TEXT_BAD)
		return false;
	if ((point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
	    (point >= 0x2060 && point <= 0x206f) || point == 0x061c || point == 0xfeff ||
	    (point >= 0xfff9 && point <= 0xfffb) || point >= 0xe0000)
		return false;
	return wcwidth((wchar_t)point) >= 0;
}

char *text_clean_size(const char *bytes, size_t size)
{
	char *clean = memory_alloc(size + 1), *to = clean;
	bool utf8 = text_utf8();

	while (size) {
		uint32_t point;
		size_t used = text_decode(bytes, size, &point);

		if (harmless(point, utf8)) {
			memcpy(to, bytes, used);
			to += used;
		} else {
			*to++ = point == '\t' || point == '\n' ? ' ' : '?';
		}
		bytes += used;
		size -= used;
	}
	*to = '\0';
	return clean;
}

char *text_clean(const char *bytes)
{
	return text_clean_size(bytes, strlen(bytes));
}

static int point_width(uint32_t point)
{
	return point < 0x80 ? 1 : wcwidth((wchar_t)point);
}

int text_width(const char *clean)
{
	size_t size = strlen(clean);
	int width = 0;

	while (size) {
		uint32_t point;
		size_t used = text_decode(clean, size, &point);

		width += point_width(point);
		clean += used;
		size -= used;
	}
	return width;
}

char *text_cut(const char *clean, int width, bool keep_end)
{
	const char *ellipsis = text_utf8() ? "…" : width > 6 ? "..." : "~";
	int surplus = text_width(clean) - width;

	if (surplus <= 0)
		return memory_string(clean);
	surplus += text_width(ellipsis);
	/* Where the kept part begins, or ends. */
	int skip = keep_end ? surplus : text_width(clean) - surplus, at = 0;
	const char *cut = clean;

	while (*cut) {
		uint32_t point;
		size_t used = text_decode(cut, strlen(cut), &point);
		int wide = point_width(point);

		if (keep_end ? at >= skip : at + wide > skip)
			break;
		at += wide;
		cut += used;
	}
	if (keep_end)
		return memory_format("%s%s", ellipsis, cut);
	return memory_format("%.*s%s", (int)(cut - clean), clean, ellipsis);
}

void text_pad(FILE *out, const char *clean, int width, bool right)
{
	int blanks = width - text_width(clean);

	if (blanks < 0)
		blanks = 0;
	fprintf(out, "%*s%s%*s", right ? blanks : 0, "", clean, right ? 0 : blanks, "");
}

int text_columns(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return 80;
	if (size.ws_col < LEAST_COLUMNS)
		return LEAST_COLUMNS;
	return size.ws_col > MOST_COLUMNS ? MOST_COLUMNS : size.ws_col;
}

char *text_cut_line(const char *clean, int beside)
{
	int columns = text_columns();

	return columns ? text_cut(clean, columns - beside, false) : memory_string(clean);
}

char *text_path(const char *path)
{
	char here[PATH_MAX];

	if (getcwd(here, sizeof here) && here[1]) {
		size_t length = strlen(here);

		if (!strncmp(path, here, length) && path[length] == '/')
			path += length + 1;
	}
	while (!strncmp(path, "./", 2))
		path += 2;
	return text_clean(path);
}

char *text_shell(const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+%@";

	_cleanup_free_ char *clean = text_clean(word);

	if (*clean && !clean[strspn(clean, plain)])
		return memory_string(clean);
	char *quoted = memory_alloc(strlen(clean) * 4 + 3), *to = quoted;

	*to++ = '\'';
	for (const char *from = clean; *from; from++) {
		if (*from == '\'') {
			memcpy(to, "'\\''", 4);
			to += 4;
		} else {
			*to++ = *from;
		}
	}
	*to = '\'';
	return quoted;
}
