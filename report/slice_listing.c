/* Walks the source files of a slice line by line. A file that is not there any more is
 * named and left out. */
#include "report/slice_listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/answer.h"
#include "report/text.h"

static const struct slice_line *line_of(const struct slice_report *report, const char *file, uint32_t line)
{
	for (size_t i = 0; i < report->lines.n; i++)
		if (report->lines.items[i].line == line && strcmp(report->lines.items[i].file, file) == 0)
			return &report->lines.items[i];
	return NULL;
}

static char mark_of(const struct slice_line *line)
{
	if (!line)
		return ' ';
	return line->criterion ? '>' : line->kept ? '+' : '-';
}

/* The first of the lines of its file: the file is shown there. */
static bool is_first(const struct slice_report *report, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (strcmp(report->lines.items[i].file, report->lines.items[number].file) == 0)
			return false;
	return true;
}

typedef void show_line(FILE *out, char mark, uint32_t number, const char *text);

static void show_file(const struct slice_report *report, const char *file, show_line *show, FILE *out)
{
	_cleanup_fclose_ FILE *source = fopen(file, "r");
	_cleanup_free_ char *text = NULL;
	size_t room = 0;

	for (uint32_t number = 1; source && getline(&text, &room, source) >= 0; number++) {
		text[strcspn(text, "\n")] = '\0';
		show(out, mark_of(line_of(report, file, number)), number, text);
	}
}

static void print_line(FILE *out, char mark, uint32_t number, const char *text)
{
	_cleanup_free_ char *clean = text_clean(text);

	fprintf(out, "%c %5u  %s\n", mark, number, clean);
}

void slice_listing_print(const struct slice_report *report, FILE *out)
{
	for (size_t i = 0; i < report->lines.n; i++) {
		const char *file = report->lines.items[i].file;
		_cleanup_free_ char *path = text_path(file);

		if (!is_first(report, i))
			continue;
		fprintf(out, "\n%s   (> candidate, + kept, - dropped)\n", path);
		show_file(report, file, print_line, out);
	}
}

static void escape(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
}

static void page_line(FILE *out, char mark, uint32_t number, const char *text)
{
	const char *class = mark == '>'   ? "criterion"
			    : mark == '+' ? "kept"
			    : mark == '-' ? "dropped"
					  : "none";

	fprintf(out, "<div class=\"%s\"><span>%u</span>", class, number);
	escape(out, text);
	fputs("</div>\n", out);
}

struct error *slice_listing_page(const struct slice_report *report, const struct candidate *candidate,
				 const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out)
		return error_errno(errno, "cannot write %s", path);
	fputs("<!doctype html><meta charset=\"utf-8\"><title>slice</title><style>body{font:14px/1.4 "
	      "monospace}"
	      "div{white-space:pre}span{display:inline-block;width:5em;color:#888}.kept{background:#eaf6ea}"
	      ".dropped{color:#bbb;text-decoration:line-through}.criterion{background:#ffe0a0;font-weight:"
	      "bold}"
	      ".none{color:#666}</style><h1>",
	      out);
	escape(out, candidate->variable);
	fprintf(out, "</h1><p>%zu of %zu instructions kept</p>\n", report->instructions_kept,
		report->instructions);
	for (size_t i = 0; i < report->lines.n; i++) {
		if (!is_first(report, i))
			continue;
		fputs("<h2>", out);
		escape(out, report->lines.items[i].file);
		fputs("</h2>\n", out);
		show_file(report, report->lines.items[i].file, page_line, out);
	}
	if (fclose(out) != 0)
		return error_errno(errno, "cannot write %s", path);
	return NULL;
}

json_t *slice_listing_json(const struct slice_report *report)
{
	json_t *all = json_array();

	for (size_t i = 0; i < report->lines.n; i++) {
		const struct slice_line *line = &report->lines.items[i];
		json_t *one = json_object();

		json_object_set_new(one, "file", answer_text(line->file));
		json_object_set_new(one, "line", json_integer(line->line));
		json_object_set_new(one, "kept", json_boolean(line->kept));
		json_object_set_new(one, "criterion", json_boolean(line->criterion));
		json_array_append_new(all, one);
	}
	return all;
}
