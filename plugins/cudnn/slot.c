/* Recognising activation(value + residual + bias), and writing it down. */
#include "slot.h"

#include <math.h>
#include <string.h>

typedef struct reader_t {
  tenon__cudnn_region_t region;
  const tenon_program_t* program;
  uint32_t values; /* how often the slot's value was met in the sum */
  tenon__cudnn_known_t* known;
} reader_t;

tenon__cudnn_lie_t tenon__cudnn_lie_of(tenon__cudnn_region_t region,
                                       const tenon_operand_t* operand) {
  const tenon_value_info_t* y = tenon__cudnn_result(region, 0);
  uint64_t wide = 0; /* axes of an extent other than 1 */
  const uint32_t rank = y == NULL ? 0 : y->rank;
  for (uint32_t k = 0; k < rank; k++) {
    wide |= y->dims_min[k] == 1 && y->dims_max[k] == 1 ? 0 : (uint64_t)1 << k;
  }
  const uint64_t fixed = operand->broadcast_axes & wide;
  const uint64_t channel = wide & 2U;
  return operand->indexed != 0           ? TENON_CUDNN_LIE_OTHER
         : fixed == wide && channel != 0 ? TENON_CUDNN_LIE_NUMBER
         : fixed == (wide & ~channel)    ? TENON_CUDNN_LIE_VECTOR
         : fixed == 0                    ? TENON_CUDNN_LIE_FULL
                                         : TENON_CUDNN_LIE_OTHER;
}

/* A CONSTANT, or an operand that is a constant of one element. */
static bool read_number(const reader_t* reader, uint32_t at, double* out_number) {
  const tenon_instruction_t* in = &reader->program->instructions[at];
  if (in->opcode == TENON_OPCODE_CONSTANT) {
    *out_number = in->immediate.f;
    return true;
  }
  if (in->opcode != TENON_OPCODE_INPUT) {
    return false;
  }
  const tenon_operand_t* operand = &reader->program->operands[in->immediate.i];
  const tenon_value_info_t* value = operand->kind == TENON_OPERAND_ARGUMENT
                                        ? tenon__cudnn_argument(reader->region, operand->index)
                                        : NULL;
  if (value == NULL || value->constant_data == NULL || value->dtype != TENON_DTYPE_FLOAT32 ||
      tenon__cudnn_count(value->dims_max, value->rank) != 1) {
    return false;
  }
  float number = 0;
  memcpy(&number, value->constant_data, sizeof(number));
  *out_number = (double)number;
  return true;
}

/* The other operand of an instruction of two, one of which is a number. */
static bool beside_number(const reader_t* reader, const tenon_instruction_t* in,
                          uint32_t* out_other, double* out_number) {
  for (uint32_t k = 0; k < 2; k++) {
    if (read_number(reader, in->operands[k], out_number)) {
      *out_other = in->operands[1 - k];
      return true;
    }
  }
  return false;
}

static bool read_sum(reader_t* reader, uint32_t at) {
  const tenon_instruction_t* in = &reader->program->instructions[at];
  if (in->opcode == TENON_OPCODE_ADD) {
    return read_sum(reader, in->operands[0]) && read_sum(reader, in->operands[1]);
  }
  if (in->opcode == TENON_OPCODE_CAST) {
    return read_sum(reader, in->operands[0]);
  }
  if (in->opcode != TENON_OPCODE_INPUT) {
    return false;
  }
  const tenon_operand_t* operand = &reader->program->operands[in->immediate.i];
  if (operand->kind == TENON_OPERAND_SLOT_VALUE) {
    return ++reader->values == 1;
  }
  static const tenon_operand_t everywhere = {.broadcast_axes = 0};
  tenon__cudnn_known_t* known = reader->known;
  tenon__cudnn_lie_t lie = tenon__cudnn_lie_of(reader->region, operand);
  if (lie == TENON_CUDNN_LIE_VECTOR && known->bias != TENON_NONE &&
      tenon__cudnn_lie_of(reader->region, &everywhere) == lie) {
    lie = TENON_CUDNN_LIE_FULL; /* of one pixel both are the same */
  }
  uint32_t* place = lie == TENON_CUDNN_LIE_FULL     ? &known->residual
                    : lie == TENON_CUDNN_LIE_VECTOR ? &known->bias
                                                    : NULL;
  if (place == NULL || *place != TENON_NONE) {
    return false;
  }
  *place = operand->index;
  return true;
}

/* What stands outermost, if it is an activation; *out_inner is what it is of. */
static void read_activation(reader_t* reader, uint32_t at, uint32_t* out_inner) {
  static const struct {
    uint16_t opcode;
    cudnnPointwiseMode_t mode;
  } single[] = {{TENON_OPCODE_SIGMOID, CUDNN_POINTWISE_SIGMOID_FWD},
                {TENON_OPCODE_TANH, CUDNN_POINTWISE_TANH_FWD}};
  const tenon_instruction_t* in = &reader->program->instructions[at];
  tenon__cudnn_known_t* known = reader->known;
  double low = -(double)INFINITY;
  double high = (double)INFINITY;
  uint32_t inner = at;
  *out_inner = at;
  for (size_t k = 0; k < sizeof(single) / sizeof(*single); k++) {
    if (in->opcode == single[k].opcode) {
      known->activates = true;
      known->activation.mode = single[k].mode;
      *out_inner = in->operands[0];
    }
  }
  /* max(x, 0), min(max(x, 0), high), max(min(x, high), 0) */
  while ((in->opcode == TENON_OPCODE_MAX && isinf(low)) ||
         (in->opcode == TENON_OPCODE_MIN && isinf(high))) {
    if (!beside_number(reader, in, &inner, in->opcode == TENON_OPCODE_MAX ? &low : &high)) {
      return;
    }
    in = &reader->program->instructions[inner];
  }
  if (low == 0 && high > 0) {
    known->activates = true;
    known->activation = (tenon__cudnn_pointwise_t){
        .mode = CUDNN_POINTWISE_RELU_FWD, .clips = isinf(high) == 0, .upper = high};
    *out_inner = inner;
  }
}

bool tenon__cudnn_known_read(tenon__cudnn_region_t region, const tenon_program_t* program,
                             uint32_t own_bias, tenon__cudnn_known_t* out_known) {
  *out_known = (tenon__cudnn_known_t){.bias = own_bias, .residual = TENON_NONE};
  if (program == NULL) {
    return true;
  }
  reader_t reader = {.region = region, .program = program, .known = out_known};
  uint32_t sum = 0;
  if (program->output_count != 1) {
    return false;
  }
  read_activation(&reader, program->outputs[0].instruction, &sum);
  return read_sum(&reader, sum) && reader.values == 1;
}

void tenon__cudnn_known_write(const tenon__cudnn_writer_t* writer,
                              const tenon__cudnn_known_t* known, cudnnBackendDescriptor_t value,
                              cudnnBackendDescriptor_t y) {
  static const tenon__cudnn_pointwise_t add = {.mode = CUDNN_POINTWISE_ADD};
  tenon__cudnn_graph_t* graph = writer->graph;
  const bool has_bias = known->bias != TENON_NONE;
  if (known->residual != TENON_NONE) {
    cudnnBackendDescriptor_t residual =
        tenon__cudnn_tensor(graph, writer->type, writer->y, TENON_CUDNN_INPUT, known->residual);
    cudnnBackendDescriptor_t sum = tenon__cudnn_between(graph, writer->y);
    tenon__cudnn_apply(graph, &add, value, residual, sum);
    value = sum;
  }
  cudnnBackendDescriptor_t bias =
      tenon__cudnn_tensor(graph, writer->type, writer->vector,
                          has_bias ? TENON_CUDNN_INPUT : TENON_CUDNN_ZEROS, known->bias);
  cudnnBackendDescriptor_t sum = known->activates ? tenon__cudnn_between(graph, writer->y) : y;
  tenon__cudnn_apply(graph, &add, value, bias, sum);
  if (known->activates) {
    tenon__cudnn_apply(graph, &known->activation, sum, NULL, y);
  }
}
