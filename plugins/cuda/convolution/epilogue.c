/* A slot's program as text, and its operands at the shapes of a binding. */
#include "epilogue.h"

#include <string.h>

#include "generate.h"

#define ADD tenon__cuda_text_add

const char* tenon__cuda_epilogue_make(const tenon__cuda_problem_t* problem, tenon_dtype_t stored,
                                      tenon__cuda_epilogue_t* out, uint32_t* out_reason) {
  tenon__cuda_epilogue_t* e = out;
  memset(e, 0, sizeof(*e));
  e->value = TENON_NONE;
  *out_reason = TENON_REFUSAL_SLOT;
  if (problem->program == NULL) {
    e->sum = (tenon_instruction_t){.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_FLOAT32};
    e->operands[0] = (tenon_operand_t){.kind = TENON_OPERAND_SLOT_VALUE};
    e->output = (tenon_program_output_t){.dtype = stored};
    e->program = (tenon_program_t){.instructions = &e->sum,
                                   .instruction_count = 1,
                                   .operand_count = 1,
                                   .outputs = &e->output,
                                   .output_count = 1,
                                   .rank = problem->y->rank};
  } else if (problem->program->operand_count > TENON_CUDA_TENSORS) {
    return "more than 32 operands";
  } else {
    e->program = *problem->program;
    memcpy(e->operands, problem->program->operands,
           e->program.operand_count * sizeof(*e->operands));
  }
  e->program.operands = e->operands;
  for (uint32_t k = 0; k < e->program.operand_count; k++) {
    if (e->operands[k].kind == TENON_OPERAND_SLOT_VALUE) {
      e->operands[k].dtype = TENON_DTYPE_FLOAT32; /* as it is summed */
      e->operands[k].kind = TENON_OPERAND_ARGUMENT;
      e->value = k;
    } else {
      const uint32_t value = problem->table->input(problem->region, e->operands[k].index);
      const tenon_value_info_t* info =
          value == TENON_NONE ? NULL : problem->table->value(problem->region, value);
      e->is_constant[k] = info != NULL && (info->flags & TENON_VALUE_CONSTANT) != 0;
      e->is_number[k] = info != NULL && tenon__cuda_is_number(info);
    }
  }
  for (uint32_t k = 0; k < TENON_CUDA_AXIS_COUNT; k++) {
    if (problem->axes[k] != TENON_NONE) {
      e->which[problem->axes[k]] = k;
    }
  }
  e->channel_axis = problem->axes[TENON_CUDA_AXIS_CHANNEL];
  const char* why = tenon__cuda_analyse(&e->program, &e->analysis, out_reason);
  *out_reason = TENON_REFUSAL_SLOT;
  if (why == NULL && e->analysis.reduces) {
    why = "a reduction";
  }
  e->layout = why == NULL ? tenon__cuda_layout_of(&e->analysis) : e->layout;
  return why;
}

void tenon__cuda_epilogue_stream(const tenon__cuda_problem_t* problem, tenon__cuda_epilogue_t* e) {
  e->is_stream = true;
  for (uint32_t k = 0; k < e->program.operand_count; k++) {
    e->is_dense[k] = k != e->value && tenon__cuda_operand_sort(problem, e->operands[k].index) ==
                                          TENON_CUDA_OPERAND_DENSE;
  }
}

/* ---- Text ---- */

static bool is_read(const tenon__cuda_epilogue_t* e, uint32_t operand) {
  return operand != e->value && e->analysis.operand_walks[operand] != TENON_NONE;
}

void tenon__cuda_epilogue_define(const tenon__cuda_epilogue_t* epilogue, uint32_t elements,
                                 tenon__cuda_text_t* text) {
  const tenon__cuda_analysis_t* a = &epilogue->analysis;
  ADD(text, "#define WALKS %u\n#define AXES %u\n#define INDEXED %u\n#define V %u\n", a->walk_count,
      epilogue->program.rank, a->indexed_count == 0 ? 1 : a->indexed_count, elements);
  ADD(text, "#define WHICH");
  for (uint32_t axis = 0; axis < epilogue->program.rank; axis++) {
    ADD(text, "%s %u", axis == 0 ? " {" : ",", epilogue->which[axis]);
  }
  ADD(text, "}\n");
  uint64_t dense = (uint64_t)1 << a->output_walks[0];
  for (uint32_t k = 0; k < epilogue->program.operand_count; k++) {
    const bool is_dense = epilogue->is_dense[k] && is_read(epilogue, k);
    dense |= is_dense ? (uint64_t)1 << a->operand_walks[k] : 0;
  }
  if (epilogue->is_stream) {
    ADD(text, "#define DENSE 0x%llxull\n", (unsigned long long)dense);
  }
}

/* When operands are read: by `read_NAME`. */
typedef enum reading_t { READING_CONSTANTS, READING_COMMON, READING_OPERANDS } reading_t;

static reading_t reading_of(const tenon__cuda_epilogue_t* e, uint32_t operand) {
  return e->is_dense[operand]      ? READING_OPERANDS
         : e->is_constant[operand] ? READING_CONSTANTS
         : e->is_stream            ? READING_COMMON
                                   : READING_OPERANDS;
}

/* Neighbours, and aligned: of a stream for certain. */
static void write_wide(const tenon__cuda_epilogue_t* e, bool is_dense, uint32_t walk,
                       tenon__cuda_text_t* text) {
  if (e->is_stream && is_dense) {
    ADD(text, "1, at.left, ");
  } else {
    ADD(text, "p.wide[%u], at.left, ", walk);
  }
}

/* One for all: the compiler reads it once for all places of a thread. */
static void write_number(const tenon__cuda_epilogue_t* e, uint32_t operand,
                         tenon__cuda_text_t* text) {
  const uint32_t walk = e->analysis.operand_walks[operand];
  const char* type = tenon__cuda_mnemonic(e->operands[operand].dtype);
  ADD(text,
      "  const stored_%s n%u = *(const stored_%s*)p.data[%u];\n#pragma unroll\n"
      "  for (int j = 0; j < V; ++j) o.s%u[j] = n%u;\n",
      type, walk, type, walk, walk, walk);
}

static void write_reads(const tenon__cuda_epilogue_t* e, reading_t reading,
                        tenon__cuda_text_t* text) {
  static const char* const names[] = {"constants", "common", "operands"};
  ADD(text, "INLINE void read_%s(const parameters_t& p, const place_t& at, operands_t& o) {\n",
      names[reading]);
  for (uint32_t k = 0; k < e->program.operand_count; k++) {
    if (is_read(e, k) && reading_of(e, k) == reading) {
      const uint32_t w = e->analysis.operand_walks[k];
      if (e->is_number[k]) {
        write_number(e, k, text);
        continue;
      }
      ADD(text, "  fetch((const stored_%s*)p.data[%u] + at.offset[%u], p.step[%u], ",
          tenon__cuda_mnemonic(e->operands[k].dtype), w, w, w);
      write_wide(e, e->is_dense[k], w, text);
      ADD(text, "o.s%u);\n", w);
    }
  }
  ADD(text, "}\n");
}

static void write_finish(const tenon__cuda_epilogue_t* e, tenon__cuda_text_t* text) {
  const tenon__cuda_analysis_t* a = &e->analysis;
  const char* stored = tenon__cuda_mnemonic(e->program.outputs[0].dtype);
  const uint32_t y = a->output_walks[0];
  ADD(text,
      "INLINE u64 finish(const parameters_t& p, const place_t& at, const operands_t& o,\n"
      "                  const float (&sum)[V]) {\n"
      "  row_t row;\n  u64 fault = 0;\n  stored_%s r[V];\n#pragma unroll\n"
      "  for (int j = 0; j < V; ++j) {\n    in_t in;\n",
      stored);
  for (uint32_t k = 0; k < e->program.operand_count; k++) {
    if (k == e->value && a->operand_walks[k] != TENON_NONE) {
      ADD(text, "    in.s%u = sum[j];\n", a->operand_walks[k]);
    } else if (is_read(e, k)) {
      ADD(text, "    in.s%u = o.s%u[j];\n", a->operand_walks[k], a->operand_walks[k]);
    }
  }
  for (uint32_t axis = 0; axis < e->program.rank; axis++) {
    if (a->axis_walks[axis] != TENON_NONE) {
      ADD(text, "    in.c%u = at.at[%u]%s;\n", a->axis_walks[axis], axis,
          axis == e->channel_axis ? " + j" : "");
    }
  }
  ADD(text,
      "    out_t out;\n    element(p, in, row, out);\n    r[j] = out.r0;\n"
      "    if (j < at.left) fault = worse(fault, out.fault);\n  }\n"
      "  place((stored_%s*)p.data[%u] + at.offset[%u], p.step[%u], ",
      stored, y, y, y);
  write_wide(e, true, y, text);
  ADD(text, "r);\n  return fault;\n}\n\n");
}

void tenon__cuda_epilogue_write(const tenon__cuda_epilogue_t* epilogue, tenon__cuda_text_t* text) {
  const tenon__cuda_epilogue_t* e = epilogue;
  tenon__cuda_generate_values(&e->analysis, text);
  ADD(text, "struct operands_t {\n");
  for (uint32_t k = 0; k < e->program.operand_count; k++) {
    if (is_read(e, k)) {
      ADD(text, "  stored_%s s%u[V];\n", tenon__cuda_mnemonic(e->operands[k].dtype),
          e->analysis.operand_walks[k]);
    }
  }
  ADD(text, "};\n");
  write_reads(e, READING_CONSTANTS, text);
  if (e->is_stream) {
    write_reads(e, READING_COMMON, text);
  }
  write_reads(e, READING_OPERANDS, text);
  write_finish(e, text);
}

/* ---- Binding ---- */

static void put(const tenon__cuda_epilogue_bound_t* bound, size_t offset, const void* value,
                size_t size_bytes) {
  memcpy(bound->parameters + offset, value, size_bytes);
}

/* What the walk's places may be, from 0: below 2^31? */
static bool put_walk(tenon__cuda_epilogue_bound_t* bound, const tenon_tensor_view_t* view,
                     uint32_t walk) {
  const tenon__cuda_layout_t* layout = &bound->epilogue->layout;
  const uint32_t rank = bound->epilogue->program.rank;
  const size_t strides = layout->outer + 8 + (size_t)layout->axes * 12;
  int64_t reach = 0;
  bool wide = true;
  for (uint32_t axis = 0; axis < rank; axis++) {
    const int64_t stride = view->dims[axis] == 1 ? 0 : view->strides[axis];
    const int32_t narrow = (int32_t)stride;
    reach += (view->dims[axis] - 1) * (stride < 0 ? -stride : stride);
    wide = wide &&
           (axis == bound->epilogue->channel_axis ? stride == 1 : stride % bound->elements == 0);
    put(bound, strides + ((size_t)axis * layout->walks + walk) * 4, &narrow, sizeof(narrow));
    if (axis == bound->epilogue->channel_axis) {
      put(bound, layout->step + (size_t)walk * 4, &narrow, sizeof(narrow));
    }
  }
  bound->wide[walk] = wide;
  return reach <= INT32_MAX;
}

static void put_indexed(const tenon__cuda_epilogue_bound_t* bound, const tenon_tensor_view_t* view,
                        uint32_t number) {
  const tenon__cuda_layout_t* layout = &bound->epilogue->layout;
  put(bound, layout->dims + (size_t)number * 64, view->dims, view->rank * sizeof(int64_t));
  put(bound, layout->strides + (size_t)number * 64, view->strides, view->rank * sizeof(int64_t));
}

bool tenon__cuda_epilogue_bind(tenon__cuda_epilogue_bound_t* bound, tenon_binding_t* handle,
                               const tenon_bind_table_t* host) {
  const tenon__cuda_epilogue_t* e = bound->epilogue;
  const tenon_tensor_view_t* y = &host->output(handle, e->program.outputs[0].index)->tensor;
  bool good = put_walk(bound, y, e->analysis.output_walks[0]);
  put(bound, e->layout.size, y->dims, e->program.rank * sizeof(int64_t));
  for (uint32_t k = 0; k < e->program.operand_count; k++) {
    if (k == e->value) {
      continue;
    }
    const tenon_tensor_view_t* view = &host->input(handle, e->operands[k].index)->tensor;
    if (is_read(e, k)) {
      good = put_walk(bound, view, e->analysis.operand_walks[k]) && good;
    } else {
      put_indexed(bound, view, e->analysis.indexed[k]);
    }
  }
  if (bound->fault != NULL) {
    put(bound, e->layout.fault, &bound->fault->address, sizeof(bound->fault->address));
  }
  return good;
}

static void put_address(const tenon__cuda_epilogue_bound_t* bound, uint32_t walk,
                        tenon_dtype_t dtype, const void* data) {
  const uintptr_t word = (uintptr_t)bound->elements * tenon__cuda_bytes(dtype);
  const uintptr_t address = (uintptr_t)data;
  const int32_t wide = bound->wide[walk] && address % (word > 16 ? 16 : word) == 0 ? 1 : 0;
  put(bound, (size_t)walk * 8, &address, sizeof(address));
  put(bound, bound->epilogue->layout.wide + (size_t)walk * 4, &wide, sizeof(wide));
}

void tenon__cuda_epilogue_enqueue(const tenon__cuda_epilogue_bound_t* bound,
                                  const tenon_enqueue_t* call) {
  const tenon__cuda_epilogue_t* e = bound->epilogue;
  const tenon_program_output_t* y = &e->program.outputs[0];
  put_address(bound, e->analysis.output_walks[0], y->dtype, call->outputs[y->index].tensor.data);
  for (uint32_t k = 0; k < e->program.operand_count; k++) {
    if (k == e->value) {
      continue;
    }
    void* data = call->inputs[e->operands[k].index].tensor.data;
    if (is_read(e, k)) {
      put_address(bound, e->analysis.operand_walks[k], e->operands[k].dtype, data);
    } else {
      put(bound, e->layout.indexed + (size_t)e->analysis.indexed[k] * 8, &data, sizeof(data));
    }
  }
  if (bound->fault != NULL) {
    bound->fault->stream = call->host->stream(call->run);
  }
}
