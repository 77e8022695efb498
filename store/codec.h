/* The content of the store's blobs (format: doc/formats.md, "Store"). Pure
 * functions between arrays and bytes; decoders take bytes of any origin.
 */
#ifndef STORE_CODEC_H
#define STORE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/hint.h"
#include "model/run.h"
#include "store/varint.h"

/* What is interned: an identity is a row of a few 32-bit words. */
enum identity_kind { IDENTITY_PAIR, IDENTITY_PREDECESSOR, IDENTITY_EDGE, IDENTITY_KINDS };
#define IDENTITY_WIDEST 5
size_t identity_width(enum identity_kind kind);

void identity_of_pair(const struct pair *pair, uint32_t *row);
void identity_of_predecessor(const struct predecessor *predecessor, uint32_t *row);
void identity_of_edge(const struct edge *edge, uint32_t *row);
/* The other way; the pair's remaining fields are zero. */
struct pair identity_pair(const uint32_t *row);
struct predecessor identity_predecessor(const uint32_t *row);
struct edge identity_edge(const uint32_t *row);

void codec_put_rows(struct bytes *out, enum identity_kind kind, const uint32_t *rows, size_t n);
/* Fills rows[n * width]; false when the bytes do not hold exactly n good rows. */
bool codec_get_rows(const void *bytes, size_t size, enum identity_kind kind, uint32_t *rows, size_t n);
/* No bytes of this size hold more rows than that: bounds what is allocated for them. */
size_t codec_most_rows(size_t size, enum identity_kind kind);

/* A run's pairs in order of first occurrence: indexes[i] is the interned index of pairs[i]. */
void codec_put_details(struct bytes *out, const struct pair *pairs, const uint32_t *indexes, size_t n);
/* Couples of these pairs, behind them; nothing when there are none. */
void codec_put_couples(struct bytes *out, const struct couple *couples, size_t n);

/* All of it: arrays that the caller frees with details_free. */
struct details {
	struct pair *pairs;
	uint32_t *indexes; /* interned */
	size_t npairs;
	struct couple *couples;
	size_t ncouples;
};
/* Only their interned indexes; *out is an array of *n the caller frees. */
bool codec_get_order(const void *bytes, size_t size, size_t nrows, uint32_t **out, size_t *n);
bool codec_get_run(const void *bytes, size_t size, const uint32_t *rows, size_t nrows, struct details *out);
void details_free(struct details *details);

/* *pairs is an array of *n the caller frees; `rows` are the `nrows` interned pairs. */
bool codec_get_details(const void *bytes, size_t size, const uint32_t *rows, size_t nrows,
		       struct pair **pairs, size_t *n);

/* A schedule without what the run's row says itself: policy, depth, seed, how it ended. */
void codec_put_schedule(struct bytes *out, const struct schedule *schedule);
bool codec_get_schedule(const void *bytes, size_t size, struct schedule *out);

/* The first HINTS_MOST claims. The caller frees them with VEC_FREE. */
void codec_put_claims(struct bytes *out, const struct hints *claims);
bool codec_get_claims(const void *bytes, size_t size, struct hints *out);

#endif
