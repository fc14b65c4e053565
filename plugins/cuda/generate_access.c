/* Writes the code for the elements of an access: declarations, loads, the computation, stores. */
#include "generate_access.h"

#define ADD tenon__cuda_text_add

void tenon__cuda_write_element(const maker_t* maker, const char* sources, const char* coordinate) {
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

void tenon__cuda_write_compute(const maker_t* maker) {
  ADD(maker->text, "    out_t out;\n    element(p, in, %s, out);\n", row_name(maker));
  for (uint32_t k = 0; k < maker->analysis->program->output_count; k++) {
    if (!tenon__cuda_output_is_of_row(maker->analysis, k)) {
      ADD(maker->text, "    r%u[j] = out.r%u;\n", k, k);
    }
  }
}

void tenon__cuda_write_places(const maker_t* maker) {
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
void tenon__cuda_write_row_fetches(const maker_t* maker, const char* index) {
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

void tenon__cuda_declare_results(const maker_t* maker, bool of_row) {
  for (uint32_t k = 0; k < maker->analysis->program->output_count; k++) {
    if (tenon__cuda_output_is_of_row(maker->analysis, k) == of_row) {
      ADD(maker->text, "  stored_%s r%u[V];\n", output_type(maker, k), k);
    }
  }
}

void tenon__cuda_declare_row_sources(const maker_t* maker, uint32_t accesses) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  for (uint32_t k = 0; k < analysis->program->operand_count; k++) {
    if (varies(maker, k)) {
      ADD(maker->text, "  stored_%s s%u[%u][V];\n", operand_type(maker, k),
          analysis->operand_walks[k], accesses);
    }
  }
}
