/* What a model file says of itself, kept so that a network which cannot be built can be looked at.
 */
#include "sdk/library/description.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"
#include "sdk/library/parse.h"

void tenon__description_begin(tenon_parse_t* parse) {
  parse->network->description = (tenon__description_t){0};
  tenon__string_map_initialize(&parse->types, parse->network->registry->allocator);
}

/* Room for one more of `count` items; the items as they were when memory is out. */
static bool make_room(tenon__arena_t* arena, void** inout_items, uint32_t count,
                      uint32_t* inout_capacity, size_t size_bytes) {
  if (count < *inout_capacity) {
    return true;
  }
  const uint32_t capacity = count < 8 ? 16 : 2 * count;
  void* larger = count < UINT32_MAX / 2 ? tenon__arena_allocate(arena, capacity, size_bytes) : NULL;
  if (larger == NULL) {
    return false;
  }
  if (count > 0) {
    memcpy(larger, *inout_items, count * size_bytes);
  }
  *inout_items = larger;
  *inout_capacity = capacity;
  return true;
}

/* ---- Values ---- */

/* The caller's shapes fill what the file leaves open. */
static const tenon_input_shape_t* find_shape(const tenon_parse_t* parse, const char* name) {
  for (uint32_t i = 0; i < parse->shapes.count; ++i) {
    const tenon_input_shape_t* shape = tenon__list_item(&parse->shapes, i);
    if (strcmp(shape->name, name) == 0) {
      return shape;
    }
  }
  return NULL;
}

static bool is_given(const tenon_parse_t* parse, const char* name) {
  for (uint32_t i = 0; i < parse->given_count; ++i) {
    if (strcmp(parse->given[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* False when memory is out. */
static bool copy_value(tenon_parse_t* parse, const tenon_input_shape_t* shape, const char* name,
                       const tenon_value_type_t* type, const char* const* symbols,
                       tenon_io_info_t* out_info) {
  tenon__arena_t* arena = &parse->network->arena;
  const bool is_open = type->rank == TENON_NONE;
  const bool fits = shape != NULL && (is_open || shape->rank == type->rank);
  const uint32_t rank = !is_open ? type->rank : fits ? shape->rank : 0;
  int64_t* dims = tenon__arena_allocate(arena, rank + (size_t)1, sizeof(*dims));
  const char** texts = tenon__arena_allocate(arena, rank + (size_t)1, sizeof(*texts));
  const char* own_name = tenon__arena_copy_string(arena, name);
  if (dims == NULL || texts == NULL || own_name == NULL) {
    return false;
  }
  for (uint32_t k = 0; k < rank; ++k) {
    const bool is_known = !is_open && type->dims[k] >= 0;
    const char* symbol = is_open || symbols == NULL ? NULL : symbols[k];
    dims[k] = is_known ? type->dims[k] : fits ? shape->dims[k] : -1;
    texts[k] = dims[k] >= 0 ? "" : symbol != NULL ? tenon__arena_copy_string(arena, symbol) : "?";
    if (texts[k] == NULL) {
      return false;
    }
  }
  *out_info = (tenon_io_info_t){.name = own_name,
                                .kind = type->kind,
                                .dtype = type->dtype,
                                .rank = is_open && !fits ? TENON_NONE : rank,
                                .dims = dims,
                                .symbols = texts};
  return true;
}

void tenon__describe_value(tenon_parse_t* parse, int32_t is_output, const char* name,
                           const tenon_value_type_t* given, const char* const* symbols) {
  tenon_value_type_t type;
  tenon__description_t* description = &parse->network->description;
  tenon__io_list_t* list = is_output != 0 ? &description->outputs : &description->inputs;
  const tenon_input_shape_t* shape = is_output != 0 ? NULL : find_shape(parse, name);
  void* items = list->items;
  if (is_output == 0 && is_given(parse, name)) {
    return; /* a constant */
  }
  if (!tenon__structure_copy(given, sizeof(type), given->size, sizeof(type), &type)) {
    return; /* nothing fails here */
  }
  if (make_room(&parse->network->arena, &items, list->count, &list->capacity,
                sizeof(*list->items))) {
    list->items = items;
    list->count +=
        copy_value(parse, shape, name, &type, symbols, &list->items[list->count]) ? 1 : 0;
  }
}

/* ---- Nodes ---- */

/* NULL when memory is out. */
static tenon__node_type_t* add_type(tenon_parse_t* parse, const char* domain, const char* type,
                                    int64_t version, const char* node) {
  tenon__arena_t* arena = &parse->network->arena;
  tenon__description_t* description = &parse->network->description;
  void* items = description->types;
  const tenon_node_type_t info = {.domain = tenon__arena_copy_string(arena, domain),
                                  .type = tenon__arena_copy_string(arena, type),
                                  .version = version,
                                  .node = tenon__arena_copy_string(arena, node),
                                  .plugin = "",
                                  .message = ""};
  if (info.domain == NULL || info.type == NULL || info.node == NULL ||
      !make_room(arena, &items, description->type_count, &description->type_capacity,
                 sizeof(*description->types))) {
    return NULL;
  }
  description->types = items;
  description->types[description->type_count] = (tenon__node_type_t){.info = info};
  return &description->types[description->type_count++];
}

/* The entry of that type, made when it is new; NULL when memory is out. */
static tenon__node_type_t* find_type(tenon_parse_t* parse, const char* domain, const char* type,
                                     int64_t version, const char* node) {
  char buffer[256];
  const char* key = buffer;
  const int length =
      snprintf(buffer, sizeof(buffer), "%lld:%s:%s", (long long)version, domain, type);
  if (length < 0 || (size_t)length >= sizeof(buffer)) {
    key = tenon__arena_format(&parse->arena, "%lld:%s:%s", (long long)version, domain, type);
  }
  if (key == NULL) {
    return NULL;
  }
  const tenon__map_value_t* known = tenon__string_map_find(&parse->types, key);
  if (known != NULL) {
    return &parse->network->description.types[known->number];
  }
  const tenon__map_value_t index = {.number = parse->network->description.type_count};
  tenon__node_type_t* made = add_type(parse, domain, type, version, node);
  return made != NULL && tenon__string_map_set(&parse->types, key, index) ? made : NULL;
}

void tenon__describe_node(tenon_parse_t* parse, const char* domain, const char* type,
                          int64_t version, const char* node) {
  tenon__node_type_t* entry = find_type(parse, domain, type, version, node);
  if (entry != NULL) {
    entry->info.count += 1;
  }
}

/* Not every parser tells of its nodes: what is missing, is there. */
void tenon__describe_missing(tenon_parse_t* parse, const char* domain, const char* type,
                             int64_t version, const char* node) {
  tenon__node_type_t* entry = find_type(parse, domain, type, version, node);
  parse->has_missing = true;
  if (entry != NULL) {
    entry->missing_count += 1;
    entry->info.is_missing = 1;
    if (entry->info.count < entry->missing_count) {
      entry->info.count = entry->missing_count;
    }
  }
}

static const char* find_plugin(tenon_parse_t* parse, const tenon_node_type_t* type) {
  const char* plugin = type->is_missing != 0 ? NULL
                                             : tenon__parse_find_plugin(parse, type->domain,
                                                                        type->type, type->version);
  const char* copy =
      plugin == NULL ? NULL : tenon__arena_copy_string(&parse->network->arena, plugin);
  return copy != NULL ? copy : "";
}

void tenon__description_end(tenon_parse_t* parse, bool has_failed) {
  tenon__description_t* description = &parse->network->description;
  description->stands = has_failed;
  for (uint32_t k = 0; k < description->type_count; ++k) {
    description->types[k].info.plugin = find_plugin(parse, &description->types[k].info);
  }
  tenon__string_map_deinitialize(&parse->types);
}

/* ---- Looking ---- */

bool tenon__network_is_empty(const tenon_network_t* network) {
  return network->network->graphs[0]->value_count == 0 && network->network->state_count == 0;
}

const tenon__description_t* tenon__description_of(const tenon_network_t* network) {
  return network->description.stands && tenon__network_is_empty(network) ? &network->description
                                                                         : NULL;
}

uint32_t tenon_network_node_type_count(const tenon_network_t* network) {
  return network != NULL ? network->description.type_count : 0;
}

tenon_status_t tenon_network_get_node_type(const tenon_network_t* network, uint32_t index,
                                           tenon_node_type_t* out_type) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  const tenon_sink_t* sink = &network->registry->sink;
  if (index >= network->description.type_count) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "tenon_network_get_node_type: there is no node type %u, only %u", index,
                       network->description.type_count);
  }
  return TENON_RESULT_FILL(sink, tenon_node_type_t, &network->description.types[index].info,
                           out_type);
}
