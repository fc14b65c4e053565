/*
 * Linear attention: a state of k x v features for each head is carried from token to token,
 *   S = exp(g) S + beta k (v - S^T k)^T,  y = scale q^T S,
 * of which update rules without gate (g) or delta (beta, S^T k) leave parts out. And rotary
 * embedding.
 */
#include <math.h>

#include "kernels.h"

typedef struct recurrence_t {
  const tenon__array_t* q;
  const tenon__array_t* k;
  const tenon__array_t* v;
  const tenon__array_t* decay; /* NULL: no gate */
  const tenon__array_t* beta;  /* NULL: no delta */
  int64_t q_heads;
  int64_t kv_heads;
  int64_t k_size;
  int64_t v_size;
  double scale;
} recurrence_t;

/* Entry of a [batch, time, ...] tensor whose last axis holds one for each head, for each feature,
 * or just one. */
static double packed_at(const tenon__array_t* array, int64_t token, int64_t heads, int64_t head,
                        int64_t feature) {
  int64_t width = array->dims[2];
  int64_t at = width == 1 ? 0 : width == heads ? head : head * (width / heads) + feature;
  return array->at[token * width + at].f;
}

/* Scratch: all states, then one vector of v features. */
int64_t tenon__scratch_linear_attention(const tenon__work_t* work) {
  const tenon__array_t* k = tenon__work_input(work, 1);
  const tenon__array_t* v = tenon__work_input(work, 2);
  int64_t heads = tenon__work_int(work, "kv_num_heads");
  return k->dims[0] * heads * (k->dims[2] / heads) * (v->dims[2] / heads) + v->dims[2] / heads;
}

/* One token through the state of one key head. */
static void update_state(const recurrence_t* from, int64_t token, int64_t head,
                         tenon__number_t* state, tenon__number_t* written) {
  const tenon__number_t* k = from->k->at + (token * from->kv_heads + head) * from->k_size;
  const tenon__number_t* v = from->v->at + (token * from->kv_heads + head) * from->v_size;
  if (from->decay != NULL) {
    for (int64_t place = 0; place < from->k_size * from->v_size; ++place) {
      state[place].f *=
          exp(packed_at(from->decay, token, from->kv_heads, head, place / from->v_size));
    }
  }
  for (int64_t item = 0; item < from->v_size; ++item) {
    double known = 0.0;
    if (from->beta != NULL) {
      for (int64_t feature = 0; feature < from->k_size; ++feature) {
        known += state[feature * from->v_size + item].f * k[feature].f;
      }
    }
    written[item].f = from->beta == NULL ? v[item].f
                                         : packed_at(from->beta, token, from->kv_heads, head, 0) *
                                               (v[item].f - known);
  }
  for (int64_t place = 0; place < from->k_size * from->v_size; ++place) {
    state[place].f += k[place / from->v_size].f * written[place % from->v_size].f;
  }
}

static void read_state(const recurrence_t* from, int64_t token, int64_t q_head,
                       const tenon__number_t* state, tenon__array_t* y) {
  const tenon__number_t* q = from->q->at + (token * from->q_heads + q_head) * from->k_size;
  tenon__number_t* result = y->at + (token * from->q_heads + q_head) * from->v_size;
  for (int64_t item = 0; item < from->v_size; ++item) {
    double sum = 0.0;
    for (int64_t feature = 0; feature < from->k_size; ++feature) {
      sum += q[feature].f * state[feature * from->v_size + item].f;
    }
    result[item].f = from->scale * sum;
  }
}

static tenon_status_t read_recurrence(const tenon__work_t* work, recurrence_t* out_from) {
  bool gated = tenon__work_is(work, "update_rule", "gated") ||
               tenon__work_is(work, "update_rule", "gated_delta");
  bool delta = tenon__work_is(work, "update_rule", "delta") ||
               tenon__work_is(work, "update_rule", "gated_delta");
  recurrence_t from = {.q = tenon__work_input(work, 0),
                       .k = tenon__work_input(work, 1),
                       .v = tenon__work_input(work, 2),
                       .decay = gated ? tenon__work_input(work, 4) : NULL,
                       .beta = delta ? tenon__work_input(work, 5) : NULL,
                       .q_heads = tenon__work_int(work, "q_num_heads"),
                       .kv_heads = tenon__work_int(work, "kv_num_heads"),
                       .scale = tenon__work_float(work, "scale")};
  if ((gated && from.decay == NULL) || (delta && from.beta == NULL)) {
    return tenon__work_fail(work, "the update rule needs decay or beta");
  }
  from.k_size = from.k->dims[2] / from.kv_heads;
  from.v_size = from.v->dims[2] / from.kv_heads;
  if (from.scale == 0.0) {
    from.scale = 1.0 / sqrt((double)from.q->dims[2] / (double)from.q_heads);
  }
  *out_from = from;
  return TENON_OK;
}

tenon_status_t tenon__compute_linear_attention(tenon__work_t* work) {
  const tenon__array_t* past = tenon__work_input(work, 3);
  tenon__array_t* y = tenon__work_output(work, 0);
  tenon__array_t* carried = tenon__work_output(work, 1);
  recurrence_t from = {.q = NULL};
  tenon_status_t status = read_recurrence(work, &from);
  if (status != TENON_OK || from.q == NULL) {
    return status;
  }
  int64_t time = from.q->dims[1];
  int64_t states = from.q->dims[0] * from.kv_heads;
  int64_t state_size = from.k_size * from.v_size;
  int64_t sharing = y == NULL ? 0 : from.q_heads / from.kv_heads;
  tenon__number_t* written = work->scratch + states * state_size;
  for (int64_t place = 0; place < states * state_size; ++place) {
    work->scratch[place].f = past == NULL ? 0.0 : past->at[place].f;
  }
  for (int64_t which = 0; which < states; ++which) {
    int64_t head = which % from.kv_heads;
    tenon__number_t* state = work->scratch + which * state_size;
    for (int64_t step = 0; step < time; ++step) {
      int64_t token = which / from.kv_heads * time + step;
      update_state(&from, token, head, state, written);
      for (int64_t shared = 0; shared < sharing; ++shared) {
        read_state(&from, token, head * sharing + shared, state, y);
      }
    }
  }
  if (carried != NULL) {
    for (int64_t place = 0; place < carried->count; ++place) {
      carried->at[place] = work->scratch[place];
    }
  }
  return TENON_OK;
}

/* Rotary embedding: pairs of features, halves apart or side by side, are turned by the angle of
 * their position. */
tenon_status_t tenon__compute_rotary_embedding(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* cosines = tenon__work_input(work, 1);
  const tenon__array_t* sines = tenon__work_input(work, 2);
  const tenon__array_t* positions = tenon__work_input(work, 3);
  tenon__array_t* y = tenon__work_output(work, 0);
  bool apart = x->rank == 4; /* [batch, heads, time, size], else [batch, time, heads size] */
  int64_t heads = apart ? x->dims[1] : tenon__work_int(work, "num_heads");
  if (x->rank < 3 || x->rank > 4 || heads <= 0) {
    return tenon__work_fail(work, "x of rank %u has %lld heads", x->rank, (long long)heads);
  }
  int64_t size = apart ? x->dims[3] : x->dims[2] / heads;
  int64_t time = apart ? x->dims[2] : x->dims[1];
  int64_t turned = tenon__work_int(work, "rotary_dim");
  turned = turned == 0 ? size : turned;
  int64_t half = turned / 2;
  int64_t step = tenon__work_int(work, "interleaved") != 0 ? 1 : half;
  int64_t pair = step == half ? 1 : 2; /* from one first member to the next */
  for (int64_t vector = 0; vector < x->count / size; ++vector) {
    int64_t batch = vector / (heads * time);
    int64_t at = apart ? vector % time : vector / heads % time;
    int64_t token = batch * time + at;
    int64_t row = positions == NULL ? token : positions->at[token].i;
    if (row < 0 || (row + 1) * half > cosines->count) {
      return tenon__work_fail(work, "position %lld is out of range", (long long)row);
    }
    const tenon__number_t* from = x->at + vector * size;
    tenon__number_t* to = y->at + vector * size;
    for (int64_t item = turned; item < size; ++item) {
      to[item] = from[item];
    }
    for (int64_t item = 0; item < half; ++item) {
      double c = cosines->at[row * half + item].f;
      double s = sines->at[row * half + item].f;
      double a = from[item * pair].f;
      double b = from[item * pair + step].f;
      to[item * pair].f = c * a - s * b;
      to[item * pair + step].f = s * a + c * b;
    }
  }
  return TENON_OK;
}
