/* Schedules in a plan: places, steps, their regions and tactics. */
#include "core/plan_file/schedule_file.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/plan_file/layout_file.h"
#include "core/plan_file/network_file.h"
#include "core/plan_file/plan_file.h"
#include "core/plan_file/region_file.h"
#include "core/plan_file/tactic_file.h"

#define MOST_AXES 64u

/* The first part of a whole stores the map that all of its parts share. The others name that part. */
enum { PLACE_HAS_MAP = 1u << 0, PLACE_HAS_ORDER = 1u << 1, PLACE_SHARES_MAP = 1u << 2 };

/* ---- Writing ---- */

/* Returns an earlier part of the same whole with the same map, or TENON_NONE. */
static uint32_t find_sharer(const tenon__place_t* places, uint32_t number) {
  const tenon__place_t* place = &places[number];
  if (place->storage != TENON_STORAGE_PART) {
    return TENON_NONE;
  }
  uint32_t k = number;
  while (k-- > place->base) { /* the whole comes before its parts */
    if (places[k].storage == TENON_STORAGE_PART && places[k].base == place->base &&
        places[k].map->sources == place->map->sources) {
      return k;
    }
  }
  return TENON_NONE;
}

static void write_place(const tenon__plan_t* plan, uint32_t graph, uint32_t number,
                        tenon__byte_writer_t* writer) {
  const tenon__place_t* place = &plan->schedules[graph].places[number];
  const uint32_t sharer = find_sharer(plan->schedules[graph].places, number);
  const uint32_t parts = (sharer != TENON_NONE ? PLACE_SHARES_MAP
                          : place->map != NULL ? PLACE_HAS_MAP
                                               : 0u) |
                         (place->order != NULL ? PLACE_HAS_ORDER : 0u);
  tenon__write_u32(writer, place->value);
  tenon__write_u8(writer, (uint8_t)place->storage);
  tenon__write_u8(writer, (uint8_t)place->space);
  tenon__write_u8(writer, (uint8_t)parts);
  tenon__write_u8(writer, (uint8_t)place->dtype);
  tenon__write_u32(writer, place->index);
  tenon__write_u32(writer, place->base);
  tenon__write_u64(writer, place->offset);
  tenon__write_u64(writer, place->size_bytes);
  tenon__write_u32(writer, place->alias);
  if ((parts & PLACE_SHARES_MAP) != 0) {
    tenon__write_u32(writer, sharer);
  } else if (place->map != NULL) {
    tenon__index_map_write(place->map, writer);
  }
  if (place->order != NULL) {
    tenon__numbers_write(place->order, plan->network->graphs[graph]->values[place->value].type.rank,
                         writer);
  }
}

/* Of each of the plan's devices. */
static void write_sizes(const tenon__plan_t* plan, const uint64_t* sizes,
                        tenon__byte_writer_t* writer) {
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    tenon__write_u64(writer, sizes[d]);
  }
}

static void write_step(const tenon__plan_t* plan, const tenon__step_t* step,
                       tenon__byte_writer_t* writer) {
  tenon__write_u8(writer, (uint8_t)step->kind);
  tenon__write_string(writer, step->name);
  tenon__write_u32(writer, step->input_count);
  tenon__numbers_write(step->inputs, step->input_count, writer);
  tenon__write_u32(writer, step->output_count);
  tenon__numbers_write(step->outputs, step->output_count, writer);
  tenon__write_u8(writer, (uint8_t)step->device);
  if (tenon__step_is_control(step)) {
    write_sizes(plan, step->body_offset, writer);
  }
  if (step->kind != TENON_STEP_KERNEL) {
    tenon__write_u32(writer, step->node);
    return;
  }
  tenon__write_string(writer, step->plugin);
  tenon__write_string(writer, step->kernel);
  tenon__write_u32(writer, step->kernel_version);
  tenon__write_string(writer, step->validity == NULL ? "" : step->validity);
  tenon__write_f64(writer, step->measured_seconds);
  tenon__write_u8(writer, (uint8_t)step->lane);
  tenon__write_u8(writer, step->refusals != NULL ? 1 : 0);
  if (step->refusals != NULL) {
    tenon__write_string(writer, step->refusals);
  }
  tenon__write_u64(writer, step->zeroed_offset);
  tenon__write_u64(writer, step->persistent_offset);
  tenon__region_write(step->region, writer);
  tenon__tactic_write(&step->tactic, step->region->input_count, step->region->output_count, writer);
}

void tenon__schedules_write(const tenon__plan_t* plan, tenon__byte_writer_t* writer) {
  tenon__write_u32(writer, plan->schedule_count);
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    const tenon__schedule_t* schedule = &plan->schedules[g];
    write_sizes(plan, schedule->memory_bytes, writer);
    write_sizes(plan, schedule->alive_bytes, writer);
    tenon__write_u32(writer, schedule->place_count);
    for (uint32_t k = 0; k < schedule->place_count; ++k) {
      write_place(plan, g, k, writer);
    }
    tenon__write_u32(writer, schedule->step_count);
    for (uint32_t k = 0; k < schedule->step_count; ++k) {
      write_step(plan, &schedule->steps[k], writer);
    }
    tenon__write_u32(writer, schedule->input_count);
    tenon__numbers_write(schedule->inputs, schedule->input_count, writer);
    tenon__write_u32(writer, schedule->output_count);
    tenon__numbers_write(schedule->outputs, schedule->output_count, writer);
  }
}

/* ---- Reading ---- */

static tenon_status_t read_order(tenon__plan_reader_t* reader, uint32_t rank,
                                 const uint32_t** out_order) {
  uint32_t* order = NULL;
  TENON_TRY(tenon__plan_refused(
      reader, tenon__numbers_read(&reader->bytes, rank, &reader->plan->arena, &order),
      "an order of dimensions"));
  uint64_t seen = 0;
  for (uint32_t k = 0; k < rank; ++k) {
    if (order[k] >= rank || ((seen >> order[k]) & 1u) != 0) {
      return tenon__plan_broken(reader, "an order of dimensions is no permutation");
    }
    seen |= UINT64_C(1) << order[k];
  }
  *out_order = order;
  return TENON_OK;
}

static tenon_status_t read_map(tenon__plan_reader_t* reader, const tenon__index_map_t** out_map) {
  tenon__network_t* network = reader->plan->network;
  tenon__file_reading_t reading = {
      .reader = &reader->bytes, .network = network, .sink = reader->sink};
  tenon__index_map_t* map = tenon__arena_allocate(&reader->plan->arena, 1, sizeof *map);
  TENON_TRY_MEMORY(map != NULL);
  /* What it reads is a place, so the numbers of inputs in it mean nothing. */
  if (!tenon__index_map_read(&reading, TENON_NONE, map)) {
    return reading.out_of_memory || tenon__dim_pool_failed(network->pool)
               ? TENON_ERROR_OUT_OF_MEMORY
               : tenon__plan_broken(reader, "a view's map is none");
  }
  *out_map = map;
  return TENON_OK;
}

static bool is_affine(tenon__dim_pool_t* pool, const tenon__map_source_t* source, uint32_t rank) {
  tenon_dim_t base = TENON_DIM_INVALID;
  tenon_dim_t coefficients[MOST_AXES];
  bool affine = true;
  for (uint32_t d = 0; affine && d < source->rank; ++d) {
    affine = tenon__dim_affine(pool, source->coordinates[d], rank, &base, coefficients);
  }
  return affine;
}

/* A run reads how a part is shifted: the dimensions that say so must be there before extents are
 * made. */
static bool shifts_are_affine(tenon__dim_pool_t* pool, const tenon__index_map_t* map) {
  bool affine = true;
  for (uint32_t k = 0; affine && k < map->source_count; ++k) {
    const tenon__map_source_t* source = &map->sources[k];
    affine = source->coordinates == NULL || is_affine(pool, source, map->rank);
  }
  return affine;
}

static tenon_status_t read_shared_map(tenon__plan_reader_t* reader, const tenon__place_t* places,
                                      uint32_t number, tenon__place_t* place) {
  const uint32_t sharer = tenon__read_u32(&reader->bytes);
  if (reader->bytes.failed || place->storage != TENON_STORAGE_PART || sharer >= number ||
      places[sharer].storage != TENON_STORAGE_PART || places[sharer].base != place->base) {
    return tenon__plan_broken(reader, "a part shares the map of a place that is no such part");
  }
  place->map = places[sharer].map;
  return TENON_OK;
}

static tenon_status_t read_place(tenon__plan_reader_t* reader, const tenon__graph_t* graph,
                                 tenon__place_t* places, uint32_t number) {
  tenon__byte_reader_t* bytes = &reader->bytes;
  tenon__place_t* place = &places[number];
  place->value = tenon__read_u32(bytes);
  const uint8_t storage = tenon__read_u8(bytes);
  place->space = tenon__read_u8(bytes);
  const uint32_t parts = tenon__read_u8(bytes);
  place->dtype = tenon__read_u8(bytes);
  place->index = tenon__read_u32(bytes);
  place->base = tenon__read_u32(bytes);
  place->offset = tenon__read_u64(bytes);
  place->size_bytes = tenon__read_u64(bytes);
  place->alias = tenon__read_u32(bytes);
  if (bytes->failed || place->value >= graph->value_count || !graph->values[place->value].alive ||
      storage > TENON_STORAGE_NEXT || place->space >= reader->plan->device_count) {
    return tenon__plan_broken(reader, "a place of '%s' holds none of its values", graph->name);
  }
  place->storage = (tenon__storage_t)storage;
  const uint32_t rank = graph->values[place->value].type.rank;
  if ((parts & PLACE_HAS_ORDER) != 0 && rank > MOST_AXES) {
    return tenon__plan_broken(reader, "a place of '%s' orders dimensions that are not there",
                              graph->name);
  }
  if ((parts & PLACE_SHARES_MAP) != 0) {
    TENON_TRY(read_shared_map(reader, places, number, place));
  } else if ((parts & PLACE_HAS_MAP) != 0) {
    TENON_TRY(read_map(reader, &place->map));
    if (place->storage == TENON_STORAGE_PART &&
        !shifts_are_affine(reader->plan->network->pool, place->map)) {
      return tenon__dim_pool_failed(reader->plan->network->pool)
                 ? TENON_ERROR_OUT_OF_MEMORY
                 : tenon__plan_broken(reader, "a part is no box");
    }
  }
  if ((parts & PLACE_HAS_ORDER) != 0) {
    TENON_TRY(read_order(reader, rank, &place->order));
  }
  return TENON_OK;
}

/* `count` follows, then the numbers of places; TENON_NONE where `may_lack`. */
static tenon_status_t read_places(tenon__plan_reader_t* reader, const tenon__schedule_t* schedule,
                                  bool may_lack, uint32_t* out_count, uint32_t** out_places) {
  *out_count = tenon__read_count(&reader->bytes, sizeof(uint32_t));
  TENON_TRY(tenon__plan_refused(
      reader, tenon__numbers_read(&reader->bytes, *out_count, &reader->plan->arena, out_places),
      "a list of places"));
  for (uint32_t k = 0; k < *out_count; ++k) {
    const uint32_t place = (*out_places)[k];
    if (place >= schedule->place_count && !(may_lack && place == TENON_NONE)) {
      return tenon__plan_broken(reader, "there is no place %u", place);
    }
  }
  return TENON_OK;
}

static tenon_status_t read_kernel(tenon__plan_reader_t* reader, uint32_t graph,
                                  tenon__step_t* step) {
  tenon__byte_reader_t* bytes = &reader->bytes;
  step->plugin = tenon__read_string(bytes);
  step->kernel = tenon__read_string(bytes);
  step->kernel_version = tenon__read_u32(bytes);
  step->validity = tenon__read_string(bytes);
  step->measured_seconds = tenon__read_f64(bytes);
  step->lane = tenon__read_u8(bytes);
  if (step->lane >= TENON_LANE_LIMIT) {
    return tenon__plan_broken(reader, "there is no lane %u", step->lane);
  }
  if (tenon__read_u8(bytes) != 0) {
    step->refusals = tenon__read_string(bytes);
  }
  step->zeroed_offset = tenon__read_u64(bytes);
  step->persistent_offset = tenon__read_u64(bytes);
  struct tenon_region_t* region = tenon__arena_allocate(&reader->plan->arena, 1, sizeof *region);
  TENON_TRY_MEMORY(region != NULL);
  TENON_TRY(tenon__region_read(bytes, reader->plan->network, graph, &reader->plan->arena,
                               reader->sink, region));
  step->region = region;
  return tenon__tactic_read(reader, region, &step->tactic);
}

static void read_sizes(tenon__plan_reader_t* reader, uint64_t* out_sizes) {
  for (uint32_t d = 0; d < reader->plan->device_count; ++d) {
    out_sizes[d] = tenon__read_u64(&reader->bytes);
  }
}

static tenon_status_t read_step(tenon__plan_reader_t* reader, uint32_t graph,
                                const tenon__schedule_t* schedule, tenon__step_t* step) {
  tenon__byte_reader_t* bytes = &reader->bytes;
  uint32_t* inputs = NULL;
  uint32_t* outputs = NULL;
  const uint8_t kind = tenon__read_u8(bytes);
  step->name = tenon__read_string(bytes);
  TENON_TRY(read_places(reader, schedule, true, &step->input_count, &inputs));
  TENON_TRY(read_places(reader, schedule, true, &step->output_count, &outputs));
  step->inputs = inputs;
  step->outputs = outputs;
  step->device = tenon__read_u8(bytes);
  if (bytes->failed || kind > TENON_STEP_COPY || step->device >= reader->plan->device_count) {
    return tenon__plan_broken(reader, "a step is of no known kind, or on no known device");
  }
  step->kind = (tenon__step_kind_t)kind;
  if (tenon__step_is_control(step)) {
    read_sizes(reader, step->body_offset);
  }
  step->node = TENON_NONE;
  if (step->kind == TENON_STEP_KERNEL) {
    return read_kernel(reader, graph, step);
  }
  step->node = tenon__read_u32(bytes);
  if (step->kind == TENON_STEP_COPY) {
    step->node = TENON_NONE;
    return TENON_OK;
  }
  const tenon__graph_t* nodes = reader->plan->network->graphs[graph];
  if (step->node >= nodes->node_count || !nodes->nodes[step->node].alive) {
    return tenon__plan_broken(reader, "step '%s' is of no node", step->name);
  }
  return TENON_OK;
}

/* Of a graph that is no body any more, which has no steps. */
static bool is_empty(const tenon__schedule_t* schedule) {
  return schedule->place_count == 0 && schedule->step_count == 0 && schedule->input_count == 0 &&
         schedule->output_count == 0;
}

static tenon_status_t read_schedule(tenon__plan_reader_t* reader, uint32_t graph,
                                    tenon__schedule_t* schedule) {
  tenon__byte_reader_t* bytes = &reader->bytes;
  tenon__arena_t* arena = &reader->plan->arena;
  read_sizes(reader, schedule->memory_bytes);
  read_sizes(reader, schedule->alive_bytes);
  schedule->place_count = tenon__read_count(bytes, 35);
  schedule->places = tenon__arena_allocate(arena, schedule->place_count, sizeof *schedule->places);
  TENON_TRY_MEMORY(schedule->places != NULL);
  for (uint32_t k = 0; k < schedule->place_count; ++k) {
    TENON_TRY(read_place(reader, reader->plan->network->graphs[graph], schedule->places, k));
  }
  schedule->step_count = tenon__read_count(bytes, 19);
  schedule->steps = tenon__arena_allocate(arena, schedule->step_count, sizeof *schedule->steps);
  TENON_TRY_MEMORY(schedule->steps != NULL);
  for (uint32_t k = 0; k < schedule->step_count; ++k) {
    TENON_TRY(read_step(reader, graph, schedule, &schedule->steps[k]));
  }
  TENON_TRY(read_places(reader, schedule, false, &schedule->input_count, &schedule->inputs));
  return read_places(reader, schedule, false, &schedule->output_count, &schedule->outputs);
}

tenon_status_t tenon__schedules_read(tenon__plan_reader_t* reader) {
  tenon__plan_t* plan = reader->plan;
  plan->schedule_count = tenon__read_u32(&reader->bytes);
  if (reader->bytes.failed || plan->schedule_count != plan->network->graph_count) {
    return tenon__plan_broken(reader, "there are %u schedules for %u graphs", plan->schedule_count,
                              plan->network->graph_count);
  }
  plan->schedules =
      tenon__arena_allocate(&plan->arena, plan->schedule_count, sizeof *plan->schedules);
  TENON_TRY_MEMORY(plan->schedules != NULL);
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    TENON_TRY(read_schedule(reader, g, &plan->schedules[g]));
    if (!tenon__graph_alive(plan->network, g) && !is_empty(&plan->schedules[g])) {
      return tenon__plan_broken(reader, "there are steps for a graph that is not there");
    }
  }
  return TENON_OK;
}
