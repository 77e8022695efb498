/* Threads on one SQLite database, each with a connection of its own: batches of
 * inserts, look-ups through an index, and transfers between shared accounts in
 * immediate transactions that wait for each other. The amount of work is fixed
 * and so is what the database holds at the end, in whatever order it was done.
 * Linked with the amalgamation, so that SQLite itself is what is measured.
 * Usage: sqlite_driver [-p threads] [-n rounds] */
#include "team.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum {
    INSERTS = 40,   /* rows added by a thread in a round */
    LOOKUPS = 30,   /* indexed queries in a round */
    TRANSFERS = 10, /* account updates in a round */
    ACCOUNTS = 64,
    BUCKETS = 16,
    DEPOSIT = 1000, /* what each account holds at the start */
    BUSY_MAX = 60000,
};

static struct {
    unsigned threads, rounds;
    char folder[PATH_MAX];
    char path[PATH_MAX + 16];
    char failure[TEAM_MAX][256]; /* each thread's own; empty: none */
} bench;

static const char schema[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
    "CREATE TABLE item (id INTEGER PRIMARY KEY, owner INTEGER, bucket INTEGER, amount INTEGER,"
    " note TEXT);"
    "CREATE INDEX item_place ON item (owner, bucket);"
    "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER);";

struct session {
    unsigned self;
    sqlite3 *database;
    sqlite3_stmt *begin, *commit, *insert, *lookup, *transfer;
    int64_t sums[BUCKETS]; /* what this thread has inserted so far, by bucket */
    uint64_t drawn;        /* random numbers drawn so far */
};

/* Sleeps a little and asks SQLite to try again; gives up after about a minute. */
static int wait_while_busy(void *arg, int tries)
{
    (void)arg;
    struct timespec pause = {.tv_nsec = 1000000};
    nanosleep(&pause, NULL);
    return tries < BUSY_MAX;
}

static unsigned draw(struct session *session, unsigned limit)
{
    uint64_t seed = (uint64_t)session->self << 40 | session->drawn++;
    return (unsigned)(team_mix(seed) >> 32) % limit;
}

/* Notes the first failure of a session; false, for the caller to return. */
static bool fail(const struct session *session, const char *what)
{
    char *failure = bench.failure[session->self];
    if (failure[0] == '\0') {
        snprintf(failure, sizeof bench.failure[0], "%s: %s", what,
                 session->database ? sqlite3_errmsg(session->database) : "no connection");
    }
    return false;
}

static bool prepare(struct session *session, sqlite3_stmt **statement, const char *sql)
{
    return sqlite3_prepare_v2(session->database, sql, -1, statement, NULL) == SQLITE_OK ||
           fail(session, sql);
}

static bool session_open(struct session *session)
{
    if (sqlite3_open(bench.path, &session->database) != SQLITE_OK) {
        return fail(session, "cannot open the database");
    }
    sqlite3_busy_handler(session->database, wait_while_busy, NULL);
    return sqlite3_exec(session->database, "PRAGMA synchronous = OFF", NULL, NULL, NULL) ==
               SQLITE_OK ||
           fail(session, "cannot set up the connection");
}

static bool session_prepare(struct session *session)
{
    return prepare(session, &session->begin, "BEGIN IMMEDIATE") &&
           prepare(session, &session->commit, "COMMIT") &&
           prepare(session, &session->insert,
                   "INSERT INTO item (owner, bucket, amount, note) VALUES (?1, ?2, ?3, ?4)") &&
           prepare(session, &session->lookup,
                   "SELECT sum(amount) FROM item WHERE owner = ?1 AND bucket = ?2") &&
           prepare(session, &session->transfer,
                   "UPDATE account SET balance = balance + ?2 WHERE id = ?1");
}

static void session_close(struct session *session)
{
    sqlite3_finalize(session->begin);
    sqlite3_finalize(session->commit);
    sqlite3_finalize(session->insert);
    sqlite3_finalize(session->lookup);
    sqlite3_finalize(session->transfer);
    sqlite3_close(session->database);
}

/* Runs a statement that gives no rows and makes it ready for the next time. */
static bool run(struct session *session, sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    bool good = rc == SQLITE_DONE || fail(session, sqlite3_sql(statement));
    sqlite3_reset(statement);
    return good;
}

static bool insert_item(struct session *session)
{
    char note[64];
    unsigned bucket = draw(session, BUCKETS), amount = draw(session, 1000);
    snprintf(note, sizeof note, "item of thread %u: %u in %u", session->self, amount, bucket);
    sqlite3_bind_int(session->insert, 1, (int)session->self);
    sqlite3_bind_int(session->insert, 2, (int)bucket);
    sqlite3_bind_int(session->insert, 3, (int)amount);
    sqlite3_bind_text(session->insert, 4, note, -1, SQLITE_TRANSIENT);
    session->sums[bucket] += amount;
    return run(session, session->insert);
}

static bool insert_batch(struct session *session)
{
    bool good = run(session, session->begin);
    for (int i = 0; good && i < INSERTS; i++) {
        good = insert_item(session);
    }
    return good && run(session, session->commit);
}

/* Only this thread adds rows of its own: it must find the sum that it knows. */
static bool look_up(struct session *session)
{
    unsigned bucket = draw(session, BUCKETS);
    sqlite3_bind_int(session->lookup, 1, (int)session->self);
    sqlite3_bind_int(session->lookup, 2, (int)bucket);
    bool good = sqlite3_step(session->lookup) == SQLITE_ROW &&
                sqlite3_column_int64(session->lookup, 0) == session->sums[bucket];
    if (!good) {
        fail(session, "a look-up went wrong");
    }
    sqlite3_reset(session->lookup);
    return good;
}

static bool add_to_account(struct session *session, unsigned account, int amount)
{
    sqlite3_bind_int(session->transfer, 1, (int)account);
    sqlite3_bind_int(session->transfer, 2, amount);
    return run(session, session->transfer);
}

static bool transfer_batch(struct session *session)
{
    bool good = run(session, session->begin);
    for (int i = 0; good && i < TRANSFERS; i++) {
        unsigned from = draw(session, ACCOUNTS), to = draw(session, ACCOUNTS);
        int amount = (int)draw(session, 100);
        good = add_to_account(session, from, -amount) && add_to_account(session, to, amount);
    }
    return good && run(session, session->commit);
}

static void work(unsigned self)
{
    struct session session = {.self = self};
    bool good = session_open(&session) && session_prepare(&session);
    for (unsigned round = 0; good && round < bench.rounds; round++) {
        good = insert_batch(&session);
        for (int i = 0; good && i < LOOKUPS; i++) {
            good = look_up(&session);
        }
        good = good && transfer_batch(&session);
    }
    session_close(&session);
}

static bool create_database(void)
{
    struct session session = {.self = 0};
    bool good = session_open(&session);
    if (good && sqlite3_exec(session.database, schema, NULL, NULL, NULL) != SQLITE_OK) {
        good = fail(&session, "cannot create the tables");
    }
    for (unsigned i = 0; good && i < ACCOUNTS; i++) {
        char sql[80];
        snprintf(sql, sizeof sql, "INSERT INTO account VALUES (%u, %d)", i, DEPOSIT);
        good = sqlite3_exec(session.database, sql, NULL, NULL, NULL) == SQLITE_OK ||
               fail(&session, sql);
    }
    session_close(&session);
    return good;
}

/* Prints what the database holds, which is the same for every interleaving. */
static bool print_result(void)
{
    struct session session = {.self = 0};
    sqlite3_stmt *query = NULL;
    bool good = session_open(&session) &&
                prepare(&session, &query,
                        "SELECT count(*), sum(amount), (SELECT sum(balance) FROM account),"
                        " (SELECT integrity_check FROM pragma_integrity_check) FROM item");
    if (good && sqlite3_step(query) != SQLITE_ROW) {
        good = fail(&session, "cannot read the result");
    }
    if (good) {
        int64_t rows = sqlite3_column_int64(query, 0), balance = sqlite3_column_int64(query, 2);
        good = rows == (int64_t)bench.threads * bench.rounds * INSERTS &&
               balance == (int64_t)ACCOUNTS * DEPOSIT &&
               strcmp((const char *)sqlite3_column_text(query, 3), "ok") == 0;
        printf("sqlite: %lld rows, sum %lld, balance %lld, %s\n", (long long)rows,
               (long long)sqlite3_column_int64(query, 1), (long long)balance,
               good ? "consistent" : "NOT CONSISTENT");
    }
    sqlite3_finalize(query);
    session_close(&session);
    return good;
}

static void make_folder(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(bench.folder, sizeof bench.folder, "%s/bench-sqlite-XXXXXX",
             parent && *parent ? parent : "/tmp");
    if (!mkdtemp(bench.folder)) {
        team_die("cannot make the folder %s: %s", bench.folder, strerror(errno));
    }
    snprintf(bench.path, sizeof bench.path, "%s/bench.db", bench.folder);
}

static void remove_folder(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char path[sizeof bench.path + 16];
        snprintf(path, sizeof path, "%s%s", bench.path, suffixes[i]);
        unlink(path);
    }
    rmdir(bench.folder);
}

static void read_options(int argc, char **argv)
{
    bench.threads = TEAM_DEFAULT;
    bench.rounds = 90;
    for (int option; (option = getopt(argc, argv, "p:n:")) != -1;) {
        switch (option) {
        case 'p': bench.threads = team_number('p', optarg, 1, TEAM_MAX); break;
        case 'n': bench.rounds = team_number('n', optarg, 1, 100000); break;
        default: team_die("usage: sqlite_driver [-p threads] [-n rounds]");
        }
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    make_folder();
    atexit(remove_folder); /* also when a thread cannot be started */
    bool good = create_database();
    if (good) {
        team_run(bench.threads, work);
        good = print_result();
    }
    for (unsigned i = 0; i < bench.threads; i++) {
        if (bench.failure[i][0] != '\0') {
            fprintf(stderr, "sqlite: thread %u: %s\n", i, bench.failure[i]);
            good = false;
        }
    }
    return good ? 0 : 1;
}
