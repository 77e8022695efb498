/* JSON that verbs read: the scan that is kept beside the runs, and the answer that `guard --only` makes a patch
 * of. The first byte says which. What was understood is walked over as the verbs do. */
#include "tests/fuzz/fuzz.h"

#include "base/error.h"
#include "cmds/candidate_findings.h"
#include "cmds/finding_read.h"
#include "cmds/scan_kept.h"
#include "report/candidate.h"

static void read_scan(const char *path)
{
	_cleanup_(scan_free) struct scan scan = { 0 };

	error_free(scan_kept_read(path, &scan));
	for (size_t i = 0; i < scan.candidates.n; i++) {
		_cleanup_(findings_free) struct findings findings = { 0 };

		json_decref(candidate_json(&scan.candidates.items[i]));
		candidate_findings(&scan.candidates.items[i], &findings);
		for (size_t f = 0; f < findings.n; f++)
			finding_settle(&findings.items[f]);
	}
}

static void read_finding(const char *path, uint64_t rank)
{
	_cleanup_(finding_free) struct finding finding = { 0 };
	_cleanup_free_ char *program = NULL;
	struct error *error = finding_read(path, rank, &finding, &program);

	if (!error)
		finding_settle(&finding);
	error_free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz = { data, data + size };
	uint64_t which = fuzz_number(&fuzz, 1);
	struct fuzz_file file = fuzz_file(fuzz.at, fuzz_left(&fuzz));

	if (which & 1)
		read_scan(file.path);
	else
		read_finding(file.path, 1 + (which >> 1));
	close(file.fd);
	return 0;
}
