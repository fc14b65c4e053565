/* Recurrent layers, attention, classical models: see recurrent.cuh, attention.cuh, classical.cuh.
 */
#include <string.h>

#include "../analysis.h"
#include "families.h"

/* ---- Recurrent layers ---- */

enum { TIME, BATCH, FEATURES, HIDDEN, DIRECTIONS, BATCH_FIRST, BACKWARDS, ACTIVATIONS = 8 };

/* In the order in which recurrent.cuh counts them. */
static const struct {
  const char* name;
  bool takes_alpha;
  bool takes_beta;
  double alpha;
  double beta;
} functions[] = {
    {"affine", true, true, 1.0, 0.0},           {"elu", true, false, 1.0, 0.0},
    {"hardsigmoid", true, true, 0.2, 0.5},      {"leakyrelu", true, false, 0.01, 0.0},
    {"relu", false, false, 0.0, 0.0},           {"scaledtanh", true, true, 1.0, 1.0},
    {"sigmoid", false, false, 0.0, 0.0},        {"softplus", false, false, 0.0, 0.0},
    {"softsign", false, false, 0.0, 0.0},       {"tanh", false, false, 0.0, 0.0},
    {"thresholdedrelu", true, false, 1.0, 0.0},
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]), OF_A_CELL = 3, NUMBERS = 3 };

static uint32_t gates_of(const tenon__closed_work_t* work) {
  return strcmp(work->row->name, "lstm") == 0 ? 4 : strcmp(work->row->name, "gru") == 0 ? 3 : 1;
}

/* "HardSigmoid", "hard_sigmoid": letter case and underscores do not count. */
static bool same_name(const char* given, const char* name) {
  for (; *given != '\0'; given++) {
    if (*given == '_') {
      continue;
    }
    const bool is_upper = *given >= 'A' && *given <= 'Z';
    if ((is_upper ? *given - 'A' + 'a' : *given) != *name) {
      return false;
    }
    name++;
  }
  return *name == '\0';
}

static size_t find_function(const char* name) {
  size_t k = 0;
  while (k < FUNCTIONS && !same_name(name, functions[k].name)) {
    k++;
  }
  return k;
}

static size_t cell_activations(const tenon__closed_work_t* work) {
  const uint32_t gates = gates_of(work);
  return gates == 4 ? 3 : gates == 3 ? 2 : 1;
}

static const char* activation_name(const tenon__closed_work_t* work, size_t index) {
  static const char* const usual[] = {"sigmoid", "tanh", "tanh"};
  const char* const* names = NULL;
  size_t count = 0;
  if (work->table->attribute_strings(work->region, 0, "activations", &names, &count) == TENON_OK &&
      index < count) {
    return names[index];
  }
  return gates_of(work) == 1 ? "tanh" : usual[index % cell_activations(work)];
}

const char* tenon__closed_refuse_recurrent(const tenon__closed_work_t* work) {
  for (size_t k = 0; k < 2 * cell_activations(work); k++) {
    if (find_function(activation_name(work, k)) == FUNCTIONS) {
      return "an activation that is not known";
    }
  }
  return NULL;
}

/* The parameters stand in the lists one after the other, for those that take them. */
static double take_parameter(const tenon__closed_work_t* work, const char* name, bool takes,
                             size_t* inout_next, double otherwise) {
  const double* values = NULL;
  size_t count = 0;
  const bool has =
      takes && work->table->attribute_floats(work->region, 0, name, &values, &count) == TENON_OK &&
      *inout_next < count;
  return has ? values[(*inout_next)++] : otherwise;
}

static void set_activations(tenon__closed_work_t* work) {
  const size_t each = cell_activations(work);
  size_t alpha = 0;
  size_t beta = 0;
  for (size_t k = 0; k < 2 * each; k++) {
    const size_t function = find_function(activation_name(work, k));
    if (function == FUNCTIONS) {
      continue; /* match has seen to it */
    }
    int64_t* to = &work->number[ACTIVATIONS + (k / each * OF_A_CELL + k % each) * NUMBERS];
    const double a = take_parameter(work, "activation_alpha", functions[function].takes_alpha,
                                    &alpha, functions[function].alpha);
    const double b = take_parameter(work, "activation_beta", functions[function].takes_beta, &beta,
                                    functions[function].beta);
    to[0] = (int64_t)function;
    memcpy(&to[1], &a, sizeof(a));
    memcpy(&to[2], &b, sizeof(b));
  }
}

static void set_extents(tenon__closed_work_t* work) {
  const bool batch_first = tenon__closed_int(work, "layout") != 0;
  const tenon__closed_shape_t* x = &work->in[0];
  work->number[TIME] = x->dims[batch_first ? 1 : 0];
  work->number[BATCH] = x->dims[batch_first ? 0 : 1];
  work->number[FEATURES] = x->dims[2];
  work->number[HIDDEN] = work->in[2].dims[2];
  work->number[DIRECTIONS] = work->in[1].dims[0];
  work->number[BATCH_FIRST] = batch_first ? 1 : 0;
  work->number[BACKWARDS] = tenon__closed_is(work, "direction", "reverse") ? 1 : 0;
}

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

void tenon__closed_bind_recurrent(tenon__closed_work_t* work) {
  enum { TILE = 16, CLUSTER = 8, BARRIER_BYTES = 32 };
  set_extents(work);
  set_activations(work);
  const int64_t rows = work->number[TIME] * work->number[BATCH];
  const int64_t columns = gates_of(work) * work->number[HIDDEN];
  tenon__closed_launch_blocks(
      work, 0,
      work->number[DIRECTIONS] * ((rows + TILE - 1) / TILE) * ((columns + TILE - 1) / TILE));
  /* A warp multiplies some rows at once; a thread makes the state of a unit for one block. */
  const int64_t of_a_warp = gates_of(work) == 1 ? 2 : 4;
  const int64_t slice = (work->number[HIDDEN] + CLUSTER - 1) / CLUSTER;
  const int64_t wanted = most(gates_of(work) * slice / of_a_warp, slice * CLUSTER / 32);
  const uint32_t threads = 32 * (uint32_t)(wanted < 4 ? 4 : wanted > 16 ? 16 : wanted);
  const int64_t clusters = work->number[DIRECTIONS] * work->number[BATCH];
  const int64_t sum_bytes = work->in[0].dtype == TENON_DTYPE_FLOAT64 ? 8 : 4;
  const int64_t vectors = 4 * work->number[HIDDEN] + (1 + 2 * gates_of(work)) * slice;
  const int64_t weights =
      gates_of(work) * slice * work->number[HIDDEN] * (int64_t)tenon__cuda_bytes(work->in[2].dtype);
  work->launches[work->launch_count++] =
      (tenon__closed_launch_t){.kernel = 1,
                               .block = threads,
                               .threads = clusters * CLUSTER * threads,
                               .shared_bytes = BARRIER_BYTES + vectors * sum_bytes + 16 + weights};
}

uint64_t tenon__closed_scratch_recurrent(const tenon__closed_work_t* work) {
  tenon__closed_work_t largest = *work;
  set_extents(&largest);
  const int64_t* number = largest.number;
  const int64_t lines = number[DIRECTIONS] * number[BATCH] * number[HIDDEN];
  const int64_t vectors = 5 + 2 * (int64_t)gates_of(work);
  return (uint64_t)(lines * (number[TIME] * gates_of(work) + vectors)) * sizeof(double);
}

/* ---- Attention ---- */

enum { KV_HEADS = 2, QUERIES, KEYS, PAST, K_SIZE, V_SIZE, APART };

static void set_heads(tenon__closed_work_t* work) {
  const tenon__closed_shape_t* q = &work->in[0];
  const tenon__closed_shape_t* k = &work->in[1];
  const tenon__closed_shape_t* v = &work->in[2];
  const bool apart = q->rank == 4;
  work->number[0] = q->dims[0];
  work->number[1] = apart ? q->dims[1] : tenon__closed_int(work, "q_num_heads");
  work->number[KV_HEADS] = apart ? k->dims[1] : tenon__closed_int(work, "kv_num_heads");
  work->number[QUERIES] = q->dims[apart ? 2 : 1];
  work->number[KEYS] = k->dims[apart ? 2 : 1];
  work->number[PAST] = work->in[4].present ? work->in[4].dims[2] : 0;
  work->number[APART] = apart ? 1 : 0;
  if (apart) {
    work->number[K_SIZE] = q->dims[3];
    work->number[V_SIZE] = v->dims[3];
  } else if (work->number[1] > 0 && work->number[KV_HEADS] > 0) {
    work->number[K_SIZE] = q->dims[2] / work->number[1];
    work->number[V_SIZE] = v->dims[2] / work->number[KV_HEADS];
  }
}

const char* tenon__closed_refuse_attention(const tenon__closed_work_t* work) {
  tenon__closed_work_t heads = *work;
  set_heads(&heads);
  return heads.number[KV_HEADS] <= 0 || heads.number[1] % heads.number[KV_HEADS] != 0
             ? "query heads that do not share key heads evenly"
         : work->in[3].present && work->in[3].rank > 4 ? "a mask of more than four axes"
                                                       : NULL;
}

void tenon__closed_bind_attention(tenon__closed_work_t* work) {
  const int64_t keys = work->out[1].present ? work->out[1].count : 0;
  const int64_t values = work->out[2].present ? work->out[2].count : 0;
  set_heads(work);
  tenon__closed_launch_blocks(work, 0, work->number[0] * work->number[1] * work->number[QUERIES]);
  tenon__closed_launch(work, 1, keys > values ? keys : values);
}

uint64_t tenon__closed_scratch_attention(const tenon__closed_work_t* work) {
  tenon__closed_work_t heads = *work;
  set_heads(&heads);
  return (uint64_t)(heads.number[0] * heads.number[1] * heads.number[QUERIES] *
                    (heads.number[KEYS] + heads.number[PAST])) *
         sizeof(double);
}

static int64_t value_features(const tenon__closed_work_t* work) {
  return work->in[0].dims[0] * work->in[2].dims[2];
}

void tenon__closed_bind_linear(tenon__closed_work_t* work) {
  tenon__closed_launch(work, 0, value_features(work));
}

uint64_t tenon__closed_scratch_linear(const tenon__closed_work_t* work) {
  const int64_t heads = tenon__closed_int(work, "kv_num_heads");
  return heads <= 0
             ? 0
             : (uint64_t)(value_features(work) * (work->in[1].dims[2] / heads)) * sizeof(double);
}

const char* tenon__closed_refuse_linear(const tenon__closed_work_t* work) {
  const bool gated = tenon__closed_is(work, "update_rule", "gated") ||
                     tenon__closed_is(work, "update_rule", "gated_delta");
  const bool delta = tenon__closed_is(work, "update_rule", "delta") ||
                     tenon__closed_is(work, "update_rule", "gated_delta");
  return (gated && !work->in[4].present) || (delta && !work->in[5].present)
             ? "an update rule without its decay or beta"
             : NULL;
}

void tenon__closed_bind_rotary(tenon__closed_work_t* work) {
  const tenon__closed_shape_t* x = &work->in[0];
  const int64_t piece = 16 / (int64_t)tenon__cuda_bytes(x->dtype);
  const int64_t size =
      x->rank == 4 ? x->dims[3] : x->dims[2] / tenon__closed_int(work, "num_heads");
  const int64_t turned = tenon__closed_int(work, "rotary_dim");
  const int64_t half = (turned == 0 ? size : turned) / 2;
  const bool is_whole = half % piece == 0 && size % piece == 0;
  tenon__closed_launch(work, 0, (x->count + 1) / (is_whole ? 2 * piece : 2));
}

const char* tenon__closed_refuse_rotary(const tenon__closed_work_t* work) {
  const bool apart = work->in[0].rank == 4;
  return apart || (work->in[0].rank == 3 && tenon__closed_int(work, "num_heads") > 0)
             ? NULL
             : "heads that are not known";
}

/* ---- Classical models ---- */

void tenon__closed_bind_rows(tenon__closed_work_t* work) {
  tenon__closed_launch(work, 0, work->in[0].dims[0]);
}

uint64_t tenon__closed_scratch_trees(const tenon__closed_work_t* work) {
  return (uint64_t)work->out[0].count * (sizeof(double) + 1);
}

uint64_t tenon__closed_scratch_pairs(const tenon__closed_work_t* work) {
  return (uint64_t)(work->out[0].count * (work->out[0].dims[1] + 2)) * sizeof(double);
}
