/* Shows a program's own words. They may hold anything: they are cleaned and cut.
 */
#include "report/said.h"

#include <string.h>

#include "base/memory.h"
#include "report/text.h"

#define WIDTH 80

void said_print(const char *output, int lines, int indent, FILE *out)
{
	const char *at = output ? output + strlen(output) : NULL;

	if (!output || !*output)
		return;
	if (at[-1] == '\n')
		at--;
	while (at > output && (at[-1] != '\n' || --lines > 0))
		at--;
	while (*at) {
		size_t length = strcspn(at, "\n");
		_cleanup_free_ char *clean = text_clean_size(at, length);
		_cleanup_free_ char *line = text_cut(clean, WIDTH - 4 - indent, false);

		fprintf(out, "%*s  | %s\n", indent, "", line);
		at += length + (at[length] == '\n');
	}
}
