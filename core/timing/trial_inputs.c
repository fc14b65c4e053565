/* The inputs of trials: what the ports of the region's nodes take, made; and whether it stayed so.
 */
#include "core/timing/trial_inputs.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/kernel/align.h"
#include "core/network/node.h"
#include "core/operator/made_data.h"
#include "core/region/retype.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "core/tensor/strided_copy.h"
#include "core/timing/trial_memory.h"

static const tenon__value_node_t* graph_value(const tenon__trial_data_t* data, uint32_t value) {
  return &data->region->network->graphs[data->region->graph]->values[value];
}

/* ---- By all threads ---- */

enum { FOR_ALL_THREADS = 1 << 18 /* elements */ };

/* One index of an axis after the other. */
typedef struct copying_t {
  const tenon_tensor_view_t* from;
  const tenon_tensor_view_t* to;
  uint32_t axis;
} copying_t;

static void copy_index(void* user, uint32_t index, uint32_t thread) {
  const copying_t* c = user;
  const int64_t from_bytes = tenon__dtype_bits(c->from->dtype) / 8;
  const int64_t to_bytes = tenon__dtype_bits(c->to->dtype) / 8;
  tenon_tensor_view_t from = *c->from;
  tenon_tensor_view_t to = *c->to;
  int64_t dims[TENON_RANK_LIMIT];
  (void)thread;
  memcpy(dims, from.dims, from.rank * sizeof *dims);
  dims[c->axis] = 1;
  from.dims = dims;
  to.dims = dims;
  from.data = (char*)from.data + index * from.strides[c->axis] * from_bytes;
  to.data = (char*)to.data + index * to.strides[c->axis] * to_bytes;
  tenon__strided_copy(&from, &to);
}

/* Along the first axis that is long enough, or the longest. */
static void copy_all(const tenon__trial_data_t* data, const tenon_tensor_view_t* from,
                     const tenon_tensor_view_t* to) {
  copying_t c = {from, to, 0};
  uint64_t count = 0;
  for (uint32_t d = 0; d < from->rank; ++d) {
    c.axis = from->dims[c.axis] < 8 && from->dims[d] > from->dims[c.axis] ? d : c.axis;
  }
  if (!tenon__element_count(from->rank, from->dims, &count) || count < FOR_ALL_THREADS ||
      from->dims[c.axis] > INT32_MAX) {
    tenon__strided_copy(from, to);
    return;
  }
  tenon__thread_pool_run(data->tuning->pool, (uint32_t)from->dims[c.axis], copy_index, &c);
}

typedef struct rounding_t {
  void* data;
  tenon_dtype_t dtype;
  tenon_dtype_t through;
  uint64_t count;
} rounding_t;

static void round_piece(void* user, uint32_t index, uint32_t thread) {
  const rounding_t* r = user;
  const uint64_t begin = (uint64_t)index * FOR_ALL_THREADS;
  const uint64_t left = r->count - begin;
  (void)thread;
  tenon__elements_round((char*)r->data + begin * sizeof(float), r->dtype, r->through,
                        left < FOR_ALL_THREADS ? left : FOR_ALL_THREADS);
}

/* ---- What an input takes ---- */

typedef struct port_use_t {
  const tenon__node_t* node;
  tenon__domain_t domain;
} port_use_t;

/* The port through which a node of the region reads the value, where its domain says something. */
static bool find_port(const tenon__trial_data_t* data, uint32_t value, port_use_t* out_use) {
  const struct tenon_region_t* region = data->region;
  const tenon__graph_t* g = region->network->graphs[region->graph];
  for (uint32_t n = 0; n < region->covered_count; ++n) {
    const tenon__node_t* node = &g->nodes[region->covered[n]];
    const uint32_t ports = node->op == NULL ? 0 : node->op->descriptor.input_count;
    const uint32_t input_count = ports > 0 ? node->input_count : 0;
    for (uint32_t k = 0; k < input_count; ++k) {
      const tenon_port_t* port = &node->op->descriptor.inputs[k < ports ? k : ports - 1];
      const char* fault = NULL;
      if (node->inputs[k] == value && port->domain != NULL &&
          tenon__domain_parse(&node->op->descriptor, port->domain, &out_use->domain, &fault)) {
        out_use->node = node;
        return true;
      }
    }
  }
  return false;
}

static void guard(const tenon__trial_input_t* input, tenon__trial_copy_t* copy) {
  copy->checksum = tenon__memory_checksum(copy->view.data, input->size_bytes);
  copy->is_guarded = true;
}

/* The extents that places stay below. */
static tenon_status_t find_limits(tenon__trial_data_t* data, const port_use_t* use,
                                  tenon__data_wish_t* wish) {
  const tenon__node_t* node = use->node;
  const uint32_t source =
      use->domain.input < node->input_count ? node->inputs[use->domain.input] : TENON_NONE;
  int64_t dims[TENON_RANK_LIMIT];
  if (use->domain.places == TENON_DOMAIN_NO_PLACES || source == TENON_NONE) {
    return TENON_OK;
  }
  const tenon__value_node_t* value = graph_value(data, source);
  const uint32_t rank = value->type.rank;
  int64_t axis = use->domain.axis;
  if (use->domain.axis_attribute != NULL) {
    axis = tenon__node_attribute(node, use->domain.axis_attribute)->integer;
  }
  if (rank == TENON_NONE || rank > TENON_RANK_LIMIT || axis < -(int64_t)rank ||
      axis >= (int64_t)rank ||
      !tenon__extents_shape(&data->region->profile->optimum, rank, value->type.dims, dims)) {
    return TENON_OK; /* index 0 alone */
  }
  axis += axis < 0 ? rank : 0;
  wish->limit_count = use->domain.places == TENON_DOMAIN_INDEX ? 1 : rank - (uint32_t)axis;
  wish->limits = tenon__arena_copy(&data->arena, dims + axis, wish->limit_count * sizeof *dims);
  wish->axis = (uint32_t)axis;
  return wish->limits == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

void tenon__trial_write_contents(const tenon__profile_t* profile, const tenon__value_node_t* value,
                                 void* inout_rows) {
  if (value->type.contents == NULL) {
    return;
  }
  for (uint32_t c = 0; c < value->type.content_count; ++c) {
    int64_t number = 0;
    if (tenon__extents_get(&profile->optimum, value->type.contents[c], &number)) {
      tenon__element_store(inout_rows, value->type.dtype, c, (tenon__scalar_t){.i = number},
                           TENON_DTYPE_INT64);
    }
  }
}

/* To what is the same in every type that a tactic may ask for: then all of them compute with the
 * same numbers. */
static void round_rows(const tenon__trial_data_t* data, const tenon_tensor_view_t* rows) {
  tenon_dtype_t types[TENON_NARROW_TYPE_LIMIT];
  const uint32_t type_count = tenon__permitted_types(data->tuning->options.permits, types);
  uint64_t count = 0;
  if (rows->dtype != TENON_DTYPE_FLOAT32 || !tenon__element_count(rows->rank, rows->dims, &count)) {
    return;
  }
  for (uint32_t t = 0; t < type_count; ++t) {
    rounding_t rounding = {rows->data, rows->dtype, types[t], count};
    tenon__thread_pool_run(data->tuning->pool,
                           (uint32_t)((count + FOR_ALL_THREADS - 1) / FOR_ALL_THREADS), round_piece,
                           &rounding);
  }
}

static tenon_status_t make_rows(tenon__trial_data_t* data, uint32_t k,
                                tenon__trial_input_t* input) {
  const uint32_t value = data->region->inputs[k].value;
  tenon__data_wish_t wish = {.dtype = input->rows.view.dtype,
                             .rank = input->rows.view.rank,
                             .dims = input->rows.view.dims};
  port_use_t use = {0};
  input->rows.view.data = tenon__trial_data_take(data, input->size_bytes);
  if (input->rows.view.data == NULL) {
    tenon__report(data->tuning->sink, TENON_SEVERITY_WARNING,
                  "value '%s' has %zu bytes at the profile's optimum, which there is no memory for",
                  graph_value(data, value)->name, input->size_bytes);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (find_port(data, value, &use)) {
    wish.domain = use.domain;
    TENON_TRY(find_limits(data, &use, &wish));
  }
  if (wish.dtype == TENON_DTYPE_STRING) {
    memset(input->rows.view.data, 0, input->size_bytes); /* empty */
  }
  tenon__data_make(&wish, input->rows.view.data);
  round_rows(data, &input->rows.view);
  tenon__trial_write_contents(data->region->profile, graph_value(data, value),
                              input->rows.view.data);
  return TENON_OK;
}

static tenon_status_t make_input(tenon__trial_data_t* data, uint32_t k,
                                 const tenon_tensor_view_t* given) {
  const struct tenon_region_t* region = data->region;
  tenon__trial_input_t* input = &data->inputs[k];
  if (region->input_values[k] == TENON_NONE) {
    return TENON_OK;
  }
  const tenon_value_info_t* value = &region->values[region->input_values[k]];
  const tenon__value_node_t* v = graph_value(data, region->inputs[k].value);
  if (v->type.kind != TENON_ARGUMENT_TENSOR || v->type.rank == TENON_NONE) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(tenon__trial_data_describe(data, value, &input->rows.view, &input->size_bytes));
  input->is_there = true;
  if (value->constant_data != NULL) {
    input->rows.view.data = tenon__drop_const(value->constant_data);
    return TENON_OK; /* guarded where somebody reads its own bytes */
  }
  if (given != NULL) {
    input->rows.view.data = given[k].data;
  } else {
    TENON_TRY(make_rows(data, k, input));
  }
  guard(input, &input->rows);
  return TENON_OK;
}

tenon_status_t tenon__trial_inputs_make(tenon__trial_data_t* data,
                                        const tenon_tensor_view_t* given) {
  for (uint32_t k = 0; k < data->region->input_count; ++k) {
    TENON_TRY(make_input(data, k, given));
  }
  return TENON_OK;
}

const tenon_tensor_view_t* tenon__trial_inputs_rows(const tenon__trial_data_t* data, uint32_t k) {
  return data->inputs[k].is_there ? &data->inputs[k].rows.view : NULL;
}

/* ---- Lending ---- */

static bool is_like(const tenon_tensor_view_t* view, const int64_t* strides, tenon_dtype_t dtype) {
  return view->dtype == dtype &&
         tenon__strides_equal(view->rank, view->dims, view->strides, strides);
}

/* The input with these strides, in this type. */
static tenon_status_t copy_for(tenon__trial_data_t* data, tenon__trial_input_t* input,
                               const int64_t* strides, tenon_dtype_t dtype,
                               tenon__trial_copy_t** out_copy) {
  const tenon_tensor_view_t* rows = &input->rows.view;
  *out_copy = &input->rows;
  if (is_like(rows, strides, dtype)) {
    return TENON_OK;
  }
  for (*out_copy = input->copies; *out_copy != NULL; *out_copy = (*out_copy)->next) {
    if (is_like(&(*out_copy)->view, strides, dtype)) {
      return TENON_OK;
    }
  }
  if (tenon__dtype_bits(rows->dtype) % 8 != 0) {
    return TENON_ERROR_UNSUPPORTED; /* elements within a byte lie in rows alone */
  }
  tenon__trial_copy_t* copy = tenon__arena_allocate(&data->arena, 1, sizeof *copy);
  int64_t* own = tenon__arena_copy(&data->arena, strides, (rows->rank + 1u) * sizeof *own);
  TENON_TRY_MEMORY(copy != NULL && own != NULL);
  copy->view = *rows;
  copy->view.strides = own;
  copy->view.dtype = dtype;
  copy->view.data = tenon__trial_data_take(data, input->size_bytes);
  TENON_TRY_MEMORY(copy->view.data != NULL);
  memset(copy->view.data, 0, input->size_bytes); /* narrower types fill a part of it */
  copy_all(data, &input->rows.view, &copy->view);
  copy->next = input->copies;
  input->copies = copy;
  *out_copy = copy;
  return TENON_OK;
}

static tenon_status_t copy_into_box(tenon__trial_data_t* data, const tenon__trial_input_t* input,
                                    tenon__trial_copy_t** out_copy) {
  tenon__trial_copy_t* copy = tenon__arena_allocate(&data->arena, 1, sizeof *copy);
  int64_t* strides = tenon__arena_allocate(&data->arena, data->box->rank + 1u, sizeof *strides);
  TENON_TRY_MEMORY(copy != NULL && strides != NULL);
  TENON_TRY(tenon__trial_data_box_strides(data, strides));
  copy->view = input->rows.view;
  copy->view.strides = strides;
  TENON_TRY(tenon__trial_data_take_box(data, copy->view.dtype, &copy->view.data));
  tenon__strided_copy(&input->rows.view, &copy->view);
  *out_copy = copy;
  return TENON_OK;
}

static tenon_status_t align(tenon__trial_data_t* data, uint32_t k,
                            const tenon_tensor_view_t* tensor) {
  int64_t* dims = tenon__arena_allocate(&data->arena, TENON_RANK_LIMIT, sizeof *dims);
  int64_t* strides = tenon__arena_allocate(&data->arena, TENON_RANK_LIMIT, sizeof *strides);
  tenon_argument_t* argument = &data->arguments[k];
  TENON_TRY_MEMORY(dims != NULL && strides != NULL);
  argument->kind = TENON_ARGUMENT_TENSOR;
  return tenon__region_align_input(data->region, k, &data->region->profile->optimum, tensor,
                                   (tenon__axes_t){dims, strides}, &argument->tensor);
}

/* What is taken as it lies lies in the network as the region says. */
static tenon_status_t find_strides(tenon__trial_data_t* data, uint32_t k,
                                   const tenon_argument_rule_t* rule, int64_t* out_strides) {
  const tenon_tensor_view_t* rows = &data->inputs[k].rows.view;
  const uint32_t* order = data->region->inputs[k].order;
  const bool as_it_lies =
      rule != NULL && rule->kind == TENON_LAYOUT_ANY && (rule->flags & TENON_RULE_STRIDED) != 0;
  if (order == NULL || !as_it_lies) {
    return tenon__trial_data_strides(data, rule, rows, out_strides);
  }
  return tenon__strides_ordered(rows->rank, rows->dims, order, out_strides)
             ? TENON_OK
             : TENON_ERROR_UNSUPPORTED;
}

static tenon_status_t set_input(tenon__trial_data_t* data, uint32_t k,
                                const tenon_argument_rule_t* rule) {
  tenon__trial_input_t* input = &data->inputs[k];
  const tenon_dtype_t dtype = tenon__region_input_dtype(data->region, k, rule);
  int64_t strides[TENON_RANK_LIMIT + 1] = {0};
  input->current = &input->rows;
  if (tenon__trial_data_boxes(data, true, k)) {
    TENON_TRY(copy_into_box(data, input, &input->current));
  } else if (data->region->values[data->region->input_values[k]].constant_data == NULL ||
             !tenon__rule_takes_rows(rule) || dtype != input->rows.view.dtype) {
    TENON_TRY(find_strides(data, k, rule, strides));
    TENON_TRY(copy_for(data, input, strides, dtype, &input->current));
  }
  return align(data, k, &input->current->view);
}

/* Those whose layout follows another's, or the others. */
static tenon_status_t set_inputs(tenon__trial_data_t* data, const tenon_argument_rule_t* rules,
                                 bool followers) {
  for (uint32_t k = 0; k < data->region->input_count; ++k) {
    const tenon_argument_rule_t* rule = tenon__rule_at(rules, k);
    const bool is_follower = rule != NULL && rule->kind == TENON_LAYOUT_FOLLOWS;
    if (data->inputs[k].is_there && is_follower == followers) {
      TENON_TRY(set_input(data, k, rule));
    }
  }
  return TENON_OK;
}

/* Those that follow another come behind it. */
tenon_status_t tenon__trial_inputs_provide(tenon__trial_data_t* data,
                                           const tenon__step_tactic_t* tactic) {
  const tenon_argument_rule_t* rules =
      data->conversion != NULL ? &data->conversion->from : tactic->input_rules;
  for (uint32_t k = 0; k < data->region->input_count; ++k) {
    data->inputs[k].current = NULL;
  }
  TENON_TRY(set_inputs(data, rules, false));
  return set_inputs(data, rules, true);
}

/* ---- Is it as it was? ---- */

void tenon__trial_inputs_guard(tenon__trial_data_t* data, const tenon__instance_t* instance) {
  for (uint32_t k = 0; k < data->region->input_count; ++k) {
    tenon__trial_input_t* input = &data->inputs[k];
    if (input->current != NULL && !input->current->is_guarded &&
        !tenon__instance_packs(instance, data->region->input_values[k])) {
      guard(input, input->current);
    }
  }
}

uint32_t tenon__trial_inputs_changed(tenon__trial_data_t* data, const tenon__instance_t* instance) {
  for (uint32_t k = 0; k < data->region->input_count; ++k) {
    tenon__trial_input_t* input = &data->inputs[k];
    tenon__trial_copy_t* current = input->current;
    const uint32_t value = data->region->input_values[k];
    if (current == NULL || tenon__instance_packs(instance, value) ||
        tenon__memory_checksum(current->view.data, input->size_bytes) == current->checksum) {
      continue;
    }
    if (current != &input->rows) {
      tenon__strided_copy(&input->rows.view, &current->view);
    } else if (data->region->values[value].constant_data == NULL) {
      (void)make_rows(data, k, input);
    }
    guard(input, current);
    return k;
  }
  return TENON_NONE;
}
