/* Conditions on dimensions in a list, each once for a node. Conditions that are known to hold are
 * left out. */
#include "core/dimension/requirement.h"

#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_node.h"
#include "core/dimension/dimension_pool.h"

void tenon__dim_pool_set_requirements(tenon__dim_pool_t* pool,
                                      tenon__requirements_t* requirements) {
  pool->requirements = requirements;
}

bool tenon__dim_pool_collects(const tenon__dim_pool_t* pool) {
  return pool->requirements != NULL;
}

static bool is_there(const tenon__requirements_t* list, tenon_dim_t condition) {
  for (uint32_t k = list->count; k-- > 0;) {
    const tenon__requirement_t* item = &list->items[k];
    if (item->graph != list->graph || item->node != list->node) {
      return false; /* those of one node are together */
    }
    if (tenon__dim_equal(item->condition, condition)) {
      return true;
    }
  }
  return false;
}

void tenon__dim_require(tenon__dim_pool_t* pool, tenon_dim_t condition, const char* message) {
  tenon__requirements_t* list = pool->requirements;
  int64_t value = 0;
  if (list == NULL || list->failed || !tenon__dim_valid(pool, condition) ||
      (tenon__dim_known(pool, condition, &value) && value != 0) || is_there(list, condition)) {
    return;
  }
  const char* own = tenon__arena_copy_string(list->arena, message);
  if (own == NULL || !TENON_ARENA_GROW(list->arena, list->items, list->capacity, list->count + 1)) {
    list->failed = true;
    return;
  }
  list->items[list->count++] = (tenon__requirement_t){condition, list->graph, list->node, own};
}

void tenon__dim_require_broadcast(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  if (pool->requirements == NULL || tenon__dim_equal(a, b)) {
    return;
  }
  const tenon_dim_t one = tenon__dim_constant(pool, 1);
  const tenon_dim_t ones =
      tenon__dim_combine(pool, TENON_OPCODE_MAX, tenon__dim_combine(pool, TENON_OPCODE_EQ, a, one),
                         tenon__dim_combine(pool, TENON_OPCODE_EQ, b, one));
  tenon__dim_require(pool,
                     tenon__dim_combine(pool, TENON_OPCODE_MAX, ones,
                                        tenon__dim_combine(pool, TENON_OPCODE_EQ, a, b)),
                     "the shapes do not broadcast");
}
