/* The kernels around a program's functions of one element. */
#include "generate.h"

#include <stdio.h>

#include "texts.h"

#define ADD tenon__cuda_text_add

typedef struct maker_t {
  const tenon__cuda_analysis_t* analysis;
  const tenon__cuda_form_t* form;
  tenon__cuda_text_t* text;
  bool kept;  /* the operands of a row are in registers */
  bool split; /* several blocks share a row */
} maker_t;

static const char* operand_type(const maker_t* maker, uint32_t operand) {
  return tenon__cuda_mnemonic(maker->analysis->program->operands[operand].dtype);
}
static const char* output_type(const maker_t* maker, uint32_t output) {
  return tenon__cuda_mnemonic(maker->analysis->program->outputs[output].dtype);
}

/* Operands that are read at each point. */
static bool varies(const maker_t* maker, uint32_t operand) {
  return maker->analysis->operand_walks[operand] != TENON_NONE &&
         !tenon__cuda_operand_is_uniform(maker->analysis, operand);
}
static bool axis_varies(const maker_t* maker, uint32_t axis) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  return analysis->axis_walks[axis] != TENON_NONE &&
         (!analysis->reduces || (analysis->reduced_axes >> axis & 1) != 0);
}

/* ---- Without reductions ---- */

static void declare_singles(const maker_t* maker) {
  const tenon_program_t* program = maker->analysis->program;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    if (varies(maker, k)) {
      ADD(maker->text, "  stored_%s s%u[%u];\n", operand_type(maker, k),
          maker->analysis->operand_walks[k], TENON_CUDA_SINGLES);
    }
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    ADD(maker->text, "  stored_%s r%u[%u];\n", output_type(maker, k), k, TENON_CUDA_SINGLES);
  }
}

/* Element j of what was read: `place` is what its coordinates are made from. */
static void write_element(const maker_t* maker, const char* sources, const char* coordinate) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  ADD(maker->text, "    in_t in;\n");
  for (uint32_t k = 0; k < analysis->program->operand_count; k++) {
    if (varies(maker, k)) {
      ADD(maker->text, "    in.s%u = s%u%s[j];\n", analysis->operand_walks[k],
          analysis->operand_walks[k], sources);
    }
  }
  for (uint32_t axis = 0; axis < analysis->program->rank; axis++) {
    if (axis_varies(maker, axis)) {
      const uint32_t walk = analysis->axis_walks[axis];
      ADD(maker->text, coordinate, walk, walk, walk);
    }
  }
}

/* What element j belongs to. */
static const char* row_name(const maker_t* maker) {
  return maker->form->columns != 0 ? "row[j]" : "row";
}
/* Of each row that a thread has a part of. */
static const char* for_each_row(const maker_t* maker) {
  return maker->form->columns != 0 ? "#pragma unroll\n  for (int j = 0; j < V; ++j)" : "";
}

static void write_compute(const maker_t* maker) {
  ADD(maker->text, "    out_t out;\n    element(p, in, %s, out);\n", row_name(maker));
  for (uint32_t k = 0; k < maker->analysis->program->output_count; k++) {
    if (!tenon__cuda_output_is_of_row(maker->analysis, k)) {
      ADD(maker->text, "    r%u[j] = out.r%u;\n", k, k);
    }
  }
}

static void write_places(const maker_t* maker) {
  for (uint32_t k = 0; k < maker->analysis->program->output_count; k++) {
    if (!tenon__cuda_output_is_of_row(maker->analysis, k)) {
      const uint32_t walk = maker->analysis->output_walks[k];
      ADD(maker->text,
          "  if (p.data[%u] != 0) place((stored_%s*)p.data[%u] + o[%u], p.step[%u], p.wide[%u], "
          "left, r%u);\n",
          walk, output_type(maker, k), walk, walk, walk, walk, k);
    }
  }
}
static void write_row_fetches(const maker_t* maker, const char* index) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  for (uint32_t k = 0; k < analysis->program->operand_count; k++) {
    if (varies(maker, k)) {
      const uint32_t walk = analysis->operand_walks[k];
      ADD(maker->text,
          "  fetch((const stored_%s*)p.data[%u] + o[%u], p.step[%u], p.wide[%u], left, s%u%s);\n",
          operand_type(maker, k), walk, walk, walk, walk, walk, index);
    }
  }
}

static void declare_results(const maker_t* maker, bool of_row) {
  for (uint32_t k = 0; k < maker->analysis->program->output_count; k++) {
    if (tenon__cuda_output_is_of_row(maker->analysis, k) == of_row) {
      ADD(maker->text, "  stored_%s r%u[V];\n", output_type(maker, k), k);
    }
  }
}

static void declare_row_sources(const maker_t* maker, uint32_t accesses) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  for (uint32_t k = 0; k < analysis->program->operand_count; k++) {
    if (varies(maker, k)) {
      ADD(maker->text, "  stored_%s s%u[%u][V];\n", operand_type(maker, k),
          analysis->operand_walks[k], accesses);
    }
  }
}

/* Access i of a thread: its number is n. */
static void begin_vector(const maker_t* maker) {
  ADD(maker->text,
      "#pragma unroll\n  for (int i = 0; i < %u; ++i) {\n  const unsigned n = first + i * %uu;\n"
      "  if (n < p.count) {\n"
      "  const u64 behind = p.limit - (u64)n * %u;\n"
      "  const int left = behind < %u ? (int)behind : %u;\n"
      "  i64 o[WALKS];\n  origin(o);\n  walk(p.outer, n, o);\n",
      maker->form->batch, TENON_CUDA_SPACE_THREADS, maker->form->elements, maker->form->elements,
      maker->form->elements);
}

/* A thread reads all of its accesses before it computes. */
static void write_vectors(const maker_t* maker) {
  const tenon_program_t* program = maker->analysis->program;
  ADD(maker->text,
      "extern \"C\" __global__ void __launch_bounds__(%u) vectors(const __grid_constant__ "
      "parameters_t p) {\n"
      "  begin(p);\n"
      "  const unsigned first = blockIdx.x * %uu + threadIdx.x;\n"
      "  row_t row;\n  u64 fault = 0;\n",
      TENON_CUDA_SPACE_THREADS, TENON_CUDA_SPACE_THREADS * maker->form->batch);
  declare_row_sources(maker, maker->form->batch);
  begin_vector(maker);
  write_row_fetches(maker, "[i]");
  ADD(maker->text, "  }\n  }\n");
  begin_vector(maker);
  for (uint32_t k = 0; k < program->output_count; k++) {
    ADD(maker->text, "  stored_%s r%u[V];\n", output_type(maker, k), k);
  }
  ADD(maker->text, "#pragma unroll\n  for (int j = 0; j < V; ++j) {\n");
  write_element(maker, "[i]", "    in.c%u = o[%u] + (i64)j * p.step[%u];\n");
  write_compute(maker);
  ADD(maker->text, "    if (j < left) fault = worse(fault, out.fault);\n  }\n");
  write_places(maker);
  ADD(maker->text, "  }\n  }\n  tell(p, fault);\n}\n\n");
}

bool tenon__cuda_may_be_dense(const tenon__cuda_analysis_t* analysis) {
  const tenon_program_t* program = analysis->program;
  bool may_be = !analysis->reduces && analysis->indexed_count == 0;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    may_be = may_be && program->operands[k].broadcast_axes == 0;
  }
  for (uint32_t axis = 0; axis < program->rank; axis++) {
    may_be = may_be && analysis->axis_walks[axis] == TENON_NONE;
  }
  return may_be;
}

/* Of tensors that all lie in one piece, in whole accesses: nothing is walked or asked for each. */
static void write_dense(const maker_t* maker) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  const tenon_program_t* program = analysis->program;
  ADD(maker->text,
      "extern \"C\" __global__ void __launch_bounds__(%u) dense(const __grid_constant__ "
      "parameters_t p) {\n"
      "  begin(p);\n"
      "  const unsigned first = blockIdx.x * %uu + threadIdx.x;\n"
      "  row_t row;\n",
      TENON_CUDA_SPACE_THREADS, TENON_CUDA_SPACE_THREADS * maker->form->batch);
  declare_row_sources(maker, maker->form->batch);
  for (int pass = 0; pass < 2; pass++) {
    ADD(maker->text,
        "#pragma unroll\n  for (int i = 0; i < %u; ++i) {\n"
        "  const unsigned n = first + i * %uu;\n  if (n < p.count) {\n",
        maker->form->batch, TENON_CUDA_SPACE_THREADS);
    const uint32_t reads = pass == 0 ? program->operand_count : 0;
    const uint32_t writes = pass == 1 ? program->output_count : 0;
    for (uint32_t k = 0; k < reads; k++) {
      const uint32_t walk = analysis->operand_walks[k];
      ADD(maker->text, "  fetch_whole(p.data[%u], n, s%u[i]);\n", walk, walk);
    }
    if (pass == 1) {
      declare_results(maker, false);
      ADD(maker->text, "#pragma unroll\n  for (int j = 0; j < V; ++j) {\n");
      write_element(maker, "[i]", "");
      write_compute(maker);
      ADD(maker->text, "  }\n");
    }
    for (uint32_t k = 0; k < writes; k++) {
      const uint32_t walk = analysis->output_walks[k];
      ADD(maker->text, "  if (p.data[%u] != 0) place_whole(p.data[%u], n, r%u);\n", walk, walk, k);
    }
    ADD(maker->text, "  }\n  }\n");
  }
  ADD(maker->text, "}\n\n");
}

static void write_singles(const maker_t* maker) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  ADD(maker->text,
      "extern \"C\" __global__ void __launch_bounds__(%u) singles(const __grid_constant__ "
      "parameters_t p) {\n"
      "  begin(p);\n"
      "  const unsigned first = blockIdx.x * %uu + threadIdx.x;\n"
      "  i64 o[%u][WALKS];\n  row_t row;\n  u64 fault = 0;\n",
      TENON_CUDA_SPACE_THREADS, TENON_CUDA_SPACE_THREADS * TENON_CUDA_SINGLES, TENON_CUDA_SINGLES);
  declare_singles(maker);
  ADD(maker->text,
      "#pragma unroll\n  for (int j = 0; j < %u; ++j) {\n"
      "    const unsigned n = first + j * %uu;\n"
      "    origin(o[j]);\n    walk(p.outer, n < p.count ? n : 0, o[j]);\n",
      TENON_CUDA_SINGLES, TENON_CUDA_SPACE_THREADS);
  for (uint32_t k = 0; k < analysis->program->operand_count; k++) {
    if (varies(maker, k)) {
      const uint32_t walk = analysis->operand_walks[k];
      ADD(maker->text, "    s%u[j] = ((const stored_%s*)p.data[%u])[o[j][%u]];\n", walk,
          operand_type(maker, k), walk, walk);
    }
  }
  ADD(maker->text, "  }\n#pragma unroll\n  for (int j = 0; j < %u; ++j) {\n", TENON_CUDA_SINGLES);
  write_element(maker, "", "    in.c%u = o[j][%u];\n");
  write_compute(maker);
  ADD(maker->text,
      "    if (first + j * %uu < p.count) fault = worse(fault, out.fault);\n  }\n"
      "#pragma unroll\n  for (int j = 0; j < %u; ++j) {\n    if (first + j * %uu < p.count) {\n",
      TENON_CUDA_SPACE_THREADS, TENON_CUDA_SINGLES, TENON_CUDA_SPACE_THREADS);
  for (uint32_t k = 0; k < analysis->program->output_count; k++) {
    const uint32_t walk = analysis->output_walks[k];
    ADD(maker->text, "      if (p.data[%u] != 0) ((stored_%s*)p.data[%u])[o[j][%u]] = r%u[j];\n",
        walk, output_type(maker, k), walk, walk, k);
  }
  ADD(maker->text, "    }\n  }\n  tell(p, fault);\n}\n");
}

/* ---- Rows ---- */

static void write_walk(const maker_t* maker) {
  ADD(maker->text,
      "  const int left = %s;\n  i64 o[WALKS];\n#pragma unroll\n"
      "  for (int w = 0; w < WALKS; ++w) o[w] = base[w];\n  walk(p.inner, n, o);\n",
      maker->form->columns != 0 ? "V" : "left_of(p, n)");
}

/* How many threads share a row. */
static const char* parts_of(const maker_t* maker) {
  return maker->split ? "stride" : "PARTS";
}

/* Access i of so many, if it is there: its number is n. */
static void begin_accesses(const maker_t* maker, uint32_t accesses, const char* first) {
  ADD(maker->text,
      "#pragma unroll\n  for (int i = 0; i < %u; ++i) {\n  const unsigned n = i * %s + %s;\n"
      "  if (n < p.count) {\n",
      accesses, parts_of(maker), first);
}

static void write_reads(const maker_t* maker, uint32_t accesses, const char* first) {
  declare_row_sources(maker, accesses);
  begin_accesses(maker, accesses, first);
  write_walk(maker);
  write_row_fetches(maker, "[i]");
  ADD(maker->text, "  }\n  }\n");
}

/* Over the elements of all accesses of a thread, which are in registers, or are read now, several
 * at once so that they are waited for together. */
static void begin_elements(const maker_t* maker) {
  const uint32_t accesses = maker->kept ? maker->form->items : maker->form->batch;
  const char* first = maker->kept ? "part" : "first";
  if (!maker->kept) {
    ADD(maker->text,
        "#pragma unroll 1\n  for (unsigned first = part; first < p.count; first += %u * %s) {\n",
        accesses, parts_of(maker));
    write_reads(maker, accesses, first);
  }
  begin_accesses(maker, accesses, first);
  write_walk(maker); /* the compiler drops what nobody reads */
}
/* Over the elements of one. */
static void begin_access(const maker_t* maker) {
  ADD(maker->text, "#pragma unroll\n  for (int j = 0; j < V; ++j) {\n");
  write_element(maker, "[i]", "    in.c%u = o[%u] + (i64)j * p.step[%u];\n");
}
static void end_elements(const maker_t* maker) {
  ADD(maker->text, maker->kept ? "  }\n  }\n" : "  }\n  }\n  }\n");
}

static void write_start(const maker_t* maker, uint32_t k) {
  const tenon_instruction_t* in = &maker->analysis->program->instructions[k];
  const char* type = tenon__cuda_value_type(in->dtype);
  const bool least = in->opcode == TENON_OPCODE_REDUCE_MAX;
  const uint32_t bits = tenon__cuda_bytes(in->dtype) * 8;
  const uint64_t top = bits == 0 ? 0 : (uint64_t)1 << (bits - 1);
  ADD(maker->text, "%s  %s.a%u = (%s)", for_each_row(maker), row_name(maker), k, type);
  if (in->opcode == TENON_OPCODE_PROD) {
    ADD(maker->text, "1;\n");
  } else if (in->opcode != TENON_OPCODE_REDUCE_MIN && !least) {
    ADD(maker->text, "0;\n");
  } else if (tenon__cuda_class(in->dtype) == 'f') {
    ADD(maker->text, "%s__uint_as_float(0x7F800000u);\n", least ? "-" : "");
  } else if (tenon__cuda_class(in->dtype) == 'b') {
    ADD(maker->text, "%d;\n", least ? 0 : 1);
  } else if (tenon__cuda_class(in->dtype) == 'u') {
    ADD(maker->text, "%lluull;\n", least ? 0ULL : (unsigned long long)(top + (top - 1)));
  } else if (least) {
    ADD(maker->text, "(-%lldll - 1);\n", (long long)(top - 1));
  } else {
    ADD(maker->text, "%lldll;\n", (long long)(top - 1));
  }
}

static const char* join_of(uint16_t opcode) {
  switch (opcode) {
    case TENON_OPCODE_PROD:
      return "prod";
    case TENON_OPCODE_REDUCE_MIN:
      return "min";
    case TENON_OPCODE_REDUCE_MAX:
      return "max";
    default:
      return "sum";
  }
}

static void write_end(const maker_t* maker, uint32_t k) {
  const tenon_instruction_t* in = &maker->analysis->program->instructions[k];
  const int kind = tenon__cuda_class(in->dtype);
  const bool narrow = (kind == 'i' || kind == 'u') && tenon__cuda_bytes(in->dtype) < 4;
  const char* type = tenon__cuda_value_type(in->dtype);
  const char* row = row_name(maker);
  const char* each = for_each_row(maker);
  if (maker->form->columns != 0) {
    ADD(maker->text, "  {\n  %s all[V];\n%s  all[j] = row[j].a%u;\n", type, each, k);
    ADD(maker->text, "  combine(all, join_%s());\n%s  row[j].v%u = all[j];\n  }\n",
        join_of(in->opcode), each, k);
  } else {
    ADD(maker->text, "  row.v%u = combine(row.a%u, join_%s());\n", k, k, join_of(in->opcode));
  }
  if (narrow) {
    ADD(maker->text, "%s  %s.v%u = wrap_%s(%s.v%u);\n", each, row, k,
        tenon__cuda_mnemonic(in->dtype), row, k);
  }
  if (in->opcode == TENON_OPCODE_MEAN && kind == 'f') {
    ADD(maker->text, "%s  %s.v%u = %s.v%u / (%s)p.limit;\n", each, row, k, row, k, type);
  } else if (in->opcode == TENON_OPCODE_MEAN) {
    const char* wide = kind == 'u' ? "u64" : "i64";
    ADD(maker->text, "%s  %s.v%u = (%s)op_div((%s)%s.v%u, (%s)p.limit);\n", each, row, k, type,
        wide, row, k, wide);
  }
}

typedef void (*reduction_writer_t)(const maker_t* maker, uint32_t instruction);
/* For each reduction of a level. */
static void for_level(const maker_t* maker, uint32_t level, reduction_writer_t write) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  for (uint32_t k = 0; k < analysis->program->instruction_count; k++) {
    if (tenon__cuda_is_reduction(analysis->program->instructions[k].opcode) &&
        analysis->level[k] == level) {
      write(maker, k);
    }
  }
}

static void write_pass(const maker_t* maker, uint32_t level) {
  for_level(maker, level, write_start);
  begin_elements(maker);
  begin_access(maker);
  ADD(maker->text, "    if (j < left) pass%u(p, in, %s);\n  }\n", level, row_name(maker));
  end_elements(maker);
}

static void write_passes(const maker_t* maker) {
  for (uint32_t level = 1; level <= maker->analysis->levels; level++) {
    write_pass(maker, level);
    for_level(maker, level, write_end);
    ADD(maker->text, "%s  after%u(p, %s);\n", for_each_row(maker), level, row_name(maker));
  }
}

static void write_results_of_row(const maker_t* maker) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  ADD(maker->text,
      "    out_t out;\n    result(p, row, out);\n    fault = worse(fault, out.fault);\n");
  for (uint32_t k = 0; k < analysis->program->output_count; k++) {
    const uint32_t walk = analysis->output_walks[k];
    if (tenon__cuda_output_is_of_row(analysis, k)) {
      ADD(maker->text, "    if (p.data[%u] != 0) ((stored_%s*)p.data[%u])[base[%u]] = out.r%u;\n",
          walk, output_type(maker, k), walk, walk, k);
    }
  }
}
/* Of V rows, neighbours. */
static void write_results_of_rows(const maker_t* maker) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  declare_results(maker, true);
  ADD(maker->text,
      "%s {\n    out_t out;\n    result(p, row[j], out);\n    fault = worse(fault, out.fault);\n",
      for_each_row(maker));
  for (uint32_t k = 0; k < analysis->program->output_count; k++) {
    if (tenon__cuda_output_is_of_row(analysis, k)) {
      ADD(maker->text, "    r%u[j] = out.r%u;\n", k, k);
    }
  }
  ADD(maker->text, "  }\n");
  for (uint32_t k = 0; k < analysis->program->output_count; k++) {
    const uint32_t walk = analysis->output_walks[k];
    if (tenon__cuda_output_is_of_row(analysis, k)) {
      ADD(maker->text,
          "    if (p.data[%u] != 0) place((stored_%s*)p.data[%u] + base[%u], p.step[%u], "
          "p.wide[%u], "
          "V, r%u);\n",
          walk, output_type(maker, k), walk, walk, walk, walk, k);
    }
  }
}

static void write_row_outputs(const maker_t* maker) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  const tenon_program_t* program = analysis->program;
  bool at_points = false;
  for (uint32_t k = 0; k < program->output_count; k++) {
    at_points = at_points || !tenon__cuda_output_is_of_row(analysis, k);
  }
  ADD(maker->text, "  if (!live) return;\n");
  if (at_points) {
    begin_elements(maker);
    declare_results(maker, false);
    begin_access(maker);
    write_compute(maker);
    ADD(maker->text, "    if (j < left) fault = worse(fault, out.fault);\n  }\n");
    write_places(maker);
    end_elements(maker);
  }
  ADD(maker->text, "  if (part == 0) {\n");
  if (maker->form->columns != 0) {
    write_results_of_rows(maker);
  } else {
    write_results_of_row(maker);
  }
  ADD(maker->text, "  }\n%s  fault = worse(fault, %s.fault);\n  tell(p, fault);\n}\n\n",
      for_each_row(maker), row_name(maker));
}

static void write_uniform_sources(const maker_t* maker) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  const tenon_program_t* program = analysis->program;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    const uint32_t walk = analysis->operand_walks[k];
    if (walk == TENON_NONE || varies(maker, k)) {
      continue;
    }
    if (maker->form->columns != 0) {
      ADD(maker->text,
          "  {\n  stored_%s all[V];\n"
          "  fetch((const stored_%s*)p.data[%u] + base[%u], p.step[%u], p.wide[%u], V, all);\n"
          "%s  row[j].s%u = all[j];\n  }\n",
          operand_type(maker, k), operand_type(maker, k), walk, walk, walk, walk,
          for_each_row(maker), walk);
    } else {
      ADD(maker->text, "  row.s%u = ((const stored_%s*)p.data[%u])[base[%u]];\n", walk,
          operand_type(maker, k), walk, walk);
    }
  }
  for (uint32_t axis = 0; axis < program->rank; axis++) {
    const uint32_t walk = analysis->axis_walks[axis];
    if (walk == TENON_NONE || axis_varies(maker, axis)) {
      continue;
    }
    if (maker->form->columns != 0) {
      ADD(maker->text, "%s  row[j].c%u = base[%u] + (i64)j * p.step[%u];\n", for_each_row(maker),
          walk, walk, walk);
    } else {
      ADD(maker->text, "  row.c%u = base[%u];\n", walk, walk);
    }
  }
}

static void write_rows(maker_t* maker, bool kept) {
  maker->kept = kept;
  ADD(maker->text,
      "extern \"C\" __global__ void __launch_bounds__(PARTS * SLOTS) %s(const __grid_constant__ "
      "parameters_t p) {\n"
      "  begin(p);\n"
      "  const unsigned slot = COLUMNS ? threadIdx.x %% SLOTS : threadIdx.x / PARTS;\n"
      "  const unsigned part = COLUMNS ? threadIdx.x / SLOTS : threadIdx.x %% PARTS;\n"
      "  const unsigned number = blockIdx.x * SLOTS + slot;\n"
      "  const bool live = number < p.rows;\n"
      "  i64 base[WALKS];\n  origin(base);\n  walk(p.outer, live ? number : 0, base);\n"
      "  u64 fault = 0;\n  row_t row%s;\n%s  %s.fault = 0;\n",
      kept ? "rows" : "rows_again", maker->form->columns != 0 ? "[V]" : "", for_each_row(maker),
      row_name(maker));
  write_uniform_sources(maker);
  ADD(maker->text, "%s  after0(p, %s);\n", for_each_row(maker), row_name(maker));
  if (kept) {
    write_reads(maker, maker->form->items, "part");
  }
  write_passes(maker);
  write_row_outputs(maker);
}

/* ---- Rows that several blocks share ---- */

uint32_t tenon__cuda_count_reductions(const tenon__cuda_analysis_t* analysis) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < analysis->program->instruction_count; k++) {
    count += tenon__cuda_is_reduction(analysis->program->instructions[k].opcode) ? 1 : 0;
  }
  return count;
}

/* The word that block `share` leaves of a reduction. Of V neighbours each row has its own. */
static void write_word(const maker_t* maker, uint32_t instruction, const char* share) {
  uint32_t number = 0;
  for (uint32_t k = 0; k < instruction; k++) {
    number += tenon__cuda_is_reduction(maker->analysis->program->instructions[k].opcode) ? 1 : 0;
  }
  ADD(maker->text, "*(%s*)(p.partials + 8 * (((u64)%u * p.rows + number) * p.split%s + %s))",
      tenon__cuda_value_type(maker->analysis->program->instructions[instruction].dtype), number,
      maker->form->columns != 0 ? " * V + j * p.split" : "", share);
}
static void write_leave(const maker_t* maker, uint32_t k) {
  const tenon_instruction_t* in = &maker->analysis->program->instructions[k];
  if (maker->form->columns != 0) {
    ADD(maker->text, "  {\n  %s all[V];\n%s  all[j] = row[j].a%u;\n  combine(all, join_%s());\n",
        tenon__cuda_value_type(in->dtype), for_each_row(maker), k, join_of(in->opcode));
    ADD(maker->text, "  if (threadIdx.x < SLOTS && live) {\n%s  ", for_each_row(maker));
    write_word(maker, k, "share");
    ADD(maker->text, " = all[j];\n  }\n  }\n");
    return;
  }
  ADD(maker->text, "  row.a%u = combine(row.a%u, join_%s());\n  if (threadIdx.x == 0) ", k, k,
      join_of(in->opcode));
  write_word(maker, k, "share");
  ADD(maker->text, " = row.a%u;\n", k);
}
static void write_take(const maker_t* maker, uint32_t k) {
  const tenon_instruction_t* in = &maker->analysis->program->instructions[k];
  const char* row = row_name(maker);
  write_start(maker, k);
  ADD(maker->text, "  for (unsigned s = own; live && s < p.split; s += PARTS) {\n%s  %s.a%u = ",
      for_each_row(maker), row, k);
  ADD(maker->text, "join_%s()(%s.a%u, ", join_of(in->opcode), row, k);
  write_word(maker, k, "s");
  ADD(maker->text, ");\n  }\n");
  write_end(maker, k);
}

static void write_split(maker_t* maker, uint32_t level) {
  maker->kept = false;
  maker->split = true;
  ADD(maker->text,
      "extern \"C\" __global__ void __launch_bounds__(PARTS * SLOTS) split_%u(const "
      "__grid_constant__ parameters_t p) {\n"
      "  begin(p);\n"
      "  const unsigned shares = gridDim.x / ((p.rows + SLOTS - 1) / SLOTS);\n"
      "  const unsigned group = blockIdx.x / shares;\n"
      "  const unsigned share = blockIdx.x - group * shares;\n"
      "  const unsigned stride = shares * PARTS;\n"
      "  const unsigned own = threadIdx.x / SLOTS;\n"
      "  const unsigned part = share * PARTS + own;\n"
      "  const unsigned number = group * SLOTS + threadIdx.x %% SLOTS;\n"
      "  const bool live = number < p.rows;\n"
      "  i64 base[WALKS];\n  origin(base);\n  walk(p.outer, live ? number : 0, base);\n"
      "  u64 fault = 0;\n  row_t row%s;\n%s  %s.fault = 0;\n",
      level, maker->form->columns != 0 ? "[V]" : "", for_each_row(maker), row_name(maker));
  write_uniform_sources(maker);
  ADD(maker->text, "%s  after0(p, %s);\n", for_each_row(maker), row_name(maker));
  for (uint32_t k = 1; k < level; k++) {
    for_level(maker, k, write_take);
    ADD(maker->text, "%s  after%u(p, %s);\n", for_each_row(maker), k, row_name(maker));
  }
  if (level > maker->analysis->levels) {
    write_row_outputs(maker);
    return;
  }
  write_pass(maker, level);
  for_level(maker, level, write_leave);
  ADD(maker->text, "%s  fault = worse(fault, %s.fault);\n  tell(p, fault);\n}\n\n",
      for_each_row(maker), row_name(maker));
}

/* ---- The whole ---- */

void tenon__cuda_generate(const tenon__cuda_analysis_t* analysis, const tenon__cuda_form_t* form,
                          tenon__cuda_text_t* out_text) {
  maker_t maker = {.analysis = analysis, .form = form, .text = out_text};
  const uint32_t rank = analysis->program->rank;
  ADD(out_text, "#define WALKS %u\n#define AXES %u\n#define INDEXED %u\n#define V %u\n",
      analysis->walk_count, rank == 0 ? 1 : rank,
      analysis->indexed_count == 0 ? 1 : analysis->indexed_count, form->elements);
  if (analysis->reduces) {
    ADD(out_text, "#define PARTS %u\n#define SLOTS %u\n#define COLUMNS %u\n", form->parts,
        tenon__cuda_form_slots(form), form->columns);
  }
  tenon__cuda_text_copy(out_text, tenon__cuda_arithmetic_text);
  tenon__cuda_text_copy(out_text, tenon__cuda_launch_text);
  tenon__cuda_text_copy(out_text, tenon__cuda_frame_text);
  tenon__cuda_generate_values(analysis, out_text);
  if (!analysis->reduces) {
    if (tenon__cuda_may_be_dense(analysis)) {
      write_dense(&maker);
    }
    write_vectors(&maker);
    write_singles(&maker);
    return;
  }
  if (form->split > 0) {
    for (uint32_t level = 1; level <= analysis->levels + 1; level++) {
      write_split(&maker, level);
    }
    return;
  }
  if (form->items > 0) {
    write_rows(&maker, true);
  }
  if (form->again != 0) {
    write_rows(&maker, false);
  }
}
