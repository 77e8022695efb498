/* Causes and opinions end here; how a verdict counts among answers.
 */
#include "model/cause.h"

double cause_score(const struct cause *cause)
{
	return cause->verdict == VERDICT_PROVEN   ? 0.99
	       : cause->verdict == VERDICT_LIKELY ? 0.8
	       : cause->consequence               ? 0.1
						  : 0.4;
}

void causes_free(struct causes *causes)
{
	findings_free(&causes->told);
	findings_free(&causes->second);
	VEC_FREE(causes);
}

void opinions_free(struct opinions *opinions)
{
	for (size_t i = 0; i < opinions->n; i++)
		findings_free(&opinions->items[i].findings);
	VEC_FREE(opinions);
}
