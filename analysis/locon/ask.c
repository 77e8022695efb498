/* Answers with what is at hand first: the passing runs' details are only read when the
 * coarse levels found nothing.
 */
#include "analysis/locon/ask.h"

#include "analysis/locon/procedure_three.h"

/* Are there loops or moments to compare? */
static bool has_finer(const struct locon_run *run)
{
	if (run->ncouples)
		return true;
	for (size_t i = 0; i < run->npairs; i++)
		if (run->pairs[i].head_loop.site != LOOP_NONE || run->pairs[i].tail_loop.site != LOOP_NONE)
			return true;
	return false;
}

struct error *locon_ask(struct store *store, struct locon_data *data, const struct locon_request *request,
			struct locon_answer *out)
{
	struct locon locon;

	locon_open(&locon, &data->input);
	locon_answer(&locon, request, out);
	if (out->needs_details && !out->findings.n &&
	    (has_finer(&data->input.failed) || third_may_be_stale(&locon))) {
		struct error *error = locon_gather_details(store, data);

		if (error) {
			locon_close(&locon);
			return error;
		}
		locon_answer_free(out);
		locon_answer(&locon, request, out);
	}
	locon_close(&locon);
	return NULL;
}
