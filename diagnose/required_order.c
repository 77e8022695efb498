/* An order that is told as a group. When one thread publishes something before it has written all of it, what it does
 * can be made one step, and that mends the program: but what is meant is that others do not read before the write. Two
 * experiments tell: where the read waits for the write nothing fails, and where it comes first everything does. Of a
 * group that has to be one step the latter is not so: others may come before all of it.
 */
#include "diagnose/proposals.h"
#include "diagnose/statistics.h"

bool order_is_required(const struct proposal *proposal)
{
	const struct claim *claim = &proposal->claim;
	const struct proof *proof = &proposal->proof;

	return (claim->kind == CLAIM_ORDER || claim->kind == CLAIM_ORDER_EACH) && !claim->steps[0].write &&
	       claim->steps[1].write && proof->verdict == VERDICT_PROVEN &&
	       proof->forced.failed_occurred == proof->forced.occurred &&
	       statistics_lower(proof->forced.failed_occurred, proof->forced.occurred) > 0.5;
}

void propose_inner_orders(const struct evidence *evidence, const struct claim_parts *group,
			  struct proposals *list)
{
	for (size_t late = 1; late < group->n; late++)
		for (size_t early = 0; early < late; early++)
			if (group->items[late].thread == group->items[0].thread && group->items[late].write &&
			    !group->items[early].write)
				propose_order(evidence, &group->items[early], &group->items[late], list);
}
