/*
 * Steps in their order, as far as memory goes. A place that owns memory is valid from the step that
 * writes it until another step writes over it; what is read must be valid, and all of its parts
 * written. Of places in the arena
 * those that are valid never overlap, so that few are looked at. What a state was is valid until
 * what it becomes is written over it.
 */
#include "core/plan_file/memory_check.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/plan/in_place.h"
#include "core/plan/place.h"
#include "core/plan/plan_memory.h"

#define ALIGNMENT_BYTES 64u

/* A place in which parts lie: valid when all of them are written. */
typedef struct whole_t {
  uint32_t count; /* 0: none lie in it */
  uint32_t missing;
  uint8_t* is_written; /* count entries */
} whole_t;

typedef struct checker_t {
  const tenon__plan_t* plan;
  uint32_t graph_index;
  const tenon__graph_t* graph;
  const tenon__schedule_t* schedule;
  const tenon_sink_t* sink;
  uint8_t* is_valid;  /* places that own memory which steps write */
  uint8_t* was_begun; /* likewise, and parts: written once */
  whole_t* wholes;    /* one for each place */
  uint32_t* arena;    /* those in the arena that are valid */
  uint32_t arena_count;
  uint8_t* is_over; /* states that were written over */
} checker_t;

/* Bytes of the graph's memory on one device. */
typedef struct range_t {
  uint32_t space;
  uint64_t begin;
  uint64_t end;
} range_t;

static tenon_status_t broken(const checker_t* c, const tenon__step_t* step, const char* what) {
  return tenon__fail(c->sink, TENON_ERROR_INVALID_DATA, "the plan is broken: in '%s', step '%s' %s",
                     c->graph->name, step->name, what);
}

static const tenon__place_t* root_of(const checker_t* c, uint32_t place, uint32_t* out_root) {
  *out_root = tenon__place_root(c->schedule, place);
  return &c->schedule->places[*out_root];
}

/* Empty when it lies elsewhere. */
static range_t range_of(const tenon__place_t* root) {
  const bool is_here = root->storage == TENON_STORAGE_ARENA;
  return (range_t){root->space, is_here ? root->offset : 0,
                   is_here ? root->offset + root->size_bytes : 0};
}

static bool overlap(range_t a, range_t b) {
  return a.space == b.space && a.begin < b.end && b.begin < a.end;
}

static range_t body_range(const checker_t* c, const tenon__step_t* step, uint32_t space) {
  const uint64_t bytes = tenon__step_body_bytes(c->plan, c->graph_index, step, space);
  const uint64_t begin = step->body_offset[space];
  return (range_t){space, begin, begin + bytes};
}

/* ---- Reading ---- */

/* What a state was before the run. */
static bool is_old_state(const checker_t* c, const tenon__place_t* root) {
  return root->storage == TENON_STORAGE_STATE &&
         c->plan->network->states[root->index].read == root->value;
}

static bool is_made_by_steps(const checker_t* c, const tenon__place_t* root) {
  return root->storage == TENON_STORAGE_ARENA || root->storage == TENON_STORAGE_GROWING ||
         root->storage == TENON_STORAGE_OUTPUT || root->storage == TENON_STORAGE_NEXT ||
         (root->storage == TENON_STORAGE_STATE && !is_old_state(c, root));
}

/* Of a whole all parts are written; of a part the step that writes it, or the whole, has run. */
static bool is_complete(const checker_t* c, uint32_t place) {
  const tenon__place_t* p = &c->schedule->places[place];
  while (p->storage == TENON_STORAGE_VIEW) {
    place = p->base;
    p = &c->schedule->places[place];
  }
  while (c->wholes[place].missing == 0 && p->storage == TENON_STORAGE_PART &&
         c->was_begun[place] == 0) {
    place = p->base;
    p = &c->schedule->places[place];
  }
  return c->wholes[place].missing == 0;
}

static bool has_content(const checker_t* c, uint32_t place) {
  uint32_t root = 0;
  const tenon__place_t* owner = root_of(c, place, &root);
  if (is_old_state(c, owner)) {
    return c->is_over[owner->index] == 0;
  }
  return !is_made_by_steps(c, owner) || (c->is_valid[root] != 0 && is_complete(c, place));
}

/* Kernels may have packed what the plan does not keep: who prepares them asks. */
static bool has_bytes(const checker_t* c, uint32_t place) {
  uint32_t root = 0;
  const tenon__place_t* owner = root_of(c, place, &root);
  const tenon__weights_t* weights =
      owner->storage == TENON_STORAGE_WEIGHTS ? &c->plan->network->weights[owner->index] : NULL;
  return weights == NULL || weights->data != NULL || weights->size_bytes == 0;
}

static tenon_status_t check_inputs(const checker_t* c, const tenon__step_t* step) {
  TENON_EACH_INPUT(k, step) {
    if (!has_content(c, step->inputs[k])) {
      return broken(c, step, "reads what was not written, or written over");
    }
    if (step->kind != TENON_STEP_KERNEL && !has_bytes(c, step->inputs[k])) {
      return broken(c, step, "reads weights that the plan does not keep");
    }
  }
  return TENON_OK;
}

/* ---- Writing ---- */

/* VIEW, WEIGHTS, INPUT, PARAMETER and what a state was are others' to read. */
static bool is_writable(const checker_t* c, uint32_t place) {
  uint32_t root = 0;
  const tenon__storage_t storage = c->schedule->places[place].storage;
  return storage != TENON_STORAGE_VIEW && is_made_by_steps(c, root_of(c, place, &root));
}

/* Does the kernel's rule let this output lie where that input lies? */
static bool is_in_place(const checker_t* c, const tenon__step_t* step, uint32_t input,
                        uint32_t output) {
  uint32_t root = 0;
  const range_t in = range_of(root_of(c, step->inputs[input], &root));
  const range_t out = range_of(root_of(c, step->outputs[output], &root));
  return step->kind == TENON_STEP_KERNEL && step->tactic.output_rules != NULL &&
         step->tactic.output_rules[output].in_place == input + 1u && in.space == out.space &&
         in.begin == out.begin && in.end == out.end &&
         tenon__fits_in_place(c->plan, c->graph_index, step, input, output);
}

static bool are_one_state(const tenon__place_t* a, const tenon__place_t* b) {
  return a->storage == TENON_STORAGE_STATE && b->storage == TENON_STORAGE_STATE &&
         a->index == b->index;
}

static bool shares_memory(const checker_t* c, uint32_t a, uint32_t b) {
  uint32_t root_a = 0;
  uint32_t root_b = 0;
  const tenon__place_t* owner_a = root_of(c, a, &root_a);
  const tenon__place_t* owner_b = root_of(c, b, &root_b);
  return root_a == root_b
             ? !tenon__places_lie_apart(c->plan->network, c->graph_index, c->schedule, a, b)
             : overlap(range_of(owner_a), range_of(owner_b)) || are_one_state(owner_a, owner_b);
}

/* What a step writes lies apart from what it reads and from what else it writes. */
static bool lies_apart(const checker_t* c, const tenon__step_t* step, uint32_t output) {
  const uint32_t place = step->outputs[output];
  for (uint32_t k = 0; k < step->input_count; ++k) {
    if (step->inputs[k] != TENON_NONE && shares_memory(c, step->inputs[k], place) &&
        !is_in_place(c, step, k, output)) {
      return false;
    }
  }
  for (uint32_t k = 0; k < output; ++k) {
    if (step->outputs[k] != TENON_NONE && shares_memory(c, step->outputs[k], place)) {
      return false;
    }
  }
  return true;
}

/* Whatever lay there holds its value no more. */
static void write_over(checker_t* c, range_t range) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < c->arena_count; ++k) {
    const uint32_t place = c->arena[k];
    if (overlap(range, range_of(&c->schedule->places[place]))) {
      c->is_valid[place] = 0;
    } else {
      c->arena[kept++] = place;
    }
  }
  c->arena_count = kept;
}

/* What is complete may complete what it is a part of. */
static void note_written(checker_t* c, uint32_t place) {
  const tenon__place_t* p = &c->schedule->places[place];
  c->wholes[place].missing = 0;
  while (p->storage == TENON_STORAGE_PART && c->wholes[place].missing == 0) {
    whole_t* whole = &c->wholes[p->base];
    c->was_begun[place] = 1;
    if (p->index < whole->count && whole->is_written[p->index] == 0) {
      whole->is_written[p->index] = 1;
      whole->missing -= whole->missing > 0 ? 1 : 0;
    }
    place = p->base;
    p = &c->schedule->places[place];
  }
}

static tenon_status_t write_place(checker_t* c, const tenon__step_t* step, uint32_t place) {
  uint32_t root = 0;
  const tenon__place_t* owner = root_of(c, place, &root);
  const bool is_part = c->schedule->places[place].storage == TENON_STORAGE_PART;
  if (c->was_begun[place] != 0 ||
      (c->was_begun[root] != 0 && !(is_part && c->is_valid[root] != 0))) {
    return broken(c, step, "writes what another step has written");
  }
  note_written(c, place);
  if (c->is_valid[root] != 0) {
    return TENON_OK; /* one more of its parts */
  }
  write_over(c, range_of(owner));
  if (owner->storage == TENON_STORAGE_STATE) {
    c->is_over[owner->index] = 1;
  }
  c->was_begun[root] = 1;
  c->is_valid[root] = 1;
  if (owner->storage == TENON_STORAGE_ARENA) {
    c->arena[c->arena_count++] = root;
  }
  return TENON_OK;
}

static tenon_status_t check_outputs(checker_t* c, const tenon__step_t* step) {
  TENON_EACH_OUTPUT(k, step) {
    if (!is_writable(c, step->outputs[k])) {
      return broken(c, step, "writes what may only be read");
    }
    if (!lies_apart(c, step, k)) {
      return broken(c, step, "writes into what it reads or writes besides");
    }
  }
  TENON_EACH_OUTPUT(k, step) {
    TENON_TRY(write_place(c, step, step->outputs[k]));
  }
  return TENON_OK;
}

/* While bodies run, what they were lent must stay, and what they made until it is stored. */
static tenon_status_t check_bodies(checker_t* c, const tenon__step_t* step, uint32_t space) {
  const range_t bodies = body_range(c, step, space);
  bool apart = true;
  uint32_t root = 0;
  for (uint32_t k = 0; k < step->input_count; ++k) {
    apart = apart && (step->inputs[k] == TENON_NONE ||
                      !overlap(bodies, range_of(root_of(c, step->inputs[k], &root))));
  }
  for (uint32_t k = 0; k < step->output_count; ++k) {
    apart = apart && (step->outputs[k] == TENON_NONE ||
                      !overlap(bodies, range_of(root_of(c, step->outputs[k], &root))));
  }
  write_over(c, bodies);
  return apart ? TENON_OK : broken(c, step, "has bodies that write into its own arguments");
}

/* ---- One graph ---- */

static tenon_status_t check_steps(checker_t* c) {
  for (uint32_t s = 0; s < c->schedule->step_count; ++s) {
    const tenon__step_t* step = &c->schedule->steps[s];
    TENON_TRY(check_inputs(c, step));
    for (uint32_t d = 0; d < c->plan->device_count; ++d) {
      TENON_TRY(check_bodies(c, step, d));
    }
    TENON_TRY(check_outputs(c, step));
  }
  return TENON_OK;
}

static tenon_status_t check_kept(const checker_t* c, uint32_t place, const char* what) {
  return has_content(c, place) && has_bytes(c, place)
             ? TENON_OK
             : tenon__fail(c->sink, TENON_ERROR_INVALID_DATA,
                           "the plan is broken: in '%s', nothing is left of %s '%s' at the end",
                           c->graph->name, what,
                           c->graph->values[c->schedule->places[place].value].name);
}

static bool is_next(const checker_t* c, const tenon__place_t* place) {
  return place->storage == TENON_STORAGE_NEXT ||
         (place->storage == TENON_STORAGE_STATE && !is_old_state(c, place));
}

/* What is read after the last step: outputs, and what states become. */
static tenon_status_t check_end(const checker_t* c) {
  const tenon__network_t* network = c->plan->network;
  for (uint32_t k = 0; k < c->schedule->output_count; ++k) {
    TENON_TRY(check_kept(c, c->schedule->outputs[k], "output"));
  }
  for (uint32_t p = 0; p < c->schedule->place_count; ++p) {
    if (is_next(c, &c->schedule->places[p])) {
      TENON_TRY(check_kept(c, p, "the next value of a state,"));
    }
  }
  const uint32_t state_count = c->graph_index == 0 ? network->state_count : 0;
  for (uint32_t k = 0; k < state_count; ++k) {
    const uint32_t place = tenon__schedule_find(c->schedule, network->states[k].update);
    TENON_TRY(place == TENON_NONE ? TENON_OK : check_kept(c, place, "the next value of a state,"));
  }
  return TENON_OK;
}

static bool add_rounded(uint64_t bytes, uint64_t* inout_total) {
  const uint64_t rest = bytes % ALIGNMENT_BYTES;
  return tenon__add_size(*inout_total, bytes, inout_total) &&
         tenon__add_size(*inout_total, rest == 0 ? 0 : ALIGNMENT_BYTES - rest, inout_total);
}

/* Nobody places blocks so badly that all of them together are not enough. */
static tenon_status_t check_demand(const checker_t* c, uint32_t space) {
  uint64_t needed = 0;
  bool counts = true;
  for (uint32_t k = 0; k < c->schedule->place_count; ++k) {
    const tenon__place_t* place = &c->schedule->places[k];
    const bool owns = place->storage == TENON_STORAGE_ARENA && place->alias == TENON_NONE &&
                      place->space == space;
    counts = counts && add_rounded(owns ? place->size_bytes : 0, &needed);
  }
  for (uint32_t s = 0; s < c->schedule->step_count; ++s) {
    const tenon__step_t* step = &c->schedule->steps[s];
    counts = counts &&
             add_rounded(tenon__step_body_bytes(c->plan, c->graph_index, step, space), &needed);
  }
  return counts && c->schedule->memory_bytes[space] <= needed
             ? TENON_OK
             : tenon__fail(c->sink, TENON_ERROR_INVALID_DATA,
                           "the plan is broken: '%s' asks for %llu bytes of memory, its values "
                           "take %llu",
                           c->graph->name, (unsigned long long)c->schedule->memory_bytes[space],
                           (unsigned long long)needed);
}

static tenon_status_t find_wholes(checker_t* c, tenon__arena_t* arena) {
  for (uint32_t k = 0; k < c->schedule->place_count; ++k) {
    const tenon__place_t* part = &c->schedule->places[k];
    if (part->storage != TENON_STORAGE_PART || c->wholes[part->base].count > 0) {
      continue;
    }
    whole_t* whole = &c->wholes[part->base];
    whole->count = whole->missing = part->map->source_count;
    whole->is_written = tenon__arena_allocate(arena, whole->count, 1);
    TENON_TRY_MEMORY(whole->is_written != NULL);
  }
  return TENON_OK;
}

tenon_status_t tenon__memory_check(const tenon__plan_t* plan, uint32_t graph, tenon__arena_t* arena,
                                   const tenon_sink_t* sink) {
  checker_t c = {.plan = plan,
                 .graph_index = graph,
                 .graph = plan->network->graphs[graph],
                 .schedule = &plan->schedules[graph],
                 .sink = sink};
  const size_t count = c.schedule->place_count + (size_t)1;
  c.is_valid = tenon__arena_allocate(arena, count, sizeof *c.is_valid);
  c.was_begun = tenon__arena_allocate(arena, count, sizeof *c.was_begun);
  c.is_over = tenon__arena_allocate(arena, plan->network->state_count + 1u, sizeof *c.is_over);
  c.arena = tenon__arena_allocate(arena, count, sizeof *c.arena);
  c.wholes = tenon__arena_allocate(arena, count, sizeof *c.wholes);
  TENON_TRY_MEMORY(c.is_valid != NULL && c.was_begun != NULL && c.is_over != NULL &&
                   c.arena != NULL && c.wholes != NULL);
  TENON_TRY(find_wholes(&c, arena));
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    TENON_TRY(check_demand(&c, d));
  }
  TENON_TRY(check_steps(&c));
  return check_end(&c);
}

/* ---- Workspaces ---- */

static tenon_status_t check_workspace(const tenon_sink_t* sink, const char* what, uint64_t asked,
                                      uint64_t needed) {
  return asked <= needed ? TENON_OK
                         : tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                                       "the plan is broken: it asks for %llu bytes of %s memory, "
                                       "its steps need %llu",
                                       (unsigned long long)asked, what, (unsigned long long)needed);
}

static tenon_status_t check_workspaces(const tenon__plan_t* plan, uint32_t device,
                                       const tenon_sink_t* sink) {
  uint64_t scratch = 0;
  uint64_t zeroed = 0;
  uint64_t persistent = 0;
  bool counts = tenon__plan_scratch_bytes(plan, device, plan->thread_count, &scratch, NULL);
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t s = 0; s < plan->schedules[g].step_count; ++s) {
      const tenon__step_t* step = &plan->schedules[g].steps[s];
      counts = counts && (step->device != device ||
                          (add_rounded(step->tactic.zeroed_bytes, &zeroed) &&
                           add_rounded(step->tactic.persistent_bytes, &persistent)));
    }
  }
  if (!counts) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                       "the plan is broken: its steps need more memory than can be counted");
  }
  const tenon__plan_device_t* asked = &plan->devices[device];
  TENON_TRY(check_workspace(sink, "scratch", asked->scratch_bytes, scratch));
  TENON_TRY(check_workspace(sink, "zeroed", asked->zeroed_bytes, zeroed));
  return check_workspace(sink, "persistent", asked->persistent_bytes, persistent);
}

tenon_status_t tenon__workspaces_check(const tenon__plan_t* plan, const tenon_sink_t* sink) {
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    TENON_TRY(check_workspaces(plan, d, sink));
  }
  return TENON_OK;
}
