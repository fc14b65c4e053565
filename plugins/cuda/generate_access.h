/* The functions that generate.c and generate_points.c share. They write the code for the elements
 * of an access. Other files do not include this header, so some names have no prefix. */
#ifndef PLUGINS_CUDA_GENERATE_ACCESS_H_
#define PLUGINS_CUDA_GENERATE_ACCESS_H_

#include "generate.h"

typedef struct maker_t {
  const tenon__cuda_analysis_t* analysis;
  const tenon__cuda_form_t* form;
  tenon__cuda_text_t* text;
  bool kept;  /* the operands of a row are in registers */
  bool split; /* several blocks share a row */
} maker_t;

static inline const char* operand_type(const maker_t* maker, uint32_t operand) {
  return tenon__cuda_mnemonic(maker->analysis->program->operands[operand].dtype);
}
static inline const char* output_type(const maker_t* maker, uint32_t output) {
  return tenon__cuda_mnemonic(maker->analysis->program->outputs[output].dtype);
}

/* Returns whether an operand is read at each point. */
static inline bool varies(const maker_t* maker, uint32_t operand) {
  return maker->analysis->operand_walks[operand] != TENON_NONE &&
         !tenon__cuda_operand_is_uniform(maker->analysis, operand);
}
static inline bool axis_varies(const maker_t* maker, uint32_t axis) {
  const tenon__cuda_analysis_t* analysis = maker->analysis;
  return analysis->axis_walks[axis] != TENON_NONE &&
         (!analysis->reduces || (analysis->reduced_axes >> axis & 1) != 0);
}

/* The row of element j. */
static inline const char* row_name(const maker_t* maker) {
  return maker->form->columns != 0 ? "row[j]" : "row";
}
/* The head of a loop over the rows of a thread, which is empty if there is one row. */
static inline const char* for_each_row(const maker_t* maker) {
  return maker->form->columns != 0 ? "#pragma unroll\n  for (int j = 0; j < V; ++j)" : "";
}

/* Assigns the operands of element j. `sources` is the index of its access, for example "[i]".
 * `coordinate` is the format of a line that assigns a coordinate. */
void tenon__cuda_write_element(const maker_t* maker, const char* sources, const char* coordinate);
/* Computes element j and keeps its results. */
void tenon__cuda_write_compute(const maker_t* maker);
/* Stores the results of an access. */
void tenon__cuda_write_places(const maker_t* maker);
/* Loads the operands of access `index`. */
void tenon__cuda_write_row_fetches(const maker_t* maker, const char* index);
/* Declares the outputs of rows, or the outputs at points, for one access. */
void tenon__cuda_declare_results(const maker_t* maker, bool of_row);
/* Declares the operands of `accesses` accesses. */
void tenon__cuda_declare_row_sources(const maker_t* maker, uint32_t accesses);

/* generate_points.c: the kernels of a program without reductions. */
void tenon__cuda_write_points(const maker_t* maker);

#endif
