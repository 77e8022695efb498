/* LOCON on what was gathered from the store; reads more of it when the finer levels ask. */
#ifndef ANALYSIS_LOCON_ASK_H
#define ANALYSIS_LOCON_ASK_H

#include "analysis/locon/locate_answer.h"
#include "analysis/locon/gather.h"

/* The caller frees *out, also after an error. */
struct error *locon_ask(struct store *store, struct locon_data *data, const struct locon_request *request,
			struct locon_answer *out);

#endif
