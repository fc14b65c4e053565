/* The pool: nodes found by hash, symbols found by name. Operands and names lie in an arena, so
 * views stay valid while the pool lives. */
#include "core/dimension/dimension_pool.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/base/string_map.h"
#include "core/dimension/dimension_node.h"
#include "core/dimension/dimension_range.h"

enum { SYMBOL_KEY_SIZE = 128 };

tenon_status_t tenon__dim_pool_create(tenon_allocator_t allocator, tenon__dim_pool_t** out_pool) {
  tenon__dim_pool_t* pool = tenon__allocate(allocator, 1, sizeof(*pool));
  TENON_TRY_MEMORY(pool != NULL);
  pool->allocator = allocator;
  tenon__arena_initialize(&pool->arena, allocator);
  tenon__string_map_initialize(&pool->names, allocator);
  *out_pool = pool;
  return TENON_OK;
}

void tenon__dim_pool_destroy(tenon__dim_pool_t* pool) {
  if (pool == NULL) {
    return;
  }
  const tenon_allocator_t allocator = pool->allocator;
  tenon__string_map_deinitialize(&pool->names);
  tenon__free(allocator, pool->nodes, pool->node_capacity * sizeof(*pool->nodes));
  tenon__free(allocator, pool->slots, pool->slot_count * sizeof(*pool->slots));
  tenon__free(allocator, pool->symbols, pool->symbol_capacity * sizeof(void*));
  tenon__free(allocator, pool->symbol_dims, pool->symbol_dim_capacity * sizeof(tenon_dim_t));
  tenon__free(allocator, pool->memo, pool->memo_capacity * sizeof(tenon_dim_t));
  tenon__arena_deinitialize(&pool->arena);
  tenon__free(allocator, pool, sizeof(*pool));
}

uint32_t tenon__dim_pool_count(const tenon__dim_pool_t* pool) {
  return (uint32_t)pool->node_count;
}

bool tenon__dim_pool_failed(const tenon__dim_pool_t* pool) {
  return pool->failed;
}

tenon_allocator_t tenon__dim_pool_allocator(const tenon__dim_pool_t* pool) {
  return pool->allocator;
}

static uint64_t hash_node(const tenon__dim_node_t* node) {
  const uint64_t head[4] = {(uint64_t)node->kind, node->opcode, node->index, (uint64_t)node->value};
  const uint64_t hash = tenon__hash_bytes(head, sizeof(head), 0);
  return tenon__hash_bytes(node->operands, node->operand_count * sizeof(tenon_dim_t), hash);
}

static bool same_node(const tenon__dim_node_t* a, const tenon__dim_node_t* b) {
  return a->kind == b->kind && a->opcode == b->opcode && a->index == b->index &&
         a->value == b->value && a->operand_count == b->operand_count &&
         (a->operand_count == 0 ||
          memcmp(a->operands, b->operands, a->operand_count * sizeof(tenon_dim_t)) == 0);
}

/* The slot that holds the node, or the free one where it belongs. */
static size_t find_slot(const tenon__dim_pool_t* pool, const tenon__dim_node_t* node) {
  size_t slot = (size_t)hash_node(node) & (pool->slot_count - 1);
  while (pool->slots[slot] != 0 && !same_node(&pool->nodes[pool->slots[slot] - 1], node)) {
    slot = (slot + 1) & (pool->slot_count - 1);
  }
  return slot;
}

static bool grow_slots(tenon__dim_pool_t* pool) {
  if ((pool->node_count + 1) * 2 <= pool->slot_count) {
    return true;
  }
  const size_t count = pool->slot_count == 0 ? 64 : pool->slot_count * 2;
  uint32_t* slots = tenon__allocate(pool->allocator, count, sizeof(*slots));
  if (slots == NULL) {
    return false;
  }
  tenon__free(pool->allocator, pool->slots, pool->slot_count * sizeof(*pool->slots));
  pool->slots = slots;
  pool->slot_count = count;
  for (size_t i = 0; i < pool->node_count; ++i) {
    pool->slots[find_slot(pool, &pool->nodes[i])] = (uint32_t)i + 1;
  }
  return true;
}

/* Which kinds of symbols and which coordinates the expression holds. */
static void compute_mentions(const tenon__dim_pool_t* pool, tenon__dim_node_t* node) {
  node->mentions = node->kind == TENON_DIM_ELEMENT ? TENON__DIM_MENTIONS_ELEMENT : 0;
  if (node->kind == TENON_DIM_SYMBOL) {
    const tenon__symbol_t* symbol = pool->symbols[node->index];
    node->mentions |= 1u << (uint32_t)symbol->kind;
    if (symbol->kind == TENON_SYMBOL_COORDINATE && symbol->a < 64) {
      node->coordinate_axes = UINT64_C(1) << symbol->a;
    }
  }
  for (uint32_t i = 0; i < node->operand_count; ++i) {
    const tenon__dim_node_t* operand = tenon__dim_node(pool, node->operands[i].id);
    node->mentions |= operand->mentions;
    node->coordinate_axes |= operand->coordinate_axes;
  }
}

tenon_dim_t tenon__dim_intern(tenon__dim_pool_t* pool, const tenon__dim_node_t* node) {
  if (!grow_slots(pool)) {
    pool->failed = true;
    return TENON_DIM_INVALID;
  }
  const size_t slot = find_slot(pool, node);
  if (pool->slots[slot] != 0) {
    return (tenon_dim_t){pool->slots[slot] - 1};
  }
  tenon__dim_node_t made = *node;
  if (node->operand_count > 0) {
    made.operands =
        tenon__arena_copy(&pool->arena, node->operands, node->operand_count * sizeof(tenon_dim_t));
  }
  if ((node->operand_count > 0 && made.operands == NULL) || pool->node_count >= TENON_NONE - 1 ||
      !TENON_GROW(pool->allocator, pool->nodes, pool->node_capacity, pool->node_count + 1)) {
    pool->failed = true;
    return TENON_DIM_INVALID;
  }
  compute_mentions(pool, &made);
  tenon__dim_compute_range(pool, &made, &made.min, &made.max);
  pool->nodes[pool->node_count] = made;
  pool->slots[slot] = (uint32_t)++pool->node_count;
  return (tenon_dim_t){(uint32_t)pool->node_count - 1};
}

tenon_dim_t tenon__dim_operation(tenon__dim_pool_t* pool, uint32_t opcode,
                                 const tenon_dim_t* operands, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (!tenon__dim_valid(pool, operands[i])) {
      return TENON_DIM_INVALID;
    }
  }
  const tenon__dim_node_t node = {
      .kind = TENON_DIM_OPERATION, .opcode = opcode, .operand_count = count, .operands = operands};
  return tenon__dim_intern(pool, &node);
}

tenon_dim_t tenon__dim_pair(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a,
                            tenon_dim_t b) {
  const tenon_dim_t operands[2] = {a, b};
  return tenon__dim_operation(pool, opcode, operands, 2);
}

tenon_dim_t tenon__dim_find(const tenon__dim_pool_t* pool, uint32_t opcode,
                            const tenon_dim_t* operands, uint32_t count) {
  const tenon__dim_node_t node = {
      .kind = TENON_DIM_OPERATION, .opcode = opcode, .operand_count = count, .operands = operands};
  const uint32_t found = pool->slot_count == 0 ? 0 : pool->slots[find_slot(pool, &node)];
  return found == 0 ? TENON_DIM_INVALID : (tenon_dim_t){found - 1};
}

tenon_dim_t tenon__dim_constant(tenon__dim_pool_t* pool, int64_t value) {
  const tenon__dim_node_t node = {.kind = TENON_DIM_CONSTANT, .value = value};
  return tenon__dim_intern(pool, &node);
}

/* A made-up name begins with a kind that no given name's key has, so it never meets one of the
 * model. */
static const char* name_symbol(tenon__arena_t* arena, const tenon__symbol_t* symbol) {
  switch (symbol->kind) {
    case TENON_SYMBOL_INPUT:
      return symbol->b == 0 ? tenon__arena_format(arena, "s%u", symbol->a)
                            : tenon__arena_format(arena, "s%u_%u", symbol->a, symbol->b);
    case TENON_SYMBOL_CONTENT:
      return tenon__arena_format(arena, "v%u[%u]", symbol->a, symbol->b);
    case TENON_SYMBOL_EXTENT:
      return tenon__arena_format(arena, "v%u.dim%u", symbol->a, symbol->b);
    case TENON_SYMBOL_COORDINATE:
      return tenon__arena_format(arena, "o%u", symbol->a);
    default:
      return tenon__arena_format(arena, "trip%u", symbol->a);
  }
}

/* What a symbol is found by: its name, or, without one, what it is. In `buffer`, or in the arena
 * when the name is long; NULL when memory is out. */
static const char* key_of(tenon__arena_t* arena, const tenon__symbol_t* symbol,
                          char buffer[SYMBOL_KEY_SIZE]) {
  if (symbol->name == NULL) {
    /* Coordinates of spaces of other extents are other symbols: what is known of them differs. */
    const uint32_t extent = symbol->kind == TENON_SYMBOL_COORDINATE ? symbol->bound.id : 0;
    (void)snprintf(buffer, SYMBOL_KEY_SIZE, "%u %u %u %u", (uint32_t)symbol->kind, symbol->a,
                   symbol->b, extent);
    return buffer;
  }
  if (strlen(symbol->name) + 2 > SYMBOL_KEY_SIZE) {
    return tenon__arena_format(arena, "=%s", symbol->name);
  }
  (void)snprintf(buffer, SYMBOL_KEY_SIZE, "=%s", symbol->name);
  return buffer;
}

static bool reserve_symbols(tenon__dim_pool_t* pool, size_t count) {
  return TENON_GROW(pool->allocator, pool->symbols, pool->symbol_capacity, count) &&
         TENON_GROW(pool->allocator, pool->symbol_dims, pool->symbol_dim_capacity, count);
}

static bool append_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol, const char* key,
                          const char* name) {
  const size_t index = pool->symbol_count;
  tenon__symbol_t* copy = tenon__arena_copy(&pool->arena, symbol, sizeof(*symbol));
  if (copy == NULL || name == NULL || !reserve_symbols(pool, index + 1) ||
      (tenon__string_map_find(&pool->names, key) == NULL &&
       !tenon__string_map_set(&pool->names, key, (tenon__map_value_t){.number = index}))) {
    return false;
  }
  copy->name = name;
  pool->symbols[index] = copy;
  pool->symbol_dims[index] = TENON_DIM_INVALID;
  ++pool->symbol_count;
  return true;
}

tenon_dim_t tenon__dim_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol) {
  char buffer[SYMBOL_KEY_SIZE];
  const char* key = key_of(&pool->arena, symbol, buffer);
  if (key == NULL) {
    pool->failed = true;
    return TENON_DIM_INVALID;
  }
  const tenon__map_value_t* found = tenon__string_map_find(&pool->names, key);
  if (found == NULL &&
      append_symbol(pool, symbol, key,
                    symbol->name != NULL ? tenon__arena_copy_string(&pool->arena, symbol->name)
                                         : name_symbol(&pool->arena, symbol))) {
    found = tenon__string_map_find(&pool->names, key);
  }
  if (found == NULL) {
    pool->failed = true;
    return TENON_DIM_INVALID;
  }
  const uint32_t index = (uint32_t)found->number;
  if (!tenon__dim_valid(pool, pool->symbol_dims[index])) {
    const tenon__dim_node_t node = {.kind = TENON_DIM_SYMBOL, .index = index};
    pool->symbol_dims[index] = tenon__dim_intern(pool, &node);
  }
  return pool->symbol_dims[index];
}

tenon_dim_t tenon__symbol_find(const tenon__dim_pool_t* pool, tenon__symbol_kind_t kind, uint32_t a,
                               uint32_t b) {
  const tenon__symbol_t symbol = {.kind = kind, .a = a, .b = b};
  char buffer[SYMBOL_KEY_SIZE];
  const tenon__map_value_t* found =
      tenon__string_map_find(&pool->names, key_of(NULL, &symbol, buffer));
  return found == NULL ? TENON_DIM_INVALID : pool->symbol_dims[found->number];
}

uint32_t tenon__symbol_count(const tenon__dim_pool_t* pool) {
  return (uint32_t)pool->symbol_count;
}

const tenon__symbol_t* tenon__symbol_get(const tenon__dim_pool_t* pool, uint32_t index) {
  return pool->symbols[index];
}

void tenon__symbol_set_range(tenon__dim_pool_t* pool, uint32_t index, int64_t min, int64_t max) {
  tenon__symbol_t* symbol = pool->symbols[index];
  const int64_t low = min > symbol->min ? min : symbol->min;
  const int64_t high = max < symbol->max ? max : symbol->max;
  if (low > high || (low == symbol->min && high == symbol->max)) {
    return; /* what was simplified under the old range stays true only within it */
  }
  symbol->min = low;
  symbol->max = high;
  for (size_t i = 0; i < pool->node_count; ++i) {
    tenon__dim_compute_range(pool, &pool->nodes[i], &pool->nodes[i].min, &pool->nodes[i].max);
  }
}

tenon__dim_view_t tenon__dim_get(const tenon__dim_pool_t* pool, tenon_dim_t dim) {
  const tenon__dim_node_t* node = tenon__dim_node(pool, dim.id);
  return (tenon__dim_view_t){.kind = node->kind,
                             .opcode = node->opcode,
                             .value = node->value,
                             .index = node->index,
                             .operand_count = node->operand_count,
                             .operands = node->operands};
}

bool tenon__dim_known(const tenon__dim_pool_t* pool, tenon_dim_t dim, int64_t* out_value) {
  if (!tenon__dim_valid(pool, dim)) {
    return false;
  }
  const tenon__dim_node_t* node = tenon__dim_node(pool, dim.id);
  if (node->min != node->max) {
    return false;
  }
  *out_value = node->min;
  return true;
}

void tenon__dim_range(const tenon__dim_pool_t* pool, tenon_dim_t dim, int64_t* out_min,
                      int64_t* out_max) {
  const bool valid = tenon__dim_valid(pool, dim);
  *out_min = valid ? tenon__dim_node(pool, dim.id)->min : INT64_MIN;
  *out_max = valid ? tenon__dim_node(pool, dim.id)->max : INT64_MAX;
}

bool tenon__dim_mentions(const tenon__dim_pool_t* pool, tenon_dim_t dim, int kind) {
  if (!tenon__dim_valid(pool, dim)) {
    return false;
  }
  const uint32_t bit = kind < 0 ? (uint32_t)TENON__DIM_MENTIONS_ELEMENT : 1u << (uint32_t)kind;
  return (tenon__dim_node(pool, dim.id)->mentions & bit) != 0;
}

uint64_t tenon__dim_coordinate_axes(const tenon__dim_pool_t* pool, tenon_dim_t dim) {
  return tenon__dim_valid(pool, dim) ? tenon__dim_node(pool, dim.id)->coordinate_axes : 0;
}

/* ---- A pool made again ---- */

bool tenon__dim_restore_begin(tenon__dim_pool_t* pool, uint32_t symbol_count) {
  return reserve_symbols(pool, (size_t)symbol_count + 1);
}

bool tenon__dim_restore_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol) {
  tenon__symbol_t unnamed = *symbol;
  char buffer[SYMBOL_KEY_SIZE];
  /* The map serves later symbols: those whose names are made up are looked for by what they are. */
  if (symbol->kind != TENON_SYMBOL_INPUT) {
    unnamed.name = NULL;
  }
  const char* key = key_of(&pool->arena, &unnamed, buffer);
  return key != NULL &&
         append_symbol(pool, symbol, key, tenon__arena_copy_string(&pool->arena, symbol->name));
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
