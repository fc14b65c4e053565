/* Which tensor a name in the index language means. */
#include "core/language/index_tensor.h"

#include <string.h>

#include "core/base/status.h"
#include "core/language/index_environment.h"
#include "core/language/index_language.h"

const tenon__scope_port_t* tenon__index_find_port(const tenon__scope_t* scope, const char* name,
                                                  bool* out_is_output) {
  for (uint32_t i = 0; i < scope->input_count; ++i) {
    if (strcmp(scope->inputs[i].name, name) == 0) {
      *out_is_output = false;
      return &scope->inputs[i];
    }
  }
  for (uint32_t i = 0; i < scope->output_count; ++i) {
    if (strcmp(scope->outputs[i].name, name) == 0) {
      *out_is_output = true;
      return &scope->outputs[i];
    }
  }
  return NULL;
}

const tenon__scope_attribute_t* tenon__index_find_attribute(const tenon__scope_t* scope,
                                                            const char* name) {
  for (uint32_t i = 0; i < scope->attribute_count; ++i) {
    if (strcmp(scope->attributes[i].name, name) == 0) {
      return &scope->attributes[i];
    }
  }
  return NULL;
}

/* Number of the first item of output port `port` among all output items. */
static uint32_t first_item(const tenon__scope_t* scope, const tenon__scope_port_t* port) {
  uint32_t first = 0;
  for (const tenon__scope_port_t* other = scope->outputs; other < port; ++other) {
    first += other->count;
  }
  return first;
}

const tenon__scope_port_t* tenon__index_port_of(const tenon__scope_t* scope, uint32_t output,
                                                uint32_t* out_item) {
  uint32_t item = output;
  for (uint32_t i = 0; i < scope->output_count; ++i) {
    if (item < scope->outputs[i].count) {
      *out_item = item;
      return &scope->outputs[i];
    }
    item -= scope->outputs[i].count;
  }
  return NULL;
}

/* An output: the shape found so far, or the one in the scope. */
static void fill_output(const tenon__index_environment_t* environment,
                        tenon__index_tensor_t* tensor) {
  const uint32_t number = first_item(environment->scope, tensor->port) + tensor->item;
  tensor->present = tensor->value == NULL || tensor->value->present;
  if (environment->space != NULL && tensor->port == environment->output_port &&
      tensor->item == environment->output_item) {
    tensor->rank = environment->space->rank;
    tensor->dims = environment->space->dims;
    tensor->value = NULL;
    return;
  }
  if (environment->shapes != NULL && number < environment->shape_count) {
    tensor->rank = environment->shapes[number].rank;
    tensor->dims = environment->shapes[number].dims;
    tensor->value = NULL;
  }
}

tenon_status_t tenon__index_tensor(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax,
                                   tenon__index_tensor_t* out_tensor) {
  const bool indexed = syntax->kind == TENON_SYNTAX_INDEX;
  const tenon__syntax_t* name = indexed ? syntax->children[0] : syntax;
  tenon__index_tensor_t tensor = {.rank = TENON_NONE};
  if (name->kind == TENON_SYNTAX_NAME) {
    tensor.port = tenon__index_find_port(environment->scope, name->text, &tensor.is_output);
  }
  if (tensor.port == NULL) {
    (void)tenon__index_fail(
        environment, name, TENON_ERROR_INVALID_DATA, "'%s' is no name of an input or output",
        name->kind == TENON_SYNTAX_NAME || name->kind == TENON_SYNTAX_CALL ? name->text : "this");
    return TENON_ERROR_INVALID_DATA;
  }
  if (indexed) {
    int64_t item = 0;
    TENON_TRY(tenon__index_known(environment, syntax->children[1], &item));
    if (item < 0 || item >= (int64_t)tensor.port->count) {
      (void)tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                              "item %lld of %u of '%s'", (long long)item, tensor.port->count,
                              tensor.port->name);
      return TENON_ERROR_INVALID_DATA;
    }
    tensor.item = (uint32_t)item;
  } else if (tensor.port == environment->item_port) {
    environment->saw_loop = true;
    tensor.item = environment->item;
  } else if (tensor.port == environment->output_port) {
    environment->saw_loop = true;
    tensor.item = environment->output_item;
  }
  if (tensor.port->values != NULL && tensor.item < tensor.port->count) {
    tensor.value = &tensor.port->values[tensor.item];
    tensor.present = tensor.value->present;
    tensor.rank = tensor.value->rank;
    tensor.dims = tensor.value->dims;
  }
  if (tensor.is_output) {
    fill_output(environment, &tensor);
  }
  *out_tensor = tensor;
  return TENON_OK;
}

tenon_status_t tenon__index_ranked(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax,
                                   tenon__index_tensor_t* out_tensor) {
  tenon__index_tensor_t tensor = {0};
  TENON_TRY(tenon__index_tensor(environment, syntax, &tensor));
  if (!tensor.is_output && !tensor.present) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA, "input '%s' is absent",
                             tensor.port->name);
  }
  if (tensor.rank == TENON_NONE) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_UNSUPPORTED,
                             "the rank of '%s' is not known here", tensor.port->name);
  }
  *out_tensor = tensor;
  return TENON_OK;
}
