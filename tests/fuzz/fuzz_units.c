/* Site tables: a table alone, and the ELF file that holds it. */
#include "tests/fuzz/fuzz.h"

#include "model/site.h"

static void read_all(const struct unit *unit)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < unit->nsites; i++) {
		const struct site *site = &unit->sites[i];

		bytes += strlen(site->function) + strlen(site->file) + strlen(site->variable) +
			 (site->through ? (size_t)site_through_length(site->through) : 0) + site_frees(site);
		if (!site_kind_name(site->kind))
			abort();
	}
	if (bytes == SIZE_MAX)
		abort();
}

static void read_elf(const void *bytes, size_t size)
{
	struct fuzz_file file = fuzz_file(bytes, size);
	struct unit *units = NULL;
	size_t n = 0;

	error_free(unit_read_elf(file.path, &units, &n));
	for (size_t i = 0; i < n; i++) {
		read_all(&units[i]);
		unit_free(&units[i]);
	}
	free(units);
	close(file.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz = { data, data + size };
	bool whole = fuzz_number(&fuzz, 1) & 1;
	size_t left = fuzz_left(&fuzz);
	void *bytes = fuzz_copy(&fuzz, left);
	struct unit unit = { 0 };

	if (whole) {
		read_elf(bytes, left);
	} else {
		struct error *error = unit_parse(bytes, left, &unit);

		if (!error)
			read_all(&unit);
		error_free(error);
		unit_free(&unit);
	}
	free(bytes);
	return 0;
}
