/* What a run told isolate, made safe to read. */
#ifndef MODEL_ISOLATE_AREA_H
#define MODEL_ISOLATE_AREA_H

#include "model/isolate_format.h"

/* After the run has ended: counts within their arrays, kinds that exist, paths that end. What was wild is cut, so
 * that the answer may be poor but no reader leaves the area. */
void isolate_area_bound(struct isolate_area *area);

#endif
