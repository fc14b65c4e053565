#include "core/dimension/dimension_restore.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"

bool tenon__dim_restore_begin(tenon__dim_pool_t* pool, uint32_t symbol_count) {
  return tenon__symbols_reserve(pool, (size_t)symbol_count + 1);
}

bool tenon__dim_restore_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol) {
  tenon__symbol_t unnamed = *symbol;
  char buffer[TENON_SYMBOL_KEY_SIZE];
  /* The map serves later symbols: those whose names are made up are looked for by what they are. */
  if (symbol->kind != TENON_SYMBOL_INPUT) {
    unnamed.name = NULL;
  }
  const char* key = tenon__symbol_key(&pool->arena, &unnamed, buffer);
  return key != NULL && tenon__symbol_append(pool, symbol, key,
                                             tenon__arena_copy_string(&pool->arena, symbol->name));
}

tenon_status_t tenon__dim_restore_node(tenon__dim_pool_t* pool, const tenon__dim_node_t* node) {
  const size_t number = pool->node_count;
  const tenon_dim_t made = tenon__dim_intern(pool, node);
  TENON_TRY_MEMORY(tenon__dim_valid(pool, made));
  if (made.id != number) {
    return TENON_ERROR_INVALID_DATA;
  }
  if (node->kind == TENON_DIM_SYMBOL) {
    pool->symbol_dims[node->index] = made;
  }
  return TENON_OK;
}

void tenon__dim_restore_end(tenon__dim_pool_t* pool) {
  for (size_t i = 0; i < pool->symbol_count; ++i) {
    if (!tenon__dim_valid(pool, pool->symbol_dims[i])) {
      pool->symbols[i]->bound = TENON_DIM_INVALID;
    }
  }
}

static tenon_status_t restore_all(tenon__dim_pool_t* pool, const tenon__dim_pool_t* source) {
  bool fits = tenon__dim_restore_begin(pool, (uint32_t)source->symbol_count);
  for (size_t i = 0; fits && i < source->symbol_count; ++i) {
    fits = tenon__dim_restore_symbol(pool, source->symbols[i]);
  }
  tenon_status_t status = fits ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; status == TENON_OK && i < source->node_count; ++i) {
    const tenon__dim_node_t* node = &source->nodes[i];
    const tenon__dim_node_t bare = {.kind = node->kind,
                                    .opcode = node->opcode,
                                    .index = node->index,
                                    .operand_count = node->operand_count,
                                    .operands = node->operands,
                                    .value = node->value};
    status = tenon__dim_restore_node(pool, &bare);
  }
  tenon__dim_restore_end(pool);
  return status;
}

tenon_status_t tenon__dim_pool_copy(tenon_allocator_t allocator, const tenon__dim_pool_t* source,
                                    tenon__dim_pool_t** out_pool) {
  tenon__dim_pool_t* pool = NULL;
  TENON_TRY(tenon__dim_pool_create(allocator, &pool));
  const tenon_status_t status = restore_all(pool, source);
  if (status != TENON_OK) {
    tenon__dim_pool_destroy(pool);
    return status;
  }
  *out_pool = pool;
  return TENON_OK;
}
