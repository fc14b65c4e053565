/* The storage of dimensions in their pool, for this module only. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_NODE_H_
#define TENON_CORE_DIMENSION_DIMENSION_NODE_H_

#include "core/base/arena.h"
#include "core/base/string_map.h"
#include "core/dimension/dimension.h"

enum {
  TENON__DIM_MENTIONS_ELEMENT = 1u << 7, /* bit k: a symbol of kind k */
  TENON__DIM_OPERANDS = 64,              /* maximum operands of a node */
};

/* The members from kind to value define the node and are hashed. min, max, mentions and
 * coordinate_axes are derived from them and the symbols' ranges when the node is interned. */
typedef struct tenon__dim_node_t {
  tenon__dim_kind_t kind;
  uint32_t opcode;
  uint32_t index;
  uint32_t operand_count;
  const tenon_dim_t* operands; /* in the arena */
  int64_t value;
  int64_t min;
  int64_t max;
  uint32_t mentions;
  uint64_t coordinate_axes;
} tenon__dim_node_t;

/* nodes[id] is the node of dimension id. It moves when the table grows; its operands do not. The
 * hash table uses open addressing and is at most half full. symbols[i] and symbol_dims[i] belong
 * together; a dim is INVALID until the symbol is used. `memo` is scratch of substitution, and
 * `depth` limits the recursion of rules. */
struct tenon__dim_pool_t {
  tenon_allocator_t allocator;
  tenon__arena_t arena;
  tenon__dim_node_t* nodes;
  size_t node_count;
  size_t node_capacity;
  uint32_t* slots; /* hash table of node numbers + 1 */
  size_t slot_count;
  tenon__symbol_t** symbols;
  tenon_dim_t* symbol_dims;
  size_t symbol_count;
  size_t symbol_capacity;
  size_t symbol_dim_capacity;
  tenon__string_map_t names;
  tenon_dim_t* memo; /* of substitution: results by node */
  size_t memo_capacity;
  uint32_t depth; /* recursion depth of simplifications */
  bool failed;
  struct tenon__requirements_t* requirements; /* borrowed, or NULL */
};

/* Valid until the next node is made. */
static inline const tenon__dim_node_t* tenon__dim_node(const tenon__dim_pool_t* pool, uint32_t id) {
  return &pool->nodes[id];
}
static inline bool tenon__dim_valid(const tenon__dim_pool_t* pool, tenon_dim_t dim) {
  return dim.id < pool->node_count;
}

#endif
