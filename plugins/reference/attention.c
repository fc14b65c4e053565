/*
 * Attention by its definition, one row of scores at a time: scale q k^T, soft cap, bias from masks,
 * softmax, times v. Heads are axis 1 of rank 4, or parts of the last axis of rank 3. Keys and
 * values follow their past.
 */
#include <math.h>

#include "kernels.h"

/* q, k, v or a cache, whichever way heads are laid out. */
typedef struct heads_t {
  const tenon__array_t* array;
  int64_t heads;
  int64_t length;
  int64_t size;
} heads_t;

static heads_t heads_of(const tenon__array_t* array, int64_t heads) {
  heads_t result = {.array = array, .heads = heads};
  if (array == NULL) {
    return result;
  }
  if (array->rank == 4) {
    result.heads = array->dims[1];
    result.length = array->dims[2];
    result.size = array->dims[3];
  } else {
    result.length = array->dims[1];
    result.size = array->dims[2] / heads;
  }
  return result;
}

/* The vector of one position; its `size` numbers lie together. */
static tenon__number_t* vector_at(const heads_t* from, int64_t batch, int64_t head, int64_t at) {
  int64_t place = from->array->rank == 4
                      ? ((batch * from->heads + head) * from->length + at) * from->size
                      : ((batch * from->length + at) * from->heads + head) * from->size;
  return from->array->at + place;
}

typedef struct attention_t {
  heads_t q;
  heads_t k;
  heads_t v;
  heads_t past_key;
  heads_t past_value;
  const tenon__array_t* mask;
  const tenon__array_t* lengths; /* nonpad_kv_seqlen */
  double scale;
  double softcap;
  bool is_causal;
  int64_t left_window;
  int64_t right_window;
  int64_t total; /* past and present keys */
} attention_t;

/* Key or value `at`, counted from the beginning of the past. */
static const tenon__number_t* cached_at(const heads_t* past, const heads_t* now, int64_t batch,
                                        int64_t head, int64_t at) {
  return at < past->length ? vector_at(past, batch, head, at)
                           : vector_at(now, batch, head, at - past->length);
}

/* What the mask adds to the score of query `row` and key `at`; it broadcasts, and ends early with
 * -inf. */
static double mask_bias(const attention_t* from, int64_t batch, int64_t head, int64_t row,
                        int64_t at) {
  const tenon__array_t* mask = from->mask;
  if (mask == NULL) {
    return 0.0;
  }
  int64_t point[4] = {batch, head, row, at};
  int64_t place = 0;
  for (uint32_t axis = 0; axis < mask->rank; ++axis) {
    int64_t coordinate = point[axis + 4 - mask->rank];
    bool last = axis + 1 == mask->rank;
    if (last && coordinate >= mask->dims[axis]) {
      return -(double)INFINITY;
    }
    place = place * mask->dims[axis] + (mask->dims[axis] == 1 ? 0 : coordinate);
  }
  if (mask->dtype == TENON_DTYPE_BOOL) {
    return mask->at[place].i != 0 ? 0.0 : -(double)INFINITY;
  }
  switch (tenon__number_class(mask->dtype)) {
    case 'f':
      return mask->at[place].f;
    case 'u':
      return (double)(uint64_t)mask->at[place].i;
    default:
      return (double)mask->at[place].i;
  }
}

/* All that is added to a score: mask, causality, window, padding. */
static double bias_of(const attention_t* from, int64_t batch, int64_t head, int64_t row,
                      int64_t at) {
  int64_t offset = from->past_key.length;
  if (from->past_key.array == NULL && from->lengths != NULL) {
    offset = from->lengths->at[batch].i - from->q.length;
  }
  int64_t ahead = at - (row + offset);
  bool hidden = (from->is_causal && ahead > 0) ||
                (from->left_window >= 0 && -ahead > from->left_window) ||
                (from->right_window >= 0 && ahead > from->right_window) ||
                (from->lengths != NULL && at >= from->lengths->at[batch].i);
  return hidden ? -(double)INFINITY : mask_bias(from, batch, head, row, at);
}

static double score_of(const attention_t* from, int64_t batch, int64_t head, int64_t row,
                       int64_t at) {
  int64_t kv_head = head / (from->q.heads / from->k.heads);
  const tenon__number_t* q = vector_at(&from->q, batch, head, row);
  const tenon__number_t* k = cached_at(&from->past_key, &from->k, batch, kv_head, at);
  double sum = 0.0;
  for (int64_t item = 0; item < from->q.size; ++item) {
    sum += q[item].f * k[item].f;
  }
  return sum * from->scale;
}

/* Scratch: a row of probabilities and of biases. */
int64_t tenon__scratch_attention(const tenon__work_t* work) {
  heads_t k = heads_of(tenon__work_input(work, 1), tenon__work_int(work, "kv_num_heads"));
  heads_t past = heads_of(tenon__work_input(work, 4), 1);
  return 2 * (k.length + past.length);
}

/* Softmax of scores + biases; a row whose biases are all -inf becomes zeros. */
static void softmax_row(tenon__number_t* row, const tenon__number_t* biases, int64_t count) {
  double largest = -(double)INFINITY;
  double largest_bias = -(double)INFINITY;
  double sum = 0.0;
  for (int64_t at = 0; at < count; ++at) {
    row[at].f += biases[at].f;
    largest = fmax(largest, row[at].f);
    largest_bias = fmax(largest_bias, biases[at].f);
  }
  for (int64_t at = 0; at < count; ++at) {
    row[at].f = isinf(largest) && largest < 0.0 ? 0.0 : exp(row[at].f - largest);
    sum += row[at].f;
  }
  for (int64_t at = 0; at < count; ++at) {
    bool masked = isinf(largest_bias) && largest_bias < 0.0;
    row[at].f = masked || sum == 0.0 ? 0.0 : row[at].f / sum;
  }
}

/* One query: scores, softmax, the weighted sum of the values. `stage` tells what goes to output qk.
 */
static void attend(tenon__work_t* work, const attention_t* from, int64_t batch, int64_t head,
                   int64_t row) {
  tenon__array_t* qk = tenon__work_output(work, 3);
  int64_t stage = tenon__work_int(work, "qk_mode");
  tenon__number_t* scores = work->scratch;
  tenon__number_t* biases = work->scratch + from->total;
  tenon__number_t* shown =
      qk == NULL ? NULL
                 : qk->at + ((batch * from->q.heads + head) * from->q.length + row) * from->total;
  for (int64_t at = 0; at < from->total; ++at) {
    double raw = score_of(from, batch, head, row, at);
    double capped = from->softcap > 0.0 ? from->softcap * tanh(raw / from->softcap) : raw;
    scores[at].f = capped;
    biases[at].f = bias_of(from, batch, head, row, at);
    if (shown != NULL) {
      shown[at].f = stage == 0 ? raw : stage == 1 ? capped : capped + biases[at].f;
    }
  }
  softmax_row(scores, biases, from->total);
  if (shown != NULL && stage == 3) {
    for (int64_t at = 0; at < from->total; ++at) {
      shown[at] = scores[at];
    }
  }
  tenon__array_t* y = tenon__work_output(work, 0);
  int64_t kv_head = head / (from->q.heads / from->v.heads);
  if (y == NULL) {
    return;
  }
  heads_t to = {y, from->q.heads, from->q.length, from->v.size};
  tenon__number_t* result = vector_at(&to, batch, head, row);
  for (int64_t item = 0; item < from->v.size; ++item) {
    double sum = 0.0;
    for (int64_t at = 0; at < from->total; ++at) {
      double weight = scores[at].f;
      double value = cached_at(&from->past_value, &from->v, batch, kv_head, at)[item].f;
      sum += weight == 0.0 ? 0.0 : weight * value;
    }
    result[item].f = sum;
  }
}

/* Past and present, one after the other. */
static void store_cache(tenon__array_t* to, const heads_t* past, const heads_t* now) {
  if (to == NULL) {
    return;
  }
  int64_t size = now->size;
  for (int64_t place = 0; place < to->count; ++place) {
    int64_t at = place / size % to->dims[2];
    int64_t head = place / size / to->dims[2] % to->dims[1];
    int64_t batch = place / size / to->dims[2] / to->dims[1];
    to->at[place] = cached_at(past, now, batch, head, at)[place % size];
  }
}

tenon_status_t tenon__compute_attention(tenon__work_t* work) {
  int64_t kv_heads = tenon__work_int(work, "kv_num_heads");
  attention_t from = {
      .q = heads_of(tenon__work_input(work, 0), tenon__work_int(work, "q_num_heads")),
      .k = heads_of(tenon__work_input(work, 1), kv_heads),
      .v = heads_of(tenon__work_input(work, 2), kv_heads),
      .past_key = heads_of(tenon__work_input(work, 4), 1),
      .past_value = heads_of(tenon__work_input(work, 5), 1),
      .mask = tenon__work_input(work, 3),
      .lengths = tenon__work_input(work, 6),
      .scale = tenon__work_float(work, "scale"),
      .softcap = tenon__work_float(work, "softcap"),
      .is_causal = tenon__work_int(work, "is_causal") != 0,
      .left_window = tenon__work_int(work, "left_window"),
      .right_window = tenon__work_int(work, "right_window"),
  };
  if (from.scale == 0.0) {
    from.scale = 1.0 / sqrt((double)from.q.size);
  }
  from.total = from.past_key.length + from.k.length;
  if (from.mask != NULL && from.mask->rank > 4) {
    return tenon__work_fail(work, "the mask has rank %u", from.mask->rank);
  }
  if (from.k.heads == 0 || from.q.heads % from.k.heads != 0) {
    return tenon__work_fail(work, "%lld query heads share %lld key heads", (long long)from.q.heads,
                            (long long)from.k.heads);
  }
  int64_t lines = from.q.array->dims[0] * from.q.heads * from.q.length;
  for (int64_t line = 0; line < lines && !tenon__work_is_cancelled(work); ++line) {
    int64_t row = line % from.q.length;
    int64_t head = line / from.q.length % from.q.heads;
    attend(work, &from, line / from.q.length / from.q.heads, head, row);
  }
  store_cache(tenon__work_output(work, 1), &from.past_key, &from.k);
  store_cache(tenon__work_output(work, 2), &from.past_value, &from.v);
  return TENON_OK;
}
