/*
 * Sequences and optionals. What is known of a sequence's items is their type and, where they agree,
 * rank and extents; where items differ, an extent is one that only the run knows.
 */
#include <stdbool.h>
#include "families.h"

#include "infer.h"

#define SEQUENCE(name) PORT_OF(name, "T", NULL, TENON_PORT_SEQUENCE)
#define OPTIONAL_VALUE(name) PORT_OF(name, "T", NULL, TENON_PORT_OPTIONAL_TYPE)
#define OPTIONAL_SEQUENCE (TENON_PORT_OPTIONAL_TYPE | TENON_PORT_SEQUENCE)
#define POSITION OPTIONAL("position", "I")
#define ANY TYPES(TYPE("T", "any"))
#define ANY_AT TYPES(TYPE("T", "any"), TYPE("I", "i32 i64"))

/* What one input says about items: rank TENON_NONE when that is unknown. */
typedef struct item_t {
  uint32_t rank;
  tenon_dim_t dims[TENON_RANK_LIMIT];
} item_t;

static item_t item_of(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                      uint32_t input) {
  item_t item = {.rank = table->rank(builder, input)};
  if (item.rank > TENON_RANK_LIMIT) {
    item.rank = TENON_NONE;
  }
  if (item.rank != TENON_NONE) {
    for (uint32_t axis = 0; axis < item.rank; ++axis) {
      item.dims[axis] = table->dim(builder, input, axis);
    }
  }
  return item;
}

/* An extent that the run finds. set_item makes it, for what is made must be an output's. */
static const tenon_dim_t unbounded = {TENON_NONE};

/* An extent that is no number may be another one in each item: what is taken out has its own. */
static void free_extents(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                         item_t* inout_item) {
  if (inout_item->rank != TENON_NONE) {
    for (uint32_t axis = 0; axis < inout_item->rank; ++axis) {
      int64_t extent = 0;
      if (!table->known(builder, inout_item->dims[axis], &extent)) {
        inout_item->dims[axis] = unbounded;
      }
    }
  }
}

/* What holds for both: extents that may differ become unknown. */
static void merge_items(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                        item_t* inout_item, const item_t* other) {
  if (inout_item->rank != other->rank) {
    inout_item->rank = TENON_NONE;
    return;
  }
  if (inout_item->rank != TENON_NONE) {
    for (uint32_t axis = 0; axis < inout_item->rank; ++axis) {
      int64_t a = 0;
      int64_t b = 0;
      bool same = inout_item->dims[axis].id == other->dims[axis].id ||
                  (inout_item->dims[axis].id != TENON_NONE &&
                   table->known(builder, inout_item->dims[axis], &a) &&
                   table->known(builder, other->dims[axis], &b) && a == b);
      if (!same) {
        inout_item->dims[axis] = unbounded;
      }
    }
  }
}

static tenon_status_t set_item(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                               tenon_dtype_t dtype, const item_t* item) {
  tenon_dim_t dims[TENON_RANK_LIMIT];
  if (item->rank == TENON_NONE) {
    return TENON_OK; /* an output that is not set has an unknown rank */
  }
  for (uint32_t axis = 0; axis < item->rank; ++axis) {
    dims[axis] =
        item->dims[axis].id == TENON_NONE ? table->fresh(builder, unbounded) : item->dims[axis];
  }
  return table->set_output(builder, 0, dtype, item->rank, dims);
}

/* Output 0 has the items of input 0: sequence_erase, optional_get. */
static tenon_status_t infer_same(void* state, tenon_shape_builder_t* builder,
                                 const tenon_shape_table_t* table) {
  (void)state;
  item_t item = item_of(builder, table, 0);
  return set_item(builder, table, table->input_dtype(builder, 0), &item);
}

static tenon_status_t infer_at(void* state, tenon_shape_builder_t* builder,
                               const tenon_shape_table_t* table) {
  (void)state;
  item_t item = item_of(builder, table, 0);
  free_extents(builder, table, &item);
  return set_item(builder, table, table->input_dtype(builder, 0), &item);
}

static tenon_status_t infer_make(void* state, tenon_shape_builder_t* builder,
                                 const tenon_shape_table_t* table) {
  (void)state;
  item_t item = item_of(builder, table, 0);
  for (uint32_t input = 1; input < table->input_count(builder); ++input) {
    item_t next = item_of(builder, table, input);
    merge_items(builder, table, &item, &next);
  }
  return set_item(builder, table, table->input_dtype(builder, 0), &item);
}

static tenon_status_t infer_insert(void* state, tenon_shape_builder_t* builder,
                                   const tenon_shape_table_t* table) {
  (void)state;
  item_t item = item_of(builder, table, 0);
  item_t inserted = item_of(builder, table, 1);
  merge_items(builder, table, &item, &inserted);
  return set_item(builder, table, table->input_dtype(builder, 0), &item);
}

static tenon_status_t infer_empty(void* state, tenon_shape_builder_t* builder,
                                  const tenon_shape_table_t* table) {
  (void)state;
  int64_t dtype = TENON_DTYPE_FLOAT32;
  tenon_status_t status = table->attribute_int(builder, "to", &dtype);
  item_t item = {.rank = TENON_NONE};
  return status != TENON_OK ? status : set_item(builder, table, (tenon_dtype_t)dtype, &item);
}

static tenon_status_t infer_optional_make(void* state, tenon_shape_builder_t* builder,
                                          const tenon_shape_table_t* table) {
  return table->input_count(builder) > 0 && table->present(builder, 0)
             ? infer_same(state, builder, table)
             : infer_empty(state, builder, table);
}

static tenon_status_t attribute_axis(tenon_shape_builder_t* builder,
                                     const tenon_shape_table_t* table, uint32_t rank,
                                     uint32_t* out_axis) {
  int64_t axis = 0;
  tenon_status_t status = table->attribute_int(builder, "axis", &axis);
  if (status != TENON_OK) {
    return status;
  }
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank) {
    return tenon__infer_refuse(builder, table, "axis %lld is out of range for rank %u",
                               (long long)axis, rank);
  }
  *out_axis = (uint32_t)axis;
  return TENON_OK;
}

static tenon_status_t infer_split(void* state, tenon_shape_builder_t* builder,
                                  const tenon_shape_table_t* table) {
  (void)state;
  item_t item = item_of(builder, table, 0);
  uint32_t axis = 0;
  tenon_status_t status = attribute_axis(builder, table, item.rank, &axis);
  int64_t keepdims = 1;
  if (status == TENON_OK) {
    status = table->attribute_int(builder, "keepdims", &keepdims);
  }
  if (status != TENON_OK) {
    return status;
  }
  bool sized = table->input_count(builder) > 1 && table->present(builder, 1);
  if (!sized && keepdims == 0) {
    for (uint32_t next = axis + 1; next < item.rank; ++next) {
      item.dims[next - 1] = item.dims[next];
    }
    --item.rank;
  } else {
    item.dims[axis] = sized ? table->fresh(builder, item.dims[axis]) : table->constant(builder, 1);
  }
  return set_item(builder, table, table->input_dtype(builder, 0), &item);
}

static tenon_status_t infer_concat(void* state, tenon_shape_builder_t* builder,
                                   const tenon_shape_table_t* table) {
  (void)state;
  item_t item = item_of(builder, table, 0);
  tenon_dtype_t dtype = table->input_dtype(builder, 0);
  if (item.rank == TENON_NONE || item.rank == TENON_RANK_LIMIT) {
    item.rank = TENON_NONE;
    return set_item(builder, table, dtype, &item);
  }
  int64_t new_axis = 0;
  uint32_t axis = 0;
  tenon_status_t status = table->attribute_int(builder, "new_axis", &new_axis);
  if (status == TENON_OK) {
    status = attribute_axis(builder, table, item.rank + (new_axis != 0 ? 1u : 0u), &axis);
  }
  if (status != TENON_OK) {
    return status;
  }
  if (new_axis == 0) {
    item.dims[axis] = table->constant(builder, 1); /* until it gets one of its own */
  }
  free_extents(builder, table, &item);
  if (new_axis != 0) {
    for (uint32_t next = item.rank; next > axis; --next) {
      item.dims[next] = item.dims[next - 1];
    }
    ++item.rank;
  }
  item.dims[axis] = unbounded;
  return set_item(builder, table, dtype, &item);
}

static const tenon_operator_t operators[] = {
    {OPERATOR("sequence_make", "the inputs in order"), ANY, INPUTS(VARIADIC("xs", "T")),
     OUTPUTS(SEQUENCE("y")), .infer = infer_make, .traits = "pure; not_foldable"},
    {OPERATOR("sequence_empty", "nothing yet, of items of type `to`"),
     OUTPUTS(PORT_OF("y", "$to", NULL, TENON_PORT_SEQUENCE)), ATTRIBUTES(DTYPE("to", "f32")),
     .infer = infer_empty, .traits = "pure; not_foldable"},
    {OPERATOR("sequence_at", "the item at position"), ANY_AT,
     INPUTS(SEQUENCE("s"), PORT("position", "I")), OUTPUTS(UNBOUNDED("y", "T")), .infer = infer_at,
     .traits = "pure; not_foldable"},
    {OPERATOR("sequence_length", "how many items"), ANY, INPUTS(SEQUENCE("s")),
     OUTPUTS(PORT("y", "i64")), .shape = "y = []", .traits = "pure; not_foldable"},
    {OPERATOR("sequence_insert", "with x before position, or at the end"), ANY_AT,
     INPUTS(SEQUENCE("s"), PORT("x", "T"), POSITION), OUTPUTS(SEQUENCE("y")), .infer = infer_insert,
     .traits = "pure; not_foldable"},
    {OPERATOR("sequence_erase", "without the item at position, or the last"), ANY_AT,
     INPUTS(SEQUENCE("s"), POSITION), OUTPUTS(SEQUENCE("y")), .infer = infer_same,
     .traits = "pure; not_foldable"},
    {OPERATOR("split_to_sequence", "pieces of x along the axis"), ANY_AT,
     INPUTS(PORT("x", "T"), OPTIONAL_SHAPE("sizes", "I")), OUTPUTS(SEQUENCE("y")),
     ATTRIBUTES(INT("axis", "0"), FLAG("keepdims", "1")), .infer = infer_split,
     .traits = "pure; not_foldable"},
    {OPERATOR("concat_from_sequence", "items one after the other along the axis, or a new one"),
     ANY, INPUTS(SEQUENCE("s")), OUTPUTS(UNBOUNDED("y", "T")),
     ATTRIBUTES(REQUIRED_INT("axis"), FLAG("new_axis", "0")), .infer = infer_concat,
     .traits = "pure; not_foldable"},
    {OPERATOR("optional_make", "x, or nothing"), ANY, INPUTS(OPTIONAL("x", "T")),
     OUTPUTS(PORT_OF("y", "$to", NULL, TENON_PORT_OPTIONAL_TYPE)), ATTRIBUTES(DTYPE("to", "f32")),
     .infer = infer_optional_make, .traits = "pure; not_foldable"},
    {OPERATOR("optional_get", "the value in the optional"), ANY, INPUTS(OPTIONAL_VALUE("o")),
     OUTPUTS(UNBOUNDED("y", "T")), .infer = infer_same, .traits = "pure; not_foldable"},
    {OPERATOR("optional_has", "whether the optional holds something"), ANY,
     INPUTS(PORT_OF("o", "T", NULL, TENON_PORT_OPTIONAL_TYPE | TENON_PORT_OPTIONAL)),
     OUTPUTS(PORT("y", "bool")), .shape = "y = []", .traits = "pure; not_foldable"},
    {OPERATOR("optional_make_sequence", "the sequence s, or nothing"), ANY,
     INPUTS(PORT_OF("s", "T", NULL, TENON_PORT_SEQUENCE | TENON_PORT_OPTIONAL)),
     OUTPUTS(PORT_OF("y", "$to", NULL, OPTIONAL_SEQUENCE)), ATTRIBUTES(DTYPE("to", "f32")),
     .infer = infer_optional_make, .traits = "pure; not_foldable"},
    {OPERATOR("optional_get_sequence", "the sequence that the optional holds"), ANY,
     INPUTS(PORT_OF("o", "T", NULL, OPTIONAL_SEQUENCE)), OUTPUTS(SEQUENCE("y")),
     .infer = infer_same, .traits = "pure; not_foldable"},
    {OPERATOR("optional_has_sequence", "whether the optional holds a sequence"), ANY,
     INPUTS(PORT_OF("o", "T", NULL, OPTIONAL_SEQUENCE)), OUTPUTS(PORT("y", "bool")),
     .shape = "y = []", .traits = "pure; not_foldable"},
};
FAMILY(sequence);
