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

void tenon__infer_require_equal(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                tenon_dim_t a, tenon_dim_t b, const char* message) {
  if (TENON_HAS(table, tenon_shape_table_t, require)) {
    table->require(builder, table->combine(builder, TENON_OPCODE_EQ, a, b), message);
  }
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
  if (is_a && known_a == 1) {
    return b;
  }
  if ((is_b && known_b == 1) || a.id == b.id) {
    return a;
  }
  tenon_dim_t one = table->constant(builder, 1);
  tenon_dim_t a_is_one = table->combine(builder, TENON_OPCODE_EQ, a, one);
  tenon_dim_t b_is_one = table->combine(builder, TENON_OPCODE_EQ, b, one);
  if (TENON_HAS(table, tenon_shape_table_t, require)) {
    tenon_dim_t same = table->combine(builder, TENON_OPCODE_EQ, a, b);
    tenon_dim_t either = table->combine(builder, TENON_OPCODE_MAX, a_is_one, b_is_one);
    table->require(builder, table->combine(builder, TENON_OPCODE_MAX, same, either),
                   "the shapes do not broadcast");
  }
  return is_a ? a : is_b ? b : table->select(builder, a_is_one, b, a);
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
  if (!table->known(builder, table->dim(builder, 1, 0), &rank) || rank > TENON_RANK_LIMIT) {
    return tenon__infer_refuse(builder, table, "the number of dims is not known");
  }
  tenon_dim_t dims[TENON_RANK_LIMIT];
  for (int64_t axis = 0; axis < rank; ++axis) {
    dims[axis] = table->fresh(builder, no_bound);
  }
  return table->set_output(builder, 0, table->input_dtype(builder, 0), (uint32_t)rank, dims);
}

/* How one entry of a reshape reads. An entry that only the run knows may be -1 or 0 there, unless
 * it is an extent itself: then it is never negative, and 0 stays 0. */
typedef struct reshaped_t {
  tenon_dim_t dim;    /* the extent, where it is not the rest */
  tenon_dim_t factor; /* what it takes of the elements: 1 where it is the rest */
  tenon_dim_t is_rest;
  bool is_copied; /* surely the extent of x on this axis: cancels in the rest */
} reshaped_t;

static reshaped_t read_entry(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                             tenon_dim_t entry, uint32_t axis, bool copies) {
  const tenon_dim_t zero = table->constant(builder, 0);
  const tenon_dim_t one = table->constant(builder, 1);
  const bool has_axis = axis < table->rank(builder, 0);
  int64_t is_negative = 1;
  reshaped_t result = {.dim = entry, .factor = entry, .is_rest = zero};
  if (has_axis && entry.id == table->dim(builder, 0, axis).id) {
    result.is_copied = true;
    return result;
  }
  int64_t value = 0;
  bool known = table->known(builder, entry, &value) != 0;
  bool extent = table->known(builder, table->combine(builder, TENON_OPCODE_LT, entry, zero),
                             &is_negative) != 0 &&
                is_negative == 0;
  if (!known && extent) {
    return result;
  }
  if (copies && has_axis) {
    tenon_dim_t is_zero = table->combine(builder, TENON_OPCODE_EQ, entry, zero);
    result.dim = table->select(builder, is_zero, table->dim(builder, 0, axis), entry);
    result.is_copied = known && value == 0;
  }
  result.is_rest = table->combine(builder, TENON_OPCODE_EQ, entry, table->constant(builder, -1));
  result.factor = table->select(builder, result.is_rest, one, result.dim);
  return result;
}

/* Products of extents, without the axes that are copied. */
typedef struct reshaped_counts_t {
  tenon_dim_t elements; /* of x */
  tenon_dim_t others;   /* of the new axes that are not the rest */
  tenon_dim_t rest;     /* what the rest comes to */
} reshaped_counts_t;

/* The new extents hold as many elements as x has. */
static tenon_status_t check_elements(tenon_shape_builder_t* builder,
                                     const tenon_shape_table_t* table, const reshaped_t* read,
                                     uint32_t count, reshaped_counts_t counts) {
  const tenon_dim_t one = table->constant(builder, 1);
  tenon_dim_t made = counts.others;
  int64_t had = 0;
  int64_t has = 0;
  for (uint32_t axis = 0; axis < count; ++axis) {
    made = table->combine(builder, TENON_OPCODE_MUL, made,
                          table->select(builder, read[axis].is_rest, counts.rest, one));
  }
  if (table->known(builder, counts.elements, &had) && table->known(builder, made, &has) &&
      had != has) {
    int64_t whole = 0;
    bool known = table->known(builder, product_of_input(builder, table, 0), &whole) != 0;
    int64_t copied = known && had > 0 ? whole / had : 1;
    if (copied > 1 && (has > INT64_MAX / copied || has < INT64_MIN / copied)) {
      known = false; /* more than can be counted */
      copied = 1;
    }
    return tenon__infer_refuse(builder, table, "x has %lld elements%s, the new extents hold %lld",
                               (long long)had * copied, known ? "" : " on the axes that change",
                               (long long)has * copied);
  }
  tenon__infer_require_equal(builder, table, counts.elements, made,
                             "the new extents hold another number of elements than x has");
  return TENON_OK;
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
  if (entries.count > TENON_RANK_LIMIT) {
    return tenon__infer_refuse(builder, table, "%u dims are too many", entries.count);
  }
  reshaped_t read[TENON_RANK_LIMIT];
  tenon_dim_t dims[TENON_RANK_LIMIT];
  tenon_dim_t others = table->constant(builder, 1);
  uint64_t copied = 0;
  bool has_no_elements = false; /* an axis of extent 0 is copied */
  for (uint32_t axis = 0; axis < entries.count; ++axis) {
    int64_t value = 0;
    tenon_dim_t entry = entry_dim(builder, table, &entries, axis);
    if (table->known(builder, entry, &value) && value < -1) {
      return tenon__infer_refuse(builder, table, "dim %u is %lld", axis, (long long)value);
    }
    read[axis] = read_entry(builder, table, entry, axis, allow_zero == 0);
    if (read[axis].is_copied) {
      copied |= (uint64_t)1 << axis;
      has_no_elements = has_no_elements ||
                        (table->known(builder, table->dim(builder, 0, axis), &value) && value == 0);
    } else {
      others = table->combine(builder, TENON_OPCODE_MUL, others, read[axis].factor);
    }
  }
  int64_t product = 1;
  bool empty = table->known(builder, others, &product) != 0 && product == 0;
  tenon_dim_t elements = product_of_input(builder, table, copied);
  tenon_dim_t rest =
      empty ? others : table->combine(builder, TENON_OPCODE_FLOOR_DIV, elements, others);
  if (!has_no_elements) {
    status = check_elements(builder, table, read, entries.count,
                            (reshaped_counts_t){elements, others, rest});
  }
  if (status != TENON_OK) {
    return status;
  }
  for (uint32_t axis = 0; axis < entries.count; ++axis) {
    dims[axis] = table->select(builder, read[axis].is_rest, rest, read[axis].dim);
  }
  return table->set_output(builder, 0, table->input_dtype(builder, 0), entries.count, dims);
}

/* The broadcast of x's extents with the contents of `dims`. */
tenon_status_t tenon__infer_broadcast_to(void* state, tenon_shape_builder_t* builder,
                                         const tenon_shape_table_t* table) {
  (void)state;
  const uint32_t rank = table->rank(builder, 0);
  const uint32_t count = table->content_count(builder, 1);
  const tenon_dim_t one = table->constant(builder, 1);
  tenon_dim_t dims[TENON_RANK_LIMIT];
  if (count == TENON_NONE) {
    return tenon__infer_refuse(builder, table, "the number of dims is not known");
  }
  const uint32_t most = rank > count ? rank : count;
  if (most > TENON_RANK_LIMIT) {
    return tenon__infer_refuse(builder, table, "%u dims, at most %d are possible", most,
                               TENON_RANK_LIMIT);
  }
  for (uint32_t axis = 0; axis < most; ++axis) {
    const tenon_dim_t own = axis + rank < most ? one : table->dim(builder, 0, axis + rank - most);
    const tenon_dim_t wanted =
        axis + count < most ? one : table->content(builder, 1, axis + count - most);
    dims[axis] = tenon__infer_broadcast(builder, table, own, wanted);
  }
  return table->set_output(builder, 0, table->input_dtype(builder, 0), most, dims);
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

/* Without axes, those of extent 1 are dropped. One that is kept must not come to that. */
static void require_not_one(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                            tenon_dim_t dim, uint32_t axis) {
  char message[128];
  if (TENON_HAS(table, tenon_shape_table_t, require)) {
    const tenon_dim_t is_one =
        table->combine(builder, TENON_OPCODE_EQ, dim, table->constant(builder, 1));
    (void)snprintf(message, sizeof(message),
                   "axis %u has extent 1 and would be dropped: name the axes to drop", axis);
    table->require(builder,
                   table->combine(builder, TENON_OPCODE_EQ, is_one, table->constant(builder, 0)),
                   message);
  }
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
  tenon_dim_t dims[TENON_RANK_LIMIT];
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
    if (drop && !known) {
      char message[64];
      (void)snprintf(message, sizeof(message), "axis %u is dropped and has not extent 1", axis);
      tenon__infer_require_equal(builder, table, dim, table->constant(builder, 1), message);
    }
    if (entries.count == 0 && !known) {
      require_not_one(builder, table, dim, axis);
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
  if (entries.count == TENON_NONE) {
    return tenon__infer_refuse(builder, table, "axes must be known when building");
  }
  if (rank > TENON_RANK_LIMIT) {
    return tenon__infer_refuse(builder, table, "%u axes and %u new ones, at most %d are possible",
                               table->rank(builder, 0), entries.count, TENON_RANK_LIMIT);
  }
  status = axes_mask(builder, table, &entries, rank, &mask);
  if (status != TENON_OK) {
    return status;
  }
  tenon_dim_t dims[TENON_RANK_LIMIT];
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
