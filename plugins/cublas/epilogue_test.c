/* Which programs of a slot are cuBLASLt's, and which are not. */
#include "epilogue.h"

#include "core/base/test.h"

enum { F16 = TENON_DTYPE_FLOAT16, F32 = TENON_DTYPE_FLOAT32, MOST = 24 };

/* A slot of a product [2, 3, 4, 5]; operand 0 is the product's value. */
typedef struct slot_t {
  tenon_program_t program;
  tenon_instruction_t instructions[MOST];
  tenon_operand_t operands[4];
  tenon_program_output_t output;
  tenon_value_info_t value;
  tenon__cublas_epilogue_t found;
} slot_t;

static uint32_t add(slot_t* s, uint16_t opcode, uint32_t a, uint32_t b) {
  s->instructions[s->program.instruction_count] =
      (tenon_instruction_t){.opcode = opcode, .dtype = F32, .operands = {a, b}};
  return s->program.instruction_count++;
}
static uint32_t constant(slot_t* s, double value) {
  const uint32_t k = add(s, TENON_OPCODE_CONSTANT, 0, 0);
  s->instructions[k].immediate.f = value;
  return k;
}
static uint32_t operand(slot_t* s, uint32_t index, uint64_t broadcast_axes) {
  const uint32_t number = s->program.operand_count++;
  s->operands[number] = (tenon_operand_t){.kind = TENON_OPERAND_ARGUMENT,
                                          .index = index,
                                          .dtype = s->value.dtype,
                                          .broadcast_axes = broadcast_axes};
  const uint32_t k = add(s, TENON_OPCODE_INPUT, 0, 0);
  s->instructions[k].immediate.i = number;
  return k;
}
/* The instruction that reads the product. */
static uint32_t begin(slot_t* s, tenon_dtype_t dtype) {
  static const int64_t dims[] = {2, 3, 4, 5};
  *s = (slot_t){
      .value = {.dims_min = dims, .dims_opt = dims, .dims_max = dims, .dtype = dtype, .rank = 4}};
  const uint32_t k = operand(s, 0, 0);
  s->operands[0].kind = TENON_OPERAND_SLOT_VALUE;
  return k;
}
static bool recognises(slot_t* s, uint32_t result) {
  const char* why = NULL;
  s->output = (tenon_program_output_t){.instruction = result, .dtype = s->value.dtype};
  s->program.instructions = s->instructions;
  s->program.operands = s->operands;
  s->program.outputs = &s->output;
  s->program.output_count = 1;
  s->program.rank = 4;
  return tenon__cublas_epilogue_recognise(&s->program, &s->value, true, &s->found, &why);
}

enum { BIAS = 7 /* broadcast along all axes but the last */, SHARED = 3, BY_ROW = 8 };

TENON_TEST(nothing_is_the_product_itself) {
  tenon__cublas_epilogue_t found;
  const char* why = NULL;
  slot_t s;
  (void)begin(&s, F32);
  EXPECT(tenon__cublas_epilogue_recognise(NULL, &s.value, true, &found, &why));
  EXPECT_NEAR(found.scale, 1.0, 0);
  EXPECT_INT(found.bias, TENON_NONE);
  EXPECT_INT(found.residual, TENON_NONE);
}

TENON_TEST(finds_all_terms_under_a_relu) {
  slot_t s;
  const uint32_t value = begin(&s, F32);
  const uint32_t scaled = add(&s, TENON_OPCODE_DIV, value, constant(&s, 8.0));
  const uint32_t bias = operand(&s, 2, BIAS);
  const uint32_t first = add(&s, TENON_OPCODE_ADD, bias, scaled);
  const uint32_t residual = operand(&s, 3, SHARED);
  const uint32_t sum = add(&s, TENON_OPCODE_ADD, residual, first);
  EXPECT(recognises(&s, add(&s, TENON_OPCODE_MAX, constant(&s, 0.0), sum)));
  EXPECT_NEAR(s.found.scale, 0.125, 0);
  EXPECT_INT(s.found.bias, 2);
  EXPECT_INT(s.found.residual, 3);
  EXPECT_INT(s.found.activation, TENON_CUBLAS_RELU);
}

TENON_TEST(narrow_types_compute_in_f32) {
  slot_t s;
  const uint32_t value = begin(&s, F16);
  EXPECT(recognises(&s, add(&s, TENON_OPCODE_ADD, value, operand(&s, 2, BIAS))));
  EXPECT_INT(s.found.bias, 2);
}

/* 0.5 x (1 + tanh(c (x + d x^3))), with the last factor as it is given. */
static uint32_t gelu(slot_t* s, uint32_t x, double inner, uint16_t function) {
  const uint32_t cube = add(s, TENON_OPCODE_POW, x, constant(s, 3.0));
  const uint32_t part = add(s, TENON_OPCODE_MUL, cube, constant(s, 0.044715));
  const uint32_t sum = add(s, TENON_OPCODE_ADD, part, x);
  const uint32_t bent = add(s, function, add(s, TENON_OPCODE_MUL, sum, constant(s, inner)), 0);
  const uint32_t gate = add(s, TENON_OPCODE_ADD, bent, constant(s, 1.0));
  return add(s, TENON_OPCODE_MUL, add(s, TENON_OPCODE_MUL, x, gate), constant(s, 0.5));
}

TENON_TEST(gelu_is_known_by_its_values) {
  slot_t s;
  uint32_t value = begin(&s, F16);
  const uint32_t sum = add(&s, TENON_OPCODE_ADD, value, operand(&s, 2, BIAS));
  EXPECT(recognises(&s, gelu(&s, sum, 0.7978845608028654, TENON_OPCODE_TANH)));
  EXPECT_INT(s.found.activation, TENON_CUBLAS_GELU);
  EXPECT_INT(s.found.bias, 2);
  value = begin(&s, F16);
  EXPECT(!recognises(&s, gelu(&s, value, 0.851, TENON_OPCODE_TANH)));
  value = begin(&s, F16);
  EXPECT(!recognises(&s, gelu(&s, value, 0.7978845608028654, TENON_OPCODE_ERF)));
  value = begin(&s, F32); /* not exact enough */
  EXPECT(!recognises(&s, gelu(&s, value, 0.7978845608028654, TENON_OPCODE_TANH)));
}

TENON_TEST(refuses_what_the_library_cannot) {
  slot_t s;
  uint32_t value = begin(&s, F32);
  /* A residual behind the activation. */
  const uint32_t relu = add(&s, TENON_OPCODE_MAX, value, constant(&s, 0.0));
  EXPECT(!recognises(&s, add(&s, TENON_OPCODE_ADD, relu, operand(&s, 2, 0))));
  /* A clamp at another number. */
  value = begin(&s, F32);
  EXPECT(!recognises(&s, add(&s, TENON_OPCODE_MAX, value, constant(&s, 0.5))));
  /* The product twice. */
  value = begin(&s, F32);
  EXPECT(!recognises(&s, add(&s, TENON_OPCODE_ADD, value, value)));
  /* A term that varies along rows alone. */
  value = begin(&s, F32);
  EXPECT(!recognises(&s, add(&s, TENON_OPCODE_ADD, value, operand(&s, 2, BY_ROW))));
  /* A scale that is a tensor. */
  value = begin(&s, F32);
  EXPECT(!recognises(&s, add(&s, TENON_OPCODE_MUL, value, operand(&s, 2, BIAS))));
  /* A third term. */
  value = begin(&s, F32);
  uint32_t sum = add(&s, TENON_OPCODE_ADD, value, operand(&s, 2, BIAS));
  sum = add(&s, TENON_OPCODE_ADD, sum, operand(&s, 3, 0));
  EXPECT(!recognises(&s, add(&s, TENON_OPCODE_ADD, sum, operand(&s, 4, 0))));
  /* Rounded on the way. */
  value = begin(&s, F32);
  s.instructions[value].dtype = F16;
  EXPECT(!recognises(&s, value));
}
