/* The bitcode in objects and programs: the sections, their tables and what is packed in them. */
#include "tests/fuzz/fuzz.h"

#include "base/error.h"
#include "static/bitcode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file file = fuzz_file(data, size);
	struct bitcodes bitcodes = { 0 };

	error_free(bitcode_read(file.path, &bitcodes));
	bitcode_free(&bitcodes);
	close(file.fd);
	return 0;
}
