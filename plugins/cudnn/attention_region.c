/*
 * Walking back from the product with v:
 *
 *   y = mat_mul(p, v)
 *   p: conversions; softmax or masked_softmax along the last axis
 *   scores: conversions, factors and divisors that are one known number; mat_mul(q, kt)
 *   q, kt: such factors and divisors
 */
#include <math.h>
#include <string.h>

#include "attention.h"
#include "tenon/narrow.h"

enum { INSTRUCTIONS = 64, DEEPEST = 8 /* nodes in a row */ };

static bool refuse(tenon_refusal_t* out_refusal, uint32_t reason, const char* detail) {
  return tenon__cudnn_refuse(out_refusal, reason, detail) != 0;
}

/* ---- Nodes and values ---- */

static const tenon_value_info_t* info_of(const tenon__cudnn_attention_t* a, uint32_t value) {
  return value == TENON_NONE ? NULL : a->region.table->value(a->region.handle, value);
}

static uint32_t input_of(const tenon__cudnn_attention_t* a, uint32_t node, uint32_t index) {
  return a->region.table->node_input(a->region.handle, node, index);
}

/* TENON_NONE: it comes from outside. */
static uint32_t maker_of(const tenon__cudnn_attention_t* a, uint32_t value) {
  const tenon_region_table_t* t = a->region.table;
  const tenon_value_info_t* info = info_of(a, value);
  const bool is_made =
      info != NULL && info->input == TENON_NONE && (info->flags & TENON_VALUE_CONSTANT) == 0;
  const uint32_t count = is_made ? t->node_count(a->region.handle) : 0;
  for (uint32_t node = 0; node < count; node++) {
    if (t->node_output(a->region.handle, node, 0) == value) {
      return node;
    }
  }
  return TENON_NONE;
}

static bool is_operator(const tenon__cudnn_attention_t* a, uint32_t node, const char* name) {
  return node != TENON_NONE &&
         strcmp(a->region.table->node_operator(a->region.handle, node), name) == 0;
}

static bool add_node(tenon__cudnn_attention_t* a, uint32_t node) {
  if (a->node_count == TENON_CUDNN_ATTENTION_NODES) {
    return false;
  }
  a->nodes[a->node_count++] = node;
  return true;
}

static bool is_float(uint32_t dtype) {
  return dtype == TENON_DTYPE_FLOAT32 || dtype == TENON_DTYPE_FLOAT16 ||
         dtype == TENON_DTYPE_BFLOAT16;
}

static bool have_same_dims(const tenon_value_info_t* a, const tenon_value_info_t* b,
                           uint32_t count) {
  bool same = true;
  for (uint32_t k = 0; same && k < count; k++) {
    same = a->dims_min[k] == b->dims_min[k] && a->dims_opt[k] == b->dims_opt[k] &&
           a->dims_max[k] == b->dims_max[k];
  }
  return same;
}

static bool have_same_shape(const tenon_value_info_t* a, const tenon_value_info_t* b) {
  return a != NULL && b != NULL && a->rank == b->rank && have_same_dims(a, b, a->rank);
}

/* ---- Numbers that are known when building ---- */

/* NAN: no constant of one float. */
static double constant_of(const tenon_value_info_t* info) {
  if (info == NULL || (info->flags & TENON_VALUE_CONSTANT) == 0 || info->constant_data == NULL ||
      tenon__cudnn_count(info->dims_max, info->rank) != 1 || !is_float(info->dtype)) {
    return (double)NAN;
  }
  float single = 0;
  uint16_t narrow = 0;
  if (info->dtype == TENON_DTYPE_FLOAT32) {
    memcpy(&single, info->constant_data, sizeof(single));
    return (double)single;
  }
  memcpy(&narrow, info->constant_data, sizeof(narrow));
  return (double)tenon_wide_of(info->dtype, narrow);
}

/* What the instruction gives everywhere, by what those before it give; NAN: not known. */
static double number_of(const tenon__cudnn_attention_t* a, uint32_t node,
                        const tenon_program_t* program, uint32_t k, const double* before) {
  const tenon_instruction_t* in = &program->instructions[k];
  switch (in->opcode) {
    case TENON_OPCODE_CONSTANT:
      return is_float(in->dtype) || in->dtype == TENON_DTYPE_FLOAT64 ? in->immediate.f
                                                                     : (double)in->immediate.i;
    case TENON_OPCODE_INPUT:
      return constant_of(info_of(a, input_of(a, node, program->operands[in->immediate.i].index)));
    case TENON_OPCODE_SIZE: {
      const tenon_value_info_t* y =
          info_of(a, a->region.table->node_output(a->region.handle, node, 0));
      const bool is_fixed = y->dims_min[in->immediate.i] == y->dims_max[in->immediate.i];
      return is_fixed ? (double)y->dims_max[in->immediate.i] : (double)NAN;
    }
    case TENON_OPCODE_CAST:
      return before[in->operands[0]];
    case TENON_OPCODE_MUL:
      return before[in->operands[0]] * before[in->operands[1]];
    case TENON_OPCODE_DIV:
      return before[in->operands[0]] / before[in->operands[1]];
    case TENON_OPCODE_SQRT:
      return sqrt(before[in->operands[0]]);
    case TENON_OPCODE_RSQRT:
      return 1 / sqrt(before[in->operands[0]]);
    default:
      return (double)NAN;
  }
}

/* ---- Nodes that convert, or multiply by a number ---- */

/* From the program's result back to the operand that is not a number: its input of the node;
 * TENON_NONE: it is more than conversions, factors and divisors. What is rounded in between is not
 * rounded here. */
static uint32_t read_scaling(const tenon__cudnn_attention_t* a, uint32_t node,
                             double* inout_scale) {
  const tenon_program_t* program =
      node == TENON_NONE ? NULL : a->region.table->node_program(a->region.handle, node);
  double numbers[INSTRUCTIONS];
  if (program == NULL || program->instruction_count > INSTRUCTIONS) {
    return TENON_NONE;
  }
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    numbers[k] = number_of(a, node, program, k, numbers);
  }
  double scale = *inout_scale;
  uint32_t at = program->outputs[0].instruction;
  for (;;) {
    const tenon_instruction_t* in = &program->instructions[at];
    const bool first_is_known = in->opcode == TENON_OPCODE_MUL && !isnan(numbers[in->operands[0]]);
    if (!is_float(in->dtype)) {
      return TENON_NONE;
    }
    if (in->opcode == TENON_OPCODE_INPUT) {
      const tenon_operand_t* operand = &program->operands[in->immediate.i];
      *inout_scale = scale;
      return operand->indexed == 0 ? operand->index : TENON_NONE;
    }
    if (in->opcode == TENON_OPCODE_CAST) {
      at = in->operands[0];
    } else if (first_is_known) {
      scale *= numbers[in->operands[0]];
      at = in->operands[1];
    } else if (in->opcode == TENON_OPCODE_MUL || in->opcode == TENON_OPCODE_DIV) {
      const double number = numbers[in->operands[1]]; /* NAN makes the scale none */
      scale = in->opcode == TENON_OPCODE_MUL ? scale * number : scale / number;
      at = in->operands[0];
    } else {
      return TENON_NONE;
    }
  }
}

/* What is behind such nodes. `keeps_type`: those that change the type stay outside. */
static uint32_t skip_scalings(tenon__cudnn_attention_t* a, uint32_t value, bool keeps_type) {
  for (uint32_t k = 0; k < DEEPEST; k++) {
    const uint32_t node = maker_of(a, value);
    double scale = a->scale;
    const uint32_t index = read_scaling(a, node, &scale);
    const tenon_value_info_t* result = info_of(a, value);
    const tenon_value_info_t* read =
        index == TENON_NONE ? NULL : info_of(a, input_of(a, node, index));
    if (!isfinite(scale) || !have_same_shape(read, result) || !is_float(read->dtype) ||
        (keeps_type && read->dtype != result->dtype) || !add_node(a, node)) {
      break;
    }
    a->scale = scale;
    value = input_of(a, node, index);
  }
  return value;
}

/* ---- The walk ---- */

/* From p, which v is multiplied by, to what softmax reads; TENON_NONE: refused.
 *
 * masked_softmax is taken for softmax. It differs in rows of which every score is -inf, zeros
 * instead of NaN, and without a mask such a row takes an infinite q or k. `where(is_nan(p), 0, p)`
 * is not: it says what is to come of any NaN in q or k, and cuDNN gives NaN. */
static uint32_t walk_probabilities(tenon__cudnn_attention_t* a, uint32_t seed,
                                   tenon_refusal_t* out_refusal) {
  const uint32_t value = skip_scalings(a, input_of(a, seed, 0), false);
  const uint32_t node = maker_of(a, value);
  const tenon_value_info_t* p = info_of(a, value);
  const bool is_masked = is_operator(a, node, "standard.masked_softmax/1");
  int64_t axis = -1;
  if (is_operator(a, node, "standard.where/1")) {
    (void)refuse(out_refusal, TENON_REFUSAL_OPERATOR, "rows without a finite score are replaced");
    return TENON_NONE;
  }
  if (!is_masked && !is_operator(a, node, "standard.softmax/1")) {
    (void)refuse(out_refusal, TENON_REFUSAL_OPERATOR, "no softmax in front of the product");
    return TENON_NONE;
  }
  (void)a->region.table->attribute_int(a->region.handle, node, "axis", &axis);
  if (!is_masked && axis != -1 && axis != (int64_t)p->rank - 1) {
    (void)refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "softmax along another axis");
    return TENON_NONE;
  }
  if (a->scale != 1 || !add_node(a, node)) {
    (void)refuse(out_refusal, TENON_REFUSAL_OPERATOR, "probabilities that are scaled");
    return TENON_NONE;
  }
  return input_of(a, node, 0);
}

static bool is_fixed(const tenon_value_info_t* info, uint32_t axis) {
  return info->dims_min[axis] == info->dims_max[axis];
}

static bool is_taken_width(int64_t features) {
  return features > 0 && features <= TENON_CUDNN_ATTENTION_FEATURES &&
         features % TENON_CUDNN_ATTENTION_STEP == 0;
}

static bool check_shapes(const tenon__cudnn_attention_t* a, tenon_refusal_t* out_refusal) {
  const uint32_t row = a->rank - 2;
  const uint32_t last = a->rank - 1;
  if (!is_float(a->q->dtype) || a->kt->dtype != a->q->dtype || a->v->dtype != a->q->dtype ||
      a->y->dtype != a->q->dtype) {
    return refuse(out_refusal, TENON_REFUSAL_DTYPE, "q, k, v and y are of one type of float");
  }
  if (!have_same_dims(a->kt, a->q, row) || !have_same_dims(a->v, a->q, row)) {
    return refuse(out_refusal, TENON_REFUSAL_SHAPE, "keys or values that heads share");
  }
  if (!is_fixed(a->q, last) || !is_fixed(a->v, last)) {
    return refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "features");
  }
  if (!is_taken_width(a->q->dims_max[last]) || !is_taken_width(a->v->dims_max[last])) {
    return refuse(out_refusal, TENON_REFUSAL_SHAPE, "features in steps of 8, up to 128");
  }
  if (a->v->dims_min[row] == 0) {
    return refuse(out_refusal, TENON_REFUSAL_SHAPE, "perhaps no keys");
  }
  /* The largest score is looked for before it is scaled. */
  return (a->scale > 0 && isfinite((float)a->scale)) ||
         refuse(out_refusal, TENON_REFUSAL_OPERATOR, "a scale that is not above 0");
}

bool tenon__cudnn_attention_read(tenon__cudnn_region_t region, uint32_t seed,
                                 tenon__cudnn_attention_t* out_attention,
                                 tenon_refusal_t* out_refusal) {
  tenon__cudnn_attention_t* a = out_attention;
  *a = (tenon__cudnn_attention_t){.region = region, .scale = 1};
  if (!TENON_HAS(region.table, tenon_region_table_t, node_program)) {
    return refuse(out_refusal, TENON_REFUSAL_OTHER, "a host that does not show nodes' programs");
  }
  if (!is_operator(a, seed, "standard.mat_mul/1")) {
    return refuse(out_refusal, TENON_REFUSAL_OPERATOR, "no product of matrices");
  }
  (void)add_node(a, seed);
  const uint32_t scores = walk_probabilities(a, seed, out_refusal);
  if (scores == TENON_NONE) {
    return false;
  }
  const uint32_t product = maker_of(a, skip_scalings(a, scores, false));
  if (!is_operator(a, product, "standard.mat_mul/1") || !add_node(a, product)) {
    return refuse(out_refusal, TENON_REFUSAL_SLOT,
                  "softmax reads no product of matrices, times a known number");
  }
  a->q = info_of(a, skip_scalings(a, input_of(a, product, 0), true));
  a->kt = info_of(a, skip_scalings(a, input_of(a, product, 1), true));
  a->v = info_of(a, input_of(a, seed, 1));
  a->y = info_of(a, region.table->node_output(region.handle, seed, 0));
  if (a->q == NULL || a->kt == NULL || a->v == NULL || a->y == NULL) {
    return refuse(out_refusal, TENON_REFUSAL_OTHER, "an operand is absent");
  }
  a->rank = a->y->rank;
  if (a->rank < 2 || a->rank > TENON_CUDNN_ATTENTION_AXES || a->q->rank != a->rank ||
      a->kt->rank != a->rank || a->v->rank != a->rank) {
    return refuse(out_refusal, TENON_REFUSAL_RANK, "matrices in up to two more axes, all of them");
  }
  return check_shapes(a, out_refusal);
}

uint64_t tenon__cudnn_attention_rows(const tenon__cudnn_attention_t* attention, uint32_t which) {
  const tenon_value_info_t* const values[] = {attention->q, attention->kt, attention->v};
  const uint32_t before = which < 3 ? which : 3;
  uint64_t bytes = TENON_CUDNN_ATTENTION_WORKSPACE;
  for (uint32_t k = 0; k < before; k++) {
    const int64_t count = tenon__cudnn_count(values[k]->dims_max, values[k]->rank);
    bytes += ((uint64_t)count * sizeof(uint16_t) + 255) / 256 * 256;
  }
  return bytes;
}
