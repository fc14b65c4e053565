/* Walking back from the product with v. */
#include "problem.h"

#include <string.h>

#include "analysis.h"

enum { DEEPEST = 16 /* nodes in a row, on the scores */ };

static bool refuse(tenon_refusal_t* out_refusal, uint32_t reason, const char* detail) {
  *out_refusal = (tenon_refusal_t){.reason = reason, .detail = detail};
  return false;
}

/* ---- Nodes and values ---- */

/* A proposal's main node is the first, whole graphs are in order: backwards from `before` first,
 * which is near, then all others. */
uint32_t tenon__cuda_attention_maker(const tenon__cuda_attention_t* attention, uint32_t value,
                                     uint32_t before) {
  const tenon_region_table_t* t = attention->table;
  const tenon_value_info_t* info = value == TENON_NONE ? NULL : t->value(attention->region, value);
  const uint32_t count = t->node_count(attention->region);
  if (info == NULL || info->input != TENON_NONE || (info->flags & TENON_VALUE_CONSTANT) != 0) {
    return TENON_NONE;
  }
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t node = (before + count - 1 - k) % count;
    const uint32_t outputs = t->node_output_count(attention->region, node);
    for (uint32_t n = 0; n < outputs; n++) {
      if (t->node_output(attention->region, node, n) == value) {
        return node;
      }
    }
  }
  return TENON_NONE;
}

static bool is_operator(const tenon__cuda_attention_t* a, uint32_t node, const char* name) {
  return node != TENON_NONE && strcmp(a->table->node_operator(a->region, node), name) == 0;
}

static const tenon_value_info_t* info_of(const tenon__cuda_attention_t* a, uint32_t value) {
  return value == TENON_NONE ? NULL : a->table->value(a->region, value);
}

static uint32_t input_of(const tenon__cuda_attention_t* a, uint32_t node, uint32_t index) {
  return a->table->node_input(a->region, node, index);
}

static bool have_same_dims(const tenon_value_info_t* a, const tenon_value_info_t* b,
                           uint32_t count) {
  bool same = a != NULL && b != NULL && count <= a->rank && count <= b->rank;
  for (uint32_t k = 0; same && k < count; k++) {
    same = a->dims_min[k] == b->dims_min[k] && a->dims_opt[k] == b->dims_opt[k] &&
           a->dims_max[k] == b->dims_max[k];
  }
  return same;
}

static bool have_same_shape(const tenon_value_info_t* a, const tenon_value_info_t* b) {
  return a != NULL && b != NULL && a->rank == b->rank && have_same_dims(a, b, a->rank);
}

static bool has_one_element(const tenon_value_info_t* info) {
  bool has = info != NULL;
  for (uint32_t k = 0; has && k < info->rank; k++) {
    has = info->dims_max[k] == 1 && info->dims_min[k] == 1;
  }
  return has;
}

static bool is_narrow_or_single(tenon_dtype_t dtype) {
  return dtype == TENON_DTYPE_FLOAT32 || dtype == TENON_DTYPE_FLOAT16 ||
         dtype == TENON_DTYPE_BFLOAT16;
}

static bool add_node(tenon__cuda_attention_t* a, uint32_t node) {
  for (uint32_t k = 0; k < a->node_count; k++) {
    if (a->nodes[k] == node) {
      return true;
    }
  }
  if (a->node_count == TENON_CUDA_ATTENTION_NODES) {
    return false;
  }
  a->nodes[a->node_count++] = node;
  return true;
}

/* ---- Probabilities: between softmax and v ---- */

/* The whole program gives its one operand in another type of float. */
static bool converts(const tenon__cuda_attention_t* a, uint32_t node) {
  const tenon_program_t* program = a->table->node_program(a->region, node);
  if (program == NULL || program->operand_count != 1 || program->operands[0].indexed != 0 ||
      !is_narrow_or_single(program->operands[0].dtype) ||
      !is_narrow_or_single(program->outputs[0].dtype)) {
    return false;
  }
  bool does = true;
  for (uint32_t k = 0; does && k < program->instruction_count; k++) {
    const tenon_instruction_t* in = &program->instructions[k];
    does = in->opcode == TENON_OPCODE_NOP ||
           ((in->opcode == TENON_OPCODE_INPUT || in->opcode == TENON_OPCODE_CAST) &&
            is_narrow_or_single((tenon_dtype_t)in->dtype));
  }
  return does;
}

static bool is_zero(const tenon_value_info_t* info) {
  static const uint8_t zeros[sizeof(float)] = {0};
  return info != NULL && (info->flags & TENON_VALUE_CONSTANT) != 0 && info->constant_data != NULL &&
         is_narrow_or_single(info->dtype) && has_one_element(info) &&
         memcmp(info->constant_data, zeros, tenon__cuda_bytes(info->dtype)) == 0;
}

/* where(is_nan(p), 0, p): then `inout_value` becomes p. */
static bool take_replaced(tenon__cuda_attention_t* a, uint32_t node, uint32_t* inout_value) {
  const uint32_t test = tenon__cuda_attention_maker(a, input_of(a, node, 0), node);
  const uint32_t kept = input_of(a, node, 2);
  if (!is_operator(a, test, "standard.is_nan/1") || input_of(a, test, 0) != kept ||
      !is_zero(info_of(a, input_of(a, node, 1)))) {
    return false;
  }
  a->hopeless = TENON_CUDA_HOPELESS_REPLACED;
  *inout_value = kept;
  return add_node(a, node) && add_node(a, test);
}

/* From p, which v is multiplied by, to what softmax reads. */
static bool walk_probabilities(tenon__cuda_attention_t* a, uint32_t seed,
                               tenon_refusal_t* out_refusal) {
  uint32_t value = input_of(a, seed, 0);
  uint32_t node = seed;
  for (uint32_t k = 0; k < DEEPEST; k++) {
    const uint32_t behind = node;
    node = tenon__cuda_attention_maker(a, value, behind);
    const bool is_masked = is_operator(a, node, "standard.masked_softmax/1");
    if (node == TENON_NONE) {
      break;
    }
    if (is_masked || is_operator(a, node, "standard.softmax/1")) {
      int64_t axis = -1;
      (void)a->table->attribute_int(a->region, node, "axis", &axis);
      const tenon_value_info_t* p = info_of(a, value);
      if (p == NULL || (!is_masked && axis != -1 && axis != (int64_t)p->rank - 1)) {
        return refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "softmax along another axis");
      }
      if (is_masked && a->hopeless == TENON_CUDA_HOPELESS_NAN) {
        a->hopeless = TENON_CUDA_HOPELESS_ZERO;
      }
      a->scores = input_of(a, node, 0);
      return add_node(a, node) || refuse(out_refusal, TENON_REFUSAL_OTHER, "too many nodes");
    }
    if (is_operator(a, node, "standard.where/1")) {
      if (!take_replaced(a, node, &value)) {
        break;
      }
    } else if (converts(a, node) && add_node(a, node)) {
      value = input_of(a, node, 0);
    } else {
      break;
    }
  }
  return refuse(out_refusal, TENON_REFUSAL_OPERATOR,
                "no softmax in front of the product, or something between them");
}

/* ---- Scores ---- */

typedef struct search_t {
  tenon__cuda_attention_t* attention;
  const tenon_value_info_t* shape;
  uint32_t product; /* once it is found */
} search_t;

/* Is the value made of the product of q and k, by arithmetic on single elements? Then the nodes on
 * the way belong to it. NOLINTNEXTLINE(misc-no-recursion): DEEPEST at most */
static bool reaches_product(search_t* s, uint32_t value, uint32_t behind, uint32_t depth) {
  tenon__cuda_attention_t* a = s->attention;
  if (depth == DEEPEST || !have_same_shape(info_of(a, value), s->shape)) {
    return false;
  }
  const uint32_t node = tenon__cuda_attention_maker(a, value, behind);
  if (node == TENON_NONE) {
    return false;
  }
  if (is_operator(a, node, "standard.mat_mul/1")) {
    s->product = s->product == TENON_NONE ? node : s->product;
    a->raw = s->product == node ? value : a->raw;
    return s->product == node;
  }
  for (uint32_t k = 0; k < a->inner_count; k++) {
    if (a->inner[k] == node) {
      return true;
    }
  }
  const tenon_program_t* program = a->table->node_program(a->region, node);
  if (program == NULL) {
    return false;
  }
  bool reaches = false;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    const uint32_t input = input_of(a, node, program->operands[k].index);
    const bool one =
        program->operands[k].indexed == 0 && reaches_product(s, input, node, depth + 1);
    reaches = one || reaches;
  }
  if (reaches && a->inner_count < TENON_CUDA_ATTENTION_NODES) {
    a->inner[a->inner_count++] = node;
  }
  return reaches && add_node(a, node);
}

/* ---- Factors of q and of k ---- */

/* Neither the large operand nor a place goes into the instruction. */
static bool is_of_one_element(const tenon__cuda_attention_t* a, uint32_t node,
                              const tenon_program_t* program, uint32_t instruction) {
  bool is_one[TENON_CUDA_INSTRUCTIONS];
  for (uint32_t k = 0; k <= instruction; k++) {
    const tenon_instruction_t* in = &program->instructions[k];
    switch (in->opcode) {
      case TENON_OPCODE_INPUT: {
        const tenon_operand_t* operand = &program->operands[in->immediate.i];
        is_one[k] =
            operand->indexed == 0 && has_one_element(info_of(a, input_of(a, node, operand->index)));
        break;
      }
      case TENON_OPCODE_INDEX:
      case TENON_OPCODE_SIZE:
      case TENON_OPCODE_EXTENT:
      case TENON_OPCODE_LOAD:
      case TENON_OPCODE_RANDOM:
        is_one[k] = false;
        break;
      default:
        is_one[k] = !tenon__cuda_is_reduction(in->opcode);
        for (uint32_t n = 0; is_one[k] && n < tenon__cuda_operand_count(in->opcode); n++) {
          is_one[k] = is_one[in->operands[n]];
        }
        break;
    }
  }
  return is_one[instruction];
}

/* x * part or x / part, x being the node's operand of the same shape: its input's number. */
static uint32_t find_factor(const tenon__cuda_attention_t* a, uint32_t node,
                            tenon__cuda_factor_t* out) {
  const tenon_program_t* program =
      node == TENON_NONE ? NULL : a->table->node_program(a->region, node);
  if (program == NULL || program->instruction_count > TENON_CUDA_INSTRUCTIONS) {
    return TENON_NONE;
  }
  const tenon_instruction_t* last = &program->instructions[program->outputs[0].instruction];
  const tenon_value_info_t* result = info_of(a, a->table->node_output(a->region, node, 0));
  const bool divides = last->opcode == TENON_OPCODE_DIV;
  if (!divides && last->opcode != TENON_OPCODE_MUL) {
    return TENON_NONE;
  }
  for (uint32_t side = 0; side < 2; side++) {
    const tenon_instruction_t* x = &program->instructions[last->operands[side]];
    const uint32_t part = last->operands[1 - side];
    if ((side == 1 && divides) || x->opcode != TENON_OPCODE_INPUT ||
        !is_of_one_element(a, node, program, part)) {
      continue;
    }
    const uint32_t index = program->operands[x->immediate.i].index;
    const tenon_value_info_t* info = info_of(a, input_of(a, node, index));
    if (have_same_shape(info, result) && info->dtype == result->dtype) {
      *out = (tenon__cuda_factor_t){.node = node, .part = part, .divides = divides};
      return index;
    }
  }
  return TENON_NONE;
}

/* What is behind the factors of a value. */
static uint32_t skip_factors(tenon__cuda_attention_t* a, uint32_t value, uint32_t behind) {
  while (a->factor_count < TENON_CUDA_ATTENTION_FACTORS) {
    const uint32_t node = tenon__cuda_attention_maker(a, value, behind);
    tenon__cuda_factor_t* factor = &a->factors[a->factor_count];
    const uint32_t index = find_factor(a, node, factor);
    if (index == TENON_NONE || !add_node(a, node)) {
      break;
    }
    a->factor_count++;
    value = input_of(a, node, index);
    behind = node;
  }
  return value;
}

/* ---- Shapes ---- */

static bool is_fixed(const tenon_value_info_t* info, uint32_t axis) {
  return info->dims_min[axis] == info->dims_max[axis];
}

static bool check_shapes(tenon__cuda_attention_t* a, tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* scores = info_of(a, a->raw);
  const tenon_dtype_t dtype = a->q->dtype;
  if (!is_narrow_or_single(dtype) || a->kt->dtype != dtype || a->v->dtype != dtype ||
      a->y->dtype != dtype) {
    return refuse(out_refusal, TENON_REFUSAL_DTYPE, "f16, bf16 and f32 alone");
  }
  if (a->q->rank < 2 || a->kt->rank < 2 || a->v->rank < 2 || a->y->rank > TENON_CUDA_AXES) {
    return refuse(out_refusal, TENON_REFUSAL_RANK, "matrices in up to six more axes");
  }
  if (scores->rank != a->y->rank || !have_same_dims(scores, a->y, a->y->rank - 1)) {
    return refuse(out_refusal, TENON_REFUSAL_SHAPE, "v has axes that the scores do not have");
  }
  if (!is_fixed(a->q, a->q->rank - 1) || !is_fixed(a->kt, a->kt->rank - 2) ||
      !is_fixed(a->v, a->v->rank - 1)) {
    return refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "features");
  }
  const int64_t features = a->q->dims_max[a->q->rank - 1];
  const int64_t results = a->v->dims_max[a->v->rank - 1];
  if (features % 8 != 0 || results % 8 != 0 || features == 0 || results == 0 ||
      features > TENON_CUDA_ATTENTION_FEATURES || results > TENON_CUDA_ATTENTION_FEATURES) {
    return refuse(out_refusal, TENON_REFUSAL_SHAPE, "features in steps of 8, up to 128");
  }
  a->rank = a->y->rank;
  a->features = (uint32_t)features;
  a->results = (uint32_t)results;
  return true;
}

bool tenon__cuda_attention_read(const tenon_region_t* region, const tenon_region_table_t* table,
                                uint32_t seed, tenon__cuda_attention_t* out_attention,
                                tenon_refusal_t* out_refusal) {
  tenon__cuda_attention_t* a = out_attention;
  *a = (tenon__cuda_attention_t){.region = region, .table = table, .raw = TENON_NONE};
  if (!TENON_HAS(table, tenon_region_table_t, node_program)) {
    return refuse(out_refusal, TENON_REFUSAL_OTHER, "a host that does not show nodes' programs");
  }
  if (!is_operator(a, seed, "standard.mat_mul/1")) {
    return refuse(out_refusal, TENON_REFUSAL_OPERATOR, "no product of matrices");
  }
  (void)add_node(a, seed);
  if (!walk_probabilities(a, seed, out_refusal)) {
    return false;
  }
  search_t search = {a, info_of(a, a->scores), TENON_NONE};
  const uint32_t softmax = a->nodes[a->node_count - 1];
  if (!reaches_product(&search, a->scores, softmax, 0) || !add_node(a, search.product)) {
    return refuse(out_refusal, TENON_REFUSAL_OPERATOR, "softmax reads no product of matrices");
  }
  const uint32_t q = skip_factors(a, input_of(a, search.product, 0), search.product);
  const uint32_t kt = skip_factors(a, input_of(a, search.product, 1), search.product);
  a->q = info_of(a, q);
  a->kt = info_of(a, kt);
  a->v = info_of(a, input_of(a, seed, 1));
  a->y = info_of(a, table->node_output(region, seed, 0));
  if (a->q == NULL || a->kt == NULL || a->v == NULL || a->y == NULL) {
    return refuse(out_refusal, TENON_REFUSAL_OTHER, "an operand is absent");
  }
  return check_shapes(a, out_refusal);
}
