/* Units and sites of the store. A unit enters once, whatever campaigns and
 * builds it appears in, with its table as embedded in the program; its sites are
 * numbered on from those of the unit before. Tables are parsed when asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "store/private.h"

static struct store_unit *append(struct units *units, int64_t id, uint64_t hash, uint32_t base,
				 uint32_t count)
{
	struct store_unit *unit = VEC_PUSH(&units->list);

	*unit = (struct store_unit){ .id = id, .hash = hash, .base = base, .count = count };
	*map_put(&units->by_hash, hash, NULL) = units->list.n - 1;
	return unit;
}

static const struct store_unit *last(const struct units *units)
{
	static const struct store_unit none;

	return units->list.n ? &units->list.items[units->list.n - 1] : &none;
}

static uint64_t next_base(const struct units *units)
{
	return (uint64_t)last(units)->base + last(units)->count;
}

struct error *units_sync(struct store *store)
{
	struct units *units = &store->units;
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row;

	TRY(sql_statement(store, SQL_UNIT_AFTER, &sql));
	sqlite3_bind_int64(sql, 1, last(units)->id);
	for (;;) {
		TRY(sql_step(store, sql, &row));
		if (!row)
			break;
		uint64_t base = sql_column_u64(sql, 2), count = sql_column_u64(sql, 3);

		if (base != next_base(units) || count > SITE_NIL || base + count > SITE_NIL)
			return sql_damaged(store->path, "sites are not numbered in a row");
		append(units, sqlite3_column_int64(sql, 0), sql_column_u64(sql, 1), (uint32_t)base,
		       (uint32_t)count);
	}
	units->committed = units->list.n;
	return NULL;
}

void units_forget(struct units *units, bool all)
{
	size_t keep = all ? 0 : units->committed;

	while (units->list.n > keep)
		unit_free(&units->list.items[--units->list.n].unit);
	map_free(&units->by_hash);
	for (size_t i = 0; i < keep; i++)
		*map_put(&units->by_hash, units->list.items[i].hash, NULL) = i;
	if (all) {
		VEC_FREE(&units->list);
		units->committed = 0;
	}
}

static struct error *add_unit(struct store *store, const struct unit *unit)
{
	uint64_t base = next_base(&store->units);
	_cleanup_(bytes_free) struct bytes packed = { 0 };
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	if (base + unit->nsites > SITE_NIL)
		return error_new("the store %s cannot take more sites; name another folder with --store",
				 store->path);
	pack(store->packer, unit->table, unit->table_size, &packed);
	TRY(sql_statement(store, SQL_UNIT_ADD, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)unit->hash);
	sqlite3_bind_int64(sql, 2, (int64_t)base);
	sqlite3_bind_int64(sql, 3, unit->nsites);
	sql_bind_blob(sql, 4, &packed);
	TRY(sql_execute(store, sql));
	append(&store->units, sqlite3_last_insert_rowid(store->db), unit->hash, (uint32_t)base, unit->nsites);
	return NULL;
}

/* Takes in all units of an ELF file: the others of the same program are asked for next. */
static struct error *add_units_of(struct store *store, const char *path)
{
	struct error *error = NULL;
	struct unit *units = NULL;
	size_t n = 0;

	TRY(unit_read_elf(path, &units, &n));
	for (size_t i = 0; i < n; i++) {
		if (!error && !map_get(&store->units.by_hash, units[i].hash))
			error = add_unit(store, &units[i]);
		unit_free(&units[i]);
	}
	free(units);
	return error;
}

/* A place has no table in its file: it is made. */
static struct error *add_place(struct store *store, const struct run_unit *place)
{
	_cleanup_(unit_free) struct unit unit = { 0 };

	if (!store->symbols)
		store->symbols = symbols_new();
	symbols_unit(store->symbols, place->path, &place->place, place->what ? place->what : "", place->hash,
		     &unit);
	return add_unit(store, &unit);
}

struct error *units_learn(struct store *store, const struct observations *observations)
{
	for (size_t i = 0; i < observations->nunits; i++) {
		const struct run_unit *unit = &observations->units[i];
		const uint64_t *at = map_get(&store->units.by_hash, unit->hash);

		if (!at) {
			TRY(unit->is_place ? add_place(store, unit) : add_units_of(store, unit->path));
			at = map_get(&store->units.by_hash, unit->hash);
		}
		if (!at || store->units.list.items[*at].count != unit->nsites)
			return error_new(
				"%s is not the file that ran: the table of its sites differs; run again when "
				"the program is not being rebuilt",
				unit->path);
	}
	return NULL;
}

static struct error *parse(struct store *store, struct store_unit *unit)
{
	_cleanup_(bytes_free) struct bytes table = { 0 };
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row;

	if (unit->parsed)
		return NULL;
	TRY(sql_statement(store, SQL_UNIT_SITES, &sql));
	sqlite3_bind_int64(sql, 1, unit->id);
	TRY(sql_step(store, sql, &row));
	if (!row || !sql_unpack(sql, 0, &table))
		return sql_damaged(store->path, "a unit's table cannot be read");
	_cleanup_(error_freep) struct error *error = unit_parse(table.data, table.n, &unit->unit);

	if (error)
		return sql_damaged(store->path, error->message);
	if (unit->unit.nsites != unit->count) {
		unit_free(&unit->unit);
		return sql_damaged(store->path, "a unit's table is not its own");
	}
	unit->parsed = true;
	return NULL;
}

/* The unit that holds a site's number: the last whose base is not above it. */
static struct store_unit *unit_of(const struct units *units, uint32_t number)
{
	size_t low = 0, high = units->list.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (units->list.items[middle].base <= number)
			low = middle + 1;
		else
			high = middle;
	}
	struct store_unit *unit = low ? &units->list.items[low - 1] : NULL;

	return unit && number - unit->base < unit->count ? unit : NULL;
}

struct error *store_site(struct store *store, uint32_t number, const struct site **out)
{
	struct store_unit *unit = unit_of(&store->units, number);

	if (!unit) {
		TRY(units_sync(store));
		unit = unit_of(&store->units, number);
	}
	if (!unit)
		return error_new("the store %s has no site #%u", store->path, number);
	TRY(parse(store, unit));
	*out = &unit->unit.sites[number - unit->base];
	return NULL;
}

struct error *store_unit_sites(struct store *store, uint32_t number, uint32_t *first,
			       const struct site **sites, uint32_t *n)
{
	const struct site *site;

	TRY(store_site(store, number, &site));
	const struct store_unit *unit = unit_of(&store->units, number);

	*first = unit->base;
	*sites = unit->unit.sites;
	*n = unit->count;
	return NULL;
}

struct error *store_site_unit(struct store *store, uint32_t number, uint64_t *hash, uint32_t *index)
{
	TRY(units_sync(store));
	const struct store_unit *unit = unit_of(&store->units, number);

	if (!unit)
		return error_new("the store %s has no site #%u", store->path, number);
	*hash = unit->hash;
	*index = number - unit->base;
	return NULL;
}

struct error *store_unit_site(struct store *store, uint64_t hash, uint32_t index, uint32_t *number)
{
	TRY(units_sync(store));
	const uint64_t *at = map_get(&store->units.by_hash, hash);

	if (!at || index >= store->units.list.items[*at].count)
		return error_new(
			"the store %s does not know the source file of a site: it holds no run of this "
			"build",
			store->path);
	*number = store->units.list.items[*at].base + index;
	return NULL;
}

/* "a.c" and "src/a.c" name "/x/src/a.c"; "c" and "rc/a.c" do not. */
static bool names(const char *wanted, const char *file)
{
	size_t length = strlen(wanted), whole = strlen(file);

	if (length > whole || strcmp(file + whole - length, wanted) != 0)
		return false;
	return length == whole || wanted[0] == '/' || file[whole - length - 1] == '/';
}

struct numbers {
	VEC(uint32_t) list;
};

static struct error *sites_at(struct store *store, const char *file, uint32_t line, uint32_t column,
			      struct numbers *found)
{
	TRY(units_sync(store));
	for (size_t i = 0; i < store->units.list.n; i++) {
		struct store_unit *unit = &store->units.list.items[i];

		TRY(parse(store, unit));
		for (uint32_t s = 0; s < unit->count; s++) {
			const struct site *site = &unit->unit.sites[s];

			if (site->line == line && (!column || site->column == column) &&
			    names(file, site->file))
				*VEC_PUSH(&found->list) = unit->base + s;
		}
	}
	return NULL;
}

struct error *store_sites_at(struct store *store, const char *file, uint32_t line, uint32_t column,
			     uint32_t **out, size_t *n)
{
	struct numbers found = { 0 };

	while (strncmp(file, "./", 2) == 0)
		file += 2;
	struct error *error = sites_at(store, file, line, column, &found);

	if (error) {
		VEC_FREE(&found.list);
		return error;
	}
	*out = found.list.items;
	*n = found.list.n;
	return NULL;
}
