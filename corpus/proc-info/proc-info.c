/* Sessions of a small query server and its process list. Each session says in
 * proc_info what it is doing at the moment; an operator's thread lists all
 * sessions while they work. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../pause.h"

#define SESSIONS 2
#define STATEMENTS 20
#define TABLE_ROWS 64
#define LISTINGS 2

struct session {
    int id;
    const char *proc_info; /* NULL between statements */
    uint64_t result;
    struct server *server;
};

struct server {
    pthread_mutex_t table_lock;
    uint32_t table[TABLE_ROWS];
    pthread_mutex_t sessions_lock;
    struct session session[SESSIONS];
};

struct text {
    size_t used;
    char data[512];
};

static void text_add(struct text *t, const char *s)
{
    size_t n = strlen(s);

    if (n > sizeof t->data - 1 - t->used)
        n = sizeof t->data - 1 - t->used;
    memcpy(t->data + t->used, s, n);
    t->used += n;
    t->data[t->used] = '\0';
}

static void text_add_number(struct text *t, int value)
{
    char digits[16];

    snprintf(digits, sizeof digits, "%d ", value);
    text_add(t, digits);
}

/* Turns the statement text into the seed of its plan. */
static uint32_t parse(int id, int statement)
{
    char sql[64];
    uint32_t h = 5381;

    snprintf(sql, sizeof sql, "select sum(x) from t where k = %d and s = %d", statement, id);
    for (int r = 0; r < 40; r++)
        for (const char *p = sql; *p != '\0'; p++)
            h = h * 33 + (unsigned char)*p;
    return h;
}

static uint64_t read_rows(struct server *srv, uint32_t plan)
{
    uint64_t sum = 0;

    pthread_mutex_lock(&srv->table_lock);
    for (int i = 0; i < TABLE_ROWS; i++)
        sum += srv->table[i] * (uint64_t)(plan % 7 + 1);
    pthread_mutex_unlock(&srv->table_lock);
    return sum;
}

static uint64_t sort_rows(uint64_t rows, uint32_t plan)
{
    for (int i = 0; i < 4000; i++) {
        rows ^= rows << 7;
        rows ^= rows >> 9;
        rows += plan;
    }
    return rows;
}

static void run_statement(struct session *s, int statement)
{
    s->proc_info = "parsing";
    uint32_t plan = parse(s->id, statement);
    s->proc_info = "reading rows";
    uint64_t rows = read_rows(s->server, plan);
    s->result += sort_rows(rows, plan); PAUSE(25);
    s->proc_info = NULL; PAUSE(70);
}

static void *session_main(void *arg)
{
    struct session *s = arg;

    for (int i = 0; i < STATEMENTS; i++)
        run_statement(s, i);
    return NULL;
}

static void list_sessions(struct server *srv, struct text *out)
{
    out->used = 0;
    pthread_mutex_lock(&srv->sessions_lock);
    for (int i = 0; i < SESSIONS; i++) {
        struct session *s = &srv->session[i];
        if (s->proc_info != NULL) {
            text_add_number(out, s->id); PAUSE(45);
            text_add(out, s->proc_info);
            text_add(out, "\n");
        }
    }
    pthread_mutex_unlock(&srv->sessions_lock);
}

static void *operator_main(void *arg)
{
    struct server *srv = arg;
    struct text page; PAUSE(12);

    for (int i = 0; i < LISTINGS; i++) {
        list_sessions(srv, &page);
        if (page.used >= sizeof page.data - 1)
            fprintf(stderr, "process list too long\n");
    }
    return NULL;
}

int main(void)
{
    static struct server srv = {
        .table_lock = PTHREAD_MUTEX_INITIALIZER,
        .sessions_lock = PTHREAD_MUTEX_INITIALIZER,
    };
    pthread_t thread[SESSIONS], operator;

    for (int i = 0; i < TABLE_ROWS; i++)
        srv.table[i] = (uint32_t)(i * i + 11);
    for (int i = 0; i < SESSIONS; i++) {
        srv.session[i].id = 100 + i;
        srv.session[i].server = &srv;
        if (pthread_create(&thread[i], NULL, session_main, &srv.session[i]) != 0)
            return 2;
    }
    if (pthread_create(&operator, NULL, operator_main, &srv) != 0)
        return 2;
    for (int i = 0; i < SESSIONS; i++)
        pthread_join(thread[i], NULL);
    pthread_join(operator, NULL);
    for (int i = 0; i < SESSIONS; i++)
        printf("session %d: %016llx\n", srv.session[i].id,
               (unsigned long long)srv.session[i].result);
    return 0;
}
