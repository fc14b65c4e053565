/*
 * Each draw has a rank, extents and an element type that most of its inputs share; the others are
 * scalars, rows, or have extents of 1. What the guard asks of an input's contents, or of an
 * attribute, is met by chance: numbers and texts that stand in the guard are drawn more often.
 */
#include "core/optimizer/rewrite_sample.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/network/node.h"
#include "core/operator/attribute.h"
#include "core/tensor/layout.h"

enum { MOST_ELEMENTS = 1024, MOST_TYPES = 16 };

typedef struct sampling_t {
  tenon__draw_t draw;
  tenon__sample_t* sample;
} sampling_t;

/* ---- Attributes ---- */

/* The value that a name stands for throughout the pattern. */
static bool named_attribute(sampling_t* s, const char* name,
                            const tenon_attribute_descriptor_t* descriptor,
                            tenon__scope_attribute_t* out_attribute) {
  tenon__match_t* names = &s->sample->names;
  const tenon__scope_attribute_t* known =
      tenon__attribute_find(names->attributes, names->attribute_count, name);
  if (known != NULL) {
    *out_attribute = *known;
    out_attribute->name = descriptor->name;
    return known->kind == descriptor->kind;
  }
  if (names->attribute_count == TENON_MATCH_ATTRIBUTES ||
      !tenon__draw_attribute(&s->draw, descriptor, out_attribute)) {
    return false;
  }
  names->attributes[names->attribute_count] = *out_attribute;
  names->attributes[names->attribute_count++].name = name;
  return true;
}

static const tenon__syntax_t* given_value(const tenon__call_statement_t* call, const char* name) {
  for (uint32_t i = 0; i < call->attribute_count; ++i) {
    if (strcmp(call->attributes[i].name, name) == 0) {
      return call->attributes[i].value;
    }
  }
  return NULL;
}

/* What the pattern demands; what it leaves open is at its default in two draws of three. */
static tenon_status_t draw_attributes(sampling_t* s, const tenon__call_statement_t* call,
                                      const tenon__descriptor_t* op,
                                      tenon__scope_attribute_t* attributes, uint32_t* out_count) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    const tenon_attribute_descriptor_t* descriptor = &op->attributes[i];
    const tenon__syntax_t* given = given_value(call, descriptor->name);
    const bool is_open = given == NULL;
    if (is_open && (descriptor->flags & TENON_ATTRIBUTE_REQUIRED) == 0 &&
        tenon__draw_pick(&s->draw, 3) != 0) {
      continue;
    }
    tenon__scope_attribute_t* a = &attributes[count];
    a->name = descriptor->name;
    bool good = !is_open && tenon__attribute_from_syntax(&s->sample->arena, given, descriptor->kind,
                                                         a) == TENON_OK;
    if (!good) {
      good = is_open ? tenon__draw_attribute(&s->draw, descriptor, a)
                     : given->kind == TENON_SYNTAX_NAME &&
                           named_attribute(s, given->text, descriptor, a);
    }
    if (!good) {
      return TENON_ERROR_UNSUPPORTED;
    }
    ++count;
  }
  *out_count = count;
  return TENON_OK;
}

/* ---- Types ---- */

/* What the type variables of one node stand for. */
typedef struct types_t {
  const char* names[MOST_TYPES];
  tenon_dtype_t dtypes[MOST_TYPES];
  uint32_t count;
} types_t;

static void bind_type(types_t* types, const char* name, tenon_dtype_t dtype) {
  for (uint32_t i = 0; i < types->count; ++i) {
    if (strcmp(types->names[i], name) == 0) {
      return;
    }
  }
  if (types->count < MOST_TYPES) {
    types->names[types->count] = name;
    types->dtypes[types->count++] = dtype;
  }
}

static tenon_dtype_t type_of_variable(const sampling_t* s, const tenon__descriptor_t* op,
                                      const types_t* types, const char* name) {
  static const tenon_dtype_t others[] = {TENON_DTYPE_FLOAT64, TENON_DTYPE_FLOAT32,
                                         TENON_DTYPE_INT64,   TENON_DTYPE_INT32,
                                         TENON_DTYPE_BOOL,    TENON_DTYPE_UINT8};
  for (uint32_t i = 0; i < types->count; ++i) {
    if (strcmp(types->names[i], name) == 0) {
      return types->dtypes[i];
    }
  }
  const uint32_t variable = tenon__operator_type(op, name);
  const char* allowed = variable == TENON_NONE ? "" : op->types[variable].allowed;
  if (tenon__dtype_allowed(allowed, s->draw.base) > 0) {
    return s->draw.base;
  }
  for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); ++k) {
    if (tenon__dtype_allowed(allowed, others[k]) > 0) {
      return others[k];
    }
  }
  return TENON_DTYPE_UNDEFINED;
}

static tenon_dtype_t type_of_port(const sampling_t* s, const tenon__descriptor_t* op,
                                  const tenon_port_t* port, const types_t* types,
                                  const tenon__scope_attribute_t* attributes, uint32_t count) {
  if (port->type[0] == '$') {
    const tenon__scope_attribute_t* attribute =
        tenon__attribute_find(attributes, count, port->type + 1);
    return attribute == NULL ? TENON_DTYPE_UNDEFINED : (tenon_dtype_t)attribute->integer;
  }
  const tenon_dtype_t fixed = tenon__dtype_from_name(port->type);
  return fixed != TENON_DTYPE_UNDEFINED ? fixed : type_of_variable(s, op, types, port->type);
}

/* ---- Inputs ---- */

/* The axis that a domain of places names. */
static int64_t axis_of(const tenon__domain_t* domain, const tenon__operator_t* op,
                       const tenon__scope_attribute_t* attributes, uint32_t count) {
  if (domain->axis_attribute == NULL) {
    return domain->axis;
  }
  const tenon__scope_attribute_t* set =
      tenon__attribute_find(attributes, count, domain->axis_attribute);
  const uint32_t index = tenon__operator_attribute(&op->descriptor, domain->axis_attribute);
  return set != NULL ? set->integer : index == TENON_NONE ? 0 : op->defaults[index].integer;
}

/* The extents that places stay below: those of an input that is drawn already; else of nothing, and
 * place 0 is the only one. */
static tenon_status_t find_limits(sampling_t* s, uint32_t source, int64_t axis,
                                  tenon__data_wish_t* wish) {
  const tenon__graph_t* graph = s->sample->network->graphs[0];
  const uint32_t weights = source == TENON_NONE ? TENON_NONE : graph->values[source].weights;
  if (wish->domain.places == TENON_DOMAIN_NO_PLACES || weights == TENON_NONE) {
    return TENON_OK;
  }
  const tenon__weights_t* indexed = &s->sample->network->weights[weights];
  const int64_t rank = indexed->rank;
  if (axis < -rank || axis >= rank) {
    return TENON_ERROR_UNSUPPORTED;
  }
  axis += axis < 0 ? rank : 0;
  wish->limit_count = wish->domain.places == TENON_DOMAIN_INDEX ? 1 : (uint32_t)(rank - axis);
  wish->limits = tenon__arena_copy(&s->sample->arena, indexed->dims + axis,
                                   wish->limit_count * sizeof(*indexed->dims));
  wish->axis = (uint32_t)axis;
  return wish->limits == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t add_input(sampling_t* s, const char* name, const tenon__data_wish_t* domain,
                                uint32_t* out_value) {
  tenon__network_t* network = s->sample->network;
  int64_t dims[TENON_DRAW_MOST_RANK];
  const uint32_t rank = tenon__draw_shape(&s->draw, name, dims);
  const tenon_dtype_t dtype = domain->dtype;
  tenon__data_wish_t wish = *domain;
  const char type_class = tenon__dtype_class(dtype);
  uint64_t count = 0;
  size_t size = 0;
  wish.rank = rank;
  wish.dims = dims;
  if (type_class == 'x' || type_class == 's' || type_class == 'c' ||
      !tenon__element_count(rank, dims, &count) || count > MOST_ELEMENTS ||
      !tenon__dtype_bytes(dtype, count, &size)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  void* data = tenon__allocate(network->allocator, size, 1);
  TENON_TRY_MEMORY(data != NULL);
  tenon__draw_elements(&s->draw, name, &wish, data);
  const tenon__weights_t weights = {.name = name,
                                    .dtype = dtype,
                                    .rank = rank,
                                    .dims = dims,
                                    .data = data,
                                    .size_bytes = size,
                                    .owned = true};
  uint32_t index = 0;
  TENON_TRY(tenon__network_add_weights(network, &weights, &index));
  TENON_TRY(tenon__graph_add_constant(network, 0, name, index, out_value));
  tenon__match_t* names = &s->sample->names;
  if (names->input_count == TENON_MATCH_NAMES || !tenon__match_bind(names, name, *out_value)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  names->inputs[names->input_count++] = *out_value;
  return TENON_OK;
}

/* ---- Nodes ---- */

static const tenon_port_t* port_of(const tenon__descriptor_t* op, uint32_t index) {
  const uint32_t last = op->input_count - 1;
  return &op->inputs[index < last ? index : last];
}

static tenon_status_t draw_inputs(sampling_t* s, const tenon__call_statement_t* call,
                                  const tenon__operator_t* op,
                                  const tenon__scope_attribute_t* attributes, uint32_t count,
                                  uint32_t* inputs) {
  const tenon__descriptor_t* d = &op->descriptor;
  const tenon__graph_t* graph = s->sample->network->graphs[0];
  tenon__match_t* names = &s->sample->names;
  types_t types = {.count = 0};
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    const uint32_t value = tenon__match_value(names, call->arguments[i]);
    if (d->input_count > 0 && value != TENON_NONE) {
      bind_type(&types, port_of(d, i)->type, graph->values[value].type.dtype);
    }
  }
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    inputs[i] = tenon__match_value(names, call->arguments[i]);
    if (inputs[i] != TENON_NONE || strcmp(call->arguments[i], "_") == 0) {
      continue;
    }
    if (d->input_count == 0) {
      return TENON_ERROR_UNSUPPORTED;
    }
    const tenon_port_t* port = port_of(d, i);
    tenon__data_wish_t wish = {.dtype = type_of_port(s, d, port, &types, attributes, count)};
    const char* fault = NULL;
    (void)tenon__domain_parse(d, port->domain, &wish.domain, &fault); /* admitted: it has none */
    const uint32_t source = wish.domain.input < i ? inputs[wish.domain.input] : TENON_NONE;
    TENON_TRY(find_limits(s, source, axis_of(&wish.domain, op, attributes, count), &wish));
    TENON_TRY(add_input(s, call->arguments[i], &wish, &inputs[i]));
    bind_type(&types, port->type, wish.dtype);
  }
  return TENON_OK;
}

static tenon_status_t draw_node(sampling_t* s, const tenon__call_statement_t* call) {
  tenon__sample_t* sample = s->sample;
  const tenon__operator_t* op = s->draw.sampler->find(s->draw.sampler->find_user, call->op);
  if (op == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  uint32_t* inputs =
      tenon__arena_allocate(&sample->arena, call->argument_count + 1u, sizeof(*inputs));
  tenon__scope_attribute_t* attributes = tenon__arena_allocate(
      &sample->arena, op->descriptor.attribute_count + 1u, sizeof(*attributes));
  TENON_TRY_MEMORY(inputs != NULL && attributes != NULL);
  tenon__node_request_t request = {.op = op,
                                   .input_count = call->argument_count,
                                   .inputs = inputs,
                                   .output_count = call->result_count,
                                   .attributes = attributes};
  tenon__draw_read(&s->draw, op);
  TENON_TRY(draw_attributes(s, call, &op->descriptor, attributes, &request.attribute_count));
  TENON_TRY(draw_inputs(s, call, op, attributes, request.attribute_count, inputs));
  uint32_t node = 0;
  TENON_TRY(tenon__graph_add_node(sample->network, 0, &request, NULL, &node));
  const tenon__node_t* made = &sample->network->graphs[0]->nodes[node];
  for (uint32_t i = 0; i < call->result_count && i < made->output_count; ++i) {
    sample->names.result = made->outputs[i];
    if (!tenon__match_bind(&sample->names, call->results[i], made->outputs[i])) {
      return TENON_ERROR_UNSUPPORTED;
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__sample_draw(tenon__sampler_t* sampler, tenon__sample_t* out_sample) {
  memset(out_sample, 0, sizeof(*out_sample));
  tenon__arena_initialize(&out_sample->arena, sampler->allocator);
  TENON_TRY(tenon__network_create(sampler->allocator, &out_sample->network));
  sampling_t sampling = {.sample = out_sample};
  tenon__draw_begin(sampler, &out_sample->arena, &sampling.draw);
  for (uint32_t k = 0; k < sampler->pattern->statement_count; ++k) {
    const tenon_status_t status = draw_node(&sampling, &sampler->pattern->statements[k]);
    if (status != TENON_OK) {
      return status == TENON_ERROR_OUT_OF_MEMORY ? status : TENON_ERROR_UNSUPPORTED;
    }
  }
  return tenon__graph_add_output(out_sample->network, 0, out_sample->names.result, "result");
}

void tenon__sample_release(tenon__sample_t* sample) {
  tenon__network_destroy(sample->network);
  tenon__arena_deinitialize(&sample->arena);
}

/* ---- Words ---- */

const char* tenon__element_text(const tenon__weights_t* weights, uint64_t index,
                                tenon__arena_t* arena) {
  const tenon__scalar_t scalar = tenon__element_load(weights->data, weights->dtype, index);
  const char* text = tenon__dtype_class(weights->dtype) == 'f'
                         ? tenon__arena_format(arena, "%.9g", scalar.f)
                         : tenon__arena_format(arena, "%lld", (long long)scalar.i);
  return text == NULL ? "?" : text;
}

static const char* input_text(tenon__sample_t* sample, const tenon__weights_t* weights) {
  enum { MOST_SHOWN = 6 };
  tenon__arena_t* arena = &sample->arena;
  uint64_t count = 0;
  const char* text =
      tenon__arena_format(arena, "%s = %s[", weights->name, tenon__dtype_name(weights->dtype));
  for (uint32_t i = 0; i < weights->rank && text != NULL; ++i) {
    text = tenon__arena_format(arena, "%s%s%lld", text, i == 0 ? "" : ", ",
                               (long long)weights->dims[i]);
  }
  (void)tenon__element_count(weights->rank, weights->dims, &count);
  for (uint64_t i = 0; i < count && i < MOST_SHOWN && text != NULL; ++i) {
    text = tenon__arena_format(arena, "%s%s%s", text, i == 0 ? "] {" : ", ",
                               tenon__element_text(weights, i, arena));
  }
  return text == NULL
             ? NULL
             : tenon__arena_format(arena, "%s%s", text, count > MOST_SHOWN ? ", ...}" : "}");
}

const char* tenon__sample_text(tenon__sample_t* sample) {
  const tenon__graph_t* graph = sample->network->graphs[0];
  const char* text = "";
  for (uint32_t i = 0; i < sample->names.input_count && text != NULL; ++i) {
    const uint32_t weights = graph->values[sample->names.inputs[i]].weights;
    const char* input = input_text(sample, &sample->network->weights[weights]);
    text = input == NULL
               ? NULL
               : tenon__arena_format(&sample->arena, "%s%s%s", text, i == 0 ? "" : ", ", input);
  }
  for (uint32_t i = 0; i < sample->names.attribute_count && text != NULL; ++i) {
    const tenon__scope_attribute_t* a = &sample->names.attributes[i];
    text = tenon__arena_format(&sample->arena, "%s, %s = %s", text, a->name,
                               tenon__attribute_text(a, &sample->arena));
  }
  return text == NULL ? "?" : text;
}
