/* Products of matrices. */

#include "families.h"

/* The last two axes the other way round. */
static tenon_value_t turn(tenon_make_t* make, tenon_value_t value) {
  int64_t perm[TENON_MAKE_LIST_LIMIT];
  const uint32_t rank = tenon_make_rank(make, value);
  if (tenon_make_ok(make) && rank < 2) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "a matrix is needed, it has rank %u", rank);
  }
  for (uint32_t i = 0; tenon_make_ok(make) && i < rank; ++i) {
    perm[i] = i + 2 < rank ? i : i + 2 == rank ? i + 1 : i - 1;
  }
  return tenon_make_ok(make) ? tenon_make_permute(make, value, perm, rank) : value;
}

static void multiply(tenon_make_t* make, bool turns_a, bool turns_b) {
  if (tenon__uff_needs(make, 2)) {
    const tenon_value_t a = tenon_make_input(make, 0);
    const tenon_value_t b = tenon_make_input(make, 1);
    tenon_make_output(
        make, 0,
        tenon_make_2(make, "mat_mul", turns_a ? turn(make, a) : a, turns_b ? turn(make, b) : b));
  }
}

static void mat_mul(tenon_make_t* make) {
  multiply(make, tenon_make_get_int(make, "transpose_a", 0) != 0,
           tenon_make_get_int(make, "transpose_b", 0) != 0);
}

/* The adjoint of what is real is its transpose. */
static void batch_mat_mul(tenon_make_t* make) {
  multiply(make, tenon_make_get_int(make, "adj_x", 0) != 0,
           tenon_make_get_int(make, "adj_y", 0) != 0);
}

static void einsum(tenon_make_t* make) {
  tenon_make_begin(make, "einsum");
  tenon_make_pass(make, "equation", "equation");
  tenon_make_add_inputs(make, 0);
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* Orders of two letters: "NC CN" is a product as it stands. */
static void fully_connected(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 2)) {
    return;
  }
  tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  if (rank > 2) { /* all but the batch */
    x = tenon_make_1(make, "flatten", x);
  }
  const tenon__uff_layout_t left = tenon__uff_layout(make, "inputs_orders", 0, "NC", 2);
  const tenon__uff_layout_t right = tenon__uff_layout(make, "inputs_orders", 1, "CN", 2);
  if (tenon_make_ok(make)) {
    const tenon_value_t w = tenon_make_input(make, 1);
    tenon_make_output(make, 0,
                      tenon_make_2(make, "mat_mul", left.batch == 0 ? x : turn(make, x),
                                   right.channel == 0 ? w : turn(make, w)));
  }
}

#define TF(type, function) TENON__UFF_TF_ROW(type, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON__UFF_ROW("FullyConnected", fully_connected, NULL, NULL),
    TF("BatchMatMul", batch_mat_mul),
    TF("BatchMatMulV2", batch_mat_mul),
    TF("BatchMatMulV3", batch_mat_mul),
    TF("Einsum", einsum),
    TF("MatMul", mat_mul),
};
TENON__UFF_FAMILY(product);
