/* Which units the runs of a campaign have loaded, so that a site's id, which
 * schedules speak of, leads to the source that was built, not to a later one.
 */
#include "store/private.h"

void loaded_forget(struct loaded *loaded)
{
	map_free(&loaded->units);
	*loaded = (struct loaded){ 0 };
}

static struct error *sync(struct store *store, uint64_t campaign)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row;

	if (store->loaded.campaign == campaign)
		return NULL;
	loaded_forget(&store->loaded);
	TRY(sql_statement(store, SQL_LOADED_LIST, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)campaign);
	for (;;) {
		TRY(sql_step(store, sql, &row));
		if (!row)
			break;
		map_put(&store->loaded.units, sql_column_u64(sql, 0), NULL);
	}
	store->loaded.campaign = campaign;
	return NULL;
}

struct error *units_note(struct store *store, uint64_t campaign, const struct observations *observations)
{
	TRY(sync(store, campaign));
	for (size_t i = 0; i < observations->nunits; i++) {
		_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
		const uint64_t *at = map_get(&store->units.by_hash, observations->units[i].hash);
		int64_t id = store->units.list.items[*at].id;
		bool fresh;

		map_put(&store->loaded.units, (uint64_t)id, &fresh);
		if (!fresh)
			continue;
		TRY(sql_statement(store, SQL_LOADED_ADD, &sql));
		sqlite3_bind_int64(sql, 1, (int64_t)campaign);
		sqlite3_bind_int64(sql, 2, id);
		TRY(sql_execute(store, sql));
	}
	return NULL;
}

struct error *store_site_by_id(struct store *store, uint64_t campaign, uint64_t id, const struct site **out)
{
	*out = NULL;
	TRY(units_sync(store));
	TRY(sync(store, campaign));
	for (size_t i = 0; i < store->units.list.n; i++) {
		struct store_unit *unit = &store->units.list.items[i];

		if (!map_get(&store->loaded.units, (uint64_t)unit->id))
			continue;
		for (uint32_t s = 0; s < unit->count; s++) {
			const struct site *site;

			TRY(store_site(store, unit->base + s, &site));
			if (site->id == id) {
				*out = site;
				return NULL;
			}
		}
	}
	return NULL;
}
