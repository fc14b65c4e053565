/* The profile of a build: ranges of inputs become ranges of symbols, then numbers for every
 * dimension. */
#include "core/builder/building.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/fault.h"
#include "core/network/judge.h"
#include "core/network/verify_rules.h"
#include "core/plan/requirements.h"
#include "core/tensor/layout.h"

static const tenon__build_range_t* range_of(const tenon__build_options_t* options,
                                            const char* input) {
  for (uint32_t k = 0; k < options->range_count; ++k) {
    if (strcmp(options->ranges[k].input, input) == 0) {
      return &options->ranges[k];
    }
  }
  return NULL;
}

static tenon_status_t check_ranges(const tenon__building_t* b) {
  const tenon__graph_t* g = b->plan->network->graphs[0];
  const tenon_sink_t* sink = b->options->sink;
  for (uint32_t k = 0; k < b->options->range_count; ++k) {
    const tenon__build_range_t* range = &b->options->ranges[k];
    const tenon__value_node_t* value = tenon__graph_input(g, range->input);
    if (value == NULL) {
      return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                         "the profile names input '%s', which the network does not have",
                         range->input);
    }
    if (value->type.rank != range->rank) {
      return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                         "the profile gives input '%s' rank %u, it has %u", range->input,
                         range->rank, value->type.rank);
    }
    for (uint32_t d = 0; d < range->rank; ++d) {
      int64_t known = 0;
      const bool ordered = range->min[d] >= 0 && range->min[d] <= range->optimum[d] &&
                           range->optimum[d] <= range->max[d];
      const bool fixed = tenon__dim_known(b->plan->network->pool, value->type.dims[d], &known);
      if (!ordered || (fixed && (range->min[d] != known || range->max[d] != known))) {
        return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                           "the profile gives axis %u of input '%s' %lld..%lld..%lld%s", d,
                           range->input, (long long)range->min[d], (long long)range->optimum[d],
                           (long long)range->max[d],
                           fixed ? ", but its extent is fixed" : ", which is not in order");
      }
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__building_narrow(tenon__building_t* b) {
  tenon__network_t* network = b->plan->network;
  const tenon__graph_t* g = network->graphs[0];
  TENON_TRY(check_ranges(b));
  for (uint32_t k = 0; k < g->input_count; ++k) {
    const tenon__value_node_t* value = &g->values[g->inputs[k]];
    const tenon__build_range_t* range = range_of(b->options, value->name);
    for (uint32_t d = 0; value->type.kind == TENON_ARGUMENT_TENSOR && d < value->type.rank; ++d) {
      const tenon__dim_view_t dim = tenon__dim_get(network->pool, value->type.dims[d]);
      if (dim.kind != TENON_DIM_SYMBOL) {
        continue;
      }
      const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, dim.index);
      const int64_t min = range == NULL ? 1 : range->min[d];
      const int64_t max = range == NULL ? 1 : range->max[d];
      if (range == NULL && symbol->max == INT64_MAX) {
        tenon__report(b->options->sink, TENON_SEVERITY_WARNING,
                      "input '%s': axis %u (%s) has no profile and is taken to be 1", value->name,
                      d, symbol->name);
      }
      if (range != NULL || symbol->max == INT64_MAX) {
        tenon__symbol_set_range(network->pool, dim.index, min, max);
      }
    }
  }
  return TENON_OK;
}

/* The profile's own numbers for an input's symbols; others are set from their ranges and bounds. */
static void set_inputs(tenon__building_t* b, tenon__extents_t* extents, int which) {
  const tenon__network_t* network = b->plan->network;
  const tenon__graph_t* g = network->graphs[0];
  for (uint32_t k = 0; k < g->input_count; ++k) {
    const tenon__value_node_t* value = &g->values[g->inputs[k]];
    const tenon__build_range_t* range = range_of(b->options, value->name);
    for (uint32_t d = 0; value->type.kind == TENON_ARGUMENT_TENSOR && d < value->type.rank; ++d) {
      const tenon__dim_view_t dim = tenon__dim_get(network->pool, value->type.dims[d]);
      if (dim.kind != TENON_DIM_SYMBOL || (range == NULL && extents->symbol_known[dim.index])) {
        continue;
      }
      const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, dim.index);
      int64_t number = which == 0 ? symbol->min : symbol->max;
      if (range != NULL && which == 1) {
        number = range->optimum[d];
      }
      tenon__extents_set(extents, dim.index, number);
    }
  }
}

static tenon_status_t check_size(const tenon__building_t* b, const tenon__value_node_t* value,
                                 const tenon__extents_t* extents, const char* point) {
  const tenon__type_t* type = &value->type;
  int64_t dims[TENON_RANK_LIMIT];
  const uint32_t rank = type->rank == TENON_NONE ? 0 : type->rank;
  (void)tenon__extents_shape(extents, rank, type->dims, dims);
  return type->kind != TENON_ARGUMENT_TENSOR || tenon__extents_fit(rank, dims)
             ? TENON_OK
             : tenon__fail(b->options->sink, TENON_ERROR_INVALID_ARGUMENT,
                           "the profile's %s: '%s' has more than 2^48 elements", point,
                           value->name);
}

/* Kernels are tried at the optimum: each value fits there. What only the run finds is not known
 * yet, and does not count. */
static tenon_status_t check_values(const tenon__building_t* b, const tenon__extents_t* optimum) {
  const tenon__network_t* network = b->plan->network;
  for (uint32_t graph = 0; graph < network->graph_count; ++graph) {
    const tenon__graph_t* g = network->graphs[graph];
    for (uint32_t v = 0; v < g->value_count; ++v) {
      TENON_TRY(check_size(b, &g->values[v], optimum, "optimum"));
    }
  }
  return TENON_OK;
}

/* What is derived from the largest inputs may be more than any run comes to: a run says so itself.
 */
static tenon_status_t check_inputs(const tenon__building_t* b, const tenon__extents_t* largest) {
  const tenon__graph_t* g = b->plan->network->graphs[0];
  for (uint32_t k = 0; k < g->input_count; ++k) {
    TENON_TRY(check_size(b, &g->values[g->inputs[k]], largest, "maximum"));
  }
  return TENON_OK;
}

/* The symbol that stands for any extent while rules are verified (inference.h) has no number. */
static bool is_found(const tenon__symbol_t* symbol) {
  const bool is_any = symbol->kind == TENON_SYMBOL_EXTENT && symbol->a == TENON_NONE;
  return !is_any && symbol->kind != TENON_SYMBOL_COORDINATE && symbol->kind != TENON_SYMBOL_INPUT;
}

/* Symbols that only the run knows: bounds at the maximum, guesses at the optimum, nothing at the
 * minimum. */
static void set_found(tenon__building_t* b, tenon__extents_t* extents, int which) {
  const tenon__dim_pool_t* pool = b->plan->network->pool;
  const uint32_t count = which > 0 ? extents->symbol_count : 0;
  for (uint32_t k = 0; k < count; ++k) {
    const tenon__symbol_t* symbol = tenon__symbol_get(pool, k);
    int64_t bound = 0;
    if (extents->symbol_known[k] || !is_found(symbol)) {
      continue;
    }
    tenon__extents_update(extents);
    if (symbol->bound.id != TENON_NONE && tenon__extents_bound(extents, symbol->bound, &bound)) {
      tenon__extents_set(extents, k, bound);
    } else if (which == 1) {
      const int64_t guess = symbol->max < 1 ? symbol->max : symbol->min > 1 ? symbol->min : 1;
      tenon__extents_set(extents, k, guess);
    } else if (symbol->max != INT64_MAX && symbol->kind == TENON_SYMBOL_EXTENT) {
      tenon__extents_set(extents, k, symbol->max);
    }
  }
}

/* Kernels are tried at the optimum: what the caller says of it must fit together. What only the run
 * finds is a guess there, and does not count; nor does what a run comes to in a branch alone. */
static tenon_status_t check_optimum(tenon__building_t* b, const tenon__requirements_t* requirements,
                                    tenon__extents_t* optimum) {
  const tenon__network_t* network = b->plan->network;
  tenon__extents_update(optimum);
  for (uint32_t k = 0; k < requirements->count; ++k) {
    const tenon__requirement_t* item = &requirements->items[k];
    if (tenon__graph_branch(network, item->graph) == TENON_NONE) {
      TENON_TRY(tenon__requirements_check(item, 1, network, optimum,
                                          "the profile's optimum: ", b->options->sink));
    }
  }
  return TENON_OK;
}

static bool holds(const tenon__extents_t* optimum, tenon_dim_t condition) {
  int64_t value = 1;
  return !tenon__extents_get(optimum, condition, &value) || value != 0;
}

/* Left side minus right side at the guesses. */
static bool find_gap(const tenon__extents_t* optimum, const tenon__dim_view_t* equation,
                     int64_t* out_gap) {
  int64_t right = 0;
  if (!tenon__extents_get(optimum, equation->operands[0], out_gap) ||
      !tenon__extents_get(optimum, equation->operands[1], &right)) {
    return false;
  }
  *out_gap -= right;
  return true;
}

typedef struct fitting_t {
  uint8_t* changed;  /* per symbol */
  uint32_t* visited; /* per dimension: the last round that looked at it */
  uint32_t round;
} fitting_t;

static void guess(tenon__extents_t* optimum, uint32_t symbol, int64_t number) {
  tenon__extents_set(optimum, symbol, number);
  tenon__extents_update(optimum);
}

/* Changes the guess of one symbol so that the equation holds, if it is linear in the symbol. */
static bool guess_symbol(tenon__extents_t* optimum, const tenon__dim_view_t* equation,
                         uint32_t symbol, uint8_t* changed) {
  const tenon__symbol_t* known = tenon__symbol_get(optimum->pool, symbol);
  int64_t gap = 0;
  int64_t next_gap = 0;
  if (symbol >= optimum->symbol_count || changed[symbol] != 0 || !is_found(known) ||
      optimum->symbol_known[symbol] == 0 || !find_gap(optimum, equation, &gap)) {
    return false;
  }
  const int64_t before = optimum->symbol_values[symbol];
  guess(optimum, symbol, before + 1);
  const bool is_linear = find_gap(optimum, equation, &next_gap) && next_gap != gap;
  const int64_t number = is_linear ? before - gap / (next_gap - gap) : before;
  guess(optimum, symbol, number);
  const bool fits =
      number >= known->min && number <= known->max && find_gap(optimum, equation, &gap) && gap == 0;
  if (!fits) {
    guess(optimum, symbol, before);
  }
  changed[symbol] = fits;
  return fits;
}

/* Of one symbol in `dim` that has not been changed yet. Dimensions share parts: each is looked at
 * once. */
static bool guess_anew(tenon__extents_t* optimum, const tenon__dim_view_t* equation,
                       tenon_dim_t dim, fitting_t* fitting) {
  if (fitting->visited[dim.id] == fitting->round) {
    return false;
  }
  fitting->visited[dim.id] = fitting->round;
  const tenon__dim_view_t view = tenon__dim_get(optimum->pool, dim);
  bool is_done = view.kind == TENON_DIM_SYMBOL &&
                 guess_symbol(optimum, equation, view.index, fitting->changed);
  const uint32_t count = view.kind == TENON_DIM_OPERATION ? view.operand_count : 0;
  for (uint32_t k = 0; k < count && !is_done; ++k) {
    is_done = guess_anew(optimum, equation, view.operands[k], fitting);
  }
  return is_done;
}

/* Guesses follow equations: the extents of weights can fix those of their input, for example. If a condition fails
 * in spite of that, kernels could read past the guessed extents. */
static tenon_status_t fit_guesses(tenon__building_t* b, const tenon__requirements_t* requirements,
                                  tenon__extents_t* optimum) {
  tenon__arena_t* arena = &b->plan->arena;
  fitting_t fitting = {.changed = tenon__arena_allocate(arena, optimum->symbol_count + 1u, 1),
                       .visited = tenon__arena_allocate(
                           arena, tenon__dim_pool_count(optimum->pool) + 1u, sizeof(uint32_t))};
  TENON_TRY_MEMORY(fitting.changed != NULL && fitting.visited != NULL);
  bool is_over = false;
  while (!is_over) {
    is_over = true;
    b->plan->profile.is_contradictory = false;
    for (uint32_t k = 0; k < requirements->count; ++k) {
      const tenon_dim_t condition = requirements->items[k].condition;
      const tenon__dim_view_t view = tenon__dim_get(optimum->pool, condition);
      if (holds(optimum, condition)) {
        continue;
      }
      b->plan->profile.is_contradictory = true;
      fitting.round += 1;
      if (view.kind == TENON_DIM_OPERATION && view.opcode == TENON_OPCODE_EQ &&
          guess_anew(optimum, &view, condition, &fitting)) {
        is_over = false;
      }
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__building_profile(tenon__building_t* b) {
  tenon__requirements_t requirements = {.arena = &b->plan->arena};
  TENON_TRY(tenon__network_judge(b->plan->network, b->options->sink));
  tenon__network_warn_of_faults(b->plan->network, b->options->sink);
  TENON_TRY(tenon__network_verify_for_run(b->plan->network, &requirements, b->options->sink));
  tenon__extents_t* const points[] = {&b->plan->profile.min, &b->plan->profile.optimum,
                                      &b->plan->profile.max};
  static const tenon__extents_end_t ends[] = {TENON_EXTENTS_LEAST, TENON_EXTENTS_POINT,
                                              TENON_EXTENTS_MOST};
  for (int which = 0; which < 3; ++which) {
    TENON_TRY(tenon__extents_create(&b->plan->arena, b->plan->network->pool, points[which]));
    points[which]->end = ends[which];
    set_inputs(b, points[which], which);
    if (which == 1) {
      TENON_TRY(check_optimum(b, &requirements, points[which]));
      TENON_TRY(check_values(b, points[which]));
    }
    set_found(b, points[which], which);
    tenon__extents_update(points[which]);
  }
  TENON_TRY(fit_guesses(b, &requirements, points[1]));
  return check_inputs(b, points[2]);
}
