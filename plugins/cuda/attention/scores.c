/* Nodes' programs put together, as text, and bound. */
#include "scores.h"

#include <string.h>

#include "generate.h"

#define ADD tenon__cuda_text_add

/* ---- One program of many ---- */

typedef struct joiner_t {
  const tenon__cuda_attention_t* attention;
  tenon__cuda_scores_t* scores;
  uint32_t product;                          /* the instruction that is q k^T, scaled */
  uint32_t made[TENON_CUDA_ATTENTION_NODES]; /* of each inner node */
  const char* why;
  uint32_t reason;
} joiner_t;

static uint32_t fail(joiner_t* j, const char* why) {
  j->why = j->why == NULL ? why : j->why;
  return 0;
}

static uint32_t add(joiner_t* j, tenon_instruction_t instruction) {
  tenon_program_t* program = &j->scores->program;
  if (program->instruction_count == TENON_CUDA_INSTRUCTIONS) {
    return fail(j, "more than 512 instructions on the scores");
  }
  j->scores->instructions[program->instruction_count] = instruction;
  return program->instruction_count++;
}

static bool is_single(tenon_dtype_t dtype) {
  return tenon__cuda_class(dtype) == 'f' && tenon__cuda_bits(dtype) <= 32;
}

/* A value in the type in which it is read; narrow floats are computed in f32 all the same. */
static uint32_t as_type(joiner_t* j, uint32_t instruction, uint16_t dtype) {
  const tenon_dtype_t own = tenon__cuda_result_type(&j->scores->instructions[instruction]);
  if (own == dtype || (is_single(own) && is_single((tenon_dtype_t)dtype))) {
    return instruction;
  }
  return add(j, (tenon_instruction_t){
                    .opcode = TENON_OPCODE_CAST, .dtype = dtype, .operands = {instruction}});
}

/* What comes from outside, read as it is stored. */
static uint32_t add_operand(joiner_t* j, uint32_t value, uint16_t dtype) {
  const tenon__cuda_attention_t* a = j->attention;
  const tenon_value_info_t* info = a->table->value(a->region, value);
  tenon_program_t* program = &j->scores->program;
  uint32_t number = 1;
  if (info == NULL || info->input == TENON_NONE || info->rank > a->rank) {
    return fail(j, "a value that is made inside, but not on the way from the product");
  }
  if (info == a->q || info == a->kt || info == a->v) {
    return fail(j, "q, k or v is read by the arithmetic on the scores too");
  }
  while (number < program->operand_count && j->scores->operands[number].index != info->input) {
    number++;
  }
  if (number + 1 >= TENON_CUDA_TENSORS) {
    return fail(j, "more than 30 operands on the scores");
  }
  if (number == program->operand_count) {
    bool is_uniform = true;
    for (uint32_t k = 0; k < info->rank; k++) {
      is_uniform = is_uniform && info->dims_max[k] == 1;
    }
    j->scores->is_uniform[number] = is_uniform;
    j->scores->operands[program->operand_count++] =
        (tenon_operand_t){.index = info->input, .dtype = info->dtype};
  }
  return add(j, (tenon_instruction_t){
                    .opcode = TENON_OPCODE_INPUT, .dtype = dtype, .immediate = {.i = number}});
}

static uint32_t join_node(joiner_t* j, uint32_t node, uint32_t behind);

/* A value as an instruction: the product, an inner node's, or an operand. */
static uint32_t join_value(joiner_t* j, uint32_t value, /* NOLINT(misc-no-recursion) */
                           uint32_t behind, uint16_t dtype) {
  const tenon__cuda_attention_t* a = j->attention;
  if (value == a->raw) {
    return as_type(j, j->product, dtype);
  }
  const uint32_t node = tenon__cuda_attention_maker(a, value, behind);
  uint32_t k = 0;
  while (k < a->inner_count && a->inner[k] != node) {
    k++;
  }
  if (k == a->inner_count) {
    return add_operand(j, value, dtype);
  }
  if (j->made[k] == TENON_NONE) {
    j->made[k] = join_node(j, node, TENON_NONE);
  }
  return as_type(j, j->made[k], dtype);
}

/* All of a node's instructions up to `last` (TENON_NONE: its output): the one that is that.
 * NOLINTNEXTLINE(misc-no-recursion): as deep as the attention was found */
static uint32_t join_node(joiner_t* j, uint32_t node, uint32_t last) {
  const tenon__cuda_attention_t* a = j->attention;
  const tenon_program_t* program = a->table->node_program(a->region, node);
  const bool is_part = last != TENON_NONE;
  const uint32_t end = is_part ? last : program->outputs[0].instruction;
  uint32_t map[TENON_CUDA_INSTRUCTIONS];
  if (end >= TENON_CUDA_INSTRUCTIONS) {
    return fail(j, "more than 512 instructions in a node");
  }
  for (uint32_t k = 0; k <= end && j->why == NULL; k++) {
    tenon_instruction_t in = program->instructions[k];
    if (in.opcode == TENON_OPCODE_LOAD || in.opcode == TENON_OPCODE_EXTENT ||
        tenon__cuda_is_reduction(in.opcode)) {
      return fail(j, "arithmetic on the scores that is not element by element");
    }
    if (in.opcode == TENON_OPCODE_INPUT) {
      const uint32_t index = program->operands[in.immediate.i].index;
      const uint32_t value = a->table->node_input(a->region, node, index);
      const tenon_value_info_t* info = a->table->value(a->region, value);
      /* Of a factor only what has one element: the rest of the node is not looked at. */
      const bool is_skipped =
          is_part && (info == NULL || info->input == TENON_NONE || info == a->q || info == a->kt);
      map[k] = is_skipped ? j->product : join_value(j, value, node, in.dtype);
      continue;
    }
    for (uint32_t n = 0; n < tenon__cuda_operand_count(in.opcode); n++) {
      in.operands[n] = map[in.operands[n]];
    }
    map[k] = add(j, in);
  }
  return j->why == NULL ? map[end] : 0;
}

static uint32_t join_factors(joiner_t* j, uint32_t value) {
  const tenon__cuda_attention_t* a = j->attention;
  for (uint32_t k = 0; k < a->factor_count && j->why == NULL; k++) {
    const tenon__cuda_factor_t* factor = &a->factors[k];
    const uint32_t number = join_node(j, factor->node, factor->part);
    value = add(
        j, (tenon_instruction_t){
               .opcode = factor->divides ? TENON_OPCODE_DIV : TENON_OPCODE_MUL,
               .dtype = TENON_DTYPE_FLOAT32,
               .operands = {value, j->why == NULL ? as_type(j, number, TENON_DTYPE_FLOAT32) : 0}});
  }
  return value;
}

const char* tenon__cuda_scores_make(const tenon__cuda_attention_t* attention,
                                    tenon__cuda_scores_t* out, uint32_t* out_reason) {
  joiner_t j = {.attention = attention, .scores = out};
  memset(out, 0, sizeof(*out));
  memset(j.made, 0xFF, sizeof(j.made));
  *out_reason = TENON_REFUSAL_SLOT;
  out->operands[0] = (tenon_operand_t){.dtype = TENON_DTYPE_FLOAT32, .index = TENON_NONE};
  out->program = (tenon_program_t){.instructions = out->instructions,
                                   .operands = out->operands,
                                   .outputs = &out->output,
                                   .operand_count = 1,
                                   .output_count = 1,
                                   .rank = attention->rank};
  j.product =
      add(&j, (tenon_instruction_t){.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_FLOAT32});
  j.product = join_factors(&j, j.product);
  const uint32_t last =
      j.why == NULL ? join_value(&j, attention->scores, 0, TENON_DTYPE_FLOAT32) : 0;
  out->output = (tenon_program_output_t){.instruction = last, .dtype = TENON_DTYPE_FLOAT32};
  const char* why =
      j.why != NULL ? j.why : tenon__cuda_analyse(&out->program, &out->analysis, out_reason);
  if (why == NULL && tenon__cuda_is_narrow(&out->program)) {
    why = "elements below a byte";
  }
  if (why == NULL) {
    out->layout = tenon__cuda_layout_of(&out->analysis);
  }
  return why;
}

/* ---- Text ---- */

void tenon__cuda_scores_define(const tenon__cuda_scores_t* scores, tenon__cuda_text_t* text) {
  ADD(text, "#define WALKS %u\n#define AXES %u\n#define INDEXED 1\n#define V %d\n",
      scores->analysis.walk_count, scores->program.rank, TENON_CUDA_SCORES_ELEMENTS);
}

static void write_structure(const tenon__cuda_scores_t* s, bool uniform, const char* name,
                            const char* count, tenon__cuda_text_t* text) {
  ADD(text, "struct %s {\n", name);
  for (uint32_t k = 1; k < s->program.operand_count; k++) {
    if (s->is_uniform[k] == uniform) {
      ADD(text, "  stored_%s s%u%s;\n", tenon__cuda_mnemonic(s->operands[k].dtype),
          s->analysis.operand_walks[k], count);
    }
  }
  ADD(text, "};\n");
}

static void write_reads(const tenon__cuda_scores_t* s, tenon__cuda_text_t* text) {
  ADD(text, "INLINE void read_uniforms(const parameters_t& p, uniforms_t& u) {\n");
  for (uint32_t k = 1; k < s->program.operand_count; k++) {
    const uint32_t w = s->analysis.operand_walks[k];
    if (s->is_uniform[k]) {
      ADD(text, "  u.s%u = *(const stored_%s*)p.data[%u];\n", w,
          tenon__cuda_mnemonic(s->operands[k].dtype), w);
    }
  }
  ADD(text,
      "}\nINLINE void read_operands(const parameters_t& p, const place_t& at, operands_t& o) {\n");
  for (uint32_t k = 1; k < s->program.operand_count; k++) {
    const uint32_t w = s->analysis.operand_walks[k];
    if (!s->is_uniform[k]) {
      ADD(text,
          "  fetch((const stored_%s*)p.data[%u] + at.offset[%u], p.step[%u], p.wide[%u], at.left, "
          "o.s%u);\n",
          tenon__cuda_mnemonic(s->operands[k].dtype), w, w, w, w, w);
    }
  }
  ADD(text, "}\n");
}

void tenon__cuda_scores_write(const tenon__cuda_scores_t* scores, tenon__cuda_text_t* text) {
  const tenon__cuda_analysis_t* a = &scores->analysis;
  tenon__cuda_generate_values(a, text);
  write_structure(scores, true, "uniforms_t", "", text);
  write_structure(scores, false, "operands_t", "[V]", text);
  write_reads(scores, text);
  ADD(text,
      "INLINE void score(const parameters_t& p, const place_t& at, const uniforms_t& u,\n"
      "                  const operands_t& o, float (&sums)[V]) {\n"
      "  row_t row;\n#pragma unroll\n  for (int j = 0; j < V; ++j) {\n    in_t in;\n"
      "    in.s%u = sums[j];\n",
      a->operand_walks[0]);
  for (uint32_t k = 1; k < scores->program.operand_count; k++) {
    ADD(text, scores->is_uniform[k] ? "    in.s%u = u.s%u;\n" : "    in.s%u = o.s%u[j];\n",
        a->operand_walks[k], a->operand_walks[k]);
  }
  for (uint32_t axis = 0; axis < scores->program.rank; axis++) {
    if (a->axis_walks[axis] != TENON_NONE) {
      ADD(text, "    in.c%u = at.at[%u]%s;\n", a->axis_walks[axis], axis,
          axis + 1 == scores->program.rank ? " + j" : "");
    }
  }
  ADD(text,
      "    out_t out;\n    element(p, in, row, out);\n"
      "    sums[j] = j < at.left ? out.r0 : -INFINITE;\n  }\n}\n\n");
}

/* ---- Binding ---- */

/* The operand's strides along the axes of the scores. */
static bool read_walk(tenon__cuda_scores_bound_t* bound, const tenon_tensor_view_t* view,
                      uint32_t walk, tenon__cuda_axes_t* axes) {
  const tenon__cuda_layout_t* layout = &bound->scores->layout;
  const uint32_t rank = bound->scores->program.rank;
  const uint32_t missing = rank - view->rank;
  int64_t reach = 0;
  bool wide = true;
  for (uint32_t axis = missing; axis < rank; axis++) {
    const int64_t extent = view->dims[axis - missing];
    const int64_t stride = extent == 1 ? 0 : view->strides[axis - missing];
    axes->strides[axis][walk] = stride;
    reach += (extent - 1) * (stride < 0 ? -stride : stride);
    wide = wide && (axis + 1 == rank ? stride == 1 : stride % TENON_CUDA_SCORES_ELEMENTS == 0);
  }
  const int32_t step = (int32_t)axes->strides[rank - 1][walk];
  memcpy(bound->parameters + layout->step + (size_t)walk * 4, &step, sizeof(step));
  bound->wide[walk] = wide && view->rank > 0;
  return reach <= INT32_MAX;
}

bool tenon__cuda_scores_bind(tenon__cuda_scores_bound_t* bound, tenon_binding_t* handle,
                             const tenon_bind_table_t* host, const int64_t* extents,
                             int64_t tiles) {
  const tenon__cuda_scores_t* s = bound->scores;
  tenon__cuda_axes_t axes = {.rank = s->program.rank, .walk_count = s->analysis.walk_count};
  bool good = true;
  memcpy(bound->parameters + s->layout.size, extents, axes.rank * sizeof(*extents));
  memcpy(axes.extents, extents, axes.rank * sizeof(*extents));
  axes.extents[axes.rank - 2] = tiles;
  for (uint32_t k = 1; k < s->program.operand_count; k++) {
    const tenon_tensor_view_t* view = &host->input(handle, s->operands[k].index)->tensor;
    good = read_walk(bound, view, s->analysis.operand_walks[k], &axes) && good;
  }
  return tenon__cuda_axes_write(&axes, &s->layout, s->layout.outer, bound->parameters) && good;
}

void tenon__cuda_scores_enqueue(const tenon__cuda_scores_bound_t* bound,
                                const tenon_enqueue_t* call) {
  const tenon__cuda_scores_t* s = bound->scores;
  for (uint32_t k = 1; k < s->program.operand_count; k++) {
    const uint32_t walk = s->analysis.operand_walks[k];
    const uintptr_t word =
        (uintptr_t)TENON_CUDA_SCORES_ELEMENTS * tenon__cuda_bytes(s->operands[k].dtype);
    const uintptr_t address = (uintptr_t)call->inputs[s->operands[k].index].tensor.data;
    const int32_t wide = bound->wide[walk] && address % (word > 16 ? 16 : word) == 0 ? 1 : 0;
    memcpy(bound->parameters + (size_t)walk * 8, &address, sizeof(address));
    memcpy(bound->parameters + s->layout.wide + (size_t)walk * 4, &wide, sizeof(wide));
  }
}
