/* Shape rules that do not fit a text: reshaping, products, vectorisation. */
#include "infer.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static const tenon_dim_t no_bound = {TENON_NONE};

tenon_status_t tenon__infer_refuse(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                   const char* format, ...) {
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  table->refuse(builder, message);
  return TENON_ERROR_INVALID_DATA;
}

tenon_dim_t tenon__infer_broadcast(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                   tenon_dim_t a, tenon_dim_t b) {
  int64_t known_a = 0;
  int64_t known_b = 0;
  bool is_a = table->known(builder, a, &known_a) != 0;
  bool is_b = table->known(builder, b, &known_b) != 0;
  if (is_a && is_b && known_a != known_b && known_a != 1 && known_b != 1) {
    (void)tenon__infer_refuse(builder, table, "extents %lld and %lld do not broadcast",
                              (long long)known_a, (long long)known_b);
  }
  if (is_a) {
    return known_a == 1 ? b : a;
  }
  return is_b && known_b != 1 ? b : a;
}

/* Entries that an optional shape operand, or else an attribute, gives. */
typedef struct entries_t {
  bool from_input;
  uint32_t input;
  uint32_t count; /* TENON_NONE: not known, and then neither is the rank of the result */
  const int64_t* values;
} entries_t;

static tenon_status_t get_entries(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                  uint32_t input, const char* attribute, entries_t* out_entries) {
  entries_t entries = {.input = input};
  if (table->input_count(builder) > input && table->present(builder, input)) {
    entries.from_input = true;
    entries.count = table->content_count(builder, input);
  } else {
    size_t count = 0;
    tenon_status_t status = table->attribute_ints(builder, attribute, &entries.values, &count);
    if (status != TENON_OK) {
      return status;
    }
    entries.count = (uint32_t)count;
  }
  *out_entries = entries;
  return TENON_OK;
}

static tenon_dim_t entry_dim(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                             const entries_t* entries, uint32_t index) {
  return entries->from_input ? table->content(builder, entries->input, index)
                             : table->constant(builder, entries->values[index]);
}

/* Product of all extents of input 0, less those in the mask. */
static tenon_dim_t product_of_input(tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table, uint64_t without) {
  tenon_dim_t product = table->constant(builder, 1);
  for (uint32_t axis = 0; axis < table->rank(builder, 0); ++axis) {
    if ((without >> axis & 1) == 0) {
      product = table->combine(builder, TENON_OPCODE_MUL, product, table->dim(builder, 0, axis));
    }
  }
  return product;
}

/* A reshape whose extents only the run knows, but for their number. */
static tenon_status_t reshape_unknown(tenon_shape_builder_t* builder,
                                      const tenon_shape_table_t* table) {
  int64_t rank = 0;
  if (!table->known(builder, table->dim(builder, 1, 0), &rank) || rank > TENON__INFER_MAX_RANK) {
    return tenon__infer_refuse(builder, table, "the number of dims is not known");
  }
  tenon_dim_t dims[TENON__INFER_MAX_RANK];
  for (int64_t axis = 0; axis < rank; ++axis) {
    dims[axis] = table->fresh(builder, no_bound);
  }
  return table->set_output(builder, 0, table->input_dtype(builder, 0), (uint32_t)rank, dims);
}

tenon_status_t tenon__infer_reshape(void* state, tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table) {
  (void)state;
  entries_t entries;
  int64_t allow_zero = 0;
  tenon_status_t status = get_entries(builder, table, 1, "fixed_dims", &entries);
  if (status == TENON_OK) {
    status = table->attribute_int(builder, "allow_zero", &allow_zero);
  }
  if (status != TENON_OK) {
    return status;
  }
  if (entries.count == TENON_NONE) {
    return reshape_unknown(builder, table);
  }
  if (entries.count > TENON__INFER_MAX_RANK) {
    return tenon__infer_refuse(builder, table, "%u dims are too many", entries.count);
  }
  uint32_t rank = table->rank(builder, 0);
  tenon_dim_t dims[TENON__INFER_MAX_RANK];
  tenon_dim_t others = table->constant(builder, 1);
  uint64_t copied = 0; /* axes of x whose extent is taken over, so that it cancels in the rest */
  uint32_t rest = TENON_NONE;
  for (uint32_t axis = 0; axis < entries.count; ++axis) {
    int64_t value = 1;
    dims[axis] = entry_dim(builder, table, &entries, axis);
    bool known = table->known(builder, dims[axis], &value) != 0;
    if (known && value == -1 && rest == TENON_NONE) {
      rest = axis;
    } else if (known && (value < 0 || (value == 0 && allow_zero == 0 && axis >= rank))) {
      return tenon__infer_refuse(builder, table, "dim %u is %lld", axis, (long long)value);
    } else if (axis < rank && ((known && value == 0 && allow_zero == 0) ||
                               (!known && dims[axis].id == table->dim(builder, 0, axis).id))) {
      dims[axis] = table->dim(builder, 0, axis);
      copied |= (uint64_t)1 << axis;
    } else {
      others = table->combine(builder, TENON_OPCODE_MUL, others, dims[axis]);
    }
  }
  if (rest != TENON_NONE) {
    tenon_dim_t elements = product_of_input(builder, table, copied);
    int64_t zero = 1;
    dims[rest] = table->known(builder, others, &zero) && zero == 0
                     ? table->constant(builder, 0)
                     : table->combine(builder, TENON_OPCODE_FLOOR_DIV, elements, others);
  }
  return table->set_output(builder, 0, table->input_dtype(builder, 0), entries.count, dims);
}

/* The axes named by entries, as a mask over `rank` axes. */
static tenon_status_t axes_mask(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                const entries_t* entries, uint32_t rank, uint64_t* out_mask) {
  uint64_t mask = 0;
  for (uint32_t index = 0; index < entries->count; ++index) {
    int64_t axis = 0;
    if (!table->known(builder, entry_dim(builder, table, entries, index), &axis)) {
      return tenon__infer_refuse(builder, table, "axes must be known when building");
    }
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank || (mask >> axis & 1) != 0) {
      return tenon__infer_refuse(builder, table, "axis %lld is out of range or double, rank is %u",
                                 (long long)axis, rank);
    }
    mask |= (uint64_t)1 << axis;
  }
  *out_mask = mask;
  return TENON_OK;
}

tenon_status_t tenon__infer_squeeze(void* state, tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table) {
  (void)state;
  entries_t entries;
  uint64_t mask = 0;
  uint32_t rank = table->rank(builder, 0);
  tenon_status_t status = get_entries(builder, table, 1, "fixed_axes", &entries);
  if (status == TENON_OK && entries.count == TENON_NONE) {
    return tenon__infer_refuse(builder, table, "axes must be known when building");
  }
  if (status == TENON_OK) {
    status = axes_mask(builder, table, &entries, rank, &mask);
  }
  if (status != TENON_OK) {
    return status;
  }
  tenon_dim_t dims[TENON__INFER_MAX_RANK];
  uint32_t count = 0;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    int64_t extent = 0;
    tenon_dim_t dim = table->dim(builder, 0, axis);
    bool known = table->known(builder, dim, &extent) != 0;
    bool drop = entries.count == 0 ? known && extent == 1 : (mask >> axis & 1) != 0;
    if (drop && known && extent != 1) {
      return tenon__infer_refuse(builder, table, "axis %u has extent %lld, not 1", axis,
                                 (long long)extent);
    }
    if (!drop) {
      dims[count++] = dim;
    }
  }
  return table->set_output(builder, 0, table->input_dtype(builder, 0), count, dims);
}

tenon_status_t tenon__infer_unsqueeze(void* state, tenon_shape_builder_t* builder,
                                      const tenon_shape_table_t* table) {
  (void)state;
  entries_t entries;
  uint64_t mask = 0;
  tenon_status_t status = get_entries(builder, table, 1, "fixed_axes", &entries);
  if (status != TENON_OK) {
    return status;
  }
  uint32_t rank = table->rank(builder, 0) + (entries.count == TENON_NONE ? 0 : entries.count);
  if (entries.count == TENON_NONE || rank > TENON__INFER_MAX_RANK) {
    return tenon__infer_refuse(builder, table, "axes must be known when building");
  }
  status = axes_mask(builder, table, &entries, rank, &mask);
  if (status != TENON_OK) {
    return status;
  }
  tenon_dim_t dims[TENON__INFER_MAX_RANK];
  uint32_t source = 0;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    dims[axis] =
        (mask >> axis & 1) != 0 ? table->constant(builder, 1) : table->dim(builder, 0, source++);
  }
  return table->set_output(builder, 0, table->input_dtype(builder, 0), rank, dims);
}

tenon_status_t tenon__infer_tfidf_vectorizer(void* state, tenon_shape_builder_t* builder,
                                             const tenon_shape_table_t* table) {
  (void)state;
  const int64_t* indexes = NULL;
  size_t count = 0;
  tenon_status_t status = table->attribute_ints(builder, "ngram_indexes", &indexes, &count);
  if (status != TENON_OK) {
    return status;
  }
  int64_t largest = -1;
  for (size_t index = 0; index < count; ++index) {
    largest = indexes[index] > largest ? indexes[index] : largest;
  }
  uint32_t rank = table->rank(builder, 0);
  if (rank < 1 || rank > 2) {
    return tenon__infer_refuse(builder, table, "x has rank %u, not 1 or 2", rank);
  }
  tenon_dim_t dims[2] = {table->dim(builder, 0, 0)};
  dims[rank - 1] = table->constant(builder, largest + 1);
  return table->set_output(builder, 0, TENON_DTYPE_FLOAT32, rank, dims);
}
