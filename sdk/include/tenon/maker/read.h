/* The code of tenon/maker.h: rows, failing, reading the node. */
#ifndef TENON_MAKER_READ_H_
#define TENON_MAKER_READ_H_

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/maker.h"

enum { TENON_MAKE_NAME_SIZE = 64, TENON_MAKE_MESSAGE_SIZE = 512, TENON_MAKE_MATH_LIMIT = 8 };

/* Memory of one conversion: freed when it ends. */
typedef struct tenon_make_block_t {
  struct tenon_make_block_t* next;
  size_t padding; /* what follows is aligned to 16 */
} tenon_make_block_t;

/* ---- The row that a node is made by ---- */

static inline const tenon_make_row_t* tenon_make_find_row(const tenon_make_row_t* rows,
                                                          size_t count,
                                                          const tenon_conversion_t* call) {
  const char* domain = call->table->domain(call->source);
  const char* type = call->table->type(call->source);
  const int64_t version = call->table->version(call->source);
  for (size_t k = 0; k < count; ++k) {
    const tenon_converter_t* row = &rows[k].converter;
    if (strcmp(row->type, type) == 0 && strcmp(row->domain, domain) == 0 && version >= row->since &&
        (row->until == 0 || version < row->until)) {
      return &rows[k];
    }
  }
  return NULL;
}

static inline const tenon_make_row_t* tenon_make_find_offered(
    const tenon_offering_t* const* offerings, size_t count, const tenon_conversion_t* call) {
  const tenon_make_row_t* row = NULL;
  for (size_t i = 0; i < count && row == NULL; ++i) {
    const tenon_list_t* items = &offerings[i]->items;
    row = tenon_make_find_row((const tenon_make_row_t*)items->items, items->count, call);
  }
  return row;
}

static inline tenon_status_t tenon_make_run(const tenon_make_row_t* row,
                                            const tenon_conversion_t* call) {
  tenon_make_t make;
  memset(&make, 0, sizeof(make));
  make.source = call->source;
  make.table = call->table;
  make.builder = call->builder;
  make.build = call->build;
  make.inputs = call->inputs;
  make.input_count = call->input_count;
  make.outputs = call->outputs;
  make.output_count = call->output_count;
  make.row = row;
  if (row == NULL) {
    tenon_make_fail(&make, TENON_ERROR_INTERNAL, "no row takes version %" PRId64,
                    call->table->version(call->source));
  } else {
    make.row->make(&make);
  }
  if (make.status != TENON_OK && make.is_open) {
    call->build->cancel(call->builder);
  }
  while (make.blocks != NULL) {
    tenon_make_block_t* block = make.blocks;
    make.blocks = block->next;
    free(block);
  }
  return make.status;
}

static inline void tenon_make_same(tenon_make_t* make) {
  tenon_make_begin(make, make->row->op);
  if (make->row->attributes != NULL) {
    tenon_make_pass_all(make, make->row->attributes);
  }
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

/* ---- Failing ---- */

static inline void tenon_make_report(const tenon_make_t* make, int32_t severity, const char* format,
                                     va_list arguments) {
  const tenon_sink_t* sink = make->build->sink(make->builder);
  char message[TENON_MAKE_MESSAGE_SIZE];
  const int used = snprintf(message, sizeof(message), "%s '%s': ", make->table->type(make->source),
                            make->table->name(make->source));
  if (sink == NULL || sink->report == NULL || used < 0) {
    return;
  }
  if ((size_t)used < sizeof(message)) {
    (void)vsnprintf(message + used, sizeof(message) - (size_t)used, format, arguments);
  }
  sink->report(sink->user, severity, message);
}

static inline void tenon_make_fail(tenon_make_t* make, tenon_status_t status, const char* format,
                                   ...) {
  if (make->status == TENON_OK) {
    va_list arguments;
    va_start(arguments, format);
    tenon_make_report(make, TENON_SEVERITY_ERROR, format, arguments);
    va_end(arguments);
    make->status = status;
  }
}

static inline void tenon_make_say(tenon_make_t* make, int32_t severity, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tenon_make_report(make, severity, format, arguments);
  va_end(arguments);
}

static inline bool tenon_make_ok(const tenon_make_t* make) {
  return make->status == TENON_OK;
}

/* Keeps the first failure. True when all is well. */
static inline bool tenon_make_keep(tenon_make_t* make, tenon_status_t status) {
  if (make->status == TENON_OK) {
    make->status = status;
  }
  return make->status == TENON_OK;
}

/* Absent is no failure. */
static inline bool tenon_make_found(tenon_make_t* make, tenon_status_t status) {
  return status != TENON_ERROR_NOT_FOUND && tenon_make_keep(make, status);
}

static inline void* tenon_make_memory(tenon_make_t* make, size_t count, size_t size_bytes) {
  tenon_make_block_t* block = NULL;
  if (size_bytes == 0 || count < (SIZE_MAX - sizeof(*block)) / size_bytes) {
    block = (tenon_make_block_t*)calloc(1, sizeof(*block) + count * size_bytes);
  }
  if (block == NULL) {
    tenon_make_fail(make, TENON_ERROR_OUT_OF_MEMORY, "out of memory");
    return NULL;
  }
  block->next = make->blocks;
  make->blocks = block;
  return block + 1;
}

/* ---- Reading the node ---- */

static inline tenon_value_t tenon_make_input(const tenon_make_t* make, uint32_t index) {
  const tenon_value_t absent = {0};
  return index < make->input_count ? make->inputs[index] : absent;
}

static inline bool tenon_make_has_input(const tenon_make_t* make, uint32_t index) {
  return tenon_make_present(tenon_make_input(make, index));
}

static inline int64_t tenon_make_version(const tenon_make_t* make) {
  return make->table->version(make->source);
}

/* The message that `path` ends in, and the name there; NULL when there is no such message. */
static inline const tenon_source_t* tenon_make_follow(const tenon_make_t* make, const char* path,
                                                      const char** out_name) {
  const tenon_source_table_t* table = make->table;
  const tenon_source_t* source = make->source;
  const char* dot = NULL;
  while (source != NULL && table->field_kind(source, path) == TENON_FIELD_NONE &&
         (dot = strchr(path, '.')) != NULL) {
    char name[TENON_MAKE_NAME_SIZE] = "";
    const size_t length = (size_t)(dot - path);
    const tenon_source_t* inner = NULL;
    if (length < sizeof(name)) {
      memcpy(name, path, length);
    }
    const uint32_t kind = table->field_kind(source, name);
    const bool is_tree = kind == TENON_FIELD_TREE || kind == TENON_FIELD_TREES;
    if (!is_tree || table->get_tree(source, name, 0, &inner) != TENON_OK) {
      return NULL;
    }
    source = inner;
    path = dot + 1;
  }
  *out_name = path;
  return source;
}

static inline bool tenon_make_has(const tenon_make_t* make, const char* name) {
  const tenon_source_t* source = tenon_make_follow(make, name, &name);
  return source != NULL && make->table->field_kind(source, name) != TENON_FIELD_NONE;
}

static inline int64_t tenon_make_get_int(tenon_make_t* make, const char* name, int64_t otherwise) {
  const tenon_source_t* source = tenon_make_follow(make, name, &name);
  int64_t value = 0;
  return source != NULL && tenon_make_found(make, make->table->get_int(source, name, &value))
             ? value
             : otherwise;
}

static inline double tenon_make_get_float(tenon_make_t* make, const char* name, double otherwise) {
  const tenon_source_t* source = tenon_make_follow(make, name, &name);
  double value = 0;
  return source != NULL && tenon_make_found(make, make->table->get_float(source, name, &value))
             ? value
             : otherwise;
}

static inline const char* tenon_make_copy_text(tenon_make_t* make, tenon_string_view_t text) {
  char* copy = (char*)tenon_make_memory(make, text.size + 1, 1);
  if (copy == NULL) {
    return "";
  }
  if (text.size > 0) {
    memcpy(copy, text.data, text.size);
  }
  return copy;
}

/* The default is copied too, so that compilers do not follow it into a caller's comparisons and
 * find them pointless. */
static inline const char* tenon_make_get_string(tenon_make_t* make, const char* name,
                                                const char* otherwise) {
  const tenon_source_t* source = tenon_make_follow(make, name, &name);
  tenon_string_view_t text = {otherwise, otherwise == NULL ? 0 : strlen(otherwise)};
  const bool is_there =
      source != NULL && tenon_make_found(make, make->table->get_string(source, name, &text));
  return is_there || otherwise != NULL ? tenon_make_copy_text(make, text) : NULL;
}

static inline bool tenon_make_get_ints(tenon_make_t* make, const char* name,
                                       const int64_t** out_values, size_t* out_count) {
  const tenon_source_t* source = tenon_make_follow(make, name, &name);
  *out_values = NULL;
  *out_count = 0;
  return source != NULL &&
         tenon_make_found(make, make->table->get_ints(source, name, out_values, out_count));
}

static inline bool tenon_make_get_floats(tenon_make_t* make, const char* name,
                                         const double** out_values, size_t* out_count) {
  const tenon_source_t* source = tenon_make_follow(make, name, &name);
  *out_values = NULL;
  *out_count = 0;
  return source != NULL &&
         tenon_make_found(make, make->table->get_floats(source, name, out_values, out_count));
}

static inline uint32_t tenon_make_blob_count(const tenon_make_t* make) {
  return make->table->blob_count(make->source);
}

static inline const tenon_tensor_view_t* tenon_make_blob_view(tenon_make_t* make, uint32_t index) {
  const uint32_t count = tenon_make_blob_count(make);
  tenon_tensor_view_t* view = (tenon_tensor_view_t*)tenon_make_memory(make, 1, sizeof(*view));
  if (index >= count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has %u blobs of weights, %u are needed",
                    count, index + 1);
  }
  return make->status == TENON_OK &&
                 tenon_make_keep(make, make->table->get_blob(make->source, index, view))
             ? view
             : NULL;
}

/* How many elements; -1 when that is not known. */
static inline int64_t tenon_make_product(uint32_t rank, const int64_t* dims) {
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] < 0 || (dims[i] != 0 && count > INT64_MAX / dims[i])) {
      return -1;
    }
    count *= dims[i];
  }
  return count;
}

/* Weights that the file lacks, where the parser makes them up. False, without a failure, when it
 * does not. */
static inline bool tenon_make_missing_blob(tenon_make_t* make, uint32_t index, uint32_t rank,
                                           const int64_t* dims, tenon_value_t* out_value) {
  const tenon_source_table_t* table = make->table;
  const int64_t count = dims == NULL ? -1 : tenon_make_product(rank, dims);
  if (make->status != TENON_OK || index < tenon_make_blob_count(make) || count < 0 ||
      !TENON_HAS(table, tenon_source_table_t, make_blob) || table->make_blob == NULL) {
    return false;
  }
  if (count > INT32_MAX / (int64_t)sizeof(float)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "its weights would be %" PRId64 " numbers, more than 2 GiB", count);
    return true;
  }
  float* values = (float*)tenon_make_memory(make, (size_t)count, sizeof(float));
  if (values == NULL ||
      !tenon_make_found(make, table->make_blob(make->source, index, rank, dims, values))) {
    return make->status != TENON_OK;
  }
  *out_value = tenon_make_tensor(make, TENON_DTYPE_FLOAT32, rank, dims, values);
  return true;
}

static inline tenon_value_t tenon_make_blob(tenon_make_t* make, uint32_t index, uint32_t rank,
                                            const int64_t* dims) {
  tenon_value_t value = {0};
  if (tenon_make_missing_blob(make, index, rank, dims, &value)) {
    return value;
  }
  const tenon_tensor_view_t* blob = tenon_make_blob_view(make, index);
  if (blob == NULL) {
    return value;
  }
  tenon_tensor_view_t view = *blob;
  if (dims != NULL) {
    const int64_t wanted = tenon_make_product(rank, dims);
    const int64_t there = tenon_make_product(blob->rank, blob->dims);
    if (wanted < 0 || wanted != there) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "blob %u has %" PRId64 " weights, %" PRId64 " are needed", index, there,
                      wanted);
      return value;
    }
    view.rank = rank;
    view.dims = dims;
    view.strides = NULL;
  }
  const tenon_source_table_t* table = make->table;
  const int32_t borrow = TENON_HAS(table, tenon_source_table_t, can_borrow) &&
                         table->can_borrow != NULL && table->can_borrow(make->source, view.data);
  (void)tenon_make_keep(
      make, make->build->constant(make->builder, table->name(make->source), &view, borrow, &value));
  return value;
}

/* ---- Setting outputs ---- */

static inline bool tenon_make_wants(const tenon_make_t* make, uint32_t index) {
  return index < make->output_count && make->table->output_name(make->source, index)[0] != '\0';
}

static inline void tenon_make_output(tenon_make_t* make, uint32_t index, tenon_value_t value) {
  if (index < make->output_count && make->status == TENON_OK) {
    make->outputs[index] = value;
  }
}

#endif /* TENON_MAKER_READ_H_ */
