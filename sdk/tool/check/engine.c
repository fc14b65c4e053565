/* See engine.h. */
#include "check/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/console.h"

/* ---- Networks ---- */

typedef struct making_t {
  tenon_network_t* network;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  const check_case_t* c;
  const check_form_t* form;
} making_t;

static tenon_status_t permute(const making_t* m, tenon_value_t value, uint32_t rank,
                              tenon_value_t* out_value) {
  int64_t order[CHECK_MOST_RANK] = {0};
  for (uint32_t k = 0; k < rank; ++k) {
    order[k] = (int64_t)rank - 1 - k;
  }
  const tenon_attribute_t attributes[] = {
      {.name = "perm", .kind = TENON_ATTRIBUTE_INTS, .integers = order, .count = rank}};
  const tenon_list_t list = TENON_LIST(attributes);
  return tenon_network_add(m->network, "standard.permute/1", NULL, &value, 1, &list, out_value, 1);
}

static tenon_status_t add_numbers(const making_t* m, const int64_t* numbers, int64_t count,
                                  tenon_value_t* out_value) {
  return tenon_network_add_constant(m->network, "numbers", TENON_DTYPE_INT64, 1, &count, numbers,
                                    out_value);
}

/* The part [1, extent + 1) of the last axis of a tensor with 3 more. */
static tenon_status_t slice(const making_t* m, tenon_value_t value, const tool_value_t* of,
                            tenon_value_t* out_value) {
  const int64_t begin = 1;
  const int64_t end = of->dims[of->rank - 1] + 1;
  const int64_t axis = (int64_t)of->rank - 1;
  tenon_value_t inputs[4] = {value};
  TOOL_TRY(add_numbers(m, &begin, 1, &inputs[1]));
  TOOL_TRY(add_numbers(m, &end, 1, &inputs[2]));
  TOOL_TRY(add_numbers(m, &axis, 1, &inputs[3]));
  return tenon_network_add(m->network, "standard.strided_slice/1", NULL, inputs, 4, NULL, out_value,
                           1);
}

static tenon_status_t add_input(const making_t* m, const char* prefix, uint32_t index,
                                tenon_value_t* out_value) {
  const check_input_t* input = &m->c->inputs[index];
  const tool_value_t* v = &input->value;
  char name[32];
  char names[CHECK_MOST_RANK][24];
  const char* symbols[CHECK_MOST_RANK];
  int64_t dims[CHECK_MOST_RANK];
  (void)snprintf(name, sizeof(name), "%s%u", prefix, index);
  if (input->is_constant) {
    return tenon_network_add_constant(m->network, name, v->dtype, v->rank, v->dims, v->data,
                                      out_value);
  }
  for (uint32_t k = 0; k < v->rank; ++k) {
    (void)snprintf(names[k], sizeof(names[k]), "d%lld", (long long)v->dims[k]);
    symbols[k] = names[k];
    dims[k] = m->form->extents != NULL ? check_symbol_actual(m->form->extents, v->dims[k])
              : m->form->symbolic      ? -1
                                       : v->dims[m->form->transposed ? v->rank - 1 - k : k];
  }
  if (m->form->sliced && v->rank > 0) {
    dims[v->rank - 1] += 3;
  }
  TOOL_TRY(m->build->input(m->builder, name, v->dtype, v->rank, dims,
                           m->form->symbolic ? symbols : NULL, out_value));
  if (m->form->transposed && v->rank > 1) {
    return permute(m, *out_value, v->rank, out_value);
  }
  return m->form->sliced && v->rank > 0 ? slice(m, *out_value, v, out_value) : TENON_OK;
}

/* The expression of a value and, if extents are given, of another input. */
static tenon_status_t compute(const making_t* m, const char* text, const tenon_value_type_t* type,
                              const int64_t* dims, tenon_value_t* inout_value) {
  static const char* const names[] = {"a", "b"};
  tenon_value_t inputs[2] = {*inout_value};
  if (dims != NULL) {
    TOOL_TRY(
        tenon_network_add_input(m->network, "more0", type->dtype, type->rank, dims, &inputs[1]));
  }
  return m->build->expression(m->builder, text, names, inputs, dims != NULL ? 2 : 1, "around",
                              inout_value);
}

static tenon_status_t fuse(const making_t* m, tenon_value_t* inout_value) {
  tenon_value_type_t type = {.size = sizeof(type)};
  int64_t dims[CHECK_MOST_RANK];
  TOOL_TRY(m->build->type(m->builder, *inout_value, &type));
  const char kind = tool_dtype_class(type.dtype);
  if (type.rank == TENON_NONE || type.rank > CHECK_MOST_RANK || strchr("bcs", kind) != NULL) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < type.rank; ++k) {
    dims[k] = m->form->fused == CHECK_FUSED_CHANNEL && k != 1 ? 1 : type.dims[k];
    if (dims[k] < 0) {
      return TENON_OK;
    }
  }
  return m->form->fused == CHECK_FUSED_BEHIND
             ? compute(m, "y = max(a, 0) + a", &type, NULL, inout_value)
             : compute(m, "y = a * b + a", &type, dims, inout_value);
}

/* Twice, one behind the other, so that the kernel may write into the whole. */
static tenon_status_t join(const making_t* m, tenon_value_t value, tenon_value_t again,
                           tenon_value_t* out_value) {
  const tenon_value_t both[] = {value, again};
  const tenon_attribute_t attributes[] = {TENON_INT("axis", -1)};
  const tenon_list_t list = TENON_LIST(attributes);
  return tenon_network_add(m->network, "standard.concatenate/1", NULL, both, 2, &list, out_value,
                           1);
}

static tenon_status_t add_outputs(const making_t* m, const tenon_value_t* values,
                                  const tenon_value_t* again) {
  for (uint32_t i = 0; i < m->c->output_count; ++i) {
    char name[32];
    tenon_value_t value = values[i];
    tenon_value_type_t type = {.size = sizeof(type)};
    (void)snprintf(name, sizeof(name), "out%u", i);
    TOOL_TRY(m->build->type(m->builder, value, &type));
    if (m->form->transposed && type.rank != TENON_NONE && type.rank > 1 &&
        type.rank <= CHECK_MOST_RANK) {
      TOOL_TRY(permute(m, value, type.rank, &value));
    } else if (m->form->sliced && type.rank != TENON_NONE && type.rank > 0) {
      TOOL_TRY(join(m, value, again[i], &value));
    }
    TOOL_TRY(tenon_network_add_output(m->network, value, name));
  }
  return TENON_OK;
}

static tenon_status_t fill_network(const making_t* m) {
  tenon_value_t inputs[CHECK_MOST_INPUTS] = {{0}};
  tenon_value_t outputs[CHECK_MOST_OUTPUTS] = {{0}};
  tenon_value_t again[CHECK_MOST_OUTPUTS] = {{0}};
  for (uint32_t i = 0; i < m->c->input_count; ++i) {
    if (check_input_is_there(&m->c->inputs[i])) {
      TOOL_TRY(add_input(m, "in", i, &inputs[i]));
    }
  }
  const tenon_list_t attributes = {m->c->attributes, m->c->attribute_count,
                                   sizeof(m->c->attributes[0])};
  uint32_t count = m->c->input_count;
  while (count > 0 && inputs[count - 1].id == 0) {
    --count;
  }
  if (m->form->fused == CHECK_FUSED_BEFORE) {
    TOOL_TRY(fuse(m, &inputs[0]));
  }
  TOOL_TRY(tenon_network_add(m->network, m->c->op->name, "node", inputs, count, &attributes,
                             outputs, m->c->output_count));
  if (m->form->fused != CHECK_FUSED_NOT && m->form->fused != CHECK_FUSED_BEFORE) {
    TOOL_TRY(fuse(m, &outputs[0]));
  }
  if (m->form->sliced) {
    /* Of other numbers: equal nodes would be one. */
    tenon_value_t first = {0};
    TOOL_TRY(add_input(m, "more", 0, &first));
    inputs[0] = first;
    TOOL_TRY(tenon_network_add(m->network, m->c->op->name, "again", inputs, count, &attributes,
                               again, m->c->output_count));
  }
  return add_outputs(m, outputs, again);
}

tenon_status_t check_network_make(const check_plugin_t* plugin, const check_case_t* c,
                                  const check_form_t* form, tenon_network_t** out_network) {
  tenon_network_t* network = NULL;
  TOOL_TRY(tenon_network_create(plugin->registry, &network));
  const making_t making = {network, tenon_network_get_builder(network), tenon_builder_get_table(),
                           c, form};
  const tenon_status_t status =
      c->output_count > CHECK_MOST_OUTPUTS ? TENON_ERROR_UNSUPPORTED : fill_network(&making);
  if (status != TENON_OK) {
    tenon_network_destroy(network);
    return status;
  }
  *out_network = network;
  return TENON_OK;
}

/* ---- Symbols ---- */

void check_symbols_find(const check_case_t* c, check_symbols_t* out_symbols) {
  *out_symbols = (check_symbols_t){0};
  for (uint32_t i = 0; i < c->input_count; ++i) {
    const tool_value_t* v = &c->inputs[i].value;
    const uint32_t rank = check_input_is_fed(&c->inputs[i]) ? v->rank : 0;
    for (uint32_t k = 0; k < rank; ++k) {
      bool known = false;
      for (uint32_t s = 0; s < out_symbols->count; ++s) {
        known = known || out_symbols->extents[s] == v->dims[k];
      }
      if (!known && out_symbols->count < CHECK_MOST_SYMBOLS) {
        out_symbols->actual[out_symbols->count] = v->dims[k];
        out_symbols->extents[out_symbols->count++] = v->dims[k];
      }
    }
  }
}

/* ---- Engines ---- */

static bool computes(const tenon_kernel_t* kernel, const char* op) {
  for (const char* const* name = kernel->operators; name != NULL && *name != NULL; ++name) {
    if (strcmp(*name, op) == 0) {
      return true;
    }
  }
  return false;
}

/* "PLUGIN:KERNEL" of all that must not compute; freed by free_names. */
static void list_excluded(const check_plugin_t* plugin, const check_case_t* c,
                          const check_kernels_t* kernels, tool_list_t* out_names) {
  const check_kernel_t* only = kernels->only;
  const size_t count = kernels->any ? 0 : plugin->kernel_count;
  for (size_t i = 0; i < count; ++i) {
    const check_kernel_t* k = &plugin->kernels[i];
    const bool is_it =
        only != NULL && k->plugin == only->plugin && strcmp(k->kernel.name, only->kernel.name) == 0;
    const uint32_t flags = k->kernel.flags;
    bool keeps = is_it || (flags & (TENON_KERNEL_REFERENCE | TENON_KERNEL_MOVES)) != 0;
    keeps = keeps && !(kernels->by_expression && computes(&k->kernel, c->op->name));
    if (!keeps) {
      tool_list_add(out_names, tool_format("%s:%s", k->plugin, k->kernel.name));
    }
  }
}

static void free_names(tool_list_t* names) {
  for (size_t i = 0; i < names->count; ++i) {
    tool_free((void*)names->items[i]);
  }
  tool_list_free(names);
}

/* The lines that begin with the kernel: why it was not taken. */
static void find_refusal(const char* lines, const check_kernel_t* kernel, char* out, size_t size) {
  char* begin = tool_format("%s:%s", kernel->plugin, kernel->kernel.name);
  const size_t length = strlen(begin);
  const char* at = lines;
  while ((at = strstr(at, begin)) != NULL) {
    const bool is_whole = at[length] == ':' || at[length] == ' ';
    const size_t end = strcspn(at, "\n");
    const bool matters = strstr(at, "is wrong") != NULL || strstr(at, "failed when") != NULL;
    if (is_whole && (out[0] == '\0' || matters)) {
      (void)snprintf(out, size, "%.*s", (int)end, at);
    }
    if (is_whole && matters &&
        (strstr(out, "is wrong") != NULL || strstr(out, "failed when") != NULL)) {
      break;
    }
    at += end;
  }
  tool_free(begin);
}

static void look_at_steps(const check_kernel_t* kernel, check_engine_t* engine) {
  const uint32_t count = tenon_engine_step_count(engine->engine);
  for (uint32_t i = 0; i < count; ++i) {
    tenon_step_info_t step = {.size = sizeof(step)};
    if (tenon_engine_get_step(engine->engine, i, &step) == TENON_OK) {
      engine->is_used = engine->is_used || (strcmp(step.kernel, kernel->kernel.name) == 0 &&
                                            strcmp(step.plugin, kernel->plugin) == 0);
      find_refusal(step.refusals, kernel, engine->refusal, sizeof(engine->refusal));
    }
  }
}

int64_t check_symbol_actual(const check_symbols_t* symbols, int64_t extent) {
  for (uint32_t s = 0; s < symbols->count; ++s) {
    if (symbols->extents[s] == extent) {
      return symbols->actual[s];
    }
  }
  return extent;
}

typedef struct ranges_t {
  tenon_profile_range_t items[CHECK_MOST_INPUTS];
  char names[CHECK_MOST_INPUTS][16];
  int64_t min[CHECK_MOST_INPUTS][CHECK_MOST_RANK];
  int64_t max[CHECK_MOST_INPUTS][CHECK_MOST_RANK];
  uint32_t count;
} ranges_t;

/* From 0 to the larger of the case's extent and the symbol's actual one. */
static void make_ranges(const check_case_t* c, const check_symbols_t* symbols, ranges_t* r) {
  r->count = 0;
  for (uint32_t i = 0; i < c->input_count; ++i) {
    const tool_value_t* v = &c->inputs[i].value;
    if (!check_input_is_fed(&c->inputs[i])) {
      continue;
    }
    const uint32_t n = r->count++;
    (void)snprintf(r->names[n], sizeof(r->names[n]), "in%u", i);
    for (uint32_t k = 0; k < v->rank; ++k) {
      const int64_t actual = check_symbol_actual(symbols, v->dims[k]);
      r->min[n][k] = v->dims[k] > 1 ? 1 : v->dims[k];
      r->min[n][k] = actual < r->min[n][k] ? actual : r->min[n][k];
      r->max[n][k] = actual > v->dims[k] ? actual : v->dims[k];
    }
    r->items[n] = (tenon_profile_range_t){r->names[n], v->rank, r->min[n], r->max[n], r->max[n]};
  }
}

tenon_status_t check_engine_make(const check_plugin_t* plugin, tenon_network_t* network,
                                 const check_case_t* c, const check_kernels_t* kernels,
                                 const check_symbols_t* symbols, check_engine_t* out_engine) {
  tool_list_t excluded = {0};
  ranges_t ranges = {.count = 0};
  tenon_profile_t profile = {0};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  const check_kernel_t* only = kernels->only;
  list_excluded(plugin, c, kernels, &excluded);
  options.exclude = excluded.items;
  options.thread_count = kernels->threads == 0 ? 1 : kernels->threads;
  options.reference_only = only == NULL && !kernels->any ? 1 : 0;
  options.no_measuring = only == NULL || kernels->unmeasured ? 1 : 0; /* any: by estimates */
  options.keep_refusals = 1;
  options.no_rewrites = 1;
  options.permits = TENON_PERMIT_NOTHING;
  if (only != NULL && strcmp(only->kernel.device, "cpu") != 0) {
    options.device = only->kernel.device;
  }
  if (symbols != NULL) {
    make_ranges(c, symbols, &ranges);
    profile.ranges = (tenon_list_t){ranges.items, ranges.count, sizeof(ranges.items[0])};
    options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  }
  *out_engine = (check_engine_t){0};
  tenon_status_t status = tenon_build(network, &options, &out_engine->plan);
  free_names(&excluded);
  if (status != TENON_OK && only != NULL) {
    find_refusal(tenon_last_message(), only, out_engine->refusal, sizeof(out_engine->refusal));
  }
  if (status == TENON_OK) {
    status = tenon_engine_create_from_plan(plugin->registry, out_engine->plan, NULL,
                                           &out_engine->engine);
  }
  if (status == TENON_OK && only != NULL) {
    look_at_steps(only, out_engine);
  }
  return status;
}

bool check_engine_is_refuted(const check_engine_t* engine) {
  return strstr(engine->refusal, "is wrong") != NULL ||
         strstr(engine->refusal, "failed when it was tried") != NULL;
}

void check_engine_free(check_engine_t* engine) {
  tenon_engine_release(engine->engine);
  tenon_plan_destroy(engine->plan);
  *engine = (check_engine_t){0};
}

/* ---- Runs ---- */

void check_results_free(check_results_t* results) {
  for (uint32_t i = 0; i < results->count; ++i) {
    tool_value_free(&results->values[i]);
  }
  results->count = 0;
}

bool check_results_equal(const check_results_t* a, const check_results_t* b, uint32_t* out_output) {
  for (uint32_t i = 0; i < a->count; ++i) {
    const tool_value_t* x = &a->values[i];
    const tool_value_t* y = &b->values[i];
    *out_output = i;
    if (x->kind != y->kind || x->size_bytes != y->size_bytes || x->rank != y->rank ||
        (x->rank > 0 && memcmp(x->dims, y->dims, x->rank * sizeof(*x->dims)) != 0) ||
        (x->dtype != TENON_DTYPE_STRING && x->size_bytes > 0 &&
         memcmp(x->data, y->data, x->size_bytes) != 0)) {
      return false;
    }
  }
  return true;
}

tenon_status_t check_context_feed(tenon_context_t* context, const check_case_t* c) {
  uint32_t index = 0;
  for (uint32_t i = 0; i < c->input_count; ++i) {
    const tool_value_t* v = &c->inputs[i].value;
    if (check_input_is_fed(&c->inputs[i])) {
      const tenon_tensor_view_t view = check_view(v, v->data);
      TOOL_TRY(tenon_context_set_input(context, index++, &view));
    }
  }
  return TENON_OK;
}

static tenon_status_t feed_any(tenon_context_t* context, const tenon_engine_t* engine,
                               const check_case_t* c, tool_value_t* out_values) {
  const uint32_t count = tenon_engine_input_count(engine);
  for (uint32_t i = 0; i < count && i < CHECK_MOST_INPUTS; ++i) {
    tenon_io_info_t info = {.size = sizeof(info)};
    TOOL_TRY(tenon_engine_get_input(engine, i, &info));
    const unsigned long index = strtoul(info.name + strcspn(info.name, "0123456789"), NULL, 10);
    const tool_value_t* from = &c->inputs[index].value;
    tool_value_t* to = &out_values[i];
    TOOL_TRY(tool_value_make("input", info.dtype, info.rank, info.dims, to));
    const uint64_t numbers = from->count > 0 ? to->count : 0;
    for (uint64_t k = 0; k < numbers; ++k) {
      const double number = tool_element_get(from->dtype, from->data, k % from->count, 0);
      tool_element_set(to->dtype, to->data, k, number);
    }
    const tenon_tensor_view_t view = check_view(to, to->data);
    TOOL_TRY(tenon_context_set_input(context, i, &view));
  }
  return TENON_OK;
}

tenon_status_t check_context_take(tenon_context_t* context, const tenon_engine_t* engine,
                                  check_results_t* out_results) {
  const uint32_t count = tenon_engine_output_count(engine);
  *out_results = (check_results_t){0};
  for (uint32_t i = 0; i < count && i < CHECK_MOST_OUTPUTS; ++i) {
    const tenon_argument_t* argument = NULL;
    TOOL_TRY(tenon_context_get_output_argument(context, i, &argument));
    TOOL_TRY(tool_value_copy_argument("output", argument, &out_results->values[i]));
    out_results->count = i + 1;
  }
  return TENON_OK;
}

tenon_status_t check_engine_run(const check_engine_t* engine, const check_case_t* c,
                                uint32_t threads, bool is_changed, check_results_t* out_results) {
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  tenon_context_t* context = NULL;
  tool_value_t values[CHECK_MOST_INPUTS] = {{0}};
  options.thread_count = threads;
  *out_results = (check_results_t){0};
  TOOL_TRY(tenon_context_create(engine->engine, &options, &context));
  tenon_status_t status =
      is_changed ? feed_any(context, engine->engine, c, values) : check_context_feed(context, c);
  if (status == TENON_OK) {
    status = tenon_context_run(context);
  }
  if (status == TENON_OK) {
    status = check_context_take(context, engine->engine, out_results);
  }
  tenon_context_destroy(context);
  for (uint32_t i = 0; i < CHECK_MOST_INPUTS; ++i) {
    tool_value_free(&values[i]);
  }
  return status;
}
