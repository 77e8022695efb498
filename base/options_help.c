/* The help pages, made from the same tables that parse the command lines, in
 * lines of at most 80 columns.
 */
#include <string.h>

#include "base/memory.h"
#include "base/options.h"

#define COLUMNS 80
#define HELP_COLUMN 24

void options_fill(FILE *out, const char *text, int indent, int at)
{
	bool fresh = true; /* nothing on this line yet */

	if (at < indent)
		fprintf(out, "%*s", indent - at, "");
	at = indent;
	while (*text) {
		int length = (int)strcspn(text, " \n");

		if (!fresh && at + 1 + length >= COLUMNS) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
			fresh = true;
		}
		fprintf(out, "%s%.*s", fresh ? "" : " ", length, text);
		at += length + !fresh;
		fresh = false;
		text += length;
		for (; *text == '\n' || *text == ' '; text++) {
			if (*text == '\n') {
				fputc('\n', out);
				/* No blanks on an empty line. */
				if (text[1] && text[1] != '\n')
					fprintf(out, "%*s", indent, "");
				at = indent;
				fresh = true;
			}
		}
	}
	fputc('\n', out);
}

static void print_entry(const struct options_entry *entry, FILE *out)
{
	char left[64] = "    ";
	const char *separator = entry->bare ? "[=" : " ";

	if (entry->letter)
		snprintf(left, sizeof left, "-%c, ", entry->letter);
	size_t used = strlen(left);

	snprintf(left + used, sizeof left - used, "--%s%s%s%s", entry->name, entry->value ? separator : "",
		 entry->value ? entry->value : "", entry->value && entry->bare ? "]" : "");
	fprintf(out, "  %s", left);
	int at = 2 + (int)strlen(left);

	if (at + 2 > HELP_COLUMN) {
		fputc('\n', out);
		at = 0;
	}
	options_fill(out, entry->help, HELP_COLUMN, at);
}

void options_help(const struct options_page *page, FILE *out)
{
	static const struct options_entry help = { .letter = 'h', .name = "help", .help = "this text" };

	fprintf(out, "Usage: unsnarl %s %s\n\n", page->verb, page->operands);
	options_fill(out, page->text, 0, 0);
	if (page->entries) {
		fprintf(out, "\nOptions:\n");
		for (const struct options_entry *e = page->entries; e->name; e++)
			print_entry(e, out);
		print_entry(&help, out);
	}
	if (page->examples)
		fprintf(out, "\nExamples:\n%s", page->examples);
}
