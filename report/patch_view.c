/* What is said of an emergency patch.
 */
#include "report/patch_view.h"

#include "base/memory.h"
#include "base/options.h" /* options_fill */
#include "report/answer.h"
#include "report/text.h"

static void print_rules(const struct guard_set *set)
{
	for (size_t i = 0; i < set->rules.n; i++) {
		const struct guard_rule *rule = &set->rules.items[i];
		const struct guard_site *first = guard_set_site(set, rule->first),
					*second = guard_set_site(set, rule->second);

		if (rule->kind == GUARD_ORDER)
			printf("%s:%u waits until %s:%u has been done.\n", place_file_name(second->file),
			       second->line, place_file_name(first->file), first->line);
		else
			printf("From %s:%u to %s:%u is one step for other threads.\n",
			       place_file_name(first->file), first->line, place_file_name(second->file),
			       second->line);
	}
}

static char *proof_words(const struct patch_proof *proof)
{
	unsigned long long runs = proof->runs, failed = proof->failed, held = proof->held;

	if (patch_is_proven(proof))
		return memory_format(
			"Proven: %llu of %llu runs failed without the patch, none of %llu with it.", failed,
			runs, runs);
	if (!proof->failed)
		return memory_format(
			"Not proven: none of %llu runs failed without the patch, so it had nothing to hold "
			"(%llu failed with it).",
			runs, held);
	return memory_format(
		"It does not hold: %llu of %llu runs failed without the patch, and %llu of %llu with it.",
		failed, runs, held, runs);
}

void patch_print(const struct guard_set *set, const char *file, const struct patch_proof *proof)
{
	_cleanup_free_ char *clean = text_clean(file), *words = proof_words(proof);

	print_rules(set);
	if (proof->runs)
		options_fill(stdout, words, 0, 0);
	if (proof->held)
		options_fill(
			stdout,
			"In these runs nobody waits before a mutex. A program that is built with the patch "
			"does, so it may hold there: run that, too. If it does not, let unsnarl diagnose "
			"find "
			"more of the fault.",
			0, 0);
	printf("The patch is in %s. Next:\n  unsnarl cc --guard %s ...  builds the program with it\n", clean,
	       clean);
}

void patch_offer_print(const struct patch_offer *offer, FILE *out)
{
	const struct patch_proof *proof = &offer->proof;

	if (!offer->file)
		return;
	_cleanup_free_ char *clean = text_clean(offer->file);

	fprintf(out,
		"Meanwhile unsnarl cc --guard %s ...\n"
		"          builds it so that the others wait: with random delays %llu of %llu\n"
		"          runs failed without this patch, none of %llu with it. It costs\n"
		"          something at %zu access%s only; processor time of these runs, all\n"
		"          with hooks: %.3g ms without it, %.3g ms with it.\n",
		clean, (unsigned long long)proof->failed, (unsigned long long)proof->runs,
		(unsigned long long)proof->runs, offer->accesses, offer->accesses == 1 ? "" : "es",
		1e3 * proof->plain_s, 1e3 * proof->patched_s);
}

json_t *patch_proof_json(const struct patch_proof *proof)
{
	return json_pack("{s:o,s:o,s:o,s:f,s:f}", "runs", answer_count(proof->runs), "failed",
			 answer_count(proof->failed), "held", answer_count(proof->held), "plain_s",
			 proof->plain_s, "patched_s", proof->patched_s);
}

json_t *patch_offer_json(const struct patch_offer *offer)
{
	if (!offer->file)
		return json_null();
	return json_pack("{s:o,s:o,s:o}", "guard_set", answer_text(offer->file), "accesses",
			 answer_count(offer->accesses), "proof", patch_proof_json(&offer->proof));
}
