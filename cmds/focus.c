/* From the candidates that are kept to claims to force.
 */
#include "cmds/focus.h"

#include <stdio.h>

#include "cmds/candidate_findings.h"
#include "cmds/scan_kept.h"
#include "cmds/scan_progress.h"
#include "diagnose/claim_build.h"
#include "llvm/llvm.h"

/* A candidate's claims, of what can be forced: locks in a circle close it by themselves. */
static void add_claims(const struct atlas *atlas, const struct candidate *candidate, struct focus *out)
{
	_cleanup_(findings_free) struct findings findings = { 0 };
	const struct observations nothing = { 0 };

	if (candidate->kind == CANDIDATE_DEADLOCK)
		return;
	candidate_findings(candidate, &findings);
	for (size_t i = 0; i < findings.n && out->n < FOCUS_CLAIMS; i++) {
		struct finding *finding = &findings.items[i];
		struct claim_parts parts;
		struct claim claim;

		finding_settle(finding);
		enum claim_kind kind = finding->class == FINDING_ORDER ? CLAIM_ORDER : CLAIM_ATOMIC;

		if (!claim_parts_of_finding(&nothing, atlas, finding, &parts) ||
		    !claim_build(&nothing, atlas, kind, &parts, &claim))
			continue;
		claim.use = CLAIM_FORCE;
		*VEC_PUSH(out) = claim;
	}
}

static struct error *scan_now(const char *store, const char *program, uint64_t build, struct scan *out)
{
	const struct llvm_entrances *llvm;

	TRY(llvm_load(&llvm));
	TRY(scan_with_bar(
		llvm, (struct scan_options){ .paths = &program, .npaths = 1, .most = SCAN_KEPT_MOST }, out));
	return scan_keep(store, build, out);
}

struct error *focus_read(const char *store, const char *program, uint64_t build, bool make, struct focus *out)
{
	_cleanup_(scan_free) struct scan scan = { 0 };
	struct atlas atlas = { 0 };

	TRY(scan_kept(store, build, &scan));
	if (make && !scan.candidates.n)
		TRY(scan_now(store, program, build, &scan));
	if (!scan.candidates.n)
		return make ? error_new(
				      "unsnarl scan finds no candidate in %s that a hunt could look at; hunt "
				      "without --focus",
				      program)
			    : NULL;
	atlas_read_file(&atlas, program);
	for (size_t i = 0; i < scan.candidates.n && out->n < FOCUS_CLAIMS; i++)
		add_claims(&atlas, &scan.candidates.items[i], out);
	atlas_free(&atlas);
	if (make && !out->n)
		return error_new(
			"none of the candidates of %s can be forced: they are circles of locks; hunt "
			"without --focus",
			program);
	return NULL;
}
