/* The kernels of programs without reductions: `dense`, `vectors`, `singles`. */
#include "generate_access.h"

#define ADD tenon__cuda_text_add

/* Begins a kernel whose threads compute `each` accesses or elements and have the variables
 * `locals`. */
static void begin_kernel(const maker_t* maker, const char* name, uint32_t each,
                         const char* locals) {
  ADD(maker->text,
      "extern \"C\" __global__ void __launch_bounds__(%u) %s(const __grid_constant__ "
      "parameters_t p) {\n"
      "  begin(p);\n"
      "  const unsigned first = blockIdx.x * %uu + threadIdx.x;\n"
      "%s",
      TENON_CUDA_SPACE_THREADS, name, TENON_CUDA_SPACE_THREADS * each, locals);
}

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

/* Begins access i of a thread. Its number among all accesses is n. */
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
  begin_kernel(maker, "vectors", maker->form->batch, "  row_t row;\n  u64 fault = 0;\n");
  tenon__cuda_declare_row_sources(maker, maker->form->batch);
  begin_vector(maker);
  tenon__cuda_write_row_fetches(maker, "[i]");
  ADD(maker->text, "  }\n  }\n");
  begin_vector(maker);
  tenon__cuda_declare_results(maker, false);
  ADD(maker->text, "#pragma unroll\n  for (int j = 0; j < V; ++j) {\n");
  tenon__cuda_write_element(maker, "[i]", "    in.c%u = o[%u] + (i64)j * p.step[%u];\n");
  tenon__cuda_write_compute(maker);
  ADD(maker->text, "    if (j < left) fault = worse(fault, out.fault);\n  }\n");
  tenon__cuda_write_places(maker);
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

static void begin_dense_access(const maker_t* maker) {
  ADD(maker->text,
      "#pragma unroll\n  for (int i = 0; i < %u; ++i) {\n"
      "  const unsigned n = first + i * %uu;\n  if (n < p.count) {\n",
      maker->form->batch, TENON_CUDA_SPACE_THREADS);
}
static void write_dense_reads(const maker_t* maker) {
  begin_dense_access(maker);
  for (uint32_t k = 0; k < maker->analysis->program->operand_count; k++) {
    const uint32_t walk = maker->analysis->operand_walks[k];
    ADD(maker->text, "  fetch_whole(p.data[%u], n, s%u[i]);\n", walk, walk);
  }
  ADD(maker->text, "  }\n  }\n");
}
static void write_dense_results(const maker_t* maker) {
  begin_dense_access(maker);
  tenon__cuda_declare_results(maker, false);
  ADD(maker->text, "#pragma unroll\n  for (int j = 0; j < V; ++j) {\n");
  tenon__cuda_write_element(maker, "[i]", "");
  tenon__cuda_write_compute(maker);
  ADD(maker->text, "  }\n");
  for (uint32_t k = 0; k < maker->analysis->program->output_count; k++) {
    const uint32_t walk = maker->analysis->output_walks[k];
    ADD(maker->text, "  if (p.data[%u] != 0) place_whole(p.data[%u], n, r%u);\n", walk, walk, k);
  }
  ADD(maker->text, "  }\n  }\n");
}

/* All tensors are contiguous and are read and written in whole accesses. The kernel therefore
 * computes no coordinates and checks no alignment. */
static void write_dense(const maker_t* maker) {
  begin_kernel(maker, "dense", maker->form->batch, "  row_t row;\n");
  tenon__cuda_declare_row_sources(maker, maker->form->batch);
  write_dense_reads(maker);
  write_dense_results(maker);
  ADD(maker->text, "}\n\n");
}

static void write_singles(const maker_t* maker) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  begin_kernel(maker, "singles", TENON_CUDA_SINGLES, "  row_t row;\n  u64 fault = 0;\n");
  ADD(maker->text, "  i64 o[%u][WALKS];\n", TENON_CUDA_SINGLES);
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
  tenon__cuda_write_element(maker, "", "    in.c%u = o[j][%u];\n");
  tenon__cuda_write_compute(maker);
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

void tenon__cuda_write_points(const maker_t* maker) {
  if (tenon__cuda_may_be_dense(maker->analysis)) {
    write_dense(maker);
  }
  write_vectors(maker);
  write_singles(maker);
}
