#include "cmds/cmds.h"
static const struct options_page page = { .verb = "replay", .summary = "x", .operands="", .text="" };
static struct error *replay_main(int argc, char **argv, int *status) { (void)argc;(void)argv;(void)status; return NULL; }
const struct verb verb_replay = { .page = &page, .main = replay_main };
