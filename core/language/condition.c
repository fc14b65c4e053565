/* Conditions of cases, and checks with their messages. */
#include "core/language/condition.h"

#include <stdio.h>
#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/dimension/requirement.h"
#include "core/language/index_environment.h"
#include "core/language/index_language.h"

enum { MESSAGE_SIZE = 1024, HOLE_SIZE = 256 };

tenon_status_t tenon__count_evaluate(const tenon__scope_t* scope, const tenon__syntax_t* count,
                                     const tenon_sink_t* sink, int64_t* out_count) {
  tenon__arena_t arena;
  tenon__index_environment_t environment;
  tenon__arena_initialize(&arena, tenon__dim_pool_allocator(scope->pool));
  tenon_status_t status =
      tenon__index_environment_initialize(&environment, scope, NULL, &arena, sink);
  if (status == TENON_OK) {
    status = tenon__index_known(&environment, count, out_count);
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

/* Any value as a person reads it. */
static void print_value(const tenon__index_environment_t* environment,
                        const tenon__index_value_t* value, char* out, size_t size) {
  switch (value->kind) {
    case TENON_INDEX_NUMBER:
      (void)snprintf(out, size, "%s",
                     tenon__dim_text(environment->pool, value->dim, environment->arena));
      return;
    case TENON_INDEX_REAL:
      (void)snprintf(out, size, "%g", value->real);
      return;
    case TENON_INDEX_TEXT:
      (void)snprintf(out, size, "%s", value->text);
      return;
    default:
      break;
  }
  size_t used = (size_t)snprintf(out, size, "[");
  for (uint32_t i = 0; i < value->count && used < size; ++i) {
    const char* comma = i > 0 ? ", " : "";
    const int wrote =
        value->kind == TENON_INDEX_REALS
            ? snprintf(out + used, size - used, "%s%g", comma, value->reals[i])
            : snprintf(out + used, size - used, "%s%s", comma,
                       tenon__dim_text(environment->pool, tenon__index_item(environment, value, i),
                                       environment->arena));
    used += wrote > 0 ? (size_t)wrote : 0;
  }
  if (used + 1 < size) {
    (void)snprintf(out + used, size - used, "]");
  }
}

/* What "{...}" stands for; the text itself when it has no value. */
static void fill_hole(tenon__index_environment_t* environment, const char* text, size_t length,
                      char* out, size_t size) {
  const tenon__syntax_t* syntax = NULL;
  tenon__index_value_t value = {0};
  const char* source = tenon__arena_copy_text(environment->arena, text, length);
  if (source != NULL &&
      tenon__text_parse_expression(environment->arena, source, NULL, &syntax) == TENON_OK &&
      tenon__index_evaluate(environment, syntax, &value) == TENON_OK) {
    print_value(environment, &value, out, size);
  } else {
    (void)snprintf(out, size, "{%.*s}", (int)length, text);
  }
}

static void fill_message(tenon__index_environment_t* environment, const char* message, char* out,
                         size_t size) {
  size_t used = 0;
  const char* cursor = message;
  while (*cursor != '\0' && used + 1 < size) {
    const char* end = *cursor == '{' ? strchr(cursor, '}') : NULL;
    if (end == NULL) {
      out[used++] = *cursor++;
      continue;
    }
    char hole[HOLE_SIZE] = "";
    fill_hole(environment, cursor + 1, (size_t)(end - cursor - 1), hole, sizeof(hole));
    const int wrote = snprintf(out + used, size - used, "%s", hole);
    used += wrote > 0 ? (size_t)wrote : 0;
    cursor = end + 1;
  }
  out[used < size ? used : size - 1] = '\0';
}

static tenon_status_t evaluate_check(const tenon__scope_t* scope, const tenon__syntax_t* condition,
                                     const char* message, tenon__arena_t* arena,
                                     const tenon_sink_t* sink) {
  tenon__index_environment_t environment;
  tenon_dim_t dim = TENON_DIM_INVALID;
  int64_t value = 0;
  TENON_TRY(tenon__index_environment_initialize(&environment, scope, NULL, arena, NULL));
  tenon_status_t status = tenon__index_number(&environment, condition, &dim);
  if (status == TENON_ERROR_UNSUPPORTED) {
    return TENON_OK; /* not decided now */
  }
  if (status != TENON_OK) {
    environment.sink = sink; /* once more, to say why */
    return tenon__index_number(&environment, condition, &dim);
  }
  const bool known = tenon__dim_known(scope->pool, dim, &value);
  if ((known && value != 0) || (!known && !tenon__dim_pool_collects(scope->pool))) {
    return TENON_OK;
  }
  char text[MESSAGE_SIZE];
  fill_message(&environment, message == NULL ? "a check of the operator fails" : message, text,
               sizeof(text));
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
