/*
 * A permutation of axes in front of pointwise arithmetic moves behind it, where that takes one
 * away: because several operands are permuted alike, or because behind it waits the inverse.
 * Constants among the operands are permuted the other way, which folds.
 *
 *     add(permute(a), permute(b))            ->  permute(add(a, b))
 *     permute_back(ramp(permute(a)))         ->  permute_back(permute(ramp(a)))  ->  ramp(a)
 *
 * The arithmetic stays the operator that it was: it is added again on the operands as they were
 * before, and the patch is dropped if its expression does not come out the same.
 */
#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/optimizer/access.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"

enum { LOOK_AHEAD = 8 };

typedef struct sinking_t {
  tenon__rewriter_t* rewriter;
  uint32_t graph;
  uint32_t node;
  uint32_t rank;
  uint32_t moved_count;            /* distinct values */
  uint32_t perm[TENON_RANK_LIMIT]; /* axis d of the source is axis perm[d] behind the move */
  const tenon__index_map_t* map;   /* of the first of the moves */
  uint32_t move;                   /* its node */
} sinking_t;

/* A view whose coordinates are the output's, each once. */
static bool is_permutation(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                           uint32_t* out_perm) {
  bool seen[TENON_RANK_LIMIT] = {false};
  if (map->kind != TENON_MAP_AFFINE || map->source_count != 1 || map->fill != TENON_FILL_NONE ||
      map->sources[0].rank != map->rank) {
    return false;
  }
  for (uint32_t d = 0; d < map->rank; ++d) {
    uint32_t found = TENON_NONE;
    for (uint32_t j = 0; j < map->rank && found == TENON_NONE; ++j) {
      const bool is_it = !seen[j] && tenon__dim_equal(map->dims[j], map->sources[0].dims[d]) &&
                         tenon__dim_equal(map->sources[0].coordinates[d],
                                          tenon__dim_coordinate(pool, j, map->dims[j]));
      found = is_it ? j : TENON_NONE;
    }
    /* An axis of extent 1 may have lost its coordinate: any axis of extent 1 serves. */
    int64_t extent = 0;
    const bool is_one = tenon__dim_known(pool, map->sources[0].dims[d], &extent) && extent == 1;
    const uint32_t axis_count = is_one ? map->rank : 0;
    for (uint32_t j = 0; j < axis_count && found == TENON_NONE; ++j) {
      found = !seen[j] && tenon__dim_equal(map->dims[j], map->sources[0].dims[d]) ? j : TENON_NONE;
    }
    if (found == TENON_NONE) {
      return false;
    }
    seen[found] = true;
    out_perm[d] = found;
  }
  return true;
}

/* The permutation that made a value. */
static const tenon__index_map_t* move_behind(const tenon__rewriter_t* rewriter, uint32_t graph,
                                             uint32_t value, uint32_t* out_perm,
                                             uint32_t* out_node) {
  const tenon__value_node_t* made = tenon__rewriter_value(rewriter, graph, value);
  if (made->producer == TENON_NONE) {
    return NULL;
  }
  const tenon__node_t* producer = tenon__rewriter_node(rewriter, graph, made->producer);
  if (producer->maps == NULL || producer->output_count != 1 ||
      !is_permutation(rewriter->network->pool, &producer->maps[0], out_perm)) {
    return NULL;
  }
  *out_node = made->producer;
  return &producer->maps[0];
}

static bool has_one_element(const tenon__rewriter_t* rewriter, const tenon__value_node_t* value) {
  int64_t extent = 0;
  for (uint32_t d = 0; d < value->type.rank; ++d) {
    if (!tenon__dim_known(rewriter->network->pool, value->type.dims[d], &extent) || extent != 1) {
      return false;
    }
  }
  return value->type.rank != TENON_NONE;
}

/* Is the node pointwise arithmetic of one output that can be added again on other inputs? */
static bool is_arithmetic(const tenon__node_t* node) {
  return node->expression != NULL && node->output_count == 1 && node->outputs[0] != TENON_NONE &&
         (node->form == TENON_NODE_OPERATOR || node->source != NULL) &&
         tenon__program_is_pointwise(&node->expression->program) &&
         tenon__output_is_space(node->expression);
}

/* Every input permuted alike, constant, or of one element, and at least one permuted? `also` counts
 * as permuted. */
static bool gather_moves(sinking_t* sinking, uint32_t index, uint32_t also) {
  const tenon__rewriter_t* rewriter = sinking->rewriter;
  const tenon__node_t* node = tenon__rewriter_node(rewriter, sinking->graph, index);
  uint32_t distinct[8];
  sinking->moved_count = 0;
  for (uint32_t i = 0; i < node->input_count; ++i) {
    uint32_t perm[TENON_RANK_LIMIT];
    uint32_t move = TENON_NONE;
    const uint32_t value = node->inputs[i];
    if (value == TENON_NONE || value == also) {
      continue;
    }
    const tenon__index_map_t* map = move_behind(rewriter, sinking->graph, value, perm, &move);
    if (map == NULL || map->rank != node->expression->program.rank) {
      const tenon__value_node_t* other = tenon__rewriter_value(rewriter, sinking->graph, value);
      if (!has_one_element(rewriter, other) &&
          tenon__rewriter_constant(rewriter, sinking->graph, value) == NULL) {
        return false;
      }
      continue;
    }
    if (sinking->map == NULL) {
      sinking->map = map;
      sinking->move = move;
      sinking->rank = map->rank;
      memcpy(sinking->perm, perm, sizeof(perm));
    } else if (map->rank != sinking->rank ||
               memcmp(perm, sinking->perm, map->rank * sizeof(*perm)) != 0) {
      return false;
    }
    bool is_new = true;
    for (uint32_t k = 0; k < sinking->moved_count && k < 8; ++k) {
      is_new = is_new && distinct[k] != value;
    }
    if (is_new && sinking->moved_count < 8) {
      distinct[sinking->moved_count++] = value;
    }
  }
  return sinking->map != NULL;
}

/* Does a move read `value` that undoes the permutation? */
static bool is_undone(const sinking_t* sinking, uint32_t value) {
  const tenon__rewriter_t* rewriter = sinking->rewriter;
  uint32_t use = tenon__rewriter_first_use(rewriter, sinking->graph, value);
  for (; use != TENON_NONE; use = tenon__rewriter_use(rewriter, use)->next) {
    const tenon__node_t* user =
        tenon__rewriter_node(rewriter, sinking->graph, tenon__rewriter_use(rewriter, use)->node);
    uint32_t perm[TENON_RANK_LIMIT];
    if (user->maps == NULL || user->output_count != 1 ||
        !is_permutation(rewriter->network->pool, &user->maps[0], perm) ||
        user->maps[0].rank != sinking->rank) {
      continue;
    }
    bool is_inverse = true;
    for (uint32_t d = 0; d < sinking->rank; ++d) {
      is_inverse = is_inverse && perm[sinking->perm[d]] == d;
    }
    if (is_inverse) {
      return true;
    }
  }
  return false;
}

/* Whether moving it behind takes a move away, here or, through a chain of single readers, further
 * on. */
static bool pays(sinking_t* sinking) {
  const tenon__rewriter_t* rewriter = sinking->rewriter;
  uint32_t index = sinking->node;
  if (sinking->moved_count >= 2) {
    return true;
  }
  for (uint32_t step = 0; step < LOOK_AHEAD; ++step) {
    const uint32_t value = tenon__rewriter_node(rewriter, sinking->graph, index)->outputs[0];
    if (is_undone(sinking, value)) {
      return true;
    }
    const uint32_t use = tenon__rewriter_first_use(rewriter, sinking->graph, value);
    if (use == TENON_NONE || tenon__rewriter_use_count(rewriter, sinking->graph, value) != 1) {
      return false;
    }
    index = tenon__rewriter_use(rewriter, use)->node;
    if (!is_arithmetic(tenon__rewriter_node(rewriter, sinking->graph, index)) ||
        tenon__rewriter_node(rewriter, sinking->graph, index)->expression->program.rank !=
            sinking->rank ||
        !gather_moves(sinking, index, value)) {
      return false;
    }
    if (sinking->moved_count >= 1) {
      return true; /* it meets another that is permuted alike */
    }
  }
  return false;
}

/* A move of `value` alone to these extents, read at these coordinates. */
static tenon_status_t add_move(sinking_t* sinking, uint32_t value, const char* name,
                               const tenon_dim_t* dims, const tenon_dim_t* coordinates,
                               uint32_t* out_node) {
  const tenon__type_t type = tenon__rewriter_value(sinking->rewriter, sinking->graph, value)->type;
  const tenon__map_source_t source = {
      .input = 0, .rank = type.rank, .dims = type.dims, .coordinates = coordinates};
  tenon__index_map_t map = {.kind = TENON_MAP_AFFINE,
                            .rank = sinking->rank,
                            .dims = dims,
                            .source_count = 1,
                            .sources = &source};
  tenon__index_map_classify(sinking->rewriter->network->pool, &map);
  const tenon__form_request_t request = {
      .name = name, .inputs = &value, .input_count = 1, .map = &map, .dtype = type.dtype};
  return tenon__patch_add_form(sinking->rewriter, &request, out_node);
}

/* An operand of the arithmetic before the move: what was moved, or a constant moved the other way.
 */
static tenon_status_t operand_before(sinking_t* sinking, uint32_t value, uint32_t* out_value) {
  tenon__rewriter_t* rewriter = sinking->rewriter;
  tenon__dim_pool_t* pool = rewriter->network->pool;
  uint32_t perm[TENON_RANK_LIMIT];
  uint32_t move = TENON_NONE;
  *out_value = value;
  if (value == TENON_NONE) {
    return TENON_OK;
  }
  const tenon__index_map_t* moved = move_behind(rewriter, sinking->graph, value, perm, &move);
  if (moved != NULL && moved->rank == sinking->rank) {
    *out_value =
        tenon__rewriter_node(rewriter, sinking->graph, move)->inputs[moved->sources[0].input];
    return TENON_OK;
  }
  const tenon__value_node_t* operand = tenon__rewriter_value(rewriter, sinking->graph, value);
  if (has_one_element(rewriter, operand) && operand->type.rank <= sinking->rank) {
    return TENON_OK;
  }
  if (operand->type.rank > sinking->rank) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon_dim_t dims[TENON_RANK_LIMIT];
  tenon_dim_t coordinates[TENON_RANK_LIMIT];
  const uint32_t missing = sinking->rank - operand->type.rank;
  for (uint32_t d = 0; d < sinking->rank; ++d) {
    const uint32_t axis = sinking->perm[d];
    dims[d] = axis < missing ? tenon__dim_constant(pool, 1) : operand->type.dims[axis - missing];
    if (axis >= missing) {
      coordinates[axis - missing] = tenon__dim_coordinate(pool, d, dims[d]);
    }
  }
  uint32_t node = 0;
  TENON_TRY(add_move(sinking, value, operand->name, dims, coordinates, &node));
  *out_value = tenon__rewriter_node(rewriter, sinking->graph, node)->outputs[0];
  return TENON_OK;
}

static bool is_aligned(const sinking_t* sinking, const tenon__expression_t* expression,
                       uint32_t operand, uint32_t value) {
  return has_one_element(sinking->rewriter,
                         tenon__rewriter_value(sinking->rewriter, sinking->graph, value)) ||
         tenon__access_is_aligned(sinking->rewriter->network->pool, expression, operand);
}

/* The same instructions, reading full operands element for element and the others as extents of 1
 * allow. */
static bool same_arithmetic(const sinking_t* sinking, uint32_t a, uint32_t b) {
  const tenon__rewriter_t* rewriter = sinking->rewriter;
  const tenon__expression_t* old = tenon__rewriter_node(rewriter, sinking->graph, a)->expression;
  const tenon__node_t* node = tenon__rewriter_node(rewriter, sinking->graph, b);
  const tenon__expression_t* new = node->expression;
  if (new == NULL || old->program.instruction_count != new->program.instruction_count ||
      old->program.operand_count != new->program.operand_count ||
      old->program.rank != new->program.rank || !tenon__output_is_space(new) ||
      memcmp(old->program.instructions, new->program.instructions,
             old->program.instruction_count * sizeof(*old->program.instructions)) != 0) {
    return false;
  }
  for (uint32_t d = 0; d < new->program.rank; ++d) {
    if (!tenon__dim_equal(new->space[d], old->space[sinking->perm[d]])) {
      return false;
    }
  }
  for (uint32_t k = 0; k < new->program.operand_count; ++k) {
    const uint32_t input = new->program.operands[k].index;
    if (old->program.operands[k].index != input ||
        !is_aligned(sinking, old, k,
                    tenon__rewriter_node(rewriter, sinking->graph, a)->inputs[input]) ||
        !is_aligned(sinking, new, k, node->inputs[input])) {
      return false;
    }
  }
  return true;
}

/* The permutation, behind the arithmetic: the operator that it was where it has no other inputs. */
static tenon_status_t add_move_behind(sinking_t* sinking, uint32_t arithmetic,
                                      uint32_t* out_value) {
  tenon__rewriter_t* rewriter = sinking->rewriter;
  const uint32_t source = tenon__rewriter_node(rewriter, sinking->graph, arithmetic)->outputs[0];
  const tenon__node_t* move = tenon__rewriter_node(rewriter, sinking->graph, sinking->move);
  uint32_t made = 0;
  if (move->op != NULL && move->input_count == 1) {
    TENON_TRY(tenon__patch_add_again(rewriter, sinking->graph, sinking->move, &source, 1, &made));
  } else {
    const tenon__value_node_t* value = tenon__rewriter_value(rewriter, sinking->graph, source);
    tenon_dim_t dims[TENON_RANK_LIMIT];
    tenon_dim_t coordinates[TENON_RANK_LIMIT];
    for (uint32_t d = 0; d < sinking->rank; ++d) {
      dims[sinking->perm[d]] = value->type.dims[d];
      coordinates[d] =
          tenon__dim_coordinate(rewriter->network->pool, sinking->perm[d], value->type.dims[d]);
    }
    TENON_TRY(add_move(sinking, source, NULL, dims, coordinates, &made));
  }
  *out_value = tenon__rewriter_node(rewriter, sinking->graph, made)->outputs[0];
  return TENON_OK;
}

static tenon_status_t sink(sinking_t* sinking) {
  tenon__rewriter_t* rewriter = sinking->rewriter;
  const tenon__node_t node = *tenon__rewriter_node(rewriter, sinking->graph, sinking->node);
  uint32_t* inputs =
      tenon__arena_allocate(&rewriter->scratch, node.input_count + 1u, sizeof(*inputs));
  uint32_t made = 0;
  uint32_t value = 0;
  TENON_TRY_MEMORY(inputs != NULL);
  for (uint32_t i = 0; i < node.input_count; ++i) {
    TENON_TRY(operand_before(sinking, node.inputs[i], &inputs[i]));
  }
  TENON_TRY(tenon__patch_add_again(rewriter, sinking->graph, sinking->node, inputs,
                                   node.input_count, &made));
  if (!same_arithmetic(sinking, sinking->node, made)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(add_move_behind(sinking, made, &value));
  if (!tenon__patch_fits(rewriter, sinking->graph, node.outputs[0], value)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon__patch_replace(rewriter, node.outputs[0], value);
  tenon__patch_swap_names(rewriter, made, sinking->node);
  return TENON_OK;
}

tenon_status_t tenon__pass_sink_moves(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t index) {
  sinking_t sinking = {.rewriter = rewriter, .graph = graph, .node = index};
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  if (!is_arithmetic(node) || tenon__rewriter_use_count(rewriter, graph, node->outputs[0]) == 0 ||
      !gather_moves(&sinking, index, TENON_NONE) ||
      sinking.rank != node->expression->program.rank) {
    return TENON_OK;
  }
  sinking_t ahead = sinking;
  if (!pays(&ahead) || !tenon__patch_begin(rewriter, "sink moves", graph, index)) {
    return TENON_OK;
  }
  return tenon__patch_settle(rewriter, sink(&sinking));
}
