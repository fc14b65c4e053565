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

enum { HAS_ORDER = 1u << 0, HAS_BLOCKS = 1u << 1, HAS_MULTIPLES = 1u << 2, HAS_BORDERS = 1u << 3 };

void tenon__layout_write(const tenon_layout_t* layout, tenon__byte_writer_t* writer) {
  const uint32_t parts = (layout->order != NULL ? HAS_ORDER : 0u) |
                         (layout->block_count > 0 ? HAS_BLOCKS : 0u) |
                         (layout->multiples != NULL ? HAS_MULTIPLES : 0u) |
                         (layout->borders != NULL ? HAS_BORDERS : 0u);
  tenon__write_string(writer, layout->name);
  tenon__write_u32(writer, layout->rank);
  tenon__write_u32(writer, layout->planes);
  tenon__write_u32(writer, layout->scale_companion);
  tenon__write_u32(writer, parts);
  if (layout->order != NULL) {
    tenon__numbers_write(layout->order, layout->rank, writer);
  }
  if (layout->block_count > 0) {
    tenon__write_u32(writer, layout->block_count);
    tenon__numbers_write(layout->block_dims, layout->block_count, writer);
    tenon__numbers_write(layout->block_sizes, layout->block_count, writer);
  }
  if (layout->multiples != NULL) {
    tenon__numbers_write(layout->multiples, layout->rank, writer);
  }
  if (layout->borders != NULL) {
    tenon__numbers_write(layout->borders, layout->rank, writer);
  }
}

/* An array that may be absent. */
static tenon_status_t read_part(tenon__byte_reader_t* reader, bool is_there, uint32_t count,
                                tenon__arena_t* arena, const uint32_t** out_numbers) {
  uint32_t* numbers = NULL;
  if (is_there) {
    TENON_TRY(tenon__numbers_read(reader, count, arena, &numbers));
  }
  *out_numbers = numbers;
  return TENON_OK;
}

tenon_status_t tenon__layout_read(tenon__byte_reader_t* reader, uint32_t rank,
                                  tenon__arena_t* arena, const tenon_layout_t** out_layout) {
  tenon_layout_t* layout = tenon__arena_allocate(arena, 1, sizeof *layout);
  TENON_TRY_MEMORY(layout != NULL);
  layout->size = sizeof *layout;
  layout->name = tenon__read_string(reader);
  layout->rank = tenon__read_u32(reader);
  layout->planes = tenon__read_u32(reader);
  layout->scale_companion = tenon__read_u32(reader);
  const uint32_t parts = tenon__read_u32(reader);
  if (reader->failed || layout->rank != rank || rank > MOST_AXES) {
    return TENON_ERROR_INVALID_DATA;
  }
  TENON_TRY(read_part(reader, (parts & HAS_ORDER) != 0, rank, arena, &layout->order));
  if ((parts & HAS_BLOCKS) != 0) {
    layout->block_count = tenon__read_count(reader, 8);
    TENON_TRY(read_part(reader, true, layout->block_count, arena, &layout->block_dims));
    TENON_TRY(read_part(reader, true, layout->block_count, arena, &layout->block_sizes));
  }
  TENON_TRY(read_part(reader, (parts & HAS_MULTIPLES) != 0, rank, arena, &layout->multiples));
  TENON_TRY(read_part(reader, (parts & HAS_BORDERS) != 0, rank, arena, &layout->borders));
  if (reader->failed || !tenon__layout_valid(layout)) {
    return TENON_ERROR_INVALID_DATA;
  }
  *out_layout = layout;
  return TENON_OK;
}
