/* Environments: loop variables, the items that bare names mean, values as numbers. */
#include "core/language/environment.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"

enum { MESSAGE_SIZE = 512 };

tenon_status_t tenon__environment_forget_lets(tenon__environment_t* e) {
  if (e->text == NULL || e->text->statement_count == 0) {
    return TENON_OK;
  }
  e->lets = tenon__arena_allocate(e->arena, e->text->statement_count, sizeof(*e->lets));
  return e->lets == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

void tenon__environment_set_loop(tenon__environment_t* e, uint32_t loop, const char* name,
                                 int64_t value) {
  e->loop_names[loop] = name;
  e->loop_values[loop] = value;
  ++e->round;
}

/* k is the number of the item where the port is variadic. */
static void set_number(tenon__environment_t* e, const tenon__scope_port_t* port, uint32_t item) {
  if ((port->flags & TENON_PORT_VARIADIC) != 0) {
    tenon__environment_set_loop(e, TENON__LOOP_ITEM, "k", (int64_t)item);
  }
  ++e->round;
}

void tenon__environment_set_item(tenon__environment_t* e, const tenon__scope_port_t* port,
                                 uint32_t item) {
  e->item_port = port;
  e->item = item;
  set_number(e, port, item);
}

void tenon__environment_set_output(tenon__environment_t* e, const tenon__scope_port_t* port,
                                   uint32_t item) {
  e->output_port = port;
  e->output_item = item;
  set_number(e, port, item);
}

static bool is_number(const char* subscript) {
  return subscript[0] >= '0' && subscript[0] <= '9';
}

const tenon__statement_t* tenon__environment_select(tenon__environment_t* e, const char* prefix,
                                                    const char* target, uint32_t axis) {
  char number[16];
  (void)snprintf(number, sizeof(number), "%u", axis);
  const tenon__statement_t* found = NULL;
  for (uint32_t i = 0; i < e->text->statement_count; ++i) {
    const tenon__statement_t* statement = &e->text->statements[i];
    if (statement->is_let || statement->subscript == NULL ||
        strcmp(statement->target, target) != 0 ||
        (statement->prefix != NULL && (prefix == NULL || strcmp(statement->prefix, prefix) != 0))) {
      continue;
    }
    if (strcmp(statement->subscript, number) == 0) {
      found = statement;
      break;
    }
    if (!is_number(statement->subscript) && found == NULL) {
      found = statement;
    }
  }
  const bool named = found != NULL && !is_number(found->subscript);
  tenon__environment_set_loop(e, TENON__LOOP_SUBSCRIPT, named ? found->subscript : NULL,
                              (int64_t)axis);
  return found;
}

static void say(const tenon__environment_t* e, const tenon__syntax_t* syntax, tenon_status_t status,
                const char* format, va_list arguments) {
  char message[MESSAGE_SIZE];
  (void)vsnprintf(message, sizeof(message), format, arguments);
  (void)tenon__fail(e->sink, status, "column %u: %s", syntax->position + 1, message);
}

tenon_status_t tenon__language_refuse(const tenon__environment_t* e, const tenon__syntax_t* syntax,
                                      const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(e, syntax, TENON_ERROR_INVALID_DATA, format, arguments);
  va_end(arguments);
  return TENON_ERROR_INVALID_DATA;
}

tenon_status_t tenon__language_unsupported(const tenon__environment_t* e,
                                           const tenon__syntax_t* syntax, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(e, syntax, TENON_ERROR_UNSUPPORTED, format, arguments);
  va_end(arguments);
  return TENON_ERROR_UNSUPPORTED;
}

/* A symbol that can have one value alone is known, but stays in what is made of it. */
static tenon__language_value_t value_of_dim(const tenon__dim_pool_t* pool, tenon_dim_t dim) {
  tenon__language_value_t value = {.kind = TENON_LANGUAGE_DIMENSION, .dim = dim};
  if (tenon__dim_known(pool, dim, &value.integer)) {
    value.kind = TENON_LANGUAGE_INTEGER;
    value.dim = tenon__dim_get(pool, dim).kind == TENON_DIM_CONSTANT ? TENON_DIM_INVALID : dim;
  }
  return value;
}

tenon_status_t tenon__language_give(const tenon__environment_t* e, const tenon__syntax_t* syntax,
                                    tenon_dim_t dim, tenon__language_value_t* out_value) {
  if (tenon__dim_equal(dim, TENON_DIM_INVALID)) {
    return tenon__dim_pool_failed(e->pool)
               ? TENON_ERROR_OUT_OF_MEMORY
               : tenon__language_refuse(e, syntax,
                                        "the number overflows 64 bits, or is divided by zero");
  }
  *out_value = value_of_dim(e->pool, dim);
  return TENON_OK;
}

tenon_dim_t tenon__language_dim(const tenon__environment_t* e,
                                const tenon__language_value_t* value) {
  return tenon__value_is_symbolic(value) ? value->dim
                                         : tenon__dim_constant(e->pool, value->integer);
}

tenon__language_value_t tenon__language_item(const tenon__environment_t* e,
                                             const tenon__language_value_t* list, uint32_t index) {
  return list->integers != NULL ? tenon__value_of_integer(list->integers[index])
         : list->reals != NULL  ? tenon__value_of_real(list->reals[index])
                                : value_of_dim(e->pool, list->dims[index]);
}

static tenon_status_t evaluate_integer(tenon__environment_t* e, const tenon__syntax_t* syntax,
                                       tenon__language_value_t* out_value) {
  TENON_TRY(e->evaluate(e, syntax, out_value));
  if (!tenon__value_is_known(out_value) && out_value->kind != TENON_LANGUAGE_DIMENSION) {
    return tenon__language_refuse(e, syntax, "an integer is expected, not %s",
                                  out_value->kind == TENON_LANGUAGE_REAL   ? "a float"
                                  : out_value->kind == TENON_LANGUAGE_TEXT ? "a string"
                                  : out_value->kind == TENON_LANGUAGE_LIST
                                      ? "a list"
                                      : "an element of a tensor");
  }
  return TENON_OK;
}

tenon_status_t tenon__language_number(tenon__environment_t* e, const tenon__syntax_t* syntax,
                                      tenon_dim_t* out_dim) {
  tenon__language_value_t value = {0};
  TENON_TRY(evaluate_integer(e, syntax, &value));
  *out_dim = tenon__language_dim(e, &value);
  return tenon__dim_equal(*out_dim, TENON_DIM_INVALID) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__language_known(tenon__environment_t* e, const tenon__syntax_t* syntax,
                                     int64_t* out_value) {
  tenon__language_value_t value = {0};
  TENON_TRY(evaluate_integer(e, syntax, &value));
  if (value.kind == TENON_LANGUAGE_DIMENSION) {
    return tenon__language_unsupported(e, syntax, "%s must be known when building",
                                       tenon__dim_text(e->pool, value.dim, e->arena));
  }
  *out_value = value.integer;
  return TENON_OK;
}

tenon_status_t tenon__language_statement(tenon__environment_t* e,
                                         const tenon__statement_t* statement,
                                         tenon_dim_t* out_dim) {
  e->let_end = (uint32_t)(statement - e->text->statements);
  return tenon__language_number(e, statement->value, out_dim);
}
