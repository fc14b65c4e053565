/* Making attention. */
#include "attention_case.h"

enum { Q = ATTENTION_Q, KT = ATTENTION_KT, V = ATTENTION_V };

uint32_t attention_draw(attention_t* a, uint32_t below) {
  a->seed = a->seed * 1664525u + 1013904223u;
  return (a->seed >> 8) % below;
}

/* ---- Tensors ---- */

/* Multiples of 2^-6 up to 1: no rounding in f16 or bf16. */
static void fill(attention_t* a, const kernel_tensor_t* tensor, double most) {
  const int64_t count = tenon__dims_product(tensor->dims, 0, tensor->view.rank);
  for (int64_t k = 0; k < count; k++) {
    tenon__number_t number = {.f = ((double)attention_draw(a, 129) - 64) / 64 * most};
    if (tensor->view.dtype == TENON_DTYPE_BOOL) {
      number = (tenon__number_t){.i = attention_draw(a, 4) != 0};
    }
    tenon__number_store(tensor->view.data, 0, tensor->view.dtype,
                        tenon__view_place(&tensor->view, k), number);
  }
}

/* From outermost to innermost; of `turned` keys the features are innermost, as they come. */
static void draw_order(attention_t* a, uint32_t rank, bool turned, uint32_t order[FAKE_RANK]) {
  for (uint32_t axis = 0; axis < rank; axis++) {
    order[axis] = axis;
  }
  if (turned && (a->is_plain || attention_draw(a, 4) != 0)) {
    order[rank - 1] = rank - 2;
    order[rank - 2] = rank - 1;
  }
  for (uint32_t axis = rank; !a->is_plain && attention_draw(a, 2) == 0 && axis-- > 1;) {
    const uint32_t other = attention_draw(a, axis + 1);
    const uint32_t kept = order[axis];
    order[axis] = order[other];
    order[other] = kept;
  }
}

static void add_factor(attention_t* a, kernel_case_t* c, uint32_t which) {
  const bool turned = which == KT;
  const uint32_t missing = a->missing[which];
  const uint32_t rank = a->rank - missing;
  int64_t dims[FAKE_RANK];
  uint32_t order[FAKE_RANK];
  for (uint32_t axis = 0; axis + 2 < rank; axis++) {
    dims[axis] = (a->shared[which] >> (axis + missing) & 1) != 0 ? 1 : a->outer[axis + missing];
  }
  dims[rank - 2] = which == Q ? a->queries : which == KT ? a->features : a->keys;
  dims[rank - 1] = which == Q ? a->features : which == KT ? a->keys : a->results;
  draw_order(a, rank, turned, order);
  const bool wide = a->is_plain || attention_draw(a, 2) == 0;
  const kernel_lie_t lie = {
      .order = order,
      .pitch = a->is_plain ? 0 : (int64_t)attention_draw(a, 3) * (wide ? 8 : 1),
      .step = wide || attention_draw(a, 4) != 0 ? 1 : 2,
      .reversed = a->is_plain || a->is_aligned || attention_draw(a, 8) != 0
                      ? 0
                      : attention_draw(a, 1U << rank)};
  const kernel_tensor_t* tensor = kernel_move_tensor(c, false, a->dtype, rank, dims, &lie);
  if (!c->bare) {
    fill(a, tensor, 1);
  }
}

static uint32_t add_operand(attention_t* a, kernel_case_t* c, const attention_step_t* step) {
  int64_t dims[FAKE_RANK];
  const uint32_t missing = a->rank - step->rank;
  for (uint32_t axis = missing; axis < a->rank; axis++) {
    const int64_t whole = axis + 2 < a->rank    ? a->outer[axis]
                          : axis + 2 == a->rank ? a->queries
                                                : a->keys;
    dims[axis - missing] = (step->broadcast >> (axis - missing) & 1) != 0 ? 1 : whole;
  }
  const kernel_lie_t lie = {.pitch = a->is_plain ? 0 : attention_draw(a, 5),
                            .step = a->is_plain || attention_draw(a, 4) != 0 ? 1 : 2};
  const uint32_t number = c->fake.input_count;
  const kernel_tensor_t* tensor = kernel_move_tensor(c, false, step->dtype, step->rank, dims, &lie);
  if (!c->bare) {
    fill(a, tensor, 4);
  }
  if (a->is_known && !c->bare) {
    c->fake.values[number].info.constant_data = tensor->view.data;
    c->fake.values[number].info.flags = TENON_VALUE_CONSTANT;
    tenon__number_store(tensor->view.data, 0, step->dtype, 0,
                        (tenon__number_t){.f = 0.25 * (1 + attention_draw(a, 8))});
  }
  return number;
}

/* ---- Nodes ---- */

static uint32_t add_value(attention_t* a, attention_case_t* ac, tenon_dtype_t dtype,
                          const int64_t* last_two) {
  fake_t* fake = &ac->c.fake;
  const uint32_t number = fake->input_count + fake->output_count + fake->inner_count++;
  fake_value_t* value = &fake->values[number];
  for (uint32_t axis = 0; axis < a->rank; axis++) {
    value->dims[axis] = axis + 2 < a->rank ? a->outer[axis] : last_two[axis + 2 - a->rank];
  }
  value->info = (tenon_value_info_t){.name = "",
                                     .dims_min = value->dims,
                                     .dims_opt = value->dims,
                                     .dims_max = value->dims,
                                     .dtype = dtype,
                                     .rank = a->rank,
                                     .input = TENON_NONE,
                                     .output = TENON_NONE};
  return number;
}

static uint32_t add_scores(attention_t* a, attention_case_t* ac) {
  return add_value(a, ac, a->dtype, (const int64_t[]){a->queries, a->keys});
}

static fake_node_t* add_node(attention_case_t* ac, const char* op, uint32_t first, uint32_t second,
                             uint32_t output) {
  fake_node_t* node = &ac->nodes[ac->node_count++];
  *node = (fake_node_t){.op = op,
                        .inputs = {first, second},
                        .input_count = second == TENON_NONE ? 1 : 2,
                        .output = output};
  return node;
}

/* The node's own program: its inputs, then the instructions given. */
static void add_program(attention_case_t* ac, const tenon_instruction_t* instructions,
                        uint32_t count) {
  const uint32_t k = ac->node_count - 1;
  fake_node_t* node = &ac->nodes[k];
  const fake_value_t* values = ac->c.fake.values;
  memcpy(ac->instructions[k], instructions, count * sizeof(*instructions));
  for (uint32_t n = 0; n < node->input_count; n++) {
    ac->operands[k][n] = (tenon_operand_t){.index = n, .dtype = values[node->inputs[n]].info.dtype};
  }
  ac->outputs[k] =
      (tenon_program_output_t){.instruction = count - 1, .dtype = values[node->output].info.dtype};
  ac->programs[k] = (tenon_program_t){.instructions = ac->instructions[k],
                                      .operands = ac->operands[k],
                                      .outputs = &ac->outputs[k],
                                      .instruction_count = count,
                                      .operand_count = node->input_count,
                                      .output_count = 1,
                                      .rank = values[node->output].info.rank};
  node->program = &ac->programs[k];
}

#define T TENON_DTYPE_FLOAT32
#define READ(number)                                                        \
  {                                                                         \
    .opcode = TENON_OPCODE_INPUT, .dtype = T, .immediate = {.i = (number) } \
  }
#define NUMBER(value)                                                         \
  {                                                                           \
    .opcode = TENON_OPCODE_CONSTANT, .dtype = T, .immediate = {.f = (value) } \
  }
#define DO(name, ...)                                                      \
  {                                                                        \
    .opcode = TENON_OPCODE_##name, .dtype = T, .operands = { __VA_ARGS__ } \
  }
#define PROGRAM(...)                                       \
  do {                                                     \
    const tenon_instruction_t list[] = {__VA_ARGS__};      \
    add_program(ac, list, sizeof(list) / sizeof(list[0])); \
  } while (0)

/* Of kinds that are not drawn. */
static uint32_t add_number_step(attention_t* a, attention_case_t* ac, attention_step_kind_t kind,
                                uint32_t x) {
  if (kind == ATTENTION_CONVERT) {
    const uint32_t wide =
        add_value(a, ac, TENON_DTYPE_FLOAT32, (const int64_t[]){a->queries, a->keys});
    (void)add_node(ac, "standard.cast/1", x, TENON_NONE, wide);
    PROGRAM(READ(0), DO(CAST, 0));
    return wide;
  }
  const uint32_t y = add_scores(a, ac);
  (void)add_node(ac, "acme.number/1", x, TENON_NONE, y);
  if (kind == ATTENTION_HALVE) {
    PROGRAM(READ(0), NUMBER(0.5), DO(MUL, 1, 0));
  } else {
    PROGRAM(
        READ(0),
        {.opcode = TENON_OPCODE_SIZE, .dtype = TENON_DTYPE_INT64, .immediate = {.i = a->rank - 1}},
        DO(CAST, 1), DO(RSQRT, 2), DO(MUL, 0, 3));
  }
  return y;
}

static uint32_t add_step(attention_t* a, attention_case_t* ac, const attention_step_t* step,
                         uint32_t x) {
  if (step->kind >= ATTENTION_KINDS) {
    return add_number_step(a, ac, step->kind, x);
  }
  uint32_t y = add_scores(a, ac);
  switch (step->kind) {
    case ATTENTION_ADD:
      (void)add_node(ac, "standard.add/1", step->operand, x, y);
      PROGRAM(READ(0), READ(1), DO(ADD, 1, 0));
      break;
    case ATTENTION_SCALE:
      (void)add_node(ac, "standard.mul/1", x, step->operand, y);
      PROGRAM(READ(0), READ(1), DO(MUL, 0, 1));
      break;
    case ATTENTION_HIDE:
      (void)add_node(ac, "acme.hide/1", x, step->operand, y);
      PROGRAM(READ(0),
              {.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_BOOL, .immediate = {.i = 1}},
              NUMBER(-(double)INFINITY), DO(SELECT, 1, 0, 2));
      break;
    case ATTENTION_CAP: {
      const uint32_t bent = add_scores(a, ac);
      (void)add_node(ac, "acme.third/1", x, TENON_NONE, y);
      PROGRAM(READ(0), NUMBER(3), DO(DIV, 0, 1));
      (void)add_node(ac, "standard.tanh/1", y, TENON_NONE, bent);
      PROGRAM(READ(0), DO(TANH, 0));
      y = add_scores(a, ac);
      (void)add_node(ac, "acme.thrice/1", bent, TENON_NONE, y);
      PROGRAM(READ(0), NUMBER(3), DO(MUL, 0, 1));
      break;
    }
    case ATTENTION_CAUSAL:
      (void)add_node(ac, "acme.causal/1", x, TENON_NONE, y);
      PROGRAM(READ(0),
              {.opcode = TENON_OPCODE_INDEX,
               .dtype = TENON_DTYPE_INT64,
               .immediate = {.i = a->rank - 2}},
              {.opcode = TENON_OPCODE_INDEX,
               .dtype = TENON_DTYPE_INT64,
               .immediate = {.i = a->rank - 1}},
              {.opcode = TENON_OPCODE_GT, .dtype = TENON_DTYPE_INT64, .operands = {2, 1}},
              NUMBER(-(double)INFINITY), DO(SELECT, 3, 4, 0));
      break;
    case ATTENTION_BEND:
      (void)add_node(ac, "acme.bend/1", x, TENON_NONE, y);
      PROGRAM(READ(0), DO(ABS, 0), NUMBER(1), DO(ADD, 1, 2), DO(DIV, 0, 3), NUMBER(4),
              DO(MUL, 4, 5));
      break;
    default: {
      const uint32_t gate = add_scores(a, ac);
      (void)add_node(ac, "standard.sigmoid/1", x, TENON_NONE, gate);
      PROGRAM(READ(0), DO(SIGMOID, 0));
      (void)add_node(ac, "standard.mul/1", x, gate, y);
      PROGRAM(READ(0), READ(1), DO(MUL, 0, 1));
      break;
    }
  }
  return y;
}

/* A factor's node in front of the product: its result. */
static uint32_t add_scaling(attention_t* a, attention_case_t* ac, uint32_t which) {
  const bool divides = which == KT;
  fake_t* fake = &ac->c.fake;
  const tenon_value_info_t* info = &fake->values[which].info;
  const uint32_t number = fake->input_count + fake->output_count + fake->inner_count++;
  fake_value_t* value = &fake->values[number];
  value->info = *info;
  value->info.input = TENON_NONE;
  (void)a;
  (void)add_node(ac, divides ? "standard.div/1" : "acme.times/1", which, ac->factors[which],
                 number);
  if (divides) {
    PROGRAM(READ(0), READ(1), DO(DIV, 0, 1));
  } else {
    PROGRAM(READ(0), READ(1), DO(MUL, 1, 0));
  }
  return number;
}

static void add_nodes(attention_t* a, attention_case_t* ac, uint32_t zero) {
  const uint32_t y = ac->c.fake.input_count;
  add_node(ac, "standard.mat_mul/1", TENON_NONE, V, y)->input_count = 2;
  const uint32_t q = a->scales_q ? add_scaling(a, ac, Q) : Q;
  const uint32_t kt = a->scales_k ? add_scaling(a, ac, KT) : KT;
  uint32_t x = add_scores(a, ac);
  (void)add_node(ac, "standard.mat_mul/1", q, kt, x);
  for (uint32_t k = 0; k < a->step_count; k++) {
    x = add_step(a, ac, &a->steps[k], x);
  }
  uint32_t p = add_scores(a, ac);
  (void)add_node(ac,
                 a->form == ATTENTION_MASKED ? "standard.masked_softmax/1" : "standard.softmax/1",
                 x, TENON_NONE, p);
  if (a->form == ATTENTION_REPLACED) {
    const uint32_t test = add_scores(a, ac);
    const uint32_t kept = p;
    (void)add_node(ac, "standard.is_nan/1", kept, TENON_NONE, test);
    p = add_scores(a, ac);
    fake_node_t* node = add_node(ac, "standard.where/1", test, zero, p);
    node->inputs[2] = kept;
    node->input_count = 3;
  }
  ac->nodes[0].inputs[0] = p;
}

/* ---- The whole ---- */

static void add_result(attention_t* a, kernel_case_t* c) {
  static const uint32_t heads[] = {0, 2, 1, 3};
  int64_t dims[FAKE_RANK];
  memcpy(dims, a->outer, sizeof(dims));
  dims[a->rank - 2] = a->queries;
  dims[a->rank - 1] = a->results;
  const kernel_lie_t lie = {.order = a->by_heads ? heads : NULL,
                            .pitch = a->is_plain || a->is_aligned ? 0 : attention_draw(a, 9),
                            .step = 1};
  (void)kernel_move_tensor(c, true, a->dtype, a->rank, dims, &lie);
}

void attention_make(attention_t* a, attention_case_t* out_case, bool bare) {
  const attention_step_t one = {.rank = 1, .broadcast = 1, .dtype = TENON_DTYPE_FLOAT32};
  attention_case_t* ac = out_case;
  uint32_t zero = TENON_NONE;
  memset(ac, 0, sizeof(*ac));
  kernel_case_begin(&ac->c, a->rank, a->outer);
  ac->c.bare = bare;
  ac->c.seed = a->seed;
  ac->c.shift =
      a->is_plain || a->is_aligned || attention_draw(a, 4) != 0 ? 0 : attention_draw(a, 5);
  ac->c.recorded = !bare && attention_draw(a, 4) == 0;
  for (uint32_t which = Q; which <= V; which++) {
    add_factor(a, &ac->c, which);
  }
  for (uint32_t k = 0; k < a->step_count; k++) {
    const attention_step_kind_t kind = a->steps[k].kind;
    const bool has = kind == ATTENTION_ADD || kind == ATTENTION_SCALE || kind == ATTENTION_HIDE;
    a->steps[k].operand = has ? add_operand(a, &ac->c, &a->steps[k]) : TENON_NONE;
  }
  for (uint32_t which = Q; which <= KT; which++) {
    if (which == Q ? a->scales_q : a->scales_k) {
      ac->factors[which] = add_operand(a, &ac->c, &one);
      const tenon_tensor_view_t* view = &ac->c.tensors[ac->factors[which]].view;
      if (!bare) {
        tenon__number_store(view->data, 0, view->dtype, 0,
                            (tenon__number_t){.f = which == Q ? 0.375 : 2});
      }
    }
  }
  if (a->form == ATTENTION_REPLACED) {
    static const float nothing = 0;
    zero = add_operand(a, &ac->c, &one);
    ac->c.fake.values[zero].info.constant_data = &nothing;
    ac->c.fake.values[zero].info.flags = TENON_VALUE_CONSTANT;
  }
  add_result(a, &ac->c);
  add_nodes(a, ac, zero);
  ac->c.fake.op = "standard.mat_mul/1";
  ac->c.fake.nodes = ac->nodes;
  ac->c.fake.several_count = ac->node_count;
  if (!bare) {
    attention_expect(a, ac);
  }
}

static void complete_values(attention_case_t* ac) {
  ac->c.fake.value_count = ac->c.fake.input_count + ac->c.fake.output_count;
}

void attention_make_region(attention_t* a, attention_case_t* out_case) {
  attention_make(a, out_case, false);
  out_case->c.fake.kind = TENON_REGION_OPERATOR;
  complete_values(out_case);
}

uint32_t attention_make_graph(attention_t* a, attention_case_t* out_case) {
  attention_make(a, out_case, false);
  complete_values(out_case);
  fake_node_t* nodes = out_case->nodes;
  const uint32_t count = out_case->node_count;
  const fake_node_t main_node = nodes[0];
  memmove(&nodes[0], &nodes[1], (count - 1) * sizeof(*nodes));
  nodes[count - 1] = (fake_node_t){.op = "acme.stranger/1", .output = TENON_NONE - 1};
  nodes[count] = main_node;
  out_case->c.fake.several_count = count + 1;
  return count;
}
