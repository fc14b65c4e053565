/* Which tensor a name means. */
#include "core/language/named_tensor.h"

#include "core/base/status.h"

typedef tenon__environment_t environment_t;
typedef tenon__named_tensor_t tensor_t;

bool tenon__names_port(const environment_t* e, const tenon__syntax_t* syntax) {
  bool is_output = false;
  return syntax->kind == TENON_SYNTAX_NAME &&
         tenon__scope_port(e->scope, syntax->text, &is_output) != NULL;
}

/* An output: the shape found so far, or the one in the scope. */
static void fill_output(const environment_t* e, tensor_t* tensor) {
  const uint32_t number = tenon__scope_output_number(e->scope, tensor->port, tensor->item);
  const tenon__inferred_shape_t* shape = NULL;
  tensor->present = tensor->value == NULL || tensor->value->present;
  if (e->space != NULL && tensor->port == e->output_port && tensor->item == e->output_item) {
    shape = e->space;
  } else if (e->shapes != NULL && number < e->shape_count) {
    shape = &e->shapes[number];
  }
  if (shape != NULL) {
    tensor->rank = shape->rank;
    tensor->dims = shape->dims;
    tensor->value = NULL;
  }
}

/* The item that a bare name means. */
static uint32_t bare_item(environment_t* e, const tenon__scope_port_t* port) {
  if (port == e->item_port || port == e->output_port) {
    e->saw_loop = true;
    return port == e->item_port ? e->item : e->output_item;
  }
  return 0;
}

tenon_status_t tenon__named_tensor(environment_t* e, const tenon__syntax_t* syntax,
                                   tensor_t* out_tensor) {
  const bool indexed = syntax->kind == TENON_SYNTAX_INDEX;
  const tenon__syntax_t* name = indexed ? syntax->children[0] : syntax;
  tensor_t tensor = {.rank = TENON_NONE};
  if (name->kind != TENON_SYNTAX_NAME) {
    (void)tenon__language_refuse(e, name, "the name of an input or output is expected");
    return TENON_ERROR_INVALID_DATA;
  }
  tensor.port = tenon__scope_port(e->scope, name->text, &tensor.is_output);
  if (tensor.port == NULL) {
    (void)tenon__language_refuse(e, name, "unknown name '%s': an input or output is expected",
                                 name->text);
    return TENON_ERROR_INVALID_DATA;
  }
  if (indexed) {
    int64_t item = 0;
    TENON_TRY(tenon__language_known(e, syntax->children[1], &item));
    if (item < 0 || item >= (int64_t)tensor.port->count) {
      (void)tenon__language_refuse(e, syntax, "'%s' has %u items, there is no item %lld",
                                   tensor.port->name, tensor.port->count, (long long)item);
      return TENON_ERROR_INVALID_DATA;
    }
    tensor.item = (uint32_t)item;
  } else {
    tensor.item = bare_item(e, tensor.port);
  }
  if (tensor.port->values != NULL && tensor.item < tensor.port->count) {
    tensor.value = &tensor.port->values[tensor.item];
    tensor.present = tensor.value->present;
    tensor.rank = tensor.value->type.rank;
    tensor.dims = tensor.value->type.dims;
  }
  if (tensor.is_output) {
    fill_output(e, &tensor);
  }
  *out_tensor = tensor;
  return TENON_OK;
}

tenon_status_t tenon__ranked_tensor(environment_t* e, const tenon__syntax_t* syntax,
                                    tensor_t* out_tensor) {
  tensor_t tensor = {0};
  TENON_TRY(tenon__named_tensor(e, syntax, &tensor));
  if (!tensor.is_output && !tensor.present) {
    return tenon__language_refuse(e, syntax, "input '%s' is absent: ask present(%s) first",
                                  tensor.port->name, tensor.port->name);
  }
  if (tensor.rank == TENON_NONE) {
    return tenon__language_unsupported(e, syntax, "the rank of '%s' is not known",
                                       tensor.port->name);
  }
  *out_tensor = tensor;
  return TENON_OK;
}

tenon_status_t tenon__tensor_extent(const environment_t* e, const tenon__syntax_t* syntax,
                                    const tensor_t* tensor, uint32_t axis, tenon_dim_t* out_dim) {
  if (tensor->dims == NULL || tenon__dim_equal(tensor->dims[axis], TENON_DIM_INVALID)) {
    return tenon__language_refuse(e, syntax, "extent %u of '%s' is used before it is set", axis,
                                  tensor->port->name);
  }
  *out_dim = tensor->dims[axis];
  return TENON_OK;
}

tenon_status_t tenon__tensor_contents(environment_t* e, const tenon__syntax_t* syntax,
                                      tenon__language_value_t* out_list) {
  tensor_t tensor = {0};
  TENON_TRY(tenon__named_tensor(e, syntax, &tensor));
  if (tensor.value != NULL && tensor.value->numbers != NULL) {
    *out_list = (tenon__language_value_t){.kind = TENON_LANGUAGE_LIST,
                                          .count = tensor.value->number_count,
                                          .reals = tensor.value->numbers};
    return TENON_OK;
  }
  if (tensor.value == NULL || tensor.value->type.contents == NULL) {
    return tenon__language_unsupported(
        e, syntax, "the contents of '%s' must be known when building", tensor.port->name);
  }
  *out_list = tenon__value_of_dims(tensor.value->type.contents, tensor.value->type.content_count);
  return TENON_OK;
}

tenon_status_t tenon__language_list(environment_t* e, const tenon__syntax_t* syntax,
                                    tenon__language_value_t* out_list) {
  if (tenon__names_port(e, syntax)) {
    return tenon__tensor_contents(e, syntax, out_list);
  }
  TENON_TRY(e->evaluate(e, syntax, out_list));
  return out_list->kind == TENON_LANGUAGE_LIST
             ? TENON_OK
             : tenon__language_refuse(e, syntax,
                                      "a list is expected: an INTS attribute, contents, [a, b]");
}
