/* Where values come from, what passes them on, shapes. */
#include <inttypes.h>

#include "families.h"

/* The bytes stay in the file where they can. */
static void constant(tenon_make_t* make) {
  const tenon_source_table_t* table = make->table;
  tenon_tensor_view_t view;
  tenon_value_t value = {0};
  const tenon_status_t status = table->get_tensor(make->source, make->row->attributes, &view);
  if (status != TENON_OK) {
    tenon_make_fail(make, status == TENON_ERROR_NOT_FOUND ? TENON_ERROR_UNSUPPORTED : status,
                    "it has no '%s', or of a type that cannot be read, as strings",
                    make->row->attributes);
    return;
  }
  const int32_t borrow = table->can_borrow(make->source, view.data);
  (void)tenon_make_has(make, "shape"); /* part of the tensor */
  (void)tenon_make_keep(
      make, make->build->constant(make->builder, table->name(make->source), &view, borrow, &value));
  tenon_make_output(make, 0, value);
}

static void each_input(tenon_make_t* make) {
  for (uint32_t i = 0; i < make->input_count; ++i) {
    tenon_make_output(make, i, tenon_make_input(make, i));
  }
}

/* ---- Shapes ---- */

static void shape(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    const tenon_value_t dims = tenon_make_shape(make, tenon_make_input(make, 0));
    tenon_make_output(make, 0, tenon__uff_as_type(make, dims, "out_type", TENON_DTYPE_INT32));
  }
}

static void shapes(tenon_make_t* make) {
  for (uint32_t i = 0; i < make->input_count; ++i) {
    const tenon_value_t dims = tenon_make_shape(make, tenon_make_input(make, i));
    tenon_make_output(make, i, tenon__uff_as_type(make, dims, "out_type", TENON_DTYPE_INT32));
  }
}

static void size(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    const tenon_value_t count = tenon_make_1(make, "element_count", tenon_make_input(make, 0));
    tenon_make_output(make, 0, tenon__uff_as_type(make, count, "out_type", TENON_DTYPE_INT32));
  }
}

static void rank(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    const int32_t value = (int32_t)tenon_make_rank(make, tenon_make_input(make, 0));
    tenon_make_output(make, 0, tenon_make_tensor(make, TENON_DTYPE_INT32, 0, NULL, &value));
  }
}

/* ---- Generators ---- */

static void fill(tenon_make_t* make) {
  if (tenon__uff_needs(make, 2)) {
    tenon_make_output(
        make, 0,
        tenon_make_2(make, "filled", tenon_make_input(make, 1), tenon__uff_operand(make, 0)));
  }
}

/* ZerosLike, OnesLike: `op` is the number. */
static void filled_like(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    const tenon_value_t x = tenon_make_input(make, 0);
    const double number = make->row->op[0] == '1' ? 1 : 0;
    const tenon_value_t value = tenon_make_number(make, tenon_make_dtype(make, x), number);
    tenon_make_output(make, 0, tenon_make_2(make, "filled", value, tenon_make_shape(make, x)));
  }
}

static void range(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 3)) {
    return;
  }
  const tenon_dtype_t dtype = tenon_make_dtype(make, tenon_make_input(make, 0));
  tenon_make_begin(make, tenon_make_is_float(dtype) ? "arange_float" : "arange");
  tenon_make_add_inputs(make, 0);
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void cast(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 1)) {
    return;
  }
  const tenon_dtype_t to = (tenon_dtype_t)tenon_make_get_int(make, "DstT", TENON_DTYPE_UNDEFINED);
  (void)tenon_make_has(make, "Truncate"); /* of floats to narrower ones: both round here */
  if (to == TENON_DTYPE_UNDEFINED) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "it converts to a type that Tenon has not");
    return;
  }
  tenon_make_output(make, 0, tenon_make_cast(make, tenon_make_input(make, 0), to));
}

/* Collapses all but the batch. */
static void flatten(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    tenon_make_output(make, 0, tenon_make_1(make, "flatten", tenon_make_input(make, 0)));
  }
}

static void broadcast_to(tenon_make_t* make) {
  if (tenon__uff_needs(make, 2)) {
    tenon_make_output(
        make, 0,
        tenon_make_2(make, "broadcast_to", tenon_make_input(make, 0), tenon__uff_operand(make, 1)));
  }
}

#define UFF(type, function) TENON__UFF_ROW(type, function, NULL, NULL)
#define TF(type, function) TENON__UFF_TF_ROW(type, function, NULL, NULL)
#define PASSES(type) TF(type, tenon__uff_same_input)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON__UFF_ROW("Const", constant, NULL, "values"),
    UFF("Flatten", flatten),
    UFF("Identity", tenon__uff_same_input),
    UFF("MarkOutput", tenon__uff_same_input),
    UFF("Shape", shape),

    TF("BroadcastTo", broadcast_to),
    TF("Cast", cast),
    PASSES("CheckNumerics"),
    TENON__UFF_TF_ROW("Const", constant, NULL, "value"),
    PASSES("EnsureShape"),
    TF("Fill", fill),
    PASSES("Identity"),
    TF("IdentityN", each_input),
    TENON__UFF_TF_ROW("OnesLike", filled_like, "1", NULL),
    PASSES("PlaceholderWithDefault"),
    PASSES("PreventGradient"),
    TF("Range", range),
    TF("Rank", rank),
    TF("Shape", shape),
    TF("ShapeN", shapes),
    TF("Size", size),
    PASSES("StopGradient"),
    TENON__UFF_TF_ROW("ZerosLike", filled_like, "0", NULL),
};
TENON__UFF_FAMILY(data);
