/*
 * tfidf_vectorizer: counts the n-grams of a pool in each row of x, with up to max_skip_count items
 * left out between neighbours, and weighs the counts.
 */
#include <string.h>

#include "kernels.h"

typedef struct pool_t {
  const tenon__attribute_t* integers;
  const tenon__attribute_t* strings;
  tenon__integers_t counts; /* where the n-grams of each length begin in the pool */
  int64_t size;
} pool_t;

static bool same_item(const pool_t* pool, int64_t entry, tenon_dtype_t dtype,
                      tenon__number_t item) {
  if (dtype != TENON_DTYPE_STRING) {
    return pool->integers->integers[entry] == item.i;
  }
  const tenon_string_view_t* text = item.s;
  const char* known = pool->strings->strings[entry];
  return strlen(known) == text->size && memcmp(known, text->data, text->size) == 0;
}

/* The n-grams of one length: their part of the pool, and the number of the first of them. */
typedef struct grams_t {
  int64_t length;
  int64_t begin;
  int64_t end;
  int64_t first;
} grams_t;

static grams_t grams_of(const pool_t* pool, int64_t length, int64_t first) {
  return (grams_t){.length = length,
                   .begin = pool->counts.values[length - 1],
                   .end = tenon__integers_at(pool->counts, (size_t)length, pool->size),
                   .first = first};
}

/* Whether gram `gram` stands at the items at `at`, `at + distance`, ... */
static bool stands_at(const pool_t* pool, const grams_t* grams, int64_t gram, tenon_dtype_t dtype,
                      const tenon__number_t* at, int64_t distance) {
  for (int64_t item = 0; item < grams->length; ++item) {
    if (!same_item(pool, grams->begin + gram * grams->length + item, dtype, at[item * distance])) {
      return false;
    }
  }
  return true;
}

/* Adds what occurs in one row, with `distance` from item to item, to the counts. */
static void count_grams(const tenon__work_t* work, const pool_t* pool, const grams_t* grams,
                        int64_t row, int64_t distance, tenon__number_t* inout_counts) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__integers_t indexes = tenon__work_ints(work, "ngram_indexes");
  int64_t width = x->dims[x->rank - 1];
  for (int64_t at = 0; at + (grams->length - 1) * distance < width; ++at) {
    for (int64_t gram = 0; gram < (grams->end - grams->begin) / grams->length; ++gram) {
      bool found = stands_at(pool, grams, gram, x->dtype, x->at + row * width + at, distance);
      int64_t index = tenon__integers_at(indexes, (size_t)(grams->first + gram), -1);
      if (found && index >= 0) {
        inout_counts[index].f += 1.0;
      }
    }
  }
}

/* All n-grams in one row. */
static void count_row(const tenon__work_t* work, const pool_t* pool, int64_t row,
                      tenon__number_t* inout_counts) {
  int64_t shortest = tenon__work_int(work, "min_gram_length");
  int64_t longest = tenon__work_int(work, "max_gram_length");
  int64_t first = 0;
  for (int64_t length = 1; length <= (int64_t)pool->counts.count; ++length) {
    grams_t grams = grams_of(pool, length, first);
    bool wanted =
        length >= shortest && length <= longest && grams.begin >= 0 && grams.end <= pool->size;
    /* Single items have no neighbours to skip to: once is enough. */
    int64_t distances = length == 1 ? 1 : tenon__work_int(work, "max_skip_count") + 1;
    if (wanted) {
      for (int64_t distance = 1; distance <= distances; ++distance) {
        count_grams(work, pool, &grams, row, distance, inout_counts);
      }
    }
    first += (grams.end - grams.begin) / length;
  }
}

static void weigh(const tenon__work_t* work, tenon__number_t* counts, int64_t size) {
  const tenon__attribute_t* weights = tenon__work_attribute(work, "weights");
  bool presence = tenon__work_is(work, "mode", "IDF");
  bool weighted = !tenon__work_is(work, "mode", "TF");
  for (int64_t index = 0; index < size; ++index) {
    double count = presence && counts[index].f > 0.0 ? 1.0 : counts[index].f;
    bool has_weight = weighted && (size_t)index < weights->count;
    counts[index].f = has_weight ? count * weights->numbers[index] : count;
  }
}

tenon_status_t tenon__compute_tfidf_vectorizer(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  pool_t pool = {.integers = tenon__work_attribute(work, "pool_int64s"),
                 .strings = tenon__work_attribute(work, "pool_strings"),
                 .counts = tenon__work_ints(work, "ngram_counts")};
  bool textual = x->dtype == TENON_DTYPE_STRING;
  pool.size = (int64_t)(textual ? pool.strings->count : pool.integers->count);
  int64_t width = x->rank == 0 ? 1 : x->dims[x->rank - 1];
  int64_t rows = width == 0 ? 0 : x->count / width;
  int64_t size = y->rank == 0 ? 0 : y->dims[y->rank - 1];
  for (int64_t place = 0; place < y->count; ++place) {
    y->at[place].f = 0.0;
  }
  for (int64_t row = 0; row < rows; ++row) {
    count_row(work, &pool, row, y->at + row * size);
    weigh(work, y->at + row * size, size);
  }
  return TENON_OK;
}
