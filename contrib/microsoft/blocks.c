/* Weights of 2, 4 or 8 bits in blocks, and of bitsandbytes' types of 4 bits. */
#include "families.h"
#include "quantized.h"
#include "steps.h"

static tenon_value_t shaped(tenon_make_t* make, uint32_t index, const int64_t* dims,
                            uint32_t rank) {
  const tenon_value_t value = tenon_make_input(make, index);
  return !tenon_make_present(value) || tenon_make_rank(make, value) == rank
             ? value
             : tenon_make_reshape(make, value, dims, rank);
}

/* Repeats items along an axis up to the extents of `like`. */
static tenon_value_t repeated(tenon_make_t* make, tenon_value_t value, tenon_value_t like,
                              int64_t axis, int64_t block) {
  tenon_make_begin(make, "repeat_blocks");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_set_int(make, "block_size", block);
  tenon_make_add(make, value);
  tenon_make_add(make, like);
  return tenon_make_end(make);
}

/* ---- MatMulNBits ---- */

typedef struct nbits_t {
  int64_t bits;
  int64_t block;
  int64_t depth;
  int64_t columns;
  tenon_value_t b;
  tenon_value_t scales;
  tenon_value_t zeros;
} nbits_t;

/* Weights with a scale of their own for each row of the depth. */
static tenon_value_t indexed_weights(tenon_make_t* make, const nbits_t* node) {
  const tenon_value_t groups = tenon_make_input(make, 4);
  tenon_make_begin(make, "flatten");
  tenon_make_set_int(make, "axis", 1);
  tenon_make_add(make, node->b);
  const tenon_value_t flat = tenon_make_end(make);
  const tenon_value_t numbers = microsoft_unpacked(make, flat, node->bits, node->depth, 1);
  tenon_value_t zeros = node->zeros;
  if (tenon_make_present(zeros) && tenon_make_dtype(make, zeros) == TENON_DTYPE_UINT8) {
    zeros = microsoft_unpacked(make, zeros, node->bits, node->depth, node->block);
  }
  if (tenon_make_present(zeros)) {
    zeros = tenon_make_gather(make, zeros, groups, 1);
  }
  const tenon_value_t scales = tenon_make_gather(make, node->scales, groups, 1);
  tenon_make_begin(make, "microsoft.scaled_numbers/1");
  tenon_make_set_int(make, "bits", node->bits);
  tenon_make_add(make, numbers);
  tenon_make_add(make, scales);
  tenon_make_add(make, zeros);
  return tenon_make_end(make);
}

/* accuracy_level is the least accuracy, and f32 is the highest. */
static void mat_mul_nbits(tenon_make_t* make) {
  const tenon_value_t a = tenon_make_input(make, 0);
  nbits_t node = {.bits = tenon_make_get_int(make, "bits", 4),
                  .block = tenon_make_get_int(make, "block_size", 0),
                  .depth = microsoft_extent(make, "K"),
                  .columns = microsoft_extent(make, "N")};
  if (tenon_make_get_int(make, "weight_prepacked", 0) != 0) {
    microsoft_refuse(make, "weight_prepacked", "the layout of the weights belongs to CUDA kernels");
  }
  if (node.bits != 2 && node.bits != 4 && node.bits != 8) {
    microsoft_refuse(make, "bits", "use 2, 4 or 8");
  }
  if (node.block < 16 || node.block % 16 != 0 || node.block > MICROSOFT_EXTENT_MAX) {
    microsoft_refuse(make, "block_size", "use a multiple of 16");
    return;
  }
  if (tenon_make_elements(make, tenon_make_input(make, 1), 0,
                          tenon_make_rank(make, tenon_make_input(make, 1))) == 0) {
    microsoft_refuse_input(make, 1, "B", "weights without elements; remove the node");
  }
  if (!tenon_make_ok(make)) {
    return;
  }
  const int64_t blocks = (node.depth + node.block - 1) / node.block;
  const int64_t b_dims[] = {node.columns, blocks, node.block * node.bits / 8};
  const int64_t scale_dims[] = {node.columns, blocks};
  const int64_t zero_dims[] = {node.columns, (blocks * node.bits + 7) / 8};
  node.b = shaped(make, 1, b_dims, 3);
  node.scales = shaped(make, 2, scale_dims, 2);
  node.zeros = tenon_make_input(make, 3);
  if (tenon_make_present(node.zeros)) {
    const bool is_packed = tenon_make_dtype(make, node.zeros) == TENON_DTYPE_UINT8;
    node.zeros = shaped(make, 3, is_packed ? zero_dims : scale_dims, 2);
  }
  if (tenon_make_has_input(make, 4)) {
    const tenon_value_t w = microsoft_transposed(make, indexed_weights(make, &node));
    tenon_make_output(make, 0, microsoft_add_input(make, tenon_make_2(make, "mat_mul", a, w), 5));
    return;
  }
  tenon_make_begin(make, "microsoft.mat_mul_nbits/1");
  tenon_make_set_int(make, "bits", node.bits);
  tenon_make_pass_all(make, "block_size K N");
  tenon_make_add(make, a);
  tenon_make_add(make, node.b);
  tenon_make_add(make, node.scales);
  tenon_make_add(make, node.zeros);
  tenon_make_add(make, tenon_make_input(make, 5));
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* ---- GatherBlockQuantized ---- */

static tenon_value_t dequantized(tenon_make_t* make, const tenon_value_t operands[3], int64_t axis,
                                 int64_t block) {
  return microsoft_linear(make, "dequantize_linear", tenon_make_dtype(make, operands[1]), operands,
                          axis, block);
}

/* Gathers bytes, scales and zero points, then unpacks. */
static void gather_packed(tenon_make_t* make, int64_t bits, int64_t block) {
  const tenon_value_t data = tenon_make_input(make, 0);
  const tenon_value_t indices = tenon_make_input(make, 1);
  const int64_t bytes = tenon_make_dim(make, data, tenon_make_rank(make, data) - 1);
  if (bytes < 0) {
    microsoft_refuse_input(make, 0, "data", "the last extent is not known");
    return;
  }
  tenon_value_t operands[3] = {data, tenon_make_input(make, 2), tenon_make_input(make, 3)};
  for (uint32_t k = 0; k < 3; k++) {
    operands[k] = tenon_make_present(operands[k]) ? tenon_make_gather(make, operands[k], indices, 0)
                                                  : operands[k];
  }
  tenon_make_begin(make, "microsoft.dequantize_nbits/1");
  tenon_make_set_int(make, "bits", bits);
  tenon_make_set_int(make, "block_size", block);
  tenon_make_set_int(make, "columns", bytes * 8 / bits);
  for (uint32_t k = 0; k < 3; k++) {
    tenon_make_add(make, operands[k]);
  }
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void gather_block_quantized(tenon_make_t* make) {
  tenon_value_t operands[3] = {tenon_make_input(make, 0), tenon_make_input(make, 2),
                               tenon_make_input(make, 3)};
  const tenon_value_t indices = tenon_make_input(make, 1);
  const uint32_t rank = tenon_make_rank(make, operands[0]);
  const int64_t bits = tenon_make_get_int(make, "bits", 4);
  const int64_t block = tenon_make_get_int(make, "block_size", 128);
  const int64_t gather_axis =
      tenon_make_axis(make, tenon_make_get_int(make, "gather_axis", 0), rank);
  const int64_t axis = tenon_make_axis(make, tenon_make_get_int(make, "quantize_axis", 1), rank);
  if (tenon_make_dtype(make, operands[0]) == TENON_DTYPE_UINT8) {
    if (bits != 2 && bits != 4 && bits != 8) {
      microsoft_refuse(make, "bits", "use 2, 4 or 8");
    }
    if (gather_axis != 0) {
      microsoft_refuse(make, "gather_axis", "bytes are gathered along axis 0 only");
    }
    if (axis != (int64_t)rank - 1 || rank < 2) {
      microsoft_refuse(make, "quantize_axis", "bytes have blocks along the last axis only");
    }
    if (tenon_make_ok(make)) {
      gather_packed(make, bits, block);
    }
    return;
  }
  if (block < 1) {
    microsoft_refuse(make, "block_size", "use a positive number");
    return;
  }
  if (axis == gather_axis) {
    tenon_make_output(
        make, 0, tenon_make_gather(make, dequantized(make, operands, axis, block), indices, axis));
    return;
  }
  for (uint32_t k = 0; k < 3; k++) {
    operands[k] = tenon_make_present(operands[k])
                      ? tenon_make_gather(make, operands[k], indices, gather_axis)
                      : operands[k];
  }
  const int64_t added = (int64_t)tenon_make_rank(make, indices) - 1;
  tenon_make_output(make, 0,
                    dequantized(make, operands, axis > gather_axis ? axis + added : axis, block));
}

/* ---- MatMulBnb4 ---- */

/* The first of two numbers has the higher bits of a byte. They are indices into a table. */
static void mat_mul_bnb4(tenon_make_t* make) {
  static const float tables[2][16] = {
      {0.0F, 5.208333333e-03F, 0.66666667F, 1.0F, 0.33333333F, 0.5F, 0.16666667F, 0.25F, -0.0F,
       -5.208333333e-03F, -0.66666667F, -1.0F, -0.33333333F, -0.5F, -0.16666667F, -0.25F},
      {-1.0F, -0.6961928009986877F, -0.5250730514526367F, -0.39491748809814453F,
       -0.28444138169288635F, -0.18477343022823334F, -0.09105003625154495F, 0.0F,
       0.07958029955625534F, 0.16093020141124725F, 0.24611230194568634F, 0.33791524171829224F,
       0.44070982933044434F, 0.5626170039176941F, 0.7229568362236023F, 1.0F}};
  static const int64_t table_dims[] = {16};
  const tenon_value_t a = tenon_make_input(make, 0);
  const int64_t type = tenon_make_get_int(make, "quant_type", 0);
  const int64_t dims[] = {microsoft_extent(make, "N"), microsoft_extent(make, "K")};
  const int64_t block = tenon_make_get_int(make, "block_size", 0);
  if (type != 0 && type != 1) {
    microsoft_refuse(make, "quant_type", "use 0 (FP4) or 1 (NF4)");
    return;
  }
  if (block < 1) {
    microsoft_refuse(make, "block_size", "use a positive number");
    return;
  }
  tenon_make_begin(make, "microsoft.packed_bytes/1");
  tenon_make_set_int(make, "bits", 4);
  tenon_make_set_int(make, "columns", dims[0] * dims[1]);
  tenon_make_add(make, tenon_make_input(make, 1));
  const tenon_value_t bytes = tenon_make_end(make);
  const tenon_value_t numbers = tenon_make_math_1(
      make, "y = cast(shr(a, index(-1) % 2 == 0 ? cast(4, u8) : cast(0, u8)) & 15, i32)", bytes);
  const tenon_value_t table =
      tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 1, table_dims, tables[type]);
  const tenon_value_t scales = repeated(make, tenon_make_input(make, 2), numbers, 0, block);
  const tenon_value_t weights = tenon_make_reshape(
      make,
      tenon_make_cast(make,
                      tenon_make_math_2(make, "y = a * cast(b, f32)",
                                        tenon_make_gather(make, table, numbers, 0), scales),
                      tenon_make_dtype(make, a)),
      dims, 2);
  tenon_make_output(
      make, 0,
      tenon_make_2(make, "mat_mul", a,
                   tenon_make_get_int(make, "transB", 1) != 0 ? microsoft_transposed(make, weights)
                                                              : weights));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("GatherBlockQuantized", gather_block_quantized, NULL, NULL),
    MICROSOFT_ROW("MatMulBnb4", mat_mul_bnb4, NULL, NULL),
    MICROSOFT_ROW("MatMulNBits", mat_mul_nbits, NULL, NULL),
};
MICROSOFT_FAMILY(blocks);
