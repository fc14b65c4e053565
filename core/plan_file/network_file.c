/* Attributes, shapes, maps, lists and operators as bytes. */
#include "core/plan_file/network_file.h"

#include "core/dimension/dimension_pool.h"

static void* allocate(tenon__file_reading_t* reading, size_t count, size_t size_bytes) {
  void* memory = tenon__arena_allocate(&reading->network->arena, count + 1, size_bytes);
  reading->out_of_memory = reading->out_of_memory || memory == NULL;
  reading->reader->failed = reading->reader->failed || memory == NULL;
  return memory;
}

bool tenon__text_read(tenon__file_reading_t* reading, const char** out_text) {
  const char* text = tenon__read_string(reading->reader);
  *out_text = tenon__arena_copy_string(&reading->network->arena, text);
  reading->out_of_memory = reading->out_of_memory || *out_text == NULL;
  return *out_text != NULL && !reading->reader->failed;
}

void tenon__list_write(const uint32_t* list, uint32_t count, tenon__byte_writer_t* writer) {
  tenon__write_u32(writer, count);
  for (uint32_t i = 0; i < count; ++i) {
    tenon__write_u32(writer, list[i]);
  }
}

bool tenon__list_read(tenon__file_reading_t* reading, uint32_t limit, bool with_none,
                      uint32_t* out_count, uint32_t** out_list) {
  const uint32_t count = tenon__read_count(reading->reader, sizeof(uint32_t));
  uint32_t* list = allocate(reading, count, sizeof(*list));
  if (list == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    list[i] = tenon__read_u32(reading->reader);
    if (list[i] >= limit && !(with_none && list[i] == TENON_NONE)) {
      return false;
    }
  }
  *out_count = count;
  *out_list = list;
  return !reading->reader->failed;
}

void tenon__shape_write(uint32_t rank, const tenon_dim_t* dims, tenon__byte_writer_t* writer) {
  tenon__write_u32(writer, rank);
  const uint32_t count = rank == TENON_NONE ? 0 : rank;
  for (uint32_t i = 0; i < count; ++i) {
    tenon__write_u32(writer, dims[i].id);
  }
}

/* `count` dimensions of the pool. */
static const tenon_dim_t* read_dims(tenon__file_reading_t* reading, uint32_t count) {
  tenon_dim_t* dims = allocate(reading, count, sizeof(*dims));
  const uint32_t limit = tenon__dim_pool_count(reading->network->pool);
  if (dims == NULL) {
    return NULL;
  }
  for (uint32_t i = 0; i < count; ++i) {
    dims[i].id = tenon__read_u32(reading->reader);
    reading->reader->failed = reading->reader->failed || dims[i].id >= limit;
  }
  return reading->reader->failed ? NULL : dims;
}

bool tenon__shape_read(tenon__file_reading_t* reading, bool with_unknown, uint32_t* out_rank,
                       const tenon_dim_t** out_dims) {
  const uint32_t rank = tenon__read_u32(reading->reader);
  *out_rank = rank;
  *out_dims = NULL;
  if (rank == TENON_NONE && with_unknown) {
    return !reading->reader->failed;
  }
  if (rank > TENON_RANK_LIMIT || reading->reader->failed) {
    return false;
  }
  *out_dims = read_dims(reading, rank);
  return *out_dims != NULL;
}

void tenon__attribute_write(const tenon__scope_attribute_t* attribute,
                            tenon__byte_writer_t* writer) {
  tenon__write_string(writer, attribute->name);
  tenon__write_u32(writer, attribute->kind);
  tenon__write_u8(writer, attribute->defined ? 1 : 0);
  tenon__write_i64(writer, attribute->integer);
  tenon__write_f64(writer, attribute->number);
  tenon__write_string(writer, attribute->string);
  tenon__write_u32(writer, (uint32_t)attribute->count);
  for (size_t i = 0; i < attribute->count; ++i) {
    if (attribute->kind == TENON_ATTRIBUTE_INTS) {
      tenon__write_i64(writer, attribute->integers[i]);
    } else if (attribute->kind == TENON_ATTRIBUTE_FLOATS) {
      tenon__write_f64(writer, attribute->numbers[i]);
    } else {
      tenon__write_string(writer, attribute->strings[i]);
    }
  }
}

static bool read_items(tenon__file_reading_t* reading, tenon__scope_attribute_t* attribute) {
  const bool has_items = attribute->kind == TENON_ATTRIBUTE_INTS ||
                         attribute->kind == TENON_ATTRIBUTE_FLOATS ||
                         attribute->kind == TENON_ATTRIBUTE_STRINGS;
  if (!has_items) {
    return attribute->count == 0;
  }
  int64_t* integers = allocate(reading, attribute->count, sizeof(*integers));
  double* numbers = allocate(reading, attribute->count, sizeof(*numbers));
  const char** strings = allocate(reading, attribute->count, sizeof(*strings));
  if (integers == NULL || numbers == NULL || strings == NULL) {
    return false;
  }
  for (size_t i = 0; i < attribute->count; ++i) {
    if (attribute->kind == TENON_ATTRIBUTE_INTS) {
      integers[i] = tenon__read_i64(reading->reader);
    } else if (attribute->kind == TENON_ATTRIBUTE_FLOATS) {
      numbers[i] = tenon__read_f64(reading->reader);
    } else if (!tenon__text_read(reading, &strings[i])) {
      return false;
    }
  }
  attribute->integers = attribute->kind == TENON_ATTRIBUTE_INTS ? integers : NULL;
  attribute->numbers = attribute->kind == TENON_ATTRIBUTE_FLOATS ? numbers : NULL;
  attribute->strings = attribute->kind == TENON_ATTRIBUTE_STRINGS ? strings : NULL;
  return !reading->reader->failed;
}

bool tenon__attribute_read(tenon__file_reading_t* reading,
                           tenon__scope_attribute_t* out_attribute) {
  tenon__scope_attribute_t attribute = {0};
  if (!tenon__text_read(reading, &attribute.name)) {
    return false;
  }
  attribute.kind = tenon__read_u32(reading->reader);
  attribute.defined = tenon__read_u8(reading->reader) != 0;
  attribute.integer = tenon__read_i64(reading->reader);
  attribute.number = tenon__read_f64(reading->reader);
  if (attribute.kind < TENON_ATTRIBUTE_INT || attribute.kind > TENON_ATTRIBUTE_BODY ||
      !tenon__text_read(reading, &attribute.string)) {
    return false;
  }
  attribute.count = tenon__read_count(reading->reader, sizeof(uint32_t));
  if (!read_items(reading, &attribute)) {
    return false;
  }
  *out_attribute = attribute;
  return true;
}

void tenon__index_map_write(const tenon__index_map_t* map, tenon__byte_writer_t* writer) {
  tenon__write_u8(writer, (uint8_t)map->kind);
  tenon__shape_write(map->rank, map->dims, writer);
  tenon__write_u32(writer, map->source_count);
  for (uint32_t i = 0; i < map->source_count; ++i) {
    const tenon__map_source_t* source = &map->sources[i];
    tenon__write_u32(writer, source->input);
    tenon__shape_write(source->rank, source->dims, writer);
    tenon__write_u8(writer, source->coordinates != NULL ? 1 : 0);
    if (source->coordinates != NULL) {
      tenon__shape_write(source->rank, source->coordinates, writer);
    }
  }
  tenon__write_u8(writer, (uint8_t)map->fill);
  tenon__write_u32(writer, map->fill_input);
  tenon__write_u32(writer, map->fill_dtype);
  tenon__write_i64(writer, map->fill_value.i);
}

static bool read_source(tenon__file_reading_t* reading, uint32_t input_count, bool is_linear,
                        tenon__map_source_t* out_source) {
  uint32_t rank = 0;
  tenon__map_source_t source = {.input = tenon__read_u32(reading->reader)};
  if (source.input >= input_count ||
      !tenon__shape_read(reading, false, &source.rank, &source.dims)) {
    return false;
  }
  const bool has_coordinates = tenon__read_u8(reading->reader) != 0;
  /* A scalar has no coordinates to be lacking. */
  if ((has_coordinates == is_linear && (is_linear || source.rank > 0)) ||
      (has_coordinates && !tenon__shape_read(reading, false, &rank, &source.coordinates)) ||
      (has_coordinates && rank != source.rank)) {
    return false;
  }
  *out_source = source;
  return true;
}

bool tenon__index_map_read(tenon__file_reading_t* reading, uint32_t input_count,
                           tenon__index_map_t* out_map) {
  tenon__index_map_t map = {0};
  const uint8_t kind = tenon__read_u8(reading->reader);
  if (kind > TENON_MAP_GENERAL || !tenon__shape_read(reading, false, &map.rank, &map.dims)) {
    return false;
  }
  map.kind = (tenon__map_kind_t)kind;
  map.source_count = tenon__read_count(reading->reader, 9);
  tenon__map_source_t* sources = allocate(reading, map.source_count, sizeof(*sources));
  for (uint32_t i = 0; i < map.source_count; ++i) {
    if (reading->reader->failed ||
        !read_source(reading, input_count, kind == TENON_MAP_LINEAR, &sources[i])) {
      return false;
    }
  }
  map.sources = sources;
  const uint8_t fill = tenon__read_u8(reading->reader);
  map.fill_input = tenon__read_u32(reading->reader);
  map.fill_dtype = tenon__read_u32(reading->reader);
  map.fill_value.i = tenon__read_i64(reading->reader);
  if (reading->reader->failed || fill > TENON_FILL_INPUT || map.source_count == 0 ||
      (fill == TENON_FILL_INPUT && map.fill_input >= input_count) ||
      (fill == TENON_FILL_VALUE && tenon__dtype_bits(map.fill_dtype) == 0)) {
    return false;
  }
  map.fill = (tenon__fill_t)fill;
  /* A map that is more than it says would be run as what it says. */
  tenon__index_map_t derived = map;
  tenon__index_map_classify(reading->network->pool, &derived);
  *out_map = map;
  return derived.kind == map.kind;
}
