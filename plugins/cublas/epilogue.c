/*
 * Recognising a slot's program. Sums are taken apart into terms, so that neither order nor
 * association matters. GELU is recognised by what it computes, not by how it is written: a program
 * of arithmetic, powers and tanh of the sum that has GELU's value at enough points.
 */
#include "epilogue.h"

#include <math.h>

typedef struct matcher_t {
  const tenon_program_t* program;
  tenon_dtype_t dtype;
  bool is_narrow; /* 16 bits */
  uint64_t wide;  /* axes of the space that are not known to have the extent 1 */
  uint64_t last;  /* the columns, or none */
  uint64_t rows;
  bool has_columns;
  bool has_value;
  tenon__cublas_epilogue_t* found;
} matcher_t;

static const tenon_instruction_t* at(const matcher_t* m, uint32_t k) {
  return &m->program->instructions[k];
}

/* cuBLASLt goes on in f32 what it has summed, and rounds once: as programs over narrow types do. */
static bool computes_so(const matcher_t* m, uint32_t k) {
  const tenon_dtype_t dtype = at(m, k)->dtype;
  return dtype == m->dtype || (m->is_narrow && dtype == TENON_DTYPE_FLOAT32);
}

static bool is_constant(const matcher_t* m, uint32_t k, double* out_value) {
  *out_value = at(m, k)->immediate.f;
  return at(m, k)->opcode == TENON_OPCODE_CONSTANT && computes_so(m, k);
}

/* The product itself, or by a number; false where it is in the sum already. */
static bool take_value(matcher_t* m, double scale) {
  const bool first = !m->has_value;
  m->has_value = true;
  m->found->scale = scale;
  return first;
}

static bool take_operand(matcher_t* m, const tenon_operand_t* operand) {
  const uint64_t fixed = operand->broadcast_axes & m->wide;
  if (operand->dtype != m->dtype || operand->indexed != 0) {
    return false;
  }
  if (m->has_columns && fixed == (m->wide & ~m->last) && m->found->bias == TENON_NONE) {
    m->found->bias = operand->index;
    return true;
  }
  /* It may be the same for a whole batch, but not for rows or columns. */
  if ((fixed & (m->last | m->rows)) == 0 && m->found->residual == TENON_NONE) {
    m->found->residual = operand->index;
    return true;
  }
  return false;
}

/* scale * value, the value's INPUT innermost. */
static bool take_scaled(matcher_t* m, uint32_t k, double scale) {
  double number = 0;
  for (;;) {
    const tenon_instruction_t* in = at(m, k);
    if (!computes_so(m, k)) {
      return false;
    }
    if (in->opcode == TENON_OPCODE_INPUT) {
      return m->program->operands[in->immediate.i].kind == TENON_OPERAND_SLOT_VALUE &&
             take_value(m, scale);
    }
    if (in->opcode == TENON_OPCODE_DIV && is_constant(m, in->operands[1], &number)) {
      scale /= number;
      k = in->operands[0];
    } else if (in->opcode == TENON_OPCODE_MUL && is_constant(m, in->operands[1], &number)) {
      scale *= number;
      k = in->operands[0];
    } else if (in->opcode == TENON_OPCODE_MUL && is_constant(m, in->operands[0], &number)) {
      scale *= number;
      k = in->operands[1];
    } else {
      return false;
    }
  }
}

static bool take_terms(matcher_t* m, uint32_t k) {
  const tenon_instruction_t* in = at(m, k);
  if (!computes_so(m, k)) {
    return false;
  }
  if (in->opcode == TENON_OPCODE_ADD) {
    return take_terms(m, in->operands[0]) && take_terms(m, in->operands[1]);
  }
  if (in->opcode == TENON_OPCODE_INPUT) {
    const tenon_operand_t* operand = &m->program->operands[in->immediate.i];
    return operand->kind == TENON_OPERAND_SLOT_VALUE ? take_value(m, 1.0)
                                                     : take_operand(m, operand);
  }
  return take_scaled(m, k, 1.0);
}

/* ---- Activations, of the sum at instruction `root` ---- */

static bool is_relu(const matcher_t* m, uint32_t root) {
  const tenon_instruction_t* in = at(m, m->program->outputs[0].instruction);
  double number = 1;
  for (uint32_t side = 0; side < 2; side++) {
    if (in->operands[side] == root && is_constant(m, in->operands[1 - side], &number)) {
      return in->opcode == TENON_OPCODE_MAX && number == 0;
    }
  }
  return false;
}

/* The value at `k` where the root is x; NaN where it is anything but such arithmetic. */
static double evaluate(const matcher_t* m, uint32_t k, uint32_t root, double x, uint32_t depth) {
  const tenon_instruction_t* in = at(m, k);
  double number = 0;
  if (k == root || is_constant(m, k, &number)) {
    return k == root ? x : number;
  }
  const bool is_binary = in->opcode == TENON_OPCODE_ADD || in->opcode == TENON_OPCODE_MUL ||
                         in->opcode == TENON_OPCODE_DIV || in->opcode == TENON_OPCODE_POW;
  if (depth == 0 || !computes_so(m, k) || (!is_binary && in->opcode != TENON_OPCODE_TANH)) {
    return (double)NAN;
  }
  const double left = evaluate(m, in->operands[0], root, x, depth - 1);
  const double right = is_binary ? evaluate(m, in->operands[1], root, x, depth - 1) : 0;
  return in->opcode == TENON_OPCODE_ADD   ? left + right
         : in->opcode == TENON_OPCODE_MUL ? left * right
         : in->opcode == TENON_OPCODE_DIV ? left / right
         : in->opcode == TENON_OPCODE_POW ? pow(left, right)
                                          : tanh(left);
}

/* For narrow types alone: the library's tanh is off by 32 units of f32's last place, where the
 * contract allows 4. Constants of a program in a narrow type are rounded to it, so its values are
 * off as much. */
static bool is_gelu(const matcher_t* m, uint32_t root) {
  enum { DEPTH = 12 };
  const double error = m->dtype == TENON_DTYPE_FLOAT16 ? 0x1p-10 : 0x1p-8;
  if (!m->is_narrow) {
    return false;
  }
  for (int k = -12; k <= 12; k++) {
    const double x = 0.37 * k + 0.11;
    const double wanted = 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    const double found = evaluate(m, m->program->outputs[0].instruction, root, x, DEPTH);
    if (!(fabs(found - wanted) <= error)) { /* NaN is not near */
      return false;
    }
  }
  return true;
}

static bool find_activation(const matcher_t* m, uint32_t root) {
  const bool is_last = m->program->outputs[0].instruction == root;
  m->found->activation = is_relu(m, root)   ? TENON_CUBLAS_RELU
                         : is_gelu(m, root) ? TENON_CUBLAS_GELU
                                            : TENON_CUBLAS_NO_ACTIVATION;
  return is_last || m->found->activation != TENON_CUBLAS_NO_ACTIVATION;
}

/* ---- The whole ---- */

static uint64_t wide_axes(const tenon_value_info_t* value) {
  uint64_t axes = 0;
  for (uint32_t k = 0; k < value->rank; k++) {
    if (value->dims_min[k] != 1 || value->dims_max[k] != 1) {
      axes |= (uint64_t)1 << k;
    }
  }
  return axes;
}

bool tenon__cublas_epilogue_recognise(const tenon_program_t* program,
                                      const tenon_value_info_t* value, bool has_columns,
                                      tenon__cublas_epilogue_t* out_epilogue,
                                      const char** out_why) {
  static const tenon__cublas_epilogue_t nothing = {
      .scale = 1.0, .bias = TENON_NONE, .residual = TENON_NONE};
  *out_epilogue = nothing;
  if (program == NULL) {
    return true;
  }
  *out_why = "no activation(scale * product + residual + bias) in the product's own type";
  if (program->output_count != 1 || program->outputs[0].dtype != value->dtype) {
    return false;
  }
  const uint64_t wide = wide_axes(value);
  const uint32_t inner = value->rank - (has_columns && value->rank > 0 ? 1 : 0);
  matcher_t matcher = {
      .program = program,
      .dtype = value->dtype,
      .is_narrow = value->dtype == TENON_DTYPE_FLOAT16 || value->dtype == TENON_DTYPE_BFLOAT16,
      .wide = wide,
      .last = has_columns ? wide & (uint64_t)1 << inner : 0,
      .rows = inner > 0 ? wide & (uint64_t)1 << (inner - 1) : 0,
      .has_columns = has_columns,
      .found = out_epilogue};
  for (uint32_t root = program->instruction_count; root-- > 0;) {
    *out_epilogue = nothing;
    matcher.has_value = false;
    if (take_terms(&matcher, root) && matcher.has_value && find_activation(&matcher, root)) {
      return true;
    }
  }
  return false;
}
