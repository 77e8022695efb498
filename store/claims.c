/* What the forced switches of a failed run point at, beside the run (format:
 * doc/formats.md, "Store"). The reader takes bytes of any origin.
 */
#include <string.h>

#include "base/memory.h"
#include "store/codec.h"
#include "store/private.h"

void codec_put_claims(struct bytes *out, const struct hints *claims)
{
	size_t n = claims->n < HINTS_MOST ? claims->n : HINTS_MOST;

	varint_put(out, n);
	for (size_t i = 0; i < n; i++) {
		const struct hint *claim = &claims->items[i];

		varint_put(out, claim->class);
		varint_put(out, claim->scenario);
		varint_put(out, claim->cost);
		varint_put(out, (unsigned)claim->measured | (unsigned)claim->exact << 1);
		varint_put(out, claim->n);
		for (size_t j = 0; j < claim->n; j++) {
			const struct hint_step *step = &claim->steps[j];

			varint_put(out, step->site);
			varint_put(out, step->thread);
			varint_put(out, (unsigned)step->write | (unsigned)step->missing << 1);
		}
	}
}

static bool get_claim(struct reader *reader, struct hint *out)
{
	uint64_t class = varint_get(reader), scenario = varint_get(reader), cost = varint_get(reader);
	uint64_t marks = varint_get(reader), n = varint_get(reader);

	if (reader->bad || class >= FINDING_CLASSES || scenario > FINDING_SCENARIOS || cost > UINT32_MAX ||
	    marks > 3 || n > HINT_STEPS)
		return false;
	*out = (struct hint){ .n = n,
			      .class = (enum finding_class) class,
			      .scenario = (unsigned)scenario,
			      .cost = (unsigned)cost,
			      .measured = marks & 1,
			      .exact = marks >> 1 };
	for (size_t i = 0; i < n; i++) {
		uint64_t site = varint_get(reader), thread = varint_get(reader), what = varint_get(reader);

		if (thread > UINT32_MAX || what > 3)
			return false;
		out->steps[i] = (struct hint_step){
			.site = site, .thread = (uint32_t)thread, .write = what & 1, .missing = what >> 1
		};
	}
	return !reader->bad;
}

bool codec_get_claims(const void *bytes, size_t size, struct hints *out)
{
	struct reader reader = reader_of(bytes, size);
	uint64_t n = varint_get(&reader);
	bool good = !reader.bad && n <= HINTS_MOST;

	*out = (struct hints){ 0 };
	for (uint64_t i = 0; i < n && good; i++)
		good = get_claim(&reader, VEC_PUSH(out));
	if (good && reader.at == reader.end)
		return true;
	VEC_FREE(out);
	return false;
}

struct error *store_claim(struct store *store, uint64_t run, const struct hints *claims)
{
	_cleanup_(bytes_free) struct bytes plain = { 0 }, packed = { 0 };
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	codec_put_claims(&plain, claims);
	pack(store->packer, plain.data, plain.n, &packed);
	TRY(sql_statement(store, SQL_CLAIM_SET, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)run);
	sql_bind_blob(sql, 2, &packed);
	return sql_execute(store, sql);
}

struct error *store_claims(struct store *store, uint64_t run, struct hints *out)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	_cleanup_(bytes_free) struct bytes bytes = { 0 };
	bool row;

	*out = (struct hints){ 0 };
	TRY(sql_statement(store, SQL_CLAIM_GET, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)run);
	TRY(sql_step(store, sql, &row));
	if (!row)
		return NULL;
	if (!sql_unpack(sql, 0, &bytes) || !codec_get_claims(bytes.data, bytes.n, out))
		return sql_damaged(store->path, "what is claimed of a run cannot be read");
	return NULL;
}

struct error *store_claimed(struct store *store, uint64_t campaign, uint64_t **out, size_t *n)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	VEC(uint64_t) runs = { 0 };
	struct error *error;
	bool row = true;

	*out = NULL;
	*n = 0;
	TRY(sql_statement(store, SQL_CLAIM_LIST, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)campaign);
	while (!(error = sql_step(store, sql, &row)) && row)
		*VEC_PUSH(&runs) = sql_column_u64(sql, 0);
	if (error) {
		VEC_FREE(&runs);
		return error;
	}
	*out = runs.items;
	*n = runs.n;
	return NULL;
}

struct error *store_causes(struct store *store, uint64_t campaign, const struct claim *claims, size_t n)
{
	_cleanup_(sql_done) sqlite3_stmt *drop = NULL;

	TRY(sql_statement(store, SQL_CAUSE_DROP, &drop));
	sqlite3_bind_int64(drop, 1, (int64_t)campaign);
	TRY(sql_execute(store, drop));
	for (size_t i = 0; i < n; i++) {
		_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

		if (claims[i].kind == CLAIM_NONE)
			continue;
		_cleanup_free_ char *text = claim_text(&claims[i]);

		TRY(sql_statement(store, SQL_CAUSE_ADD, &sql));
		sqlite3_bind_int64(sql, 1, (int64_t)campaign);
		sqlite3_bind_int64(sql, 2, (int64_t)i + 1);
		sqlite3_bind_text(sql, 3, text, -1, SQLITE_TRANSIENT);
		TRY(sql_execute(store, sql));
	}
	return NULL;
}

struct error *store_cause(struct store *store, uint64_t campaign, uint64_t rank, struct claim *out)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row;

	*out = (struct claim){ 0 };
	TRY(sql_statement(store, SQL_CAUSE_GET, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)campaign);
	sqlite3_bind_int64(sql, 2, (int64_t)rank);
	TRY(sql_step(store, sql, &row));
	const char *text = row ? (const char *)sqlite3_column_text(sql, 0) : NULL;

	return text ? claim_parse(text, strlen(text), store->path, out) : NULL;
}
