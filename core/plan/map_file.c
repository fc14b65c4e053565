/* Index maps and layouts in a plan. */
#include "core/plan/map_file.h"

#include "core/base/status.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

#define MOST_AXES 64u
#define MOST_SOURCES 65536u

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
  if (numbers == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
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
  if (dims == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < count; ++k) {
    dims[k].id = tenon__read_u32(reader);
    if (dims[k].id >= tenon__dim_pool_count(pool)) {
      return TENON_ERROR_INVALID_DATA;
    }
  }
  *out_dims = dims;
  return TENON_OK;
}

/* ---- Maps ---- */

void tenon__map_write(const tenon__index_map_t* map, tenon__byte_writer_t* writer) {
  tenon__write_u8(writer, (uint8_t)map->kind);
  tenon__write_u32(writer, map->rank);
  tenon__dims_write(map->dims, map->rank, writer);
  tenon__write_u32(writer, map->source_count);
  for (uint32_t k = 0; k < map->source_count; ++k) {
    const tenon__map_source_t* source = &map->sources[k];
    tenon__write_u32(writer, source->input);
    tenon__write_u32(writer, source->rank);
    tenon__dims_write(source->dims, source->rank, writer);
    tenon__write_u8(writer, source->coordinates != NULL ? 1 : 0);
    if (source->coordinates != NULL) {
      tenon__dims_write(source->coordinates, source->rank, writer);
    }
  }
  tenon__write_u8(writer, (uint8_t)map->fill);
  tenon__write_u32(writer, map->fill == TENON_FILL_INPUT ? map->fill_input : TENON_NONE);
  tenon__write_u32(writer, map->fill_dtype);
  tenon__write_i64(writer, map->fill_value.i);
}

static tenon_status_t read_sources(tenon__byte_reader_t* reader, tenon__dim_pool_t* pool,
                                   tenon__arena_t* arena, tenon__index_map_t* inout_map) {
  inout_map->source_count = tenon__read_count(reader, 9);
  if (inout_map->source_count > MOST_SOURCES) {
    return TENON_ERROR_INVALID_DATA;
  }
  tenon__map_source_t* sources =
      tenon__arena_allocate(arena, inout_map->source_count, sizeof *sources);
  if (sources == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const bool is_linear = inout_map->kind == TENON_MAP_LINEAR;
  for (uint32_t k = 0; k < inout_map->source_count; ++k) {
    tenon__map_source_t* source = &sources[k];
    source->input = tenon__read_u32(reader);
    source->rank = tenon__read_u32(reader);
    if (source->rank > MOST_AXES) {
      return TENON_ERROR_INVALID_DATA;
    }
    TENON_TRY(tenon__dims_read(reader, pool, source->rank, arena, &source->dims));
    const bool has_coordinates = tenon__read_u8(reader) != 0;
    if (has_coordinates == is_linear) {
      return TENON_ERROR_INVALID_DATA;
    }
    if (has_coordinates) {
      TENON_TRY(tenon__dims_read(reader, pool, source->rank, arena, &source->coordinates));
    }
  }
  inout_map->sources = sources;
  return is_linear && inout_map->source_count != 1 ? TENON_ERROR_INVALID_DATA : TENON_OK;
}

tenon_status_t tenon__map_read(tenon__byte_reader_t* reader, tenon__dim_pool_t* pool,
                               tenon__arena_t* arena, const tenon__index_map_t** out_map) {
  tenon__index_map_t* map = tenon__arena_allocate(arena, 1, sizeof *map);
  if (map == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const uint8_t kind = tenon__read_u8(reader);
  map->rank = tenon__read_u32(reader);
  if (kind > TENON_MAP_GENERAL || map->rank > MOST_AXES) {
    return TENON_ERROR_INVALID_DATA;
  }
  map->kind = (tenon__map_kind_t)kind;
  TENON_TRY(tenon__dims_read(reader, pool, map->rank, arena, &map->dims));
  TENON_TRY(read_sources(reader, pool, arena, map));
  const uint8_t fill = tenon__read_u8(reader);
  map->fill_input = tenon__read_u32(reader);
  map->fill_dtype = tenon__read_u32(reader);
  map->fill_value.i = tenon__read_i64(reader);
  if (reader->failed || fill > TENON_FILL_INPUT || map->fill_dtype >= TENON_DTYPE_COUNT) {
    return TENON_ERROR_INVALID_DATA;
  }
  map->fill = (tenon__fill_t)fill;
  if (kind != TENON_MAP_LINEAR) {
    tenon__index_map_t derived = *map;
    tenon__index_map_classify(pool, &derived);
    if (tenon__dim_pool_failed(pool)) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    if (kind == TENON_MAP_AFFINE && derived.kind != TENON_MAP_AFFINE) {
      return TENON_ERROR_INVALID_DATA;
    }
  }
  *out_map = map;
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
  if (layout == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
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
