/* Conditions of cases, and checks with their messages. */
#include "core/language/condition.h"

#include <stdio.h>
#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/dimension/requirement.h"
#include "core/language/evaluator.h"

enum { MESSAGE_SIZE = 1024, HOLE_SIZE = 256 };

typedef tenon__environment_t environment_t;
typedef tenon__language_value_t value_t;

tenon_status_t tenon__count_evaluate(const tenon__scope_t* scope, const tenon__syntax_t* count,
                                     const tenon_sink_t* sink, int64_t* out_count) {
  tenon__arena_t arena;
  environment_t environment;
  const tenon__node_text_t text = {scope, NULL, &arena, sink};
  tenon__arena_initialize(&arena, tenon__dim_pool_allocator(scope->pool));
  tenon_status_t status = tenon__language_begin(&text, &environment);
  if (status == TENON_OK) {
    status = tenon__language_known(&environment, count, out_count);
  }
  tenon__arena_deinitialize(&arena);
  return status;
}

tenon_status_t tenon__condition_evaluate(const tenon__scope_t* scope,
                                         const tenon__syntax_t* condition, const tenon_sink_t* sink,
                                         bool* out_holds) {
  int64_t value = 0;
  TENON_TRY(tenon__count_evaluate(scope, condition, sink, &value));
  *out_holds = value != 0;
  return TENON_OK;
}

static const char* value_text(const environment_t* e, const value_t* value) {
  tenon__arena_t* arena = e->arena;
  const char* text = "[";
  switch (value->kind) {
    case TENON_LANGUAGE_REAL:
      return tenon__arena_format(arena, "%g", value->real);
    case TENON_LANGUAGE_TEXT:
      return value->text;
    case TENON_LANGUAGE_LIST:
      break;
    default:
      return tenon__dim_text(e->pool, tenon__language_dim(e, value), arena);
  }
  for (uint32_t i = 0; i < value->count && text != NULL; ++i) {
    const value_t item = tenon__language_item(e, value, i);
    const char* item_text = value_text(e, &item);
    text = item_text == NULL
               ? NULL
               : tenon__arena_format(arena, "%s%s%s", text, i > 0 ? ", " : "", item_text);
  }
  return text == NULL ? NULL : tenon__arena_format(arena, "%s]", text);
}

/* What "{...}" stands for; the text itself when it has no value. */
static const char* hole_text(environment_t* e, const char* text, size_t length) {
  const tenon__syntax_t* syntax = NULL;
  value_t value = {0};
  const char* source = tenon__arena_copy_text(e->arena, text, length);
  if (source != NULL && tenon__text_parse_expression(e->arena, source, NULL, &syntax) == TENON_OK &&
      tenon__language_evaluate(e, syntax, &value) == TENON_OK) {
    return value_text(e, &value);
  }
  return tenon__arena_format(e->arena, "{%.*s}", (int)length, text);
}

static void fill_message(environment_t* e, const char* message, char out[MESSAGE_SIZE]) {
  size_t used = 0;
  while (*message != '\0' && used < MESSAGE_SIZE - 1) {
    const char* end = *message == '{' ? strchr(message, '}') : NULL;
    const char* hole = end == NULL ? NULL : hole_text(e, message + 1, (size_t)(end - message - 1));
    const int wrote = end == NULL ? snprintf(out + used, 2, "%c", *message)
                                  : snprintf(out + used, MESSAGE_SIZE - used, "%.*s", HOLE_SIZE - 1,
                                             hole == NULL ? "?" : hole);
    used += wrote > 0 ? (size_t)wrote : 0;
    message = end == NULL ? message + 1 : end + 1;
  }
  out[used < MESSAGE_SIZE ? used : MESSAGE_SIZE - 1] = '\0';
}

static tenon_status_t evaluate_check(const tenon__scope_t* scope, const tenon__syntax_t* condition,
                                     const char* message, tenon__arena_t* arena,
                                     const tenon_sink_t* sink) {
  environment_t environment;
  tenon_dim_t dim = TENON_DIM_INVALID;
  int64_t value = 0;
  const tenon__node_text_t silent = {scope, NULL, arena, NULL};
  TENON_TRY(tenon__language_begin(&silent, &environment));
  tenon_status_t status = tenon__language_number(&environment, condition, &dim);
  if (status == TENON_ERROR_UNSUPPORTED) {
    return TENON_OK; /* not decided now */
  }
  if (status != TENON_OK) {
    environment.sink = sink; /* once more, to say why */
    return tenon__language_number(&environment, condition, &dim);
  }
  const bool known = tenon__dim_known(scope->pool, dim, &value);
  if ((known && value != 0) || (!known && !tenon__dim_pool_collects(scope->pool))) {
    return TENON_OK;
  }
  char text[MESSAGE_SIZE];
  fill_message(&environment, message == NULL ? "a check of the operator fails" : message, text);
  if (!known) {
    tenon__dim_require(scope->pool, dim, text);
    return TENON_OK;
  }
  return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "%s", text);
}

tenon_status_t tenon__check_evaluate(const tenon__scope_t* scope, const tenon__syntax_t* condition,
                                     const char* message, const tenon_sink_t* sink) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__dim_pool_allocator(scope->pool));
  const tenon_status_t status = evaluate_check(scope, condition, message, &arena, sink);
  tenon__arena_deinitialize(&arena);
  return status;
}
