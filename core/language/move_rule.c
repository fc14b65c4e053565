/* Moves: from the text to an index map, and contents through one. */
#include "core/language/move_rule.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/evaluator.h"
#include "core/program/evaluate_block.h"
#include "core/tensor/type.h"

typedef tenon__environment_t environment_t;

/* What a move's text makes, source by source. */
typedef struct move_t {
  environment_t* e;
  const char* prefix; /* of the output */
  tenon__index_map_t map;
  tenon__map_source_t* sources;
  uint32_t source_capacity;
} move_t;

static bool is_linear(const tenon__statement_t* statement) {
  return statement->subscript == NULL && statement->value->kind == TENON_SYNTAX_NAME &&
         strcmp(statement->value->text, "linear") == 0;
}

/* Nothing is read for an output without elements, and the rule need not have a value there: an axis
 * of extent 0 divides, for example. */
static bool is_known_empty(const move_t* move) {
  bool is_empty = false;
  for (uint32_t d = 0; d < move->map.rank; ++d) {
    is_empty = is_empty || tenon__dim_is(move->e->pool, move->map.dims[d], 0);
  }
  return is_empty;
}

static tenon_status_t add_coordinates(move_t* move, const tenon__scope_port_t* port,
                                      const tenon__scope_value_t* value,
                                      const tenon_dim_t** out_coordinates) {
  environment_t* e = move->e;
  tenon_dim_t* coordinates =
      tenon__arena_allocate(e->arena, value->type.rank + 1u, sizeof(*coordinates));
  TENON_TRY_MEMORY(coordinates != NULL);
  for (uint32_t d = 0; d < value->type.rank; ++d) {
    const tenon__statement_t* statement = tenon__environment_select(e, move->prefix, port->name, d);
    if (statement == NULL) {
      return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA,
                         "the move says nothing of axis %u of input '%s'", d, port->name);
    }
    if (is_known_empty(move)) {
      coordinates[d] = tenon__dim_constant(e->pool, 0);
    } else {
      TENON_TRY(tenon__language_statement(e, statement, &coordinates[d]));
    }
  }
  *out_coordinates = coordinates;
  return TENON_OK;
}

static tenon_status_t add_item(move_t* move, const tenon__statement_t* statement,
                               const tenon__scope_port_t* port, uint32_t item) {
  environment_t* e = move->e;
  const tenon__scope_value_t* value = &port->values[item];
  if (!value->present) {
    return TENON_OK;
  }
  if (value->type.rank == TENON_NONE || value->type.rank > TENON_RANK_LIMIT) {
    return tenon__fail(e->sink, TENON_ERROR_UNSUPPORTED, "the rank of '%s' is not known",
                       port->name);
  }
  tenon__map_source_t source = {
      .input = value->argument, .rank = value->type.rank, .dims = value->type.dims};
  if (is_linear(statement)) {
    move->map.kind = TENON_MAP_LINEAR;
  } else {
    tenon__environment_set_item(e, port, item);
    TENON_TRY(add_coordinates(move, port, value, &source.coordinates));
  }
  TENON_TRY_MEMORY(
      TENON_ARENA_GROW(e->arena, move->sources, move->source_capacity, move->map.source_count + 1));
  move->sources[move->map.source_count++] = source;
  return TENON_OK;
}

/* An absent input fills with 0; a plan's reader, too, wants one element of any other. */
static tenon_status_t fill_with_input(move_t* move, const tenon__syntax_t* syntax,
                                      const tenon__scope_value_t* value) {
  uint64_t count = 0;
  if (value->present &&
      !(tenon__type_element_count(move->e->pool, &value->type, &count) && count == 1)) {
    return tenon__language_unsupported(move->e, syntax,
                                       "what fills must be known to be one element");
  }
  move->map.fill = value->present ? TENON_FILL_INPUT : TENON_FILL_VALUE;
  move->map.fill_input = value->present ? value->argument : 0;
  return TENON_OK;
}

/* fill = port, number, attribute, or a choice of them. */
static tenon_status_t set_fill(move_t* move, const tenon__syntax_t* syntax) {
  environment_t* e = move->e;
  tenon__index_map_t* map = &move->map;
  const tenon__scope_port_t* port =
      syntax->kind == TENON_SYNTAX_NAME ? tenon__scope_input(e->scope, syntax->text) : NULL;
  tenon__language_value_t value = {0};
  if (syntax->kind == TENON_SYNTAX_SELECT) {
    int64_t holds = 0;
    TENON_TRY(tenon__language_known(e, syntax->children[0], &holds));
    return set_fill(move, syntax->children[holds != 0 ? 1 : 2]);
  }
  if (port != NULL) {
    return fill_with_input(move, syntax, &port->values[0]);
  }
  TENON_TRY(tenon__language_evaluate(e, syntax, &value));
  map->fill = TENON_FILL_VALUE;
  if (tenon__value_is_known(&value)) {
    map->fill_value = tenon__scalar_cast((tenon__scalar_t){.i = value.integer}, TENON_DTYPE_INT64,
                                         map->fill_dtype);
  } else if (value.kind == TENON_LANGUAGE_REAL && tenon__dtype_class(map->fill_dtype) == 'f') {
    map->fill_value = tenon__scalar_cast((tenon__scalar_t){.f = value.real}, TENON_DTYPE_FLOAT64,
                                         map->fill_dtype);
  } else {
    return tenon__language_refuse(
        e, syntax,
        "what fills is an input of one element, or a known number that the output's type holds");
  }
  return TENON_OK;
}

/* Was this target dealt with at an earlier statement? */
static bool seen_before(const move_t* move, const tenon__statement_t* statement) {
  for (const tenon__statement_t* other = move->e->text->statements; other < statement; ++other) {
    if (!other->is_let && strcmp(other->target, statement->target) == 0 &&
        (other->prefix == NULL || strcmp(other->prefix, move->prefix) == 0)) {
      return true;
    }
  }
  return false;
}

static tenon_status_t add_statement(move_t* move, const tenon__statement_t* statement) {
  environment_t* e = move->e;
  if (statement->is_let || seen_before(move, statement) ||
      (statement->prefix != NULL && strcmp(statement->prefix, move->prefix) != 0)) {
    return TENON_OK;
  }
  e->let_end = (uint32_t)(statement - e->text->statements);
  if (strcmp(statement->target, "fill") == 0 && statement->subscript == NULL) {
    return set_fill(move, statement->value);
  }
  bool is_output = false;
  const tenon__scope_port_t* port = tenon__scope_port(e->scope, statement->target, &is_output);
  if (port == NULL || is_output || (statement->subscript == NULL && !is_linear(statement))) {
    return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA,
                       "column %u: a move sets coordinates of inputs, 'linear', or 'fill'",
                       statement->position + 1);
  }
  for (uint32_t item = 0; item < port->count; ++item) {
    TENON_TRY(add_item(move, statement, port, item));
  }
  return TENON_OK;
}

static tenon_status_t finish(move_t* move, tenon__index_map_t* out_map) {
  environment_t* e = move->e;
  tenon__index_map_t* map = &move->map;
  if (map->source_count == 0 || (map->kind == TENON_MAP_LINEAR && map->source_count > 1)) {
    return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA,
                       map->source_count == 0 ? "the move says nothing of this output"
                                              : "a linear move has one source");
  }
  map->sources = move->sources;
  tenon__index_map_classify(e->pool, map);
  TENON_TRY_MEMORY(!tenon__dim_pool_failed(e->pool));
  *out_map = *map;
  return TENON_OK;
}

tenon_status_t tenon__move_evaluate(const tenon__node_text_t* rule, uint32_t output,
                                    const tenon__inferred_shape_t* shape,
                                    tenon__index_map_t* out_map) {
  environment_t environment;
  uint32_t item = 0;
  const tenon__scope_port_t* port = tenon__scope_output(rule->scope, output, &item);
  if (port == NULL || shape->rank > TENON_RANK_LIMIT) {
    return tenon__fail(rule->sink, TENON_ERROR_INVALID_ARGUMENT, "there is no output %u", output);
  }
  TENON_TRY(tenon__language_begin(rule, &environment));
  environment.space = shape;
  tenon__environment_set_output(&environment, port, item);
  move_t move = {.e = &environment, .prefix = port->name};
  move.map.rank = shape->rank;
  move.map.kind = TENON_MAP_GENERAL;
  move.map.dims = tenon__arena_copy(rule->arena, shape->rank > 0 ? shape->dims : &(tenon_dim_t){0},
                                    (shape->rank > 0 ? shape->rank : 1u) * sizeof(tenon_dim_t));
  move.map.fill_dtype = tenon__dtype_arithmetic(port->values != NULL ? port->values[item].type.dtype
                                                                     : TENON_DTYPE_UNDEFINED);
  TENON_TRY_MEMORY(move.map.dims != NULL);
  for (uint32_t i = 0; i < rule->text->statement_count; ++i) {
    TENON_TRY(add_statement(&move, &rule->text->statements[i]));
  }
  return finish(&move, out_map);
}

/* The scope's value that is the node's input `argument`. */
static const tenon__scope_value_t* find_argument(const tenon__scope_t* scope, uint32_t argument) {
  for (uint32_t i = 0; i < scope->input_count; ++i) {
    for (uint32_t k = 0; k < scope->inputs[i].count; ++k) {
      const tenon__scope_value_t* value = &scope->inputs[i].values[k];
      if (value->present && value->argument == argument) {
        return value;
      }
    }
  }
  return NULL;
}

static bool element_of_scope(void* user, uint32_t input, const int64_t* coordinates, uint32_t count,
                             int64_t* out_value) {
  const tenon__scope_t* scope = user;
  const tenon__scope_value_t* value = find_argument(scope, input);
  tenon_dim_t content = TENON_DIM_INVALID;
  return value != NULL && value->type.rank == count &&
         tenon__type_content(scope->pool, &value->type, coordinates, &content) ==
             TENON_CONTENT_FOUND &&
         tenon__dim_known(scope->pool, content, out_value);
}

/* What stands at a point of the output that no source supplies. */
static bool filled_content(const tenon__scope_t* scope, const tenon__index_map_t* map,
                           tenon_dim_t* out_content) {
  if (map->fill == TENON_FILL_INPUT) {
    const tenon__scope_value_t* value = find_argument(scope, map->fill_input);
    if (value == NULL || value->type.contents == NULL || value->type.content_count != 1) {
      return false;
    }
    *out_content = value->type.contents[0];
    return true;
  }
  if (map->fill == TENON_FILL_NONE) {
    return false;
  }
  const bool is_float = tenon__dtype_class(map->fill_dtype) == 'f';
  const tenon__scalar_t integer =
      tenon__scalar_cast(map->fill_value, map->fill_dtype, TENON_DTYPE_INT64);
  if (is_float && (double)integer.i != map->fill_value.f) {
    return false;
  }
  *out_content = tenon__dim_constant(scope->pool, integer.i);
  return true;
}

static bool moved_content(const tenon__scope_t* scope, const tenon__index_map_t* map,
                          const int64_t* point, tenon_dim_t* out_content) {
  const tenon__dim_point_t place = {.coordinates = point,
                                    .coordinate_count = map->rank,
                                    .element = element_of_scope,
                                    .user = tenon__drop_const(scope)};
  for (uint32_t s = 0; s < map->source_count; ++s) {
    const tenon__map_source_t* source = &map->sources[s];
    const tenon__scope_value_t* value = find_argument(scope, source->input);
    int64_t coordinates[TENON_RANK_LIMIT] = {0};
    bool known = value != NULL && value->type.rank == source->rank;
    for (uint32_t i = 0; i < source->rank && known; ++i) {
      known = tenon__dim_value_at(scope->pool, source->coordinates[i], &place, &coordinates[i]);
    }
    const tenon__content_at_t found =
        known ? tenon__type_content(scope->pool, &value->type, coordinates, out_content)
              : TENON_CONTENT_UNKNOWN;
    if (found != TENON_CONTENT_OUTSIDE) {
      return found == TENON_CONTENT_FOUND;
    }
  }
  return filled_content(scope, map, out_content);
}

tenon_status_t tenon__move_contents(const tenon__scope_t* scope, const tenon__index_map_t* map,
                                    tenon__arena_t* arena, tenon__type_t* inout_type) {
  int64_t extents[TENON_RANK_LIMIT] = {0};
  tenon__walk_t walk;
  uint32_t count = 0;
  if (!tenon__type_is_small(scope->pool, map->rank, map->dims, extents, &count) ||
      !tenon__walk_begin(map->rank, extents, 0, &walk)) {
    return TENON_OK;
  }
  const tenon__scope_value_t* first = find_argument(scope, map->sources[0].input);
  if (map->kind == TENON_MAP_LINEAR) {
    if (first != NULL && first->type.contents != NULL && first->type.content_count == count) {
      inout_type->contents = first->type.contents;
      inout_type->content_count = count;
    }
    return TENON_OK;
  }
  tenon_dim_t* contents = tenon__arena_allocate(arena, count + 1u, sizeof(*contents));
  TENON_TRY_MEMORY(contents != NULL);
  for (uint32_t i = 0; i < count; ++i) {
    if (!moved_content(scope, map, walk.point, &contents[i])) {
      return tenon__dim_pool_failed(scope->pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
    }
    tenon__walk_advance(&walk, 1);
  }
  inout_type->contents = contents;
  inout_type->content_count = count;
  return TENON_OK;
}
