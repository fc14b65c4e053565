/*
 * Shapes by a plugin's function: tenon_shape_table_t over one inference. Failed operations poison
 * the builder; the first words said about it count.
 */
#include "core/network/infer.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/call.h"
#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/requirement.h"
#include "core/operator/attribute.h"

struct tenon_shape_builder_t {
  tenon__inference_t* inference;
  tenon__inferred_shape_t* shapes;
  bool failed;
  bool refused; /* with words */
};

/* The port of an output item; items past the last belong to it. */
static const tenon_port_t* port_of(const tenon_shape_builder_t* builder, uint32_t output) {
  const tenon__descriptor_t* op = &builder->inference->op->descriptor;
  return &op->outputs[output < op->output_count ? output : op->output_count - 1];
}

/* A fault of the plugin: nothing about the node is wrong. */
__attribute__((format(printf, 2, 3))) static tenon_status_t blame(tenon_shape_builder_t* builder,
                                                                  const char* format, ...) {
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  if (!builder->refused) {
    tenon__report(builder->inference->sink, TENON_SEVERITY_ERROR,
                  "the shape function of plugin '%s' %s", builder->inference->op->plugin, message);
  }
  builder->refused = true;
  return TENON_ERROR_INVALID_ARGUMENT;
}

static tenon__dim_pool_t* pool_of(const tenon_shape_builder_t* builder) {
  return builder->inference->network->pool;
}

static const tenon__scope_value_t* input_of(tenon_shape_builder_t* builder, uint32_t input) {
  if (input >= builder->inference->input_count ||
      !builder->inference->input_values[input].present) {
    builder->failed = true;
    return NULL;
  }
  return &builder->inference->input_values[input];
}

static tenon_dim_t shape_constant(tenon_shape_builder_t* builder, int64_t value) {
  return tenon__dim_constant(pool_of(builder), value);
}

static bool is_dim(const tenon_shape_builder_t* builder, tenon_dim_t dim) {
  return dim.id < tenon__dim_pool_count(pool_of(builder));
}

static tenon_dim_t shape_combine(tenon_shape_builder_t* builder, uint32_t opcode, tenon_dim_t a,
                                 tenon_dim_t b) {
  static const uint32_t opcodes[] = {TENON_OPCODE_ADD,       TENON_OPCODE_SUB, TENON_OPCODE_MUL,
                                     TENON_OPCODE_FLOOR_DIV, TENON_OPCODE_MOD, TENON_OPCODE_MIN,
                                     TENON_OPCODE_MAX,       TENON_OPCODE_EQ,  TENON_OPCODE_LT};
  for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); ++i) {
    if (opcodes[i] == opcode && is_dim(builder, a) && is_dim(builder, b)) {
      return tenon__dim_combine(pool_of(builder), opcode, a, b);
    }
  }
  builder->failed = true;
  return TENON_DIM_INVALID;
}

static tenon_dim_t shape_select(tenon_shape_builder_t* builder, tenon_dim_t condition,
                                tenon_dim_t a, tenon_dim_t b) {
  if (!is_dim(builder, condition) || !is_dim(builder, a) || !is_dim(builder, b)) {
    builder->failed = true;
    return TENON_DIM_INVALID;
  }
  return tenon__dim_select(pool_of(builder), condition, a, b);
}

/* Has a number of its own, which set_output places. While verifying, one symbol stands for all of
 * them. */
static tenon_dim_t shape_fresh(tenon_shape_builder_t* builder, tenon_dim_t bound) {
  tenon__inference_t* inference = builder->inference;
  uint32_t handle = 0;
  builder->failed = builder->failed || (!is_dim(builder, bound) && bound.id != TENON_NONE);
  if (inference->existing != NULL) {
    return tenon__infer_verified_extent(inference->network->pool);
  }
  if (tenon__value_handle_reserve(inference->network, inference->graph, TENON_NONE, 0, &handle) !=
      TENON_OK) {
    inference->failed = true;
    return TENON_DIM_INVALID;
  }
  const tenon_dim_t dim = tenon__handle_extent(inference->network, handle, 0,
                                               is_dim(builder, bound) ? bound : TENON_DIM_INVALID);
  inference->failed = !tenon__infer_pend(inference, handle, TENON_NONE, dim) || inference->failed;
  return dim;
}

static int32_t shape_known(tenon_shape_builder_t* builder, tenon_dim_t dim, int64_t* out_value) {
  return is_dim(builder, dim) && tenon__dim_known(pool_of(builder), dim, out_value);
}

static uint32_t shape_input_count(tenon_shape_builder_t* builder) {
  return builder->inference->input_count;
}

static uint32_t shape_output_count(tenon_shape_builder_t* builder) {
  return builder->inference->output_count;
}

static int32_t shape_present(tenon_shape_builder_t* builder, uint32_t input) {
  return input < builder->inference->input_count && builder->inference->input_values[input].present;
}

static tenon_dtype_t shape_input_dtype(tenon_shape_builder_t* builder, uint32_t input) {
  const tenon__scope_value_t* value = input_of(builder, input);
  return value == NULL ? TENON_DTYPE_UNDEFINED : value->type.dtype;
}

static uint32_t shape_rank(tenon_shape_builder_t* builder, uint32_t input) {
  const tenon__scope_value_t* value = input_of(builder, input);
  return value == NULL ? 0 : value->type.rank;
}

static tenon_dim_t shape_dim(tenon_shape_builder_t* builder, uint32_t input, uint32_t axis) {
  const tenon__scope_value_t* value = input_of(builder, input);
  if (value == NULL || value->type.rank == TENON_NONE || axis >= value->type.rank) {
    builder->failed = true;
    return TENON_DIM_INVALID;
  }
  return value->type.dims[axis];
}

static uint32_t shape_content_count(tenon_shape_builder_t* builder, uint32_t input) {
  const tenon__scope_value_t* value = input_of(builder, input);
  return value == NULL || value->type.contents == NULL ? TENON_NONE : value->type.content_count;
}

static tenon_dim_t shape_content(tenon_shape_builder_t* builder, uint32_t input, uint32_t index) {
  const tenon__scope_value_t* value = input_of(builder, input);
  if (value == NULL || value->type.contents == NULL || index >= value->type.content_count) {
    builder->failed = true;
    return TENON_DIM_INVALID;
  }
  return value->type.contents[index];
}

static tenon_status_t attribute_of(const tenon_shape_builder_t* builder, const char* name,
                                   uint32_t kind, const tenon__scope_attribute_t** out_attribute) {
  const tenon__inference_t* inference = builder->inference;
  const tenon__scope_attribute_t* found =
      tenon__attribute_find(inference->attributes, inference->attribute_count, name);
  const bool fits =
      found != NULL && (found->kind == kind ||
                        (found->kind == TENON_ATTRIBUTE_DTYPE && kind == TENON_ATTRIBUTE_INT));
  *out_attribute = found;
  return fits ? TENON_OK : TENON_ERROR_NOT_FOUND;
}

static tenon_status_t shape_attribute_int(tenon_shape_builder_t* builder, const char* name,
                                          int64_t* out_value) {
  const tenon__scope_attribute_t* attribute = NULL;
  TENON_TRY(attribute_of(builder, name, TENON_ATTRIBUTE_INT, &attribute));
  *out_value = attribute->integer;
  return TENON_OK;
}

static tenon_status_t shape_attribute_ints(tenon_shape_builder_t* builder, const char* name,
                                           const int64_t** out_values, size_t* out_count) {
  const tenon__scope_attribute_t* attribute = NULL;
  TENON_TRY(attribute_of(builder, name, TENON_ATTRIBUTE_INTS, &attribute));
  *out_values = attribute->integers;
  *out_count = attribute->count;
  return TENON_OK;
}

static tenon_status_t shape_attribute_string(tenon_shape_builder_t* builder, const char* name,
                                             const char** out_value) {
  const tenon__scope_attribute_t* attribute = NULL;
  TENON_TRY(attribute_of(builder, name, TENON_ATTRIBUTE_STRING, &attribute));
  *out_value = attribute->string;
  return TENON_OK;
}

/* An extent that stands as it is becomes the one that is read from this output. */
static void place_fresh(tenon_shape_builder_t* builder, uint32_t output, uint32_t axis,
                        tenon_dim_t dim) {
  tenon__inference_t* inference = builder->inference;
  for (uint32_t i = 0; i < inference->pending_count; ++i) {
    tenon__pending_handle_t* pending = &inference->pending[i];
    if (pending->output == TENON_NONE && tenon__dim_equal(pending->dim, dim)) {
      pending->output = output;
      inference->network->handles[pending->handle].axis = axis;
    }
  }
}

static tenon_status_t shape_set_output(tenon_shape_builder_t* builder, uint32_t output,
                                       tenon_dtype_t dtype, uint32_t rank,
                                       const tenon_dim_t* dims) {
  tenon__inference_t* inference = builder->inference;
  if (output >= inference->output_count) {
    return blame(builder, "sets output %u of %u", output, inference->output_count);
  }
  const char* name = port_of(builder, output)->name;
  if (rank > TENON_RANK_LIMIT || (rank > 0 && dims == NULL)) {
    return blame(builder, "sets output %u, '%s', to rank %u%s, at most %u", output, name, rank,
                 dims == NULL ? " without dimensions" : "", (uint32_t)TENON_RANK_LIMIT);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i].id != TENON_NONE && !is_dim(builder, dims[i])) { /* none: said with the shape */
      return blame(builder, "sets dimension %u of output %u, '%s', to one that it did not get", i,
                   output, name);
    }
  }
  tenon__inferred_value_t* value = &inference->outputs[output];
  if (dtype != TENON_DTYPE_UNDEFINED && value->type.dtype != TENON_DTYPE_UNDEFINED &&
      value->type.dtype != dtype) {
    return blame(builder, "sets output %u, '%s', to type %s, its port says %s", output, name,
                 tenon__dtype_name(dtype), tenon__dtype_name(value->type.dtype));
  }
  tenon_dim_t* copy = tenon__arena_copy(inference->scratch, dims, rank * sizeof(*copy));
  if (copy == NULL) {
    inference->failed = true;
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    place_fresh(builder, output, i, dims[i]);
  }
  if (dtype != TENON_DTYPE_UNDEFINED) {
    value->type.dtype = dtype;
  }
  builder->shapes[output] = (tenon__inferred_shape_t){rank, copy};
  return TENON_OK;
}

static void shape_refuse(tenon_shape_builder_t* builder, const char* message) {
  builder->refused = true;
  tenon__report(builder->inference->sink, TENON_SEVERITY_ERROR, "%s", message);
}

static void shape_require(tenon_shape_builder_t* builder, tenon_dim_t condition,
                          const char* message) {
  int64_t value = 0;
  if (!is_dim(builder, condition)) {
    builder->failed = true;
  } else if (tenon__dim_known(pool_of(builder), condition, &value) && value == 0) {
    shape_refuse(builder, message);
  } else {
    tenon__dim_require(pool_of(builder), condition, message);
  }
}

static const tenon_shape_table_t shape_table = {
    .size = sizeof(tenon_shape_table_t),
    .constant = shape_constant,
    .combine = shape_combine,
    .select = shape_select,
    .fresh = shape_fresh,
    .known = shape_known,
    .input_count = shape_input_count,
    .output_count = shape_output_count,
    .present = shape_present,
    .input_dtype = shape_input_dtype,
    .rank = shape_rank,
    .dim = shape_dim,
    .content_count = shape_content_count,
    .content = shape_content,
    .attribute_int = shape_attribute_int,
    .attribute_ints = shape_attribute_ints,
    .attribute_string = shape_attribute_string,
    .set_output = shape_set_output,
    .refuse = shape_refuse,
    .require = shape_require,
};

/* Tensors whose port does not leave the shape open have one. */
static tenon_status_t find_unset(const tenon_shape_builder_t* builder) {
  const uint32_t open = TENON_PORT_SEQUENCE | TENON_PORT_OPTIONAL_TYPE | TENON_PORT_UNBOUNDED;
  for (uint32_t i = 0; i < builder->inference->output_count; ++i) {
    const tenon_port_t* port = port_of(builder, i);
    if (builder->shapes[i].rank == TENON_NONE && (port->flags & open) == 0) {
      return tenon__fail(builder->inference->sink, TENON_ERROR_INTERNAL,
                         "the shape function of plugin '%s' sets no shape of output %u, '%s'",
                         builder->inference->op->plugin, i, port->name);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__infer_callback(tenon__inference_t* inference,
                                     tenon__inferred_shape_t* shapes) {
  tenon_shape_builder_t builder = {.inference = inference, .shapes = shapes};
  const tenon__call_t call = {inference->op->plugin, "infer", inference->op->name,
                              inference->name == NULL ? "" : inference->name};
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status =
      inference->op->descriptor.infer(inference->op->state, &builder, &shape_table);
  tenon__call_leave(outer);
  if (inference->failed || status == TENON_ERROR_OUT_OF_MEMORY) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (builder.refused) {
    return TENON_ERROR_INVALID_DATA;
  }
  if (status != TENON_OK) {
    return tenon__fail(inference->sink, status, "the shape function of plugin '%s' failed: %s",
                       inference->op->plugin, tenon__status_text(status));
  }
  if (builder.failed) {
    return tenon__fail(inference->sink, TENON_ERROR_INTERNAL,
                       "the shape function of plugin '%s' used an invalid index or handle",
                       inference->op->plugin);
  }
  for (uint32_t i = 0; i < inference->pending_count; ++i) {
    if (inference->pending[i].output == TENON_NONE) {
      return tenon__fail(inference->sink, TENON_ERROR_INTERNAL,
                         "the shape function of plugin '%s' made an extent that no output has",
                         inference->op->plugin);
    }
  }
  return find_unset(&builder);
}
