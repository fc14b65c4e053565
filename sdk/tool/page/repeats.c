/* See repeats.h. */
#include "page/repeats.h"

#include <stdlib.h>
#include <string.h>

#include "page/format.h"
#include "text/memory.h"

enum { LEAST_LENGTH = 2, LEAST_TIMES = 3, MOST_LENGTH = 200 };

/* What is the same in every copy of a block: kernels may differ, since each was chosen by time, and
 * names count their layers. */
static uint64_t signature_of(const tool_fact_t* fact) {
  char shape[TOOL_FORMAT_BYTES];
  uint64_t hash = 14695981039346656037u;
  tool_format_tensor(fact->info.outputs, shape);
  const char* const texts[] = {fact->info.kind, shape, fact->info.expression};
  for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); ++t) {
    for (const char* at = texts[t]; *at != '\0'; ++at) {
      hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    }
    hash = (hash ^ 255u) * 1099511628211u;
  }
  return hash;
}

typedef struct finding_t {
  const uint64_t* signatures;
  const bool* taken;
  uint32_t count;
} finding_t;

/* How many blocks of `length` follow one another from `first` on. */
static uint32_t times_from(const finding_t* f, uint32_t first, uint32_t length) {
  uint32_t same = 0; /* steps that equal the one a block before */
  uint32_t at = first;
  for (; at < first + length && at < f->count; ++at) {
    if (f->taken[at]) {
      return 0;
    }
  }
  for (; at < f->count && !f->taken[at] && f->signatures[at] == f->signatures[at - length]; ++at) {
    ++same;
  }
  return 1 + same / length;
}

/* The blocks that cover the most free steps; of equals the shortest, earliest. */
static tool_repeat_t find_largest(const finding_t* f) {
  tool_repeat_t best = {0};
  for (uint32_t length = LEAST_LENGTH; length <= MOST_LENGTH && length * 2 <= f->count; ++length) {
    for (uint32_t first = 0; first + length * 2 <= f->count; ++first) {
      const uint32_t times = times_from(f, first, length);
      if (times >= LEAST_TIMES && times * length > best.times * best.length) {
        best = (tool_repeat_t){first, length, times};
      }
    }
  }
  return best;
}

static int compare_repeats(const void* a, const void* b) {
  const tool_repeat_t* x = a;
  const tool_repeat_t* y = b;
  return (x->first > y->first) - (x->first < y->first);
}

uint32_t tool_repeats_find(const tool_facts_t* facts, tool_repeat_t** out_repeats) {
  uint32_t main_count = 0;
  while (main_count < facts->count && facts->steps[main_count].info.depth == 0) {
    ++main_count;
  }
  uint64_t* signatures = tool_allocate(main_count, sizeof(*signatures));
  bool* taken = tool_allocate(main_count, sizeof(*taken));
  tool_repeat_t* repeats = NULL;
  size_t capacity = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < main_count; ++i) {
    signatures[i] = signature_of(&facts->steps[i]);
  }
  const finding_t finding = {signatures, taken, main_count};
  for (tool_repeat_t next = find_largest(&finding); next.times > 0; next = find_largest(&finding)) {
    repeats = tool_grow(repeats, &capacity, count + (size_t)1, sizeof(*repeats));
    repeats[count++] = next;
    for (uint32_t k = 0; k < next.length * next.times; ++k) {
      taken[next.first + k] = true;
    }
  }
  if (count > 0) {
    qsort(repeats, count, sizeof(*repeats), compare_repeats);
  }
  tool_free(signatures);
  tool_free(taken);
  *out_repeats = repeats;
  return count;
}
