/* Finds sources of steps by lists of the steps that write to each place. */
#include "sdk/library/step_sources.h"

#include <stdlib.h>

#include "core/base/status.h"

/* Returns the place that stores the elements of `place`, which may be a view. */
static uint32_t root_of(const tenon__schedule_t* schedule, uint32_t place) {
  while (place != TENON_NONE && schedule->places[place].storage == TENON_STORAGE_VIEW) {
    place = schedule->places[place].base;
  }
  return place;
}

/* For each place of a schedule, the steps that write to it, as lists. A part is written straight into
 * the place that it belongs to, so its writer is in the lists of both. */
typedef struct writers_t {
  uint32_t* first; /* of each place: an entry, or TENON_NONE */
  uint32_t* next;  /* of each entry */
  uint32_t* step;  /* of each entry */
  uint32_t count;
} writers_t;

/* Returns the next place that shows the elements of `place`, or TENON_NONE. */
static uint32_t whole_of(const tenon__schedule_t* schedule, uint32_t place) {
  return schedule->places[place].storage == TENON_STORAGE_PART
             ? root_of(schedule, schedule->places[place].base)
             : TENON_NONE;
}

/* Adds the step's outputs. Only counts them if there are no lists. */
static void add_writer(const tenon__schedule_t* schedule, uint32_t step, writers_t* writers) {
  for (uint32_t k = 0; k < schedule->steps[step].output_count; ++k) {
    uint32_t place = root_of(schedule, schedule->steps[step].outputs[k]);
    for (; place != TENON_NONE; place = whole_of(schedule, place)) {
      if (writers->first != NULL) {
        writers->step[writers->count] = step;
        writers->next[writers->count] = writers->first[place];
        writers->first[place] = writers->count;
      }
      ++writers->count;
    }
  }
}

static tenon_status_t make_writers(const tenon__schedule_t* schedule, tenon__arena_t* arena,
                                   writers_t* out_writers) {
  writers_t counted = {0};
  for (uint32_t k = 0; k < schedule->step_count; ++k) {
    add_writer(schedule, k, &counted);
  }
  const size_t entries = counted.count + (size_t)1;
  const size_t places = schedule->place_count + (size_t)1;
  *out_writers = (writers_t){
      .first = tenon__arena_allocate(arena, places, sizeof(uint32_t)),
      .next = tenon__arena_allocate(arena, entries, sizeof(uint32_t)),
      .step = tenon__arena_allocate(arena, entries, sizeof(uint32_t)),
  };
  if (out_writers->first == NULL || out_writers->next == NULL || out_writers->step == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < schedule->place_count; ++k) {
    out_writers->first[k] = TENON_NONE;
  }
  return TENON_OK;
}

static int by_number(const void* left, const void* right) {
  const uint32_t a = *(const uint32_t*)left;
  const uint32_t b = *(const uint32_t*)right;
  return (a > b) - (a < b);
}

/* Copies the steps that wrote the inputs of `step`, in ascending order, to `out_found` if it is not
 * NULL. Returns their number; a step counts once for each input and output. */
static uint32_t list_sources(const tenon__schedule_t* schedule, uint32_t step,
                             const writers_t* writers, uint32_t* out_found) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < schedule->steps[step].input_count; ++i) {
    const uint32_t place = root_of(schedule, schedule->steps[step].inputs[i]);
    uint32_t entry = place == TENON_NONE ? TENON_NONE : writers->first[place];
    for (; entry != TENON_NONE; entry = writers->next[entry]) {
      if (out_found != NULL) {
        out_found[count] = writers->step[entry];
      }
      ++count;
    }
  }
  if (out_found != NULL && count > 1) {
    qsort(out_found, count, sizeof(*out_found), by_number);
  }
  return count;
}

/* `first`: number of the schedule's first step among all. `writers` has the steps before `step`. */
static tenon_status_t find_sources(const tenon__schedule_t* schedule, uint32_t first, uint32_t step,
                                   const writers_t* writers, tenon__arena_t* arena,
                                   tenon__step_sources_t* out_sources) {
  const uint32_t count = list_sources(schedule, step, writers, NULL);
  tenon__step_sources_t sources = {0, NULL};
  if (count > 0) {
    sources.steps = tenon__arena_allocate(arena, count, sizeof(*sources.steps));
    if (sources.steps == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    (void)list_sources(schedule, step, writers, sources.steps);
    for (uint32_t k = 0; k < count; ++k) {
      const uint32_t number = first + sources.steps[k];
      if (sources.count == 0 || sources.steps[sources.count - 1] != number) {
        sources.steps[sources.count++] = number;
      }
    }
  }
  *out_sources = sources;
  return TENON_OK;
}

tenon_status_t tenon__step_sources_find(const tenon__schedule_t* schedule, uint32_t first,
                                        tenon__arena_t* arena, tenon__step_sources_t* out_sources) {
  writers_t writers;
  TENON_TRY(make_writers(schedule, arena, &writers));
  for (uint32_t k = 0; k < schedule->step_count; ++k) {
    TENON_TRY(find_sources(schedule, first, k, &writers, arena, &out_sources[k]));
    add_writer(schedule, k, &writers);
  }
  return TENON_OK;
}
