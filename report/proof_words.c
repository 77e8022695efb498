/* What the experiments on a cause have shown, in sentences: forced it fails so often, made
 * impossible so rarely.
 */
#include "report/proof_words.h"

#include "base/memory.h"

const char *verdict_word(enum verdict verdict)
{
	return verdict == VERDICT_PROVEN ? "proven" : verdict == VERDICT_LIKELY ? "likely" : "a guess";
}

/* "0 of 192" */
static char *share(uint64_t part, uint64_t all)
{
	return memory_format("%llu of %llu", (unsigned long long)part, (unsigned long long)all);
}

/* What was done instead of a change to the program. */
static const char *fix_words(const struct claim *claim)
{
	if (claim->kind == CLAIM_ATOMIC)
		return "With these made one step";
	if (claim->kind == CLAIM_LOOK_AGAIN)
		return "When it looks again, and waits on if nothing has changed,";
	if (claim->kind == CLAIM_MISSED)
		return "With the signal kept for who comes too late";
	if (claim->kind == CLAIM_TAKEN)
		return claim->nsteps > 2 ? "With these signals made broadcasts"
					 : "With this signal made a broadcast";
	if (claim->kind == CLAIM_LOCKS)
		return "With only one thread at a time between these locks";
	if (claim->kind != CLAIM_ORDER_LAST)
		return "With the first made to wait for the second";
	return claim->steps[0].location == CLAIM_ANYWHERE && claim->steps[0].nsites > 1
		       ? "With this and what else is freed there made to wait until the others are done"
		       : "With the first made to wait until the others are done";
}

/* What came of forcing it. */
static char *forced_words(const struct cause *cause)
{
	const struct claim *claim = &cause->claim;
	const struct trials_counts *forced = &cause->proof.forced;
	uint64_t failed = forced->failed + forced->other;

	/* Where forcing shows nothing, what was seen does. */
	if (claim_is_waiting(claim) && cause->finding->evidence &&
	    (!failed || (claim->kind == CLAIM_TAKEN && !forced->failed_occurred)))
		return memory_string(cause->finding->evidence);
	if (!forced->runs)
		return memory_string("There was no time to force it.");
	/* Threads that wait for each other never come to their last step. */
	bool shows = claim->kind == CLAIM_ATOMIC || claim_is_order(claim);

	if (!forced->occurred && (shows || !failed))
		return memory_string("It could not be forced.");
	/* Forbidding it mends the program all the same: something that comes with it is needed, too. */
	if (forced->occurred && !forced->failed_occurred)
		return memory_format(
			"Forced it came about in %llu of %llu runs and fails in none of these: by "
			"itself it is not enough.",
			(unsigned long long)forced->occurred, (unsigned long long)forced->runs);
	if (forced->occurred && forced->occurred < forced->runs)
		return memory_format("Forced it came about in %llu of %llu runs and fails in %llu of these.",
				     (unsigned long long)forced->occurred, (unsigned long long)forced->runs,
				     (unsigned long long)forced->failed_occurred);
	return memory_format("Forced it fails in %llu of %llu runs.", (unsigned long long)failed,
			     (unsigned long long)forced->runs);
}

/* Runs in which somebody who waited had to be let go: few are left out of the counts, many make them worth little. */
static char *let_go_words(const struct proof *proof, uint64_t counted)
{
	unsigned long long left_out = proof->any.runs + proof->near.runs - counted;
	unsigned long long among = proof->any.given_up + proof->near.given_up - left_out;

	if (among)
		return memory_format(" In %llu of these it could not be kept up, so that they show little.",
				     among);
	return left_out ? memory_format(" %llu more in which that could not be kept up are left out.",
					left_out)
			: memory_string("");
}

/* The counts in sentences. */
char *proof_words(const struct causes *causes, const struct cause *cause)
{
	const struct proof *proof = &cause->proof;
	const struct trials_counts *usual = &causes->any, *near = &causes->near;
	uint64_t runs = trials_kept(&proof->any) + trials_kept(&proof->near),
		 before = usual->runs + near->runs;
	const char *fix = fix_words(&cause->claim);
	_cleanup_free_ char *forced = forced_words(cause);
	_cleanup_free_ char *forbidden =
		share(trials_failed(&proof->any) + trials_failed(&proof->near), runs);
	_cleanup_free_ char *let_go = let_go_words(proof, runs);

	if (!runs && proof->along.failed)
		return memory_format("%s it fails all the same.", fix);
	if (!runs)
		return memory_format("%s it failed in none of %llu runs; there was no time for more.", fix,
				     (unsigned long long)proof->along.runs);
	return memory_format("%s %s %s schedules fail (%.0f %% before).%s", forced, fix, forbidden,
			     before ? 100.0 * (double)(usual->failed + near->failed) / (double)before : 0.0,
			     let_go);
}
