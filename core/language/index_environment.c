/* The environment of the index language: lets, loop variables, the items that bare names mean. */
#include "core/language/index_environment.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/index_language.h"

enum { MESSAGE_SIZE = 512 };

tenon_status_t tenon__index_fail(const tenon__index_environment_t* environment,
                                 const tenon__syntax_t* syntax, tenon_status_t status,
                                 const char* format, ...) {
  char message[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return tenon__fail(environment->sink, status, "column %u: %s", syntax->position + 1, message);
}

tenon_status_t tenon__index_environment_initialize(tenon__index_environment_t* out_environment,
                                                   const tenon__scope_t* scope,
                                                   const tenon__text_t* text, tenon__arena_t* arena,
                                                   const tenon_sink_t* sink) {
  *out_environment = (tenon__index_environment_t){
      .scope = scope, .pool = scope->pool, .arena = arena, .sink = sink, .text = text};
  if (text != NULL && text->statement_count > 0) {
    out_environment->lets =
        tenon__arena_allocate(arena, text->statement_count, sizeof(tenon__let_t));
    if (out_environment->lets == NULL) {
      return tenon__fail_memory(sink);
    }
  }
  return TENON_OK;
}

void tenon__index_set_loop(tenon__index_environment_t* environment, uint32_t loop, const char* name,
                           tenon_dim_t value) {
  environment->loop_names[loop] = name;
  environment->loop_values[loop] = value;
  ++environment->round;
}

/* k is the number of the item where the port is variadic. */
static void set_number(tenon__index_environment_t* environment, const tenon__scope_port_t* port,
                       uint32_t item) {
  if (port != NULL && (port->flags & TENON_PORT_VARIADIC) != 0) {
    tenon__index_set_loop(environment, 1, "k",
                          tenon__dim_constant(environment->pool, (int64_t)item));
  }
  ++environment->round;
}

void tenon__index_set_item(tenon__index_environment_t* environment, const tenon__scope_port_t* port,
                           uint32_t item) {
  environment->item_port = port;
  environment->item = item;
  set_number(environment, port, item);
}

void tenon__index_set_output(tenon__index_environment_t* environment,
                             const tenon__scope_port_t* port, uint32_t item) {
  environment->output_port = port;
  environment->output_item = item;
  set_number(environment, port, item);
}

static bool is_number(const char* subscript) {
  return subscript[0] >= '0' && subscript[0] <= '9';
}

const tenon__statement_t* tenon__index_select_statement(tenon__index_environment_t* environment,
                                                        const char* prefix, const char* target,
                                                        uint32_t axis) {
  char number[16];
  (void)snprintf(number, sizeof(number), "%u", axis);
  const tenon__statement_t* found = NULL;
  for (uint32_t i = 0; i < environment->text->statement_count; ++i) {
    const tenon__statement_t* statement = &environment->text->statements[i];
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
  tenon__index_set_loop(environment, 0, named ? found->subscript : NULL,
                        tenon__dim_constant(environment->pool, (int64_t)axis));
  return found;
}

tenon_status_t tenon__index_statement_number(tenon__index_environment_t* environment,
                                             const tenon__statement_t* statement,
                                             tenon_dim_t* out_dim) {
  environment->let_end = (uint32_t)(statement - environment->text->statements);
  return tenon__index_number(environment, statement->value, out_dim);
}

tenon_status_t tenon__index_give(const tenon__index_environment_t* environment,
                                 const tenon__syntax_t* syntax, tenon_dim_t dim,
                                 tenon__index_value_t* out_value) {
  if (tenon__dim_equal(dim, TENON_DIM_INVALID)) {
    if (tenon__dim_pool_failed(environment->pool)) {
      return tenon__fail_memory(environment->sink);
    }
    return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                             "the number overflows, or is divided by zero");
  }
  *out_value = (tenon__index_value_t){.kind = TENON_INDEX_NUMBER, .dim = dim};
  return TENON_OK;
}

tenon_dim_t tenon__index_item(const tenon__index_environment_t* environment,
                              const tenon__index_value_t* list, uint32_t index) {
  return list->kind == TENON_INDEX_DIMS
             ? list->dims[index]
             : tenon__dim_constant(environment->pool, list->integers[index]);
}
