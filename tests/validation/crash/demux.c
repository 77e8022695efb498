/* A small media player: the demuxer reads stream headers, each stream
   becomes a track, the mixer plays the tracks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct codec {
    char fourcc[5];
    int channels;
    int (*decode)(const unsigned char *, int);
};

struct stream_info {
    int id;
    int rate;
    char lang[24];
    const struct codec *codec;
};

struct track {
    int rate;
    int muted;
    const struct codec *codec;
    struct track *next;
};

struct voice {
    const struct codec *codec;
    int level;
};

static const unsigned char container[] = {
    'S', 3, 22, 's', 'u', 'b', 't', 'f', 'r',
    'S', 1, 44, 'p', 'c', 'm', '1', 'e', 'n',
    'S', 2, 48, 'u', 'l', 'a', 'w', 'd', 'e',
    'E',
};

static int decode_pcm(const unsigned char *p, int n)
{
    int i, s = 0;

    for (i = 0; i < n; i++)
        s += p[i];
    return s;
}

static int decode_ulaw(const unsigned char *p, int n)
{
    int i, s = 0;

    for (i = 0; i < n; i++)
        s += 132 - p[i] / 2;
    return s;
}

static const struct codec codecs[] = {
    { "pcm1", 2, decode_pcm },
    { "ulaw", 1, decode_ulaw },
};

static char *describe_container(void)
{
    char *d = malloc(sizeof(struct stream_info));

    memset(d, '-', sizeof(struct stream_info) - 1);
    d[sizeof(struct stream_info) - 1] = '\0';
    return d;
}

static struct stream_info *read_header(const unsigned char **pp)
{
    const unsigned char *p = *pp;
    struct stream_info *si;
    size_t i;

    if (*p != 'S')
        return NULL;
    si = malloc(sizeof *si);
    si->id = p[1];
    si->rate = p[2] * 1000;
    memcpy(si->lang, p + 7, 2);
    si->lang[2] = '\0';
    for (i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (memcmp(codecs[i].fourcc, p + 3, 4) == 0)
            si->codec = &codecs[i];
    *pp = p + 9;
    return si;
}

static struct track *make_track(const struct stream_info *si, struct track *next)
{
    struct track *t = calloc(1, sizeof *t);

    t->rate = si->rate;
    t->codec = si->codec;
    t->next = next;
    return t;
}

static struct track *open_container(void)
{
    const unsigned char *p = container;
    struct stream_info *si;
    struct track *head = NULL;
    char *d = describe_container();

    puts(d);
    free(d);
    while ((si = read_header(&p)) != NULL) {
        head = make_track(si, head);
        free(si);
    }
    return head;
}

static int play(struct track *head)
{
    static const unsigned char block[] = { 1, 9, 25, 49, 81, 121 };
    struct voice v[8];
    struct track *t;
    int i, n = 0, out = 0;

    for (t = head; t && n < 8; t = t->next) {
        if (t->muted)
            continue;
        v[n].codec = t->codec;
        v[n].level = t->rate / 1000;
        n++;
    }
    for (i = 0; i < n; i++)
        out += v[i].codec->decode(block, sizeof block) * v[i].level;
    return out;
}

int main(void)
{
    struct track *head = open_container();

    printf("mix %d\n", play(head));
    while (head) {
        struct track *n = head->next;
        free(head);
        head = n;
    }
    return 0;
}
