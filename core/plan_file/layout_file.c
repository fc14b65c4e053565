/* Layouts and lists of numbers in a plan. */
#include "core/plan_file/layout_file.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/tensor/layout.h"

#define MOST_AXES 64u

/* ---- Numbers ---- */

void tenon__numbers_write(const uint32_t* numbers, uint32_t count, tenon__byte_writer_t* writer) {
  for (uint32_t k = 0; k < count; ++k) {
    tenon__write_u32(writer, numbers[k]);
  }
}

tenon_status_t tenon__numbers_read(tenon__byte_reader_t* reader, uint32_t count,
                                   tenon__arena_t* arena, uint32_t** out_numbers) {
  if (reader->failed || count > (reader->size - reader->position) / sizeof(uint32_t)) {
    return TENON_ERROR_INVALID_DATA;
  }
  uint32_t* numbers = tenon__arena_allocate(arena, count, sizeof *numbers);
  TENON_TRY_MEMORY(numbers != NULL);
  for (uint32_t k = 0; k < count; ++k) {
    numbers[k] = tenon__read_u32(reader);
  }
  *out_numbers = numbers;
  return TENON_OK;
}

void tenon__dims_write(const tenon_dim_t* dims, uint32_t count, tenon__byte_writer_t* writer) {
  for (uint32_t k = 0; k < count; ++k) {
    tenon__write_u32(writer, dims[k].id);
  }
}

tenon_status_t tenon__dims_read(tenon__byte_reader_t* reader, const tenon__dim_pool_t* pool,
                                uint32_t count, tenon__arena_t* arena,
                                const tenon_dim_t** out_dims) {
  if (reader->failed || count > (reader->size - reader->position) / sizeof(uint32_t)) {
    return TENON_ERROR_INVALID_DATA;
  }
  tenon_dim_t* dims = tenon__arena_allocate(arena, count, sizeof *dims);
  TENON_TRY_MEMORY(dims != NULL);
  for (uint32_t k = 0; k < count; ++k) {
    dims[k].id = tenon__read_u32(reader);
    if (dims[k].id >= tenon__dim_pool_count(pool)) {
      return TENON_ERROR_INVALID_DATA;
    }
  }
  *out_dims = dims;
  return TENON_OK;
}

/* ---- Layouts ---- */

void tenon__layout_write(const tenon_layout_t* layout, tenon__byte_writer_t* writer) {
  tenon__write_string(writer, layout->name);
  tenon__write_u32(writer, layout->rank);
  tenon__write_u32(writer, layout->order != NULL ? 1 : 0);
  if (layout->order != NULL) {
    tenon__numbers_write(layout->order, layout->rank, writer);
  }
}

tenon_status_t tenon__layout_read(tenon__byte_reader_t* reader, uint32_t rank,
                                  tenon__arena_t* arena, const tenon_layout_t** out_layout) {
  tenon_layout_t* layout = tenon__arena_allocate(arena, 1, sizeof *layout);
  TENON_TRY_MEMORY(layout != NULL);
  layout->size = sizeof *layout;
  layout->name = tenon__read_string(reader);
  layout->rank = tenon__read_u32(reader);
  const bool has_order = tenon__read_u32(reader) != 0;
  if (reader->failed || layout->rank != rank || rank > MOST_AXES) {
    return TENON_ERROR_INVALID_DATA;
  }
  if (has_order) {
    uint32_t* order = NULL;
    TENON_TRY(tenon__numbers_read(reader, rank, arena, &order));
    layout->order = order;
  }
  if (reader->failed || !tenon__layout_valid(layout)) {
    return TENON_ERROR_INVALID_DATA;
  }
  *out_layout = layout;
  return TENON_OK;
}
