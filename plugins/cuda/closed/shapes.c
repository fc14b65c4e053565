/* What a row's functions ask: arguments, attributes; and what they say: numbers, launches. */
#include <string.h>

#include "closed.h"

/* ---- Arguments ---- */

static const char* read_value(const tenon__closed_work_t* work, uint32_t value,
                              tenon__closed_shape_t* out) {
  const tenon_value_info_t* info =
      value == TENON_NONE ? NULL : work->table->value(work->region, value);
  *out = (tenon__closed_shape_t){.count = 1};
  if (info == NULL || info->kind == TENON_ARGUMENT_ABSENT) {
    return NULL;
  }
  if (info->kind != TENON_ARGUMENT_TENSOR) {
    return "an argument that is no tensor";
  }
  if (info->rank > TENON_CLOSED_AXES) {
    return "more than eight axes";
  }
  out->present = true;
  out->dtype = info->dtype;
  out->rank = info->rank;
  for (uint32_t k = 0; k < info->rank; k++) {
    out->open = out->open || info->dims_max[k] < 0;
    out->dims[k] = info->dims_max[k] < 0 ? 0 : info->dims_max[k];
    out->count *= out->dims[k];
  }
  return NULL;
}

const char* tenon__closed_read_region(tenon__closed_work_t* inout_work) {
  const tenon_region_table_t* table = inout_work->table;
  const char* why = NULL;
  inout_work->in_count = table->input_count(inout_work->region);
  inout_work->out_count = table->output_count(inout_work->region);
  if (inout_work->in_count > TENON_CLOSED_INPUTS || inout_work->out_count > TENON_CLOSED_OUTPUTS) {
    return "too many arguments";
  }
  for (uint32_t k = 0; k < inout_work->in_count && why == NULL; k++) {
    why = read_value(inout_work, table->input(inout_work->region, k), &inout_work->in[k]);
  }
  for (uint32_t k = 0; k < inout_work->out_count && why == NULL; k++) {
    why = read_value(inout_work, table->output(inout_work->region, k), &inout_work->out[k]);
  }
  return why;
}

/* ---- Attributes ---- */

int64_t tenon__closed_int(const tenon__closed_work_t* work, const char* name) {
  int64_t value = 0;
  return work->table->attribute_int(work->region, 0, name, &value) == TENON_OK ? value : 0;
}

int64_t tenon__closed_item(const tenon__closed_work_t* work, const char* name, size_t index,
                           int64_t otherwise) {
  const int64_t* values = NULL;
  size_t count = 0;
  const bool has = work->table->attribute_ints(work->region, 0, name, &values, &count) == TENON_OK;
  return has && index < count ? values[index] : otherwise;
}

size_t tenon__closed_item_count(const tenon__closed_work_t* work, const char* name) {
  const int64_t* values = NULL;
  size_t count = 0;
  const bool has = work->table->attribute_ints(work->region, 0, name, &values, &count) == TENON_OK;
  return has ? count : 0;
}

bool tenon__closed_is(const tenon__closed_work_t* work, const char* name, const char* value) {
  const char* text = NULL;
  return work->table->attribute_string(work->region, 0, name, &text) == TENON_OK &&
         strcmp(text, value) == 0;
}

/* ---- Extents ---- */

uint32_t tenon__closed_axis(int64_t axis, uint32_t rank) {
  return (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
}

int64_t tenon__closed_product(const tenon__closed_shape_t* shape, uint32_t begin, uint32_t end) {
  int64_t product = 1;
  for (uint32_t k = begin; k < end; k++) {
    product *= shape->dims[k];
  }
  return product;
}

void tenon__closed_set_axis(tenon__closed_work_t* work, uint32_t at,
                            const tenon__closed_shape_t* shape, uint32_t axis) {
  work->number[at] = tenon__closed_product(shape, 0, axis);
  work->number[at + 1] = shape->dims[axis];
  work->number[at + 2] = tenon__closed_product(shape, axis + 1, shape->rank);
}

/* ---- Launches ---- */

void tenon__closed_launch(tenon__closed_work_t* work, uint32_t kernel, int64_t threads) {
  work->launches[work->launch_count++] =
      (tenon__closed_launch_t){.kernel = kernel, .block = TENON_CLOSED_THREADS, .threads = threads};
}

void tenon__closed_launch_blocks(tenon__closed_work_t* work, uint32_t kernel, int64_t blocks) {
  tenon__closed_launch(work, kernel, blocks * TENON_CLOSED_THREADS);
}

void tenon__closed_launch_wide(tenon__closed_work_t* work, uint32_t kernel, int64_t blocks,
                               uint32_t block) {
  work->launches[work->launch_count++] =
      (tenon__closed_launch_t){.kernel = kernel, .block = block, .threads = blocks * block};
}
