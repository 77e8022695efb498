/* Claims as text, as --claim reads them. What was understood makes sense, and is the same when it is
 * written and read once more. */
#include "tests/fuzz/fuzz.h"

#include "base/error.h"
#include "model/claim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct claim first, second;
	struct error *error = claim_parse((const char *)data, size, "fuzz", &first);

	if (error) {
		error_free(error);
		return 0;
	}
	if (!claim_is_sound(&first))
		abort();
	char *text = claim_text(&first);

	error = claim_parse(text, strlen(text), "fuzz", &second);
	if (error)
		abort();
	char *again = claim_text(&second);

	if (strcmp(text, again) != 0)
		abort();
	free(text);
	free(again);
	return 0;
}
