/* Rows of accesses: made one by one, measured together, printed in columns. On
 * a terminal names give way so that two columns and an excerpt fit; elsewhere
 * nothing but the excerpt is cut, because programs read it.
 */
#include "report/listing.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "report/words.h"

#define LEAD 7 /* columns before the location */
#define NARROW 80
#define LEAST_EXCERPT 9

/* NULL when the store does not know the site. */
static const struct site *find_site(struct listing *listing, uint32_t number)
{
	const struct site *site = NULL;
	struct error *error = store_site(listing->store, number, &site);

	error_free(error);
	return error ? NULL : site;
}

char *listing_location(struct listing *listing, uint32_t number)
{
	const struct site *site = find_site(listing, number);

	if (!site)
		return memory_format("site #%u", number);
	if (!site->line)
		return text_clean(*site->function ? site->function : "?");
	_cleanup_free_ char *path = text_path(site->file);

	return memory_format("%s:%u", path, site->line);
}

/* A location of at most `width` columns: folders are left out first. */
static char *short_location(const char *location, int width)
{
	const char *slash;

	while (text_width(location) > width && (slash = strchr(location + 1, '/')))
		location = slash + 1;
	return text_cut(location, width, true);
}

/* "file.c:12 function", cut when there is a width to keep. */
static char *where(struct listing *listing, uint32_t number, const struct site *site)
{
	_cleanup_free_ char *location = listing_location(listing, number);
	_cleanup_free_ char *function = text_clean(site ? site->function : "");
	int most = listing->width * 7 / 16;

	if (!most)
		return memory_format("%s%s%s", location, *function ? " " : "", function);
	_cleanup_free_ char *place = short_location(location, most * 2 / 3);
	int room = most - text_width(place) - 1;

	if (!*function || room < 4)
		return memory_string(place);
	_cleanup_free_ char *name = text_cut(function, room, false);

	return memory_format("%s %s", place, name);
}

static char *what(struct listing *listing, const struct site *site, uint32_t thread, const char *kind)
{
	char who[16] = "";

	if (thread != LISTING_NO_THREAD)
		snprintf(who, sizeof who, "T%u ", thread);
	_cleanup_free_ char *variable = text_clean(site ? site->variable : "");
	_cleanup_free_ char *all = memory_format("%s%s%s%s", who, kind, *variable ? " " : "", variable);

	return text_cut(all, listing->width > 0 ? listing->width * 5 / 16 : 1 << 20, false);
}

static struct listing_row *add_row(struct listing *listing, const char *lead)
{
	struct listing_row *row = VEC_PUSH(&listing->rows);

	snprintf(row->lead, sizeof row->lead, "%s", lead);
	return row;
}

void listing_access(struct listing *listing, const char *lead, uint32_t number, uint32_t thread,
		    const char *kind)
{
	struct listing_row *row = add_row(listing, lead);

	if (number == SITE_NIL) {
		row->where = memory_string("nil");
		row->what = memory_string("");
		return;
	}
	const struct site *site = find_site(listing, number);

	row->where = where(listing, number, site);
	row->what = what(listing, site, thread, kind ? kind : site ? words_site(site) : "access");
	row->text = site ? excerpt_line(&listing->excerpts, site->file, site->line) : NULL;
}

void listing_note(struct listing *listing, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	_cleanup_free_ char *raw = memory_vformat(format, arguments);
	va_end(arguments);
	add_row(listing, "")->text = text_clean(raw);
}

static void forget(struct listing *listing)
{
	for (size_t i = 0; i < listing->rows.n; i++) {
		free(listing->rows.items[i].where);
		free(listing->rows.items[i].what);
		free(listing->rows.items[i].text);
	}
	VEC_FREE(&listing->rows);
}

static void print_row(const struct listing_row *row, int where_width, int what_width, int line, FILE *out)
{
	int room = line - LEAD - where_width - what_width - 4;

	text_pad(out, row->lead, LEAD - 2, true);
	fprintf(out, "  ");
	if (!row->where) {
		fprintf(out, "%s\n", row->text);
		return;
	}
	bool excerpt = row->text && *row->text && room >= LEAST_EXCERPT;

	text_pad(out, row->where, *row->what || excerpt ? where_width + 2 : 0, false);
	text_pad(out, row->what, excerpt ? what_width + 2 : 0, false);
	if (excerpt) {
		_cleanup_free_ char *text = text_cut(row->text, room, false);

		fprintf(out, "%s", text);
	}
	fputc('\n', out);
}

void listing_print(struct listing *listing, FILE *out)
{
	int where_width = 0, what_width = 0;
	int line = listing->width > 0 ? listing->width : NARROW;

	for (size_t i = 0; i < listing->rows.n; i++) {
		const struct listing_row *row = &listing->rows.items[i];

		if (!row->where)
			continue;
		if (text_width(row->where) > where_width)
			where_width = text_width(row->where);
		if (text_width(row->what) > what_width)
			what_width = text_width(row->what);
	}
	/* Nothing is cut in a pipe, but excerpts still get some room. */
	if (listing->width == 0 && line < LEAD + where_width + what_width + 4 + 2 * LEAST_EXCERPT)
		line = LEAD + where_width + what_width + 4 + 2 * LEAST_EXCERPT;
	for (size_t i = 0; i < listing->rows.n; i++)
		print_row(&listing->rows.items[i], where_width, what_width, line, out);
	forget(listing);
}

void listing_free(struct listing *listing)
{
	forget(listing);
	excerpt_free(&listing->excerpts);
}
