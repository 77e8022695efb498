/* Pipeline compressor, in the way of pbzip2 and pigz: a reader cuts a generated
 * text in blocks, workers compress the blocks (LZ77 with hash chains, canonical
 * Huffman codes), a writer puts them in order. Blocks come from a fixed pool and
 * travel through bounded queues of mutex and condition variables. At the end the
 * stream is unpacked and must have the CRC-32 of the text.
 * Usage: squeeze [-p workers] [-n KiB]
 *
 * The stream is a row of blocks: raw size and packed size (4 bytes each, in the
 * machine's order), the code lengths of both alphabets (4 bits each), then the
 * tokens, bits filled from the lowest. */
#include "team.h"

#include <stdbool.h>
#include <unistd.h>

enum {
    BLOCK_SIZE = 128 * 1024,
    PACKED_MAX = BLOCK_SIZE * 3 / 2 + 1024, /* 12 bits a literal, plus headers */
    HEADER_SIZE = 8,
    WINDOW = 32 * 1024,
    MATCH_MIN = 4,
    MATCH_MAX = 258,
    CHAIN_MAX = 32, /* earlier places tried for a match */
    HASH_BITS = 15,
    CODE_BITS_MAX = 12,
    SYMBOLS = 256 + 16, /* literals, then slots of the match length */
    DISTANCES = 30,     /* slots of the match distance */
    POOL_MAX = 4 * TEAM_MAX,
    VOCABULARY = 3000,
    WORD_MAX = 12,
};

/* ---- CRC-32 (the polynomial of gzip and zip) ---- */

static uint32_t crc_table[256]; /* written before any thread starts */

static void crc_init(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++) {
            value = value & 1 ? value >> 1 ^ 0xedb88320U : value >> 1;
        }
        crc_table[i] = value;
    }
}

static uint32_t crc_update(uint32_t crc, const uint8_t *bytes, size_t count)
{
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc = crc_table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
    }
    return ~crc;
}

/* ---- the text: words of a fixed vocabulary, the first ones most often ---- */

struct text {
    uint64_t state; /* how many random numbers were drawn */
    unsigned at;    /* next letter of the current word */
    char current[WORD_MAX + 3];
    char words[VOCABULARY][WORD_MAX + 1];
};

static unsigned text_random(struct text *text, unsigned limit)
{
    return (unsigned)(team_mix(text->state++) >> 32) % limit;
}

static void text_init(struct text *text)
{
    static const char consonants[] = "tnshrdlcmwfgypbvkt", vowels[] = "eaoiueao";
    memset(text, 0, sizeof *text);
    for (unsigned w = 0; w < VOCABULARY; w++) {
        unsigned length = 2 + text_random(text, 3);
        length += text_random(text, WORD_MAX - 4);
        for (unsigned i = 0; i < length; i++) {
            text->words[w][i] =
                (i + w) % 2 == 0 ? consonants[text_random(text, 18)] : vowels[text_random(text, 8)];
        }
    }
}

static uint8_t text_next(struct text *text)
{
    if (text->current[text->at] == '\0') {
        unsigned rank = text_random(text, text_random(text, VOCABULARY) + 1);
        unsigned mark = text_random(text, 16);
        strcpy(text->current, text->words[rank]);
        strcat(text->current, mark == 0 ? ".\n" : mark == 1 ? ", " : " ");
        text->at = 0;
    }
    return (uint8_t)text->current[text->at++];
}

/* ---- Huffman codes of at most CODE_BITS_MAX bits ---- */

struct leaf {
    uint32_t weight;
    unsigned symbol;
};

static int leaf_compare(const void *a, const void *b)
{
    const struct leaf *left = a, *right = b;
    if (left->weight != right->weight) {
        return left->weight < right->weight ? -1 : 1;
    }
    return left->symbol < right->symbol ? -1 : 1;
}

/* Builds the tree over sorted leaves with two queues (leaves, inner nodes) and
 * sets each symbol's depth; returns the deepest. */
static unsigned huffman_depths(const struct leaf *leaves, unsigned count, uint8_t *lengths)
{
    uint32_t weight[2 * SYMBOLS];
    unsigned parent[2 * SYMBOLS], depth[2 * SYMBOLS];
    unsigned leaf = 0, inner = count, made = count, deepest = 0;
    for (unsigned i = 0; i < count; i++) {
        weight[i] = leaves[i].weight;
    }
    for (; made < 2 * count - 1; made++) {
        weight[made] = 0;
        for (int child = 0; child < 2; child++) {
            bool use_leaf = leaf < count && (inner == made || weight[leaf] <= weight[inner]);
            unsigned node = use_leaf ? leaf++ : inner++;
            weight[made] += weight[node];
            parent[node] = made;
        }
    }
    depth[made - 1] = 0;
    for (unsigned node = made - 1; node-- > 0;) {
        depth[node] = depth[parent[node]] + 1;
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned bits = count == 1 ? 1 : depth[i];
        lengths[leaves[i].symbol] = (uint8_t)bits;
        deepest = bits > deepest ? bits : deepest;
    }
    return deepest;
}

/* Code lengths for the symbols that occur; flattens the weights until no code
 * is too long. */
static void huffman_lengths(const uint32_t *frequencies, unsigned symbols, uint8_t *lengths)
{
    struct leaf leaves[SYMBOLS];
    unsigned count = 0;
    memset(lengths, 0, symbols);
    for (unsigned s = 0; s < symbols; s++) {
        if (frequencies[s] > 0) {
            leaves[count++] = (struct leaf){frequencies[s], s};
        }
    }
    if (count == 0) {
        return;
    }
    qsort(leaves, count, sizeof *leaves, leaf_compare);
    while (huffman_depths(leaves, count, lengths) > CODE_BITS_MAX) {
        for (unsigned i = 0; i < count; i++) {
            leaves[i].weight = leaves[i].weight / 2 + 1;
        }
    }
}

/* Canonical codes, bit-reversed because the stream is filled from the lowest. */
static void huffman_codes(const uint8_t *lengths, unsigned symbols, uint16_t *codes)
{
    unsigned next = 0;
    for (unsigned bits = 1; bits <= CODE_BITS_MAX; bits++, next <<= 1) {
        for (unsigned s = 0; s < symbols; s++) {
            if (lengths[s] != bits) {
                continue;
            }
            unsigned reversed = 0;
            for (unsigned i = 0; i < bits; i++) {
                reversed |= (next >> i & 1) << (bits - 1 - i);
            }
            codes[s] = (uint16_t)reversed;
            next++;
        }
    }
}

/* table[next 12 bits] = symbol << 4 | code length. */
static void huffman_table(const uint8_t *lengths, unsigned symbols, uint16_t *table)
{
    uint16_t codes[SYMBOLS];
    huffman_codes(lengths, symbols, codes);
    memset(table, 0, sizeof *table << CODE_BITS_MAX);
    for (unsigned s = 0; s < symbols; s++) {
        if (lengths[s] > 0) {
            for (unsigned i = codes[s]; i < 1U << CODE_BITS_MAX; i += 1U << lengths[s]) {
                table[i] = (uint16_t)(s << 4 | lengths[s]);
            }
        }
    }
}

/* ---- bits ---- */

struct bits {
    uint8_t *at;
    uint8_t *end; /* when reading: zeros follow */
    uint64_t held;
    unsigned count;
};

static void bits_put(struct bits *bits, uint32_t value, unsigned count)
{
    bits->held |= (uint64_t)value << bits->count;
    bits->count += count;
    while (bits->count >= 8) {
        *bits->at++ = (uint8_t)bits->held;
        bits->held >>= 8;
        bits->count -= 8;
    }
}

/* The next bits, without taking them; at most 32 are valid. */
static uint32_t bits_peek(struct bits *bits)
{
    while (bits->count <= 32) {
        uint64_t byte = bits->at < bits->end ? *bits->at : 0;
        bits->at++;
        bits->held |= byte << bits->count;
        bits->count += 8;
    }
    return (uint32_t)bits->held;
}

static void bits_skip(struct bits *bits, unsigned count)
{
    bits->held >>= count;
    bits->count -= count;
}

static uint32_t bits_get(struct bits *bits, unsigned count)
{
    uint32_t value = bits_peek(bits) & ((1U << count) - 1);
    bits_skip(bits, count);
    return value;
}

/* ---- slots: a number is its two highest bits and their place, then the rest ---- */

static unsigned slot_of(unsigned value)
{
    if (value < 4) {
        return value;
    }
    unsigned top = 31 - (unsigned)__builtin_clz(value);
    return 2 * top + (value >> (top - 1) & 1);
}

static unsigned slot_extra_bits(unsigned slot)
{
    return slot < 4 ? 0 : slot / 2 - 1;
}

static unsigned slot_base(unsigned slot)
{
    return slot < 4 ? slot : (2 + slot % 2) << (slot / 2 - 1);
}

static void slot_put(struct bits *bits, unsigned slot, unsigned value)
{
    bits_put(bits, value - slot_base(slot), slot_extra_bits(slot));
}

static unsigned slot_get(struct bits *bits, unsigned slot)
{
    return slot_base(slot) + bits_get(bits, slot_extra_bits(slot));
}

/* ---- compressing a block ---- */

struct token {
    uint16_t length; /* 0: a literal */
    uint16_t value;  /* the literal, or the distance minus one */
};

struct packer {
    int32_t heads[1 << HASH_BITS]; /* last place of a hash; -1: none */
    int32_t previous[BLOCK_SIZE];  /* the place before with the same hash */
    struct token tokens[BLOCK_SIZE];
    uint32_t symbol_counts[SYMBOLS], distance_counts[DISTANCES];
    uint8_t symbol_lengths[SYMBOLS], distance_lengths[DISTANCES];
    uint16_t symbol_codes[SYMBOLS], distance_codes[DISTANCES];
};

static void packer_insert(struct packer *packer, const uint8_t *raw, unsigned at)
{
    uint32_t word;
    memcpy(&word, raw + at, sizeof word);
    uint32_t hash = word * 2654435761U >> (32 - HASH_BITS);
    packer->previous[at] = packer->heads[hash];
    packer->heads[hash] = (int32_t)at;
}

/* The longest earlier match for the place inserted last; its length. */
static unsigned packer_match(const struct packer *packer, const uint8_t *raw, unsigned at,
                             unsigned limit, unsigned *distance)
{
    unsigned best = MATCH_MIN - 1;
    int32_t from = packer->previous[at];
    for (int tries = 0; tries < CHAIN_MAX && from >= 0 && at - (unsigned)from <= WINDOW; tries++) {
        const uint8_t *old = raw + from, *new = raw + at;
        if (old[best] == new[best]) {
            unsigned length = 0;
            while (length < limit && old[length] == new[length]) {
                length++;
            }
            if (length > best) {
                best = length;
                *distance = at - (unsigned)from;
                if (length == limit) {
                    break;
                }
            }
        }
        from = packer->previous[from];
    }
    return best < MATCH_MIN ? 0 : best;
}

/* Cuts the block into tokens, counting symbols; the number of tokens. */
static size_t packer_parse(struct packer *packer, const uint8_t *raw, unsigned size)
{
    size_t tokens = 0;
    memset(packer->heads, -1, sizeof packer->heads);
    memset(packer->symbol_counts, 0, sizeof packer->symbol_counts);
    memset(packer->distance_counts, 0, sizeof packer->distance_counts);
    for (unsigned at = 0; at < size;) {
        unsigned left = size - at, distance = 0, length = 0;
        if (left >= MATCH_MIN) {
            packer_insert(packer, raw, at);
            length = packer_match(packer, raw, at, left < MATCH_MAX ? left : MATCH_MAX, &distance);
        }
        if (length == 0) {
            packer->symbol_counts[raw[at]]++;
            packer->tokens[tokens++] = (struct token){0, raw[at++]};
            continue;
        }
        packer->symbol_counts[256 + slot_of(length - MATCH_MIN)]++;
        packer->distance_counts[slot_of(distance - 1)]++;
        packer->tokens[tokens++] = (struct token){(uint16_t)length, (uint16_t)(distance - 1)};
        for (unsigned end = at++ + length; at < end; at++) {
            if (size - at >= MATCH_MIN) {
                packer_insert(packer, raw, at);
            }
        }
    }
    return tokens;
}

static void packer_put_lengths(struct bits *bits, const uint8_t *lengths, unsigned symbols)
{
    for (unsigned s = 0; s < symbols; s++) {
        bits_put(bits, lengths[s], 4);
    }
}

static void packer_put_token(const struct packer *packer, struct bits *bits, struct token token)
{
    if (token.length == 0) {
        bits_put(bits, packer->symbol_codes[token.value], packer->symbol_lengths[token.value]);
        return;
    }
    unsigned length = token.length - (unsigned)MATCH_MIN;
    unsigned slot = slot_of(length);
    bits_put(bits, packer->symbol_codes[256 + slot], packer->symbol_lengths[256 + slot]);
    slot_put(bits, slot, length);
    slot = slot_of(token.value);
    bits_put(bits, packer->distance_codes[slot], packer->distance_lengths[slot]);
    slot_put(bits, slot, token.value);
}

/* Compresses a block into `packed` (PACKED_MAX bytes); the bytes used. */
static size_t packer_pack(struct packer *packer, const uint8_t *raw, uint32_t size, uint8_t *packed)
{
    size_t tokens = packer_parse(packer, raw, size);
    huffman_lengths(packer->symbol_counts, SYMBOLS, packer->symbol_lengths);
    huffman_lengths(packer->distance_counts, DISTANCES, packer->distance_lengths);
    huffman_codes(packer->symbol_lengths, SYMBOLS, packer->symbol_codes);
    huffman_codes(packer->distance_lengths, DISTANCES, packer->distance_codes);

    struct bits bits = {.at = packed + HEADER_SIZE};
    packer_put_lengths(&bits, packer->symbol_lengths, SYMBOLS);
    packer_put_lengths(&bits, packer->distance_lengths, DISTANCES);
    for (size_t i = 0; i < tokens; i++) {
        packer_put_token(packer, &bits, packer->tokens[i]);
    }
    bits_put(&bits, 0, 7); /* fills the last byte */

    uint32_t header[2] = {size, (uint32_t)(bits.at - packed)};
    memcpy(packed, header, sizeof header);
    return header[1];
}

/* ---- unpacking a block ---- */

struct unpacker {
    uint8_t symbol_lengths[SYMBOLS], distance_lengths[DISTANCES];
    uint16_t symbols[1 << CODE_BITS_MAX], distances[1 << CODE_BITS_MAX];
    uint8_t raw[BLOCK_SIZE];
};

/* The next symbol, or -1 when the bits are no code. */
static int unpacker_symbol(struct bits *bits, const uint16_t *table)
{
    unsigned entry = table[bits_peek(bits) & ((1U << CODE_BITS_MAX) - 1)];
    bits_skip(bits, entry & 15);
    return entry == 0 ? -1 : (int)(entry >> 4);
}

static bool unpacker_tokens(struct unpacker *unpacker, struct bits *bits, unsigned size)
{
    for (unsigned at = 0; at < size;) {
        int symbol = unpacker_symbol(bits, unpacker->symbols);
        if (symbol >= 0 && symbol < 256) {
            unpacker->raw[at++] = (uint8_t)symbol;
            continue;
        }
        if (symbol < 0) {
            return false;
        }
        unsigned length = slot_get(bits, (unsigned)symbol - 256) + MATCH_MIN;
        int slot = unpacker_symbol(bits, unpacker->distances);
        unsigned distance = slot < 0 ? 0 : slot_get(bits, (unsigned)slot) + 1;
        if (distance == 0 || distance > at || length > size - at) {
            return false;
        }
        for (unsigned end = at + length; at < end; at++) {
            unpacker->raw[at] = unpacker->raw[at - distance];
        }
    }
    return true;
}

/* Unpacks the block at `packed` and steps over it; its raw size, or 0 when the
 * `left` bytes do not begin with a whole block. */
static uint32_t unpacker_block(struct unpacker *unpacker, uint8_t **packed, size_t left)
{
    uint32_t header[2];
    if (left < HEADER_SIZE) {
        return 0;
    }
    memcpy(header, *packed, sizeof header);
    if (header[0] > BLOCK_SIZE || header[1] > left || header[1] < HEADER_SIZE) {
        return 0;
    }
    struct bits bits = {.at = *packed + HEADER_SIZE, .end = *packed + header[1]};
    for (unsigned s = 0; s < SYMBOLS; s++) {
        unpacker->symbol_lengths[s] = (uint8_t)bits_get(&bits, 4);
    }
    for (unsigned s = 0; s < DISTANCES; s++) {
        unpacker->distance_lengths[s] = (uint8_t)bits_get(&bits, 4);
    }
    huffman_table(unpacker->symbol_lengths, SYMBOLS, unpacker->symbols);
    huffman_table(unpacker->distance_lengths, DISTANCES, unpacker->distances);
    *packed += header[1];
    return unpacker_tokens(unpacker, &bits, header[0]) ? header[0] : 0;
}

/* ---- the pipeline ---- */

struct block {
    size_t number;
    uint32_t raw_size;
    size_t packed_size;
    uint8_t raw[BLOCK_SIZE];
    uint8_t packed[PACKED_MAX];
};

struct queue {
    pthread_mutex_t mutex; /* protects all below */
    pthread_cond_t filled, drained;
    struct block *ring[POOL_MAX];
    unsigned first, count, capacity;
    bool closed;
};

static struct {
    unsigned workers, pool;
    size_t size, blocks; /* of the text */
    struct queue idle;   /* blocks without work, writer to reader */
    struct queue full;   /* blocks of text, reader to workers */
    struct {
        pthread_mutex_t mutex; /* protects ready */
        pthread_cond_t arrived;
        struct block *ready[POOL_MAX]; /* [number % pool]: blocks in flight are consecutive */
    } done;
    uint32_t text_crc; /* the reader's, until it is joined */
    uint8_t *stream;   /* the writer's, as the next two */
    size_t stream_size;
    uint32_t stream_crc;
} squeeze;

static void queue_init(struct queue *queue, unsigned capacity)
{
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->filled, NULL);
    pthread_cond_init(&queue->drained, NULL);
    queue->capacity = capacity;
}

static void queue_put(struct queue *queue, struct block *block)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == queue->capacity) {
        pthread_cond_wait(&queue->drained, &queue->mutex);
    }
    queue->ring[(queue->first + queue->count++) % queue->capacity] = block;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->mutex);
}

/* The oldest block; NULL when the queue is closed and empty. */
static struct block *queue_take(struct queue *queue)
{
    struct block *block = NULL;
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0 && !queue->closed) {
        pthread_cond_wait(&queue->filled, &queue->mutex);
    }
    if (queue->count > 0) {
        block = queue->ring[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->count--;
        pthread_cond_signal(&queue->drained);
    }
    pthread_mutex_unlock(&queue->mutex);
    return block;
}

static void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->mutex);
}

static void *read_text(void *arg)
{
    struct text *text = arg;
    size_t left = squeeze.size;
    for (size_t number = 0; left > 0; number++) {
        struct block *block = queue_take(&squeeze.idle);
        block->number = number;
        block->raw_size = left < BLOCK_SIZE ? (uint32_t)left : BLOCK_SIZE;
        for (uint32_t i = 0; i < block->raw_size; i++) {
            block->raw[i] = text_next(text);
        }
        squeeze.text_crc = crc_update(squeeze.text_crc, block->raw, block->raw_size);
        left -= block->raw_size;
        queue_put(&squeeze.full, block);
    }
    queue_close(&squeeze.full);
    return NULL;
}

static void *compress_blocks(void *arg)
{
    struct packer *packer = arg;
    for (struct block *block; (block = queue_take(&squeeze.full));) {
        block->packed_size = packer_pack(packer, block->raw, block->raw_size, block->packed);
        pthread_mutex_lock(&squeeze.done.mutex);
        squeeze.done.ready[block->number % squeeze.pool] = block;
        pthread_cond_signal(&squeeze.done.arrived);
        pthread_mutex_unlock(&squeeze.done.mutex);
    }
    return NULL;
}

static void *write_stream(void *arg)
{
    (void)arg;
    for (size_t number = 0; number < squeeze.blocks; number++) {
        struct block **slot = &squeeze.done.ready[number % squeeze.pool];
        pthread_mutex_lock(&squeeze.done.mutex);
        while (!*slot) {
            pthread_cond_wait(&squeeze.done.arrived, &squeeze.done.mutex);
        }
        struct block *block = *slot;
        *slot = NULL;
        pthread_mutex_unlock(&squeeze.done.mutex);
        memcpy(squeeze.stream + squeeze.stream_size, block->packed, block->packed_size);
        squeeze.stream_size += block->packed_size;
        squeeze.stream_crc = crc_update(squeeze.stream_crc, block->packed, block->packed_size);
        queue_put(&squeeze.idle, block);
    }
    return NULL;
}

static void start_pool(void)
{
    queue_init(&squeeze.idle, squeeze.pool);
    queue_init(&squeeze.full, 2 * squeeze.workers);
    pthread_mutex_init(&squeeze.done.mutex, NULL);
    pthread_cond_init(&squeeze.done.arrived, NULL);
    for (unsigned i = 0; i < squeeze.pool; i++) {
        queue_put(&squeeze.idle, team_alloc(1, sizeof(struct block)));
    }
    squeeze.stream = team_alloc(squeeze.blocks, PACKED_MAX);
}

/* All blocks are idle again once the writer is joined. */
static void free_pool(void)
{
    queue_close(&squeeze.idle);
    for (struct block *block; (block = queue_take(&squeeze.idle));) {
        free(block);
    }
    free(squeeze.stream);
}

static void run_pipeline(void)
{
    pthread_t reader, writer, workers[TEAM_MAX];
    struct packer *packers[TEAM_MAX];
    struct text *text = team_alloc(1, sizeof *text);
    text_init(text);
    team_start(&reader, read_text, text);
    for (unsigned i = 0; i < squeeze.workers; i++) {
        packers[i] = team_alloc(1, sizeof *packers[i]);
        team_start(&workers[i], compress_blocks, packers[i]);
    }
    team_start(&writer, write_stream, NULL);

    team_join(reader);
    for (unsigned i = 0; i < squeeze.workers; i++) {
        team_join(workers[i]);
        free(packers[i]);
    }
    team_join(writer);
    free(text);
}

/* Unpacks the whole stream; whether it holds the text that the reader made. */
static bool verify(void)
{
    struct unpacker *unpacker = team_alloc(1, sizeof *unpacker);
    uint8_t *at = squeeze.stream, *end = squeeze.stream + squeeze.stream_size;
    uint32_t crc = 0;
    size_t size = 0;
    for (uint32_t count; at < end; size += count) {
        count = unpacker_block(unpacker, &at, (size_t)(end - at));
        if (count == 0) {
            break;
        }
        crc = crc_update(crc, unpacker->raw, count);
    }
    free(unpacker);
    return at == end && size == squeeze.size && crc == squeeze.text_crc;
}

static void read_options(int argc, char **argv)
{
    squeeze.workers = TEAM_DEFAULT;
    squeeze.size = 12288 * 1024;
    for (int option; (option = getopt(argc, argv, "p:n:")) != -1;) {
        switch (option) {
        case 'p': squeeze.workers = team_number('p', optarg, 1, TEAM_MAX); break;
        case 'n': squeeze.size = (size_t)team_number('n', optarg, 1, 1U << 22) * 1024; break;
        default: team_die("usage: squeeze [-p workers] [-n KiB]");
        }
    }
    squeeze.blocks = (squeeze.size + BLOCK_SIZE - 1) / BLOCK_SIZE;
    squeeze.pool = 4 * squeeze.workers;
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    crc_init();
    start_pool();
    run_pipeline();
    bool good = verify();
    printf("squeeze: %zu bytes, crc %08x; packed %zu bytes, crc %08x; %s\n", squeeze.size,
           squeeze.text_crc, squeeze.stream_size, squeeze.stream_crc,
           good ? "unpacks" : "DOES NOT UNPACK");
    free_pool();
    return good ? 0 : 1;
}
