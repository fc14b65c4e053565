/* Where activations lie, and how long: read off the plan's steps, for reports. */
#include "core/plan/place.h"
#include "core/plan/plan_memory.h"
#include "sdk/library/library.h"

typedef struct listing_t {
  const tenon__plan_t* plan;
  const tenon__schedule_t* schedule;
  uint32_t space; /* whose memory: the device's that the plan is for */
  tenon__arena_t* arena;
  uint32_t* block_of; /* of each place: its number among the blocks, TENON_NONE: none */
  tenon_block_info_t* blocks;
  uint32_t count;
} listing_t;

/* The place whose bytes a place lies in. */
static uint32_t owner_of(const tenon__schedule_t* schedule, uint32_t place) {
  const uint32_t root = tenon__place_root(schedule, place);
  const uint32_t alias = root == TENON_NONE ? TENON_NONE : schedule->places[root].alias;
  return root != TENON_NONE && schedule->places[root].storage == TENON_STORAGE_ARENA &&
                 alias != TENON_NONE
             ? alias
             : root;
}

static void list_places(listing_t* listing) {
  const tenon__graph_t* graph = listing->plan->network->graphs[0];
  for (uint32_t p = 0; p < listing->schedule->place_count; ++p) {
    const tenon__place_t* place = &listing->schedule->places[p];
    listing->block_of[p] = TENON_NONE;
    if (place->storage == TENON_STORAGE_ARENA && place->alias == TENON_NONE &&
        place->space == listing->space && place->size_bytes > 0) {
      listing->block_of[p] = listing->count;
      listing->blocks[listing->count++] =
          (tenon_block_info_t){.name = graph->values[place->value].name,
                               .offset_bytes = place->offset,
                               .size_bytes = place->size_bytes,
                               .first_step = TENON_NONE};
    }
  }
}

static void extend(listing_t* listing, uint32_t place, uint32_t step) {
  const uint32_t owner = place == TENON_NONE ? TENON_NONE : owner_of(listing->schedule, place);
  const uint32_t number = owner == TENON_NONE ? TENON_NONE : listing->block_of[owner];
  if (number == TENON_NONE) {
    return;
  }
  tenon_block_info_t* block = &listing->blocks[number];
  block->first_step = block->first_step == TENON_NONE ? step : block->first_step;
  block->last_step = step;
}

/* Bodies run one after the other in the same memory. */
static void list_bodies(listing_t* listing, uint32_t index) {
  const tenon__step_t* step = &listing->schedule->steps[index];
  const uint64_t bytes = tenon__step_body_bytes(listing->plan, 0, step, listing->space);
  if (bytes > 0) {
    listing->blocks[listing->count++] =
        (tenon_block_info_t){.name = step->name,
                             .offset_bytes = step->body_offset[listing->space],
                             .size_bytes = bytes,
                             .first_step = index,
                             .last_step = index};
  }
}

tenon_status_t tenon__engine_list_blocks(const tenon__plan_t* plan, tenon__arena_t* arena,
                                         tenon_block_info_t** out_blocks, uint32_t* out_count) {
  const tenon__schedule_t* schedule = &plan->schedules[0];
  const size_t most = (size_t)schedule->place_count + schedule->step_count + 1;
  listing_t listing = {
      .plan = plan, .schedule = schedule, .space = tenon__plan_main_device(plan), .arena = arena};
  listing.block_of = tenon__arena_allocate(arena, most, sizeof(*listing.block_of));
  listing.blocks = tenon__arena_allocate(arena, most, sizeof(*listing.blocks));
  if (listing.block_of == NULL || listing.blocks == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  list_places(&listing);
  for (uint32_t s = 0; s < schedule->step_count; ++s) {
    const tenon__step_t* step = &schedule->steps[s];
    for (uint32_t k = 0; k < step->input_count; ++k) {
      extend(&listing, step->inputs[k], s);
    }
    for (uint32_t k = 0; k < step->output_count; ++k) {
      extend(&listing, step->outputs[k], s);
    }
    list_bodies(&listing, s);
  }
  for (uint32_t k = 0; k < schedule->output_count; ++k) {
    extend(&listing, schedule->outputs[k], schedule->step_count);
  }
  *out_blocks = listing.blocks;
  *out_count = listing.count;
  return TENON_OK;
}
