/* Generates the kernels of programs with reductions, and the whole source. */
#include "generate_access.h"
#include "texts.h"

#define ADD tenon__cuda_text_add

/* ---- Rows ---- */

static void write_walk(const maker_t* maker) {
  ADD(maker->text,
      "  const int left = %s;\n  i64 o[WALKS];\n#pragma unroll\n"
      "  for (int w = 0; w < WALKS; ++w) o[w] = base[w];\n  walk(p.inner, n, o);\n",
      maker->form->columns != 0 ? "V" : "left_of(p, n)");
}

/* Returns the name of the number of threads that share a row. */
static const char* parts_of(const maker_t* maker) {
  return maker->split ? "stride" : "PARTS";
}

/* Begins access i of `accesses`, if it exists. Its number is n. */
static void begin_accesses(const maker_t* maker, uint32_t accesses, const char* first) {
  ADD(maker->text,
      "#pragma unroll\n  for (int i = 0; i < %u; ++i) {\n  const unsigned n = i * %s + %s;\n"
      "  if (n < p.count) {\n",
      accesses, parts_of(maker), first);
}

static void write_reads(const maker_t* maker, uint32_t accesses, const char* first) {
  tenon__cuda_declare_row_sources(maker, accesses);
  begin_accesses(maker, accesses, first);
  write_walk(maker);
  tenon__cuda_write_row_fetches(maker, "[i]");
  ADD(maker->text, "  }\n  }\n");
}

/* Begins the loop over the accesses of a thread. If they are not in registers, the loop first loads
 * several of them at once. */
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
  write_walk(maker); /* the compiler removes unused coordinates */
}
/* Begins the loop over the elements of an access. */
static void begin_access(const maker_t* maker) {
  ADD(maker->text, "#pragma unroll\n  for (int j = 0; j < V; ++j) {\n");
  tenon__cuda_write_element(maker, "[i]", "    in.c%u = o[%u] + (i64)j * p.step[%u];\n");
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
/* Calls `write` for each reduction of a level. */
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
/* Writes the results of V adjacent rows. */
static void write_results_of_rows(const maker_t* maker) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  tenon__cuda_declare_results(maker, true);
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
    tenon__cuda_declare_results(maker, false);
    begin_access(maker);
    tenon__cuda_write_compute(maker);
    ADD(maker->text, "    if (j < left) fault = worse(fault, out.fault);\n  }\n");
    tenon__cuda_write_places(maker);
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

/* Writes the scratch word with the partial result of a reduction that block `share` stores. If a
 * thread has V adjacent rows, each row has its own words. */
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
    tenon__cuda_write_points(&maker);
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
