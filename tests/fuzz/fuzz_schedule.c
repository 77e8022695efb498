/* Schedules as text, as --export writes them and replay reads them. What was understood
 * must be understood again, and be the same, when it is written and read once more. */
#include "tests/fuzz/fuzz.h"

#include "model/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct schedule first = { 0 }, second = { 0 };
	struct error *error = schedule_parse((const char *)data, size, "fuzz", &first);
	char *text = NULL;
	size_t length = 0;

	if (error) {
		error_free(error);
		schedule_free(&first);
		return 0;
	}
	FILE *out = open_memstream(&text, &length);

	schedule_write(out, &first, NULL, NULL);
	fclose(out);
	error = schedule_parse(text, length, "fuzz", &second);
	if (error || first.nturns != second.nturns ||
	    schedule_hash(first.turns, first.nturns) != schedule_hash(second.turns, second.nturns))
		abort();
	schedule_free(&first);
	schedule_free(&second);
	free(text);
	return 0;
}
