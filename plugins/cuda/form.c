/* The form of a program's kernels, see form.h. */
#include "form.h"

#include <string.h>

enum {
  UNKNOWN_LENGTH = 1024,
  MANY_ROWS = 2048,
  LANES = 32,
  KEPT_ELEMENTS = 64, /* of a thread, of all operands together */
  CROWDED_THREADS = 512,
  CROWDED_ELEMENTS = 24 /* a block of more threads leaves each 64 registers */
};

/* What is known of the space: at the optimum, and whether it is so always. */
typedef struct extents_t {
  int64_t optimum[TENON_CUDA_AXES];
  bool fixed[TENON_CUDA_AXES];
} extents_t;

/* Values of the space's own rank tell its extents; the others were aligned by the host, which knows
 * how when it binds. */
typedef struct looker_t {
  const tenon_region_t* region;
  const tenon_region_table_t* table;
  uint32_t rank;
} looker_t;
/* `without`: axes along which the value does not vary, of which its extent says nothing. */
static void look_at(const looker_t* looker, uint32_t value, uint64_t without, extents_t* extents) {
  const tenon_value_info_t* info =
      value == TENON_NONE ? NULL : looker->table->value(looker->region, value);
  const uint32_t rank = info != NULL && info->rank == looker->rank ? info->rank : 0;
  for (uint32_t axis = 0; axis < rank; axis++) {
    if ((without >> axis & 1) == 0 && info->dims_opt[axis] > extents->optimum[axis]) {
      extents->optimum[axis] = info->dims_opt[axis];
      extents->fixed[axis] = info->dims_min[axis] == info->dims_max[axis];
    }
  }
}

static extents_t find_extents(const tenon__cuda_analysis_t* analysis, const tenon_region_t* region,
                              const tenon_region_table_t* table) {
  const tenon_program_t* program = analysis->program;
  const looker_t looker = {region, table, program->rank};
  extents_t extents;
  memset(&extents, 0, sizeof(extents));
  for (uint32_t k = 0; k < program->operand_count; k++) {
    if (program->operands[k].indexed == 0) {
      look_at(&looker, table->input(region, program->operands[k].index),
              program->operands[k].broadcast_axes, &extents);
    }
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    look_at(&looker, table->output(region, program->outputs[k].index),
            program->outputs[k].reduced_axes, &extents);
  }
  return extents;
}

/* As many as the narrowest tensor has in 16 bytes, but no more than 32 bytes of the widest. */
static uint32_t access_elements(const tenon__cuda_analysis_t* analysis) {
  const tenon_program_t* program = analysis->program;
  uint32_t least = 8;
  uint32_t most = 2; /* bytes */
  for (uint32_t k = 0; k < program->operand_count + program->output_count; k++) {
    const bool is_operand = k < program->operand_count;
    if (is_operand &&
        (program->operands[k].indexed != 0 || tenon__cuda_operand_is_uniform(analysis, k))) {
      continue;
    }
    const uint32_t bytes =
        tenon__cuda_bytes(is_operand ? program->operands[k].dtype
                                     : program->outputs[k - program->operand_count].dtype);
    least = bytes < least ? bytes : least;
    most = bytes > most ? bytes : most;
  }
  const uint32_t elements = least <= 2 ? 8 : least <= 4 ? 4 : 2;
  return elements * most > 32 ? 32 / most : elements;
}

static uint32_t power_above(int64_t number) {
  uint32_t power = 1;
  while (power < 1024 && power < number) {
    power *= 2;
  }
  return power;
}

static uint32_t between(uint32_t number, uint32_t least, uint32_t most) {
  return number < least ? least : number > most ? most : number;
}

/* Threads that share a row whose elements lie beside one another. */
static uint32_t row_threads(int64_t length, int64_t accesses, int64_t rows) {
  if (length <= 64) {
    return between(power_above(accesses), 1, LANES);
  }
  if (length <= 256) {
    return between(power_above(accesses), 16, LANES);
  }
  if (length <= 1024) {
    return rows >= MANY_ROWS ? LANES : between(power_above(accesses), LANES, 256);
  }
  return length <= 8192 ? between(power_above((accesses + 1) / 2), 128, 512) : 1024;
}

/* Operands of which each point of a row has its own element. */
static int64_t varying_operands(const tenon__cuda_analysis_t* analysis) {
  int64_t count = 0;
  for (uint32_t k = 0; k < analysis->program->operand_count; k++) {
    count +=
        analysis->program->operands[k].indexed == 0 && !tenon__cuda_operand_is_uniform(analysis, k);
  }
  return count;
}

static void choose_rows(const tenon__cuda_analysis_t* analysis, const extents_t* extents,
                        int32_t variant, tenon__cuda_form_t* form) {
  const uint32_t rank = analysis->program->rank;
  int64_t length = 1;
  int64_t rows = 1;
  bool fixed = true;
  bool innermost = false; /* the last axis of more than one element is along the row */
  uint32_t along_count = 0;
  for (uint32_t axis = 0; axis < rank; axis++) {
    const bool along = (analysis->reduced_axes >> axis & 1) != 0;
    const int64_t extent = extents->optimum[axis] < 1 ? 1 : extents->optimum[axis];
    *(along ? &length : &rows) *= extent;
    fixed = fixed && (!along || (extents->optimum[axis] > 0 && extents->fixed[axis]));
    innermost = extent > 1 ? along : innermost;
    along_count += along && extent > 1 ? 1 : 0;
  }
  form->columns = rows > 1 && !innermost ? 1 : 0;
  if (!fixed && length == 1) {
    length = UNKNOWN_LENGTH;
  }
  while (form->elements > 1 && (form->columns != 0 || (fixed && length % form->elements != 0))) {
    form->elements /= 2;
  }
  const int64_t accesses = (length + form->elements - 1) / form->elements;
  uint32_t parts = form->columns != 0 ? between(power_above((length + 7) / 8), 1, 16)
                                      : row_threads(length, accesses, rows);
  parts = variant < 0 ? parts / 2 : parts << variant;
  form->parts = between(parts, 1, form->columns != 0 ? 32 : 1024);
  form->rows = form->columns != 0 ? LANES : between(128 / form->parts, 1, 128);
  const int64_t items = (accesses + form->parts - 1) / form->parts;
  const int64_t kept = items * form->elements * varying_operands(analysis);
  const bool crowded = form->parts * form->rows > CROWDED_THREADS;
  form->items = kept <= (crowded ? CROWDED_ELEMENTS : KEPT_ELEMENTS) ? (uint32_t)items : 0;
  /* Several axes may lie apart: then accesses end with the innermost, and there are more of them.
   */
  const bool sure = fixed && (along_count <= 1 || form->elements == 1);
  form->again = form->items == 0 || !sure ? 1 : 0;
}

/* Does an element take long? Whoever only adds and multiplies waits for memory. */
static bool computes_much(const tenon_program_t* program) {
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    switch (program->instructions[k].opcode) {
      case TENON_OPCODE_ERF:
      case TENON_OPCODE_TANH:
      case TENON_OPCODE_POW:
      case TENON_OPCODE_EXP:
      case TENON_OPCODE_LOG:
      case TENON_OPCODE_SIN:
      case TENON_OPCODE_COS:
        return true;
      default:
        break;
    }
  }
  return false;
}

uint32_t tenon__cuda_form_variants(const tenon__cuda_analysis_t* analysis,
                                   int32_t out_variants[3]) {
  const bool is_wide = access_elements(analysis) > 1;
  uint32_t count = 0;
  out_variants[count++] = TENON_CUDA_FORM_RULE;
  if (analysis->reduces || (is_wide && computes_much(analysis->program))) {
    out_variants[count++] = TENON_CUDA_FORM_HALF;
  }
  if (analysis->reduces) {
    out_variants[count++] = TENON_CUDA_FORM_TWICE;
  }
  return count;
}

tenon__cuda_form_t tenon__cuda_form_choose(const tenon__cuda_analysis_t* analysis,
                                           const tenon_region_t* region,
                                           const tenon_region_table_t* table, int32_t variant) {
  tenon__cuda_form_t form = {.elements = access_elements(analysis)};
  if (analysis->reduces) {
    const extents_t extents = find_extents(analysis, region, table);
    choose_rows(analysis, &extents, variant, &form);
  } else if (variant == TENON_CUDA_FORM_HALF && form.elements > 1) {
    form.elements /= 2;
  }
  return form;
}
