#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXACTORS 8

enum type { PLAYER, ETTIN, MINOTAUR, HOLYGHOST };

struct actor;

union special {
    int i;
    struct actor *m;
};

struct actor {
    enum type type;
    int health;
    int x, y;
    union special special1;
    union special special2;
    char name[16];
};

struct level {
    struct actor *actors[MAXACTORS];
    int nactors;
    int tics;
    int hits;
};

static struct actor *spawn(struct level *l, enum type type, const char *name, int x, int y)
{
    struct actor *a = calloc(1, sizeof *a);
    if (a == NULL || l->nactors == MAXACTORS)
        abort();
    a->type = type;
    a->health = type == PLAYER ? 100 : 40;
    a->x = x;
    a->y = y;
    snprintf(a->name, sizeof a->name, "%s", name);
    l->actors[l->nactors++] = a;
    return a;
}

static int distance(const struct actor *a, const struct actor *b)
{
    return abs(a->x - b->x) + abs(a->y - b->y);
}

static struct actor *nearest(struct level *l, const struct actor *from)
{
    struct actor *best = NULL;
    int i;
    for (i = 0; i < l->nactors; i++) {
        struct actor *a = l->actors[i];
        if (a->type == PLAYER || a->type == HOLYGHOST || a->health <= 0)
            continue;
        if (best == NULL || distance(from, a) < distance(from, best))
            best = a;
    }
    return best;
}

static void forget_target(struct actor *ghost)
{
    ghost->special1.i = 0;
    ghost->special2.i = 0;
}

static void damage(struct level *l, struct actor *victim, int amount)
{
    victim->health -= amount;
    l->hits++;
    printf("%s has %d left\n", victim->name, victim->health);
    fflush(stdout);
}

static void ghost_attack(struct level *l, struct actor *ghost)
{
    struct actor *victim = ghost->special1.m;
    damage(l, victim, 25);
    if (victim->health <= 0)
        forget_target(ghost);
}

static void ghost_think(struct level *l, struct actor *ghost)
{
    struct actor *target = ghost->special1.m;
    if (target == NULL) {
        ghost->special1.m = nearest(l, ghost);
        return;
    }
    if (distance(ghost, target) > 2) {
        ghost->x += (target->x > ghost->x) - (target->x < ghost->x);
        ghost->y += (target->y > ghost->y) - (target->y < ghost->y);
        return;
    }
    ghost_attack(l, ghost);
}

static void minotaur_think(struct actor *a, int tic)
{
    a->special1.i = tic;
    a->x += a->special1.i % 2;
}

static void run(struct level *l, int tics)
{
    int i;
    for (l->tics = 0; l->tics < tics; l->tics++) {
        for (i = 0; i < l->nactors; i++) {
            struct actor *a = l->actors[i];
            if (a->health <= 0)
                continue;
            if (a->type == HOLYGHOST)
                ghost_think(l, a);
            else if (a->type == MINOTAUR)
                minotaur_think(a, l->tics);
        }
    }
}

int main(void)
{
    static struct level l;
    spawn(&l, PLAYER, "cleric", 0, 0);
    spawn(&l, ETTIN, "ettin", 3, 2);
    spawn(&l, MINOTAUR, "maulotaur", 9, 4);
    spawn(&l, HOLYGHOST, "ghost", 1, 0);
    run(&l, 30);
    printf("%d hits in %d tics\n", l.hits, l.tics);
    return 0;
}
