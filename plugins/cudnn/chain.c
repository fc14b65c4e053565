/* A slot's program written down instruction by instruction. */
#include "slot.h"

enum { MOST = 40 }; /* instructions */

typedef struct chain_mode_t {
  uint16_t opcode;
  uint16_t operands;
  cudnnPointwiseMode_t mode;
} chain_mode_t;

/* Of the same meaning in both: not minimum and maximum, which lose NaN in cuDNN. */
static const chain_mode_t modes[] = {
    {TENON_OPCODE_ADD, 2, CUDNN_POINTWISE_ADD},
    {TENON_OPCODE_SUB, 2, CUDNN_POINTWISE_SUB},
    {TENON_OPCODE_MUL, 2, CUDNN_POINTWISE_MUL},
    {TENON_OPCODE_DIV, 2, CUDNN_POINTWISE_DIV},
    {TENON_OPCODE_NEG, 1, CUDNN_POINTWISE_NEG},
    {TENON_OPCODE_ABS, 1, CUDNN_POINTWISE_ABS},
    {TENON_OPCODE_FLOOR, 1, CUDNN_POINTWISE_FLOOR},
    {TENON_OPCODE_CEIL, 1, CUDNN_POINTWISE_CEIL},
    {TENON_OPCODE_SQRT, 1, CUDNN_POINTWISE_SQRT},
    {TENON_OPCODE_RSQRT, 1, CUDNN_POINTWISE_RSQRT},
    {TENON_OPCODE_RECIP, 1, CUDNN_POINTWISE_RECIPROCAL},
    {TENON_OPCODE_EXP, 1, CUDNN_POINTWISE_EXP},
    {TENON_OPCODE_LOG, 1, CUDNN_POINTWISE_LOG},
    {TENON_OPCODE_ERF, 1, CUDNN_POINTWISE_ERF},
    {TENON_OPCODE_SIN, 1, CUDNN_POINTWISE_SIN},
    {TENON_OPCODE_COS, 1, CUDNN_POINTWISE_COS},
    {TENON_OPCODE_TANH, 1, CUDNN_POINTWISE_TANH_FWD},
    {TENON_OPCODE_SIGMOID, 1, CUDNN_POINTWISE_SIGMOID_FWD},
    {TENON_OPCODE_SOFTPLUS, 1, CUDNN_POINTWISE_SOFTPLUS_FWD},
};

static const chain_mode_t* mode_of(uint16_t opcode) {
  for (size_t k = 0; k < sizeof(modes) / sizeof(*modes); k++) {
    if (modes[k].opcode == opcode) {
      return &modes[k];
    }
  }
  return NULL;
}

static bool is_float(uint32_t dtype) {
  return dtype == TENON_DTYPE_FLOAT32 || dtype == TENON_DTYPE_FLOAT16 ||
         dtype == TENON_DTYPE_BFLOAT16;
}

bool tenon__cudnn_chain_fits(const tenon_program_t* program) {
  if (program->output_count != 1 || program->instruction_count > MOST) {
    return false;
  }
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const tenon_instruction_t* in = &program->instructions[k];
    const bool plain = in->opcode == TENON_OPCODE_INPUT || in->opcode == TENON_OPCODE_CONSTANT ||
                       in->opcode == TENON_OPCODE_CAST;
    if (!is_float(in->dtype) || (!plain && mode_of(in->opcode) == NULL)) {
      return false;
    }
  }
  return program->instructions[program->outputs[0].instruction].opcode != TENON_OPCODE_INPUT;
}

static cudnnBackendDescriptor_t write_input(const tenon__cudnn_writer_t* writer,
                                            tenon__cudnn_region_t region,
                                            const tenon_operand_t* operand) {
  static const tenon__cudnn_shape_t ones = {TENON_CUDNN_RANK, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}};
  tenon__cudnn_shape_t one = ones;
  const tenon__cudnn_lie_t lie = tenon__cudnn_lie_of(region, operand);
  one.rank = writer->y->rank;
  return tenon__cudnn_tensor(writer->graph, writer->type,
                             lie == TENON_CUDNN_LIE_FULL     ? writer->y
                             : lie == TENON_CUDNN_LIE_VECTOR ? writer->vector
                                                             : &one,
                             TENON_CUDNN_INPUT, operand->index);
}

void tenon__cudnn_chain_write(const tenon__cudnn_writer_t* writer, tenon__cudnn_region_t region,
                              const tenon_program_t* program, cudnnBackendDescriptor_t value,
                              cudnnBackendDescriptor_t y) {
  cudnnBackendDescriptor_t made[MOST];
  uint32_t last = program->outputs[0].instruction;
  while (program->instructions[last].opcode == TENON_OPCODE_CAST) {
    last = program->instructions[last].operands[0];
  }
  for (uint32_t k = 0; k <= last; k++) {
    const tenon_instruction_t* in = &program->instructions[k];
    const chain_mode_t* mode = mode_of(in->opcode);
    if (in->opcode == TENON_OPCODE_INPUT) {
      const tenon_operand_t* operand = &program->operands[in->immediate.i];
      made[k] =
          operand->kind == TENON_OPERAND_SLOT_VALUE ? value : write_input(writer, region, operand);
    } else if (in->opcode == TENON_OPCODE_CONSTANT) {
      made[k] = tenon__cudnn_number(writer->graph, writer->y->rank, (float)in->immediate.f);
    } else if (mode == NULL) {
      made[k] = made[in->operands[0]]; /* a CAST: all is f32 until it is stored */
    } else {
      const tenon__cudnn_pointwise_t what = {.mode = mode->mode};
      made[k] = k == last ? y : tenon__cudnn_between(writer->graph, writer->y);
      tenon__cudnn_apply(writer->graph, &what, made[in->operands[0]],
                         mode->operands == 2 ? made[in->operands[1]] : NULL, made[k]);
    }
  }
}
