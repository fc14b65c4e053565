/* Tests expressions: every opcode, every type, operands and results with any layout. */
#include "kernel_case.h"
#include "kernels.h"

enum { F32 = TENON_DTYPE_FLOAT32, F16 = TENON_DTYPE_FLOAT16, I64 = TENON_DTYPE_INT64 };

/* ---- Opcodes ---- */

/* Tests several opcodes in one program, because each compilation takes a tenth of a second. `error`
 * is in units of the last place of T. The contract allows 4, and the reference rounds too. */
static void check_group(const char* name, tenon_dtype_t dtype, const uint16_t* opcodes,
                        uint32_t count, double error) {
  kernel_case_t c;
  kernel_case_begin(&c, DIMS(3, 1000));
  const uint32_t a = kernel_operand(&c, dtype, NULL);
  const uint32_t b = kernel_operand(&c, dtype, NULL);
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t result = kernel_add(&c, opcodes[k], dtype, a, b, 0);
    kernel_output(&c, tenon__opcode_result(&c.instructions[result]), result, 0, NULL);
  }
  kernel_check(&c, name, error);
}
#define GROUP(name, dtype, error, ...)                      \
  check_group(name, dtype, (const uint16_t[]){__VA_ARGS__}, \
              sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t), error)
#define OP(name) TENON_OPCODE_##name

void kernels_check_opcodes(void) {
  static const tenon_dtype_t floats[] = {F32, TENON_DTYPE_FLOAT64};
  static const tenon_dtype_t integers[] = {
      TENON_DTYPE_INT8,  TENON_DTYPE_INT16,  TENON_DTYPE_INT32,  TENON_DTYPE_INT64,
      TENON_DTYPE_UINT8, TENON_DTYPE_UINT16, TENON_DTYPE_UINT32, TENON_DTYPE_UINT64};
  for (int k = 0; k < 2; k++) {
    const tenon_dtype_t t = floats[k];
    GROUP("exact", t, 0, OP(ADD), OP(SUB), OP(MUL), OP(DIV), OP(MIN), OP(MAX), OP(NEG), OP(ABS),
          OP(SIGN), OP(FMOD));
    GROUP("whole", t, 0, OP(FLOOR), OP(CEIL), OP(ROUND), OP(TRUNC), OP(SQRT), OP(RECIP),
          OP(FLOOR_DIV), OP(MOD));
    GROUP("compared", t, 0, OP(EQ), OP(NE), OP(LT), OP(LE), OP(GT), OP(GE), OP(IS_NAN), OP(IS_INF));
    GROUP("exponential", t, 8, OP(EXP), OP(EXPM1), OP(LOG), OP(LOG1P), OP(POW), OP(RSQRT),
          OP(SIGMOID), OP(SOFTPLUS));
    GROUP("trigonometric", t, 8, OP(SIN), OP(COS), OP(TAN), OP(ASIN), OP(ACOS), OP(ATAN), OP(ATAN2),
          OP(ERF));
    GROUP("hyperbolic", t, 8, OP(SINH), OP(COSH), OP(TANH), OP(ASINH), OP(ACOSH), OP(ATANH));
  }
  for (size_t k = 0; k < sizeof(integers) / sizeof(*integers); k++) {
    const tenon_dtype_t t = integers[k];
    GROUP("integers", t, 0, OP(ADD), OP(SUB), OP(MUL), OP(DIV), OP(FLOOR_DIV), OP(MOD), OP(FMOD),
          OP(MIN), OP(MAX), OP(NEG), OP(ABS), OP(SIGN));
    GROUP("bits", t, 0, OP(AND), OP(OR), OP(XOR), OP(NOT), OP(SHL), OP(SHR), OP(POW), OP(EQ),
          OP(LT), OP(GE), OP(RECIP), OP(FLOOR));
  }
  static const tenon_dtype_t halves[] = {F16, TENON_DTYPE_BFLOAT16};
  for (int k = 0; k < 2; k++) { /* results rounded at the end */
    GROUP("near", halves[k], 1, OP(SIGMOID), OP(TANH), OP(SOFTPLUS), OP(ERF), OP(DIV));
  }
  GROUP("logic", TENON_DTYPE_BOOL, 0, OP(AND), OP(OR), OP(XOR), OP(NOT), OP(EQ), OP(NE));
}

/* ---- Types ---- */

static const tenon_dtype_t stored[] = {
    TENON_DTYPE_BOOL,       TENON_DTYPE_INT8,          TENON_DTYPE_INT16,
    TENON_DTYPE_INT32,      TENON_DTYPE_INT64,         TENON_DTYPE_UINT8,
    TENON_DTYPE_UINT16,     TENON_DTYPE_UINT32,        TENON_DTYPE_UINT64,
    TENON_DTYPE_FLOAT16,    TENON_DTYPE_BFLOAT16,      TENON_DTYPE_FLOAT32,
    TENON_DTYPE_FLOAT64,    TENON_DTYPE_FLOAT8E4M3FN,  TENON_DTYPE_FLOAT8E4M3FNUZ,
    TENON_DTYPE_FLOAT8E5M2, TENON_DTYPE_FLOAT8E5M2FNUZ};
enum { STORED = sizeof(stored) / sizeof(*stored) };

/* Reads each type and converts it to each other type, by CAST and by the store alone. */
void kernels_check_types(void) {
  for (int from = 0; from < STORED; from++) {
    for (int half = 0; half < 2; half++) {
      kernel_case_t c;
      kernel_case_begin(&c, DIMS(777));
      const uint32_t x = kernel_operand(&c, stored[from], NULL);
      for (int to = half * 9; to < STORED && to < half * 9 + 9; to++) {
        const uint32_t y = kernel_add(&c, TENON_OPCODE_CAST, stored[to], x, 0, 0);
        kernel_output(&c, stored[to], to % 2 == 0 ? y : x, 0, NULL);
      }
      kernel_check(&c, "types", 0);
    }
  }
  /* f16 and bf16 are computed as f32 and rounded when they are stored. */
  static const tenon_dtype_t narrow[] = {F16, TENON_DTYPE_BFLOAT16};
  for (int k = 0; k < 2; k++) {
    kernel_case_t c;
    kernel_case_begin(&c, DIMS(64, 40));
    const uint32_t x = kernel_operand(&c, narrow[k], NULL);
    const uint32_t y = kernel_operand(&c, narrow[k], NULL);
    const uint32_t s = kernel_constant(&c, narrow[k], 0.1);
    const uint32_t product = kernel_add(&c, TENON_OPCODE_MUL, narrow[k], x, s, 0);
    const uint32_t sum = kernel_add(&c, TENON_OPCODE_ADD, narrow[k], product, y, 0);
    kernel_output(&c, narrow[k], sum, 0, NULL);
    kernel_check(&c, "narrow", 0);
  }
}

/* ---- Layouts ---- */

/* relu(a * b + r) with the given layouts. */
typedef struct places_t {
  tenon_dtype_t dtype;
  uint32_t rank;
  const int64_t* dims;
  uint32_t shift;
} places_t;
static void check_places(const char* name, places_t places, const kernel_lie_t* a,
                         const kernel_lie_t* b, const kernel_lie_t* result) {
  const tenon_dtype_t dtype = places.dtype;
  kernel_case_t c;
  kernel_case_begin(&c, places.rank, places.dims);
  c.shift = places.shift;
  const uint32_t x = kernel_operand(&c, dtype, a);
  const uint32_t y = kernel_operand(&c, dtype, b);
  const uint32_t r = kernel_operand(&c, F32, NULL);
  const uint32_t zero = kernel_constant(&c, F32, 0.0);
  const uint32_t wide = kernel_add(&c, TENON_OPCODE_CAST, F32, x, 0, 0);
  const uint32_t other = kernel_add(&c, TENON_OPCODE_CAST, F32, y, 0, 0);
  const uint32_t product = kernel_add(&c, TENON_OPCODE_MUL, F32, wide, other, 0);
  const uint32_t sum = kernel_add(&c, TENON_OPCODE_ADD, F32, product, r, 0);
  const uint32_t relu = kernel_add(&c, TENON_OPCODE_MAX, F32, sum, zero, 0);
  kernel_output(&c, dtype, relu, 0, result);
  kernel_check(&c, name, 0);
}

static void check_coordinates(void) {
  kernel_case_t c;
  kernel_case_begin(&c, DIMS(3, 5, 8));
  const uint32_t x = kernel_operand(&c, I64, NULL);
  uint32_t sum = x;
  for (int64_t axis = 0; axis < 3; axis++) {
    const uint32_t index = kernel_immediate(&c, TENON_OPCODE_INDEX, I64, axis);
    const uint32_t size = kernel_immediate(&c, TENON_OPCODE_SIZE, I64, axis);
    sum = kernel_add(&c, TENON_OPCODE_ADD, I64, kernel_add(&c, TENON_OPCODE_MUL, I64, sum, size, 0),
                     index, 0);
  }
  kernel_output(&c, I64, sum, 0, NULL);
  kernel_check(&c, "coordinates", 0);
  kernel_case_begin(&c, DIMS(1001));
  const uint32_t key = kernel_constant(&c, I64, 77.0);
  const uint32_t counter = kernel_immediate(&c, TENON_OPCODE_INDEX, I64, 0);
  kernel_output(&c, F32, kernel_add(&c, TENON_OPCODE_RANDOM, F32, key, counter, 0), 0, NULL);
  kernel_output(&c, TENON_DTYPE_FLOAT64,
                kernel_add(&c, TENON_OPCODE_RANDOM, TENON_DTYPE_FLOAT64, key, counter, 0), 0, NULL);
  kernel_check(&c, "random", 0);
}

/* Uses so many points that a tactic has two accesses for each thread. The last block is
 * incomplete. */
static void check_many_points(void) {
  static const kernel_lie_t row = {.step = 1, .broadcast = 1};
  static const tenon_dtype_t dtypes[] = {F32, F16};
  for (size_t k = 0; k < sizeof(dtypes) / sizeof(*dtypes); k++) {
    kernel_case_t c;
    kernel_case_begin(&c, DIMS(1025, 1048));
    c.wanted_tactic = "two accesses a thread";
    const uint32_t x = kernel_operand(&c, dtypes[k], NULL);
    const uint32_t bias = kernel_operand(&c, dtypes[k], &row);
    kernel_output(&c, dtypes[k], kernel_add(&c, TENON_OPCODE_ADD, dtypes[k], x, bias, 0), 0, NULL);
    kernel_check(&c, "many points", 1);
  }
  kernel_case_t c;
  kernel_case_begin(&c, DIMS(1048583));
  c.wanted_tactic = "two accesses a thread";
  const uint32_t x = kernel_operand(&c, F32, NULL);
  kernel_output(&c, F32, kernel_add(&c, TENON_OPCODE_NEG, F32, x, 0, 0), 0, NULL);
  kernel_check(&c, "many points", 0);
}

void kernels_check_places(void) {
  static const uint32_t last_first[] = {0, 2, 3, 1};
  static const uint32_t turned[] = {3, 2, 1, 0};
  static const kernel_lie_t channels_last = {.order = last_first, .pitch = 0, .step = 1};
  static const kernel_lie_t backwards = {.order = turned, .pitch = 0, .step = 1};
  static const kernel_lie_t wider = {.order = NULL, .pitch = 24, .step = 1};
  static const kernel_lie_t crooked = {.order = NULL, .pitch = 3, .step = 1};
  static const kernel_lie_t stepped = {.order = NULL, .pitch = 0, .step = 2};
  static const kernel_lie_t channel = {.step = 1, .broadcast = 1u << 0 | 1u << 2 | 1u << 3};
  static const kernel_lie_t row = {.step = 1, .broadcast = 1u << 0 | 1u << 1 | 1u << 2};
  static const kernel_lie_t scalar = {.step = 1, .broadcast = 15};
  static const kernel_lie_t reversed = {.step = 1, .reversed = 1u << 3 | 1u << 1};
  static const int64_t even[] = {2, 16, 12, 24};
  static const int64_t odd[] = {2, 5, 7, 7};
  static const tenon_dtype_t dtypes[] = {F32, F16, TENON_DTYPE_INT8};
  for (int k = 0; k < 3; k++) {
    for (uint32_t n = 0; n < 2; n++) {
      const int64_t* dims = n == 0 ? even : odd;
      check_places("dense", (places_t){dtypes[k], 4, dims, 0}, NULL, NULL, NULL);
      check_places("shifted", (places_t){dtypes[k], 4, dims, 1}, NULL, NULL, NULL);
      check_places("channel", (places_t){dtypes[k], 4, dims, 0}, NULL, &channel, NULL);
      check_places("row, scalar", (places_t){dtypes[k], 4, dims, 0}, &row, &scalar, NULL);
      check_places("channels last", (places_t){dtypes[k], 4, dims, 0}, &channels_last, NULL,
                   &channels_last);
      check_places("turned", (places_t){dtypes[k], 4, dims, 0}, &backwards, NULL, NULL);
      check_places("wider", (places_t){dtypes[k], 4, dims, 0}, &wider, &crooked, &wider);
      check_places("crooked", (places_t){dtypes[k], 4, dims, 0}, &stepped, &reversed, &crooked);
      check_places("stepped", (places_t){dtypes[k], 4, dims, 0}, &reversed, NULL, &stepped);
    }
  }
  check_places("scalar", (places_t){F32, 0, NULL, 0}, NULL, NULL, NULL);
  for (int64_t count = 1; count < 20; count += 3) {
    check_places("few", (places_t){F16, 1, &count, 0}, NULL, NULL, NULL);
  }
  check_coordinates();
  check_many_points();
}
