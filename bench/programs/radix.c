/* Parallel integer radix sort, in the way of SPLASH-2's radix: per digit each
 * thread counts its own keys, the threads turn the counts into places by prefix
 * sums between barriers, and each moves its keys to their places in the other
 * array. The result must be sorted and hold the same keys.
 * Usage: radix [-p threads] [-n keys] [-r radix] */
#include "team.h"

#include <unistd.h>

enum { KEY_BITS = 30, RADIX_MAX = 1 << 16 };

static struct {
    unsigned threads, radix, digit_bits;
    size_t keys;
    uint32_t *from, *to;              /* swapped by thread 0 after each digit */
    size_t *counts[TEAM_MAX];         /* per thread and digit: own keys, then offset */
    size_t *bases;                    /* per digit: place of its first key in its slice */
    size_t slice_totals[TEAM_MAX];    /* keys whose digit lies in a thread's slice */
    uint64_t prints_before[TEAM_MAX]; /* sums of mixed keys: equal for equal multisets */
    uint64_t prints_after[TEAM_MAX];
    size_t misplaced[TEAM_MAX];
    pthread_barrier_t barrier;
} sort;

static void wait_for_all(void)
{
    pthread_barrier_wait(&sort.barrier);
}

static uint64_t make_keys(size_t first, size_t end)
{
    uint64_t print = 0;
    for (size_t i = first; i < end; i++) {
        uint32_t key = (uint32_t)(team_mix(i) >> (64 - KEY_BITS));
        sort.from[i] = key;
        print += team_mix(key);
    }
    return print;
}

static void count_keys(size_t *counts, size_t first, size_t end, unsigned shift)
{
    memset(counts, 0, sort.radix * sizeof *counts);
    for (size_t i = first; i < end; i++) {
        counts[sort.from[i] >> shift & (sort.radix - 1)]++;
    }
}

/* For the digits of this thread's slice: counts become offsets within the
 * digit, by thread; the digits' bases count from the start of the slice. */
static void sum_slice(unsigned self)
{
    size_t total = 0;
    size_t end = team_share(sort.radix, self + 1, sort.threads);
    for (size_t digit = team_share(sort.radix, self, sort.threads); digit < end; digit++) {
        size_t offset = 0;
        for (unsigned t = 0; t < sort.threads; t++) {
            size_t count = sort.counts[t][digit];
            sort.counts[t][digit] = offset;
            offset += count;
        }
        sort.bases[digit] = total;
        total += offset;
    }
    sort.slice_totals[self] = total;
}

/* Own counts become the places where this thread's next key of a digit goes. */
static void find_places(size_t *counts)
{
    size_t before = 0;
    for (unsigned t = 0; t < sort.threads; t++) {
        size_t end = team_share(sort.radix, t + 1, sort.threads);
        for (size_t digit = team_share(sort.radix, t, sort.threads); digit < end; digit++) {
            counts[digit] += before + sort.bases[digit];
        }
        before += sort.slice_totals[t];
    }
}

static void move_keys(size_t *places, size_t first, size_t end, unsigned shift)
{
    for (size_t i = first; i < end; i++) {
        uint32_t key = sort.from[i];
        sort.to[places[key >> shift & (sort.radix - 1)]++] = key;
    }
}

static void check_keys(unsigned self, size_t first, size_t end)
{
    uint64_t print = 0;
    size_t misplaced = 0;
    for (size_t i = first; i < end; i++) {
        print += team_mix(sort.from[i]);
        misplaced += i > 0 && sort.from[i - 1] > sort.from[i];
    }
    sort.prints_after[self] = print;
    sort.misplaced[self] = misplaced;
}

static void work(unsigned self)
{
    size_t first = team_share(sort.keys, self, sort.threads);
    size_t end = team_share(sort.keys, self + 1, sort.threads);
    size_t *counts = sort.counts[self];
    sort.prints_before[self] = make_keys(first, end);
    for (unsigned shift = 0; shift < KEY_BITS; shift += sort.digit_bits) {
        count_keys(counts, first, end, shift);
        wait_for_all();
        sum_slice(self);
        wait_for_all();
        find_places(counts);
        move_keys(counts, first, end, shift);
        wait_for_all();
        if (self == 0) {
            uint32_t *sorted = sort.to;
            sort.to = sort.from;
            sort.from = sorted;
        }
        wait_for_all();
    }
    check_keys(self, first, end);
}

static void read_options(int argc, char **argv)
{
    sort.threads = TEAM_DEFAULT;
    sort.keys = 10000000;
    sort.radix = 1024;
    for (int option; (option = getopt(argc, argv, "p:n:r:")) != -1;) {
        switch (option) {
        case 'p': sort.threads = team_number('p', optarg, 1, TEAM_MAX); break;
        case 'n': sort.keys = team_number('n', optarg, 1, 1U << 30); break;
        case 'r': sort.radix = team_number('r', optarg, 2, RADIX_MAX); break;
        default: team_die("usage: radix [-p threads] [-n keys] [-r radix]");
        }
    }
    if ((sort.radix & (sort.radix - 1)) != 0) {
        team_die("option -r wants a power of two");
    }
    sort.digit_bits = (unsigned)__builtin_ctz(sort.radix);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    sort.from = team_alloc(sort.keys, sizeof *sort.from);
    sort.to = team_alloc(sort.keys, sizeof *sort.to);
    sort.bases = team_alloc(sort.radix, sizeof *sort.bases);
    for (unsigned i = 0; i < sort.threads; i++) {
        sort.counts[i] = team_alloc(sort.radix, sizeof *sort.counts[i]);
    }
    team_barrier_init(&sort.barrier, sort.threads);
    team_run(sort.threads, work);
    pthread_barrier_destroy(&sort.barrier);

    uint64_t before = 0, after = 0;
    size_t misplaced = 0;
    for (unsigned i = 0; i < sort.threads; i++) {
        before += sort.prints_before[i];
        after += sort.prints_after[i];
        misplaced += sort.misplaced[i];
        free(sort.counts[i]);
    }
    int good = before == after && misplaced == 0;
    printf("radix: %zu keys, fingerprint %016llx, %s\n", sort.keys, (unsigned long long)after,
           good ? "sorted" : "NOT SORTED");
    free(sort.from);
    free(sort.to);
    free(sort.bases);
    return good ? 0 : 1;
}
