/* Script runtime shared by several contexts; the runtime remembers which
 * script is being compiled so that error reports can name it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Script {
    const char *text;
    int nops;
    char filename[32];
} Script;

typedef struct Runtime {
    Script *volatile current;
    pthread_mutex_t tally_lock;
    int total_ops;
    int scripts_done;
} Runtime;

typedef struct Context {
    Runtime *rt;
    int no;
} Context;

static const char *const bodies[] = {
    "x = a + b ;", "call f ( x , y ) ;", "return x * x - 1 ;"
};

static int emit(const char *text, char *trace, size_t cap)
{
    int ops = 0;
    for (const char *p = text; *p; p++)
        if (strchr("+-*=;(),", *p))
            ops++;
    snprintf(trace, cap, "[%s] -> %d", text, ops);
    return ops;
}

static int run_script(Context *cx, Script *s)
{
    char trace[64], label[32];
    int ops = emit(s->text, trace, sizeof trace);
    cx->rt->current = s;
    memcpy(label, cx->rt->current->filename, sizeof s->filename);
    cx->rt->current = NULL;
    s->nops = ops;
    return ops + (label[0] == 0);
}

static void *context_main(void *arg)
{
    Context *cx = arg;
    int sum = 0;
    for (unsigned i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        Script *s = calloc(1, sizeof *s);
        snprintf(s->filename, sizeof s->filename, "mod%d_%u.js", cx->no, i);
        s->text = bodies[i];
        sum += run_script(cx, s);
        free(s);
    }
    pthread_mutex_lock(&cx->rt->tally_lock);
    cx->rt->total_ops += sum;
    cx->rt->scripts_done += 3;
    pthread_mutex_unlock(&cx->rt->tally_lock);
    return NULL;
}

int main(void)
{
    Runtime rt;
    pthread_t th[2];
    Context cx[2], prelude = { &rt, 0 };

    memset(&rt, 0, sizeof rt);
    pthread_mutex_init(&rt.tally_lock, NULL);
    context_main(&prelude);
    for (int i = 0; i < 2; i++) {
        cx[i].rt = &rt;
        cx[i].no = i + 1;
        if (pthread_create(&th[i], NULL, context_main, &cx[i]))
            return 2;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(th[i], NULL);
    pthread_mutex_destroy(&rt.tally_lock);
    printf("%d scripts, %d ops\n", rt.scripts_done, rt.total_ops);
    return 0;
}
