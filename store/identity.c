/* Pairs, predecessors and edges as rows of 32-bit words: the form in which they
 * are compared, interned and stored. "No access" becomes 0 and site s becomes
 * s + 1 where both can occur, so that neighbouring rows stay near in value.
 */
#include "store/codec.h"

size_t identity_width(enum identity_kind kind)
{
	static const size_t widths[IDENTITY_KINDS] = { 5, 2, 4 };

	return widths[kind];
}

void identity_of_pair(const struct pair *pair, uint32_t *row)
{
	row[0] = pair->kind;
	row[1] = pair->head_site;
	row[2] = pair->tail_site;
	row[3] = pair->head_thread;
	row[4] = pair->tail_thread;
}

void identity_of_predecessor(const struct predecessor *predecessor, uint32_t *row)
{
	row[0] = predecessor->site;
	row[1] = predecessor->before + 1; /* SITE_NIL wraps to 0 */
}

void identity_of_edge(const struct edge *edge, uint32_t *row)
{
	row[0] = edge->source + 1; /* SITE_NIL wraps to 0 */
	row[1] = edge->sink;
	row[2] = edge->source_context | (uint32_t)edge->sink_context << 16;
	row[3] = edge->write;
}

struct pair identity_pair(const uint32_t *row)
{
	return (struct pair){
		.kind = (enum pair_kind)row[0],
		.head_site = row[1],
		.tail_site = row[2],
		.head_thread = row[3],
		.tail_thread = row[4],
	};
}

struct predecessor identity_predecessor(const uint32_t *row)
{
	return (struct predecessor){ .site = row[0], .before = row[1] - 1 };
}

struct edge identity_edge(const uint32_t *row)
{
	return (struct edge){
		.source = row[0] - 1,
		.sink = row[1],
		.source_context = (uint16_t)row[2],
		.sink_context = (uint16_t)(row[2] >> 16),
		.write = row[3],
	};
}
