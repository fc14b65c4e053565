/* Which block function serves which opcode and type. Included by elements_baseline.c and its
 * siblings. */
#ifndef TENON_CPU_ELEMENTS_TABLE_H_
#define TENON_CPU_ELEMENTS_TABLE_H_

#include "elements_kernels.h"

#define FORMS(function) \
  { function##_vv, function##_vs, NULL }
#define NO_FORMS \
  { NULL, NULL, NULL }

/* Rows of the tables, one entry for each type in the order of TENON_CPU_TYPES. */
#define INTEGER_BINARY(name)                                                    \
  FORMS(i8_block_##name), FORMS(i16_block_##name), FORMS(i32_block_##name),     \
      FORMS(i64_block_##name), FORMS(u8_block_##name), FORMS(u16_block_##name), \
      FORMS(u32_block_##name), FORMS(u64_block_##name)
#define INTEGER_UNARY(name)                                                               \
  i8_block_##name, i16_block_##name, i32_block_##name, i64_block_##name, u8_block_##name, \
      u16_block_##name, u32_block_##name, u64_block_##name
#define NO_INTEGER_UNARY NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
#define NO_INTEGER_BINARY \
  NO_FORMS, NO_FORMS, NO_FORMS, NO_FORMS, NO_FORMS, NO_FORMS, NO_FORMS, NO_FORMS
#define FAST_BINARY(name) \
  { NO_FORMS, INTEGER_BINARY(name), BINARY_F32_FORMS(name), FORMS(f64_block_##name) }
#define SLOW_BINARY(name) \
  { NO_FORMS, INTEGER_BINARY(name), FORMS(f32_block_##name), FORMS(f64_block_##name) }
#define FLOAT_BINARY(name) \
  { NO_FORMS, NO_INTEGER_BINARY, FORMS(f32_block_##name), FORMS(f64_block_##name) }
#define COMPARISON(name) \
  { FORMS(u8_block_##name), INTEGER_BINARY(name), FORMS(f32_block_##name), FORMS(f64_block_##name) }
#define BITWISE(name) \
  { FORMS(u8_block_##name), INTEGER_BINARY(name), NO_FORMS, NO_FORMS }
#define SHIFT(name) \
  { NO_FORMS, INTEGER_BINARY(name), NO_FORMS, NO_FORMS }
#define ANY_UNARY(name) \
  { NULL, INTEGER_UNARY(name), f32_block_##name, f64_block_##name }
#define FLOAT_UNARY(name) \
  { NULL, NO_INTEGER_UNARY, f32_block_##name, f64_block_##name }
#define FOLDS(bool_fold, name)                                                                    \
  {                                                                                               \
    bool_fold, i8_fold_##name, i16_fold_##name, i32_fold_##name, i64_fold_##name, u8_fold_##name, \
        u16_fold_##name, u32_fold_##name, u64_fold_##name, f32_fold_##name, f64_fold_##name       \
  }

const tenon__cpu_elements_t ISA(tenon__cpu_elements) = {
    .unary = {[TENON_OPCODE_NEG] = ANY_UNARY(neg),
              [TENON_OPCODE_ABS] = ANY_UNARY(abs),
              [TENON_OPCODE_SIGN] = ANY_UNARY(sign),
              [TENON_OPCODE_NOT] = {bool_block_not, INTEGER_UNARY(not ), NULL, NULL},
              [TENON_OPCODE_FLOOR] = FLOAT_UNARY(floor),
              [TENON_OPCODE_CEIL] = FLOAT_UNARY(ceil),
              [TENON_OPCODE_ROUND] = FLOAT_UNARY(round),
              [TENON_OPCODE_TRUNC] = FLOAT_UNARY(trunc),
              [TENON_OPCODE_SQRT] = FLOAT_UNARY(sqrt),
              [TENON_OPCODE_RSQRT] = FLOAT_UNARY(rsqrt),
              [TENON_OPCODE_RECIP] = FLOAT_UNARY(recip),
              [TENON_OPCODE_EXP] = FLOAT_UNARY(exp),
              [TENON_OPCODE_EXPM1] = FLOAT_UNARY(expm1),
              [TENON_OPCODE_LOG] = FLOAT_UNARY(log),
              [TENON_OPCODE_LOG1P] = FLOAT_UNARY(log1p),
              [TENON_OPCODE_ERF] = FLOAT_UNARY(erf),
              [TENON_OPCODE_SIN] = FLOAT_UNARY(sin),
              [TENON_OPCODE_COS] = FLOAT_UNARY(cos),
              [TENON_OPCODE_TAN] = FLOAT_UNARY(tan),
              [TENON_OPCODE_ASIN] = FLOAT_UNARY(asin),
              [TENON_OPCODE_ACOS] = FLOAT_UNARY(acos),
              [TENON_OPCODE_ATAN] = FLOAT_UNARY(atan),
              [TENON_OPCODE_SINH] = FLOAT_UNARY(sinh),
              [TENON_OPCODE_COSH] = FLOAT_UNARY(cosh),
              [TENON_OPCODE_TANH] = FLOAT_UNARY(tanh),
              [TENON_OPCODE_ASINH] = FLOAT_UNARY(asinh),
              [TENON_OPCODE_ACOSH] = FLOAT_UNARY(acosh),
              [TENON_OPCODE_ATANH] = FLOAT_UNARY(atanh),
              [TENON_OPCODE_SIGMOID] = FLOAT_UNARY(sigmoid),
              [TENON_OPCODE_SOFTPLUS] = FLOAT_UNARY(softplus),
              [TENON_OPCODE_IS_NAN] = FLOAT_UNARY(is_nan),
              [TENON_OPCODE_IS_INF] = FLOAT_UNARY(is_inf)},
    .binary = {[TENON_OPCODE_ADD] = FAST_BINARY(add),
               [TENON_OPCODE_SUB] = FAST_BINARY(sub),
               [TENON_OPCODE_MUL] = FAST_BINARY(mul),
               [TENON_OPCODE_DIV] = FAST_BINARY(div),
               [TENON_OPCODE_MIN] = FAST_BINARY(min),
               [TENON_OPCODE_MAX] = FAST_BINARY(max),
               [TENON_OPCODE_FLOOR_DIV] = SLOW_BINARY(floor_div),
               [TENON_OPCODE_MOD] = SLOW_BINARY(mod),
               [TENON_OPCODE_FMOD] = SLOW_BINARY(fmod),
               [TENON_OPCODE_POW] = SLOW_BINARY(pow),
               [TENON_OPCODE_ATAN2] = FLOAT_BINARY(atan2),
               [TENON_OPCODE_EQ] = COMPARISON(eq),
               [TENON_OPCODE_NE] = COMPARISON(ne),
               [TENON_OPCODE_LT] = COMPARISON(lt),
               [TENON_OPCODE_LE] = COMPARISON(le),
               [TENON_OPCODE_GT] = COMPARISON(gt),
               [TENON_OPCODE_GE] = COMPARISON(ge),
               [TENON_OPCODE_AND] = BITWISE(and),
               [TENON_OPCODE_OR] = BITWISE(or),
               [TENON_OPCODE_XOR] = BITWISE(xor),
               [TENON_OPCODE_SHL] = SHIFT(shl),
               [TENON_OPCODE_SHR] = SHIFT(shr)},
    .fold = {[TENON_OPCODE_SUM] = FOLDS(NULL, sum),
             [TENON_OPCODE_MEAN] = FOLDS(NULL, sum),
             [TENON_OPCODE_PROD] = FOLDS(NULL, prod),
             [TENON_OPCODE_REDUCE_MIN] = FOLDS(u8_fold_min, min),
             [TENON_OPCODE_REDUCE_MAX] = FOLDS(u8_fold_max, max)},
    .convert = {CONVERSIONS(u8), CONVERSIONS(i8), CONVERSIONS(i16), CONVERSIONS(i32),
                CONVERSIONS(i64), CONVERSIONS(u8), CONVERSIONS(u16), CONVERSIONS(u32),
                CONVERSIONS(u64), CONVERSIONS(f32), CONVERSIONS(f64)},
    .select = {select_1, select_2, select_4, select_8},
    .from_f16 = block_from_f16,
    .from_bf16 = block_from_bf16,
    .to_f16 = block_to_f16,
    .to_bf16 = block_to_bf16,
    .activate = {activate_none, activate_clamp, activate_leaky, activate_sigmoid, activate_swish,
                 activate_hard_sigmoid, activate_hard_swish, activate_tanh, activate_gelu,
                 activate_gelu_tanh},
    .lstm_cell = lstm_cell,
    .gru_cell = gru_cell,
    .gru_reset = gru_reset,
    .gru_blend = gru_blend,
    .transpose_32 = transpose_32,
};

#endif
