/* The pool in a plan: symbols first, then nodes in order of ids. */
#include "core/plan_file/dimension_file.h"

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/dimension/dimension_node.h"
#include "core/dimension/dimension_pool.h"

enum { SYMBOL_LEAST_SIZE = 34, NODE_LEAST_SIZE = 5 };

void tenon__dim_pool_write(const tenon__dim_pool_t* pool, struct tenon__byte_writer_t* writer) {
  tenon__write_u32(writer, (uint32_t)pool->symbol_count);
  for (size_t i = 0; i < pool->symbol_count; ++i) {
    const tenon__symbol_t* symbol = pool->symbols[i];
    tenon__write_u8(writer, (uint8_t)symbol->kind);
    tenon__write_u32(writer, symbol->a);
    tenon__write_u32(writer, symbol->b);
    tenon__write_i64(writer, symbol->min);
    tenon__write_i64(writer, symbol->max);
    tenon__write_u32(writer, symbol->bound.id);
    tenon__write_string(writer, symbol->name);
  }
  tenon__write_u32(writer, (uint32_t)pool->node_count);
  for (size_t i = 0; i < pool->node_count; ++i) {
    const tenon__dim_node_t* node = &pool->nodes[i];
    tenon__write_u8(writer, (uint8_t)node->kind);
    if (node->kind == TENON_DIM_CONSTANT) {
      tenon__write_i64(writer, node->value);
      continue;
    }
    tenon__write_u32(writer, node->kind == TENON_DIM_OPERATION ? node->opcode : node->index);
    if (node->kind == TENON_DIM_SYMBOL) {
      continue;
    }
    tenon__write_u32(writer, node->operand_count);
    for (uint32_t k = 0; k < node->operand_count; ++k) {
      tenon__write_u32(writer, node->operands[k].id);
    }
  }
}

typedef struct reading_t {
  struct tenon__byte_reader_t* reader;
  const tenon_sink_t* sink;
  tenon__dim_pool_t* pool;
} reading_t;

static tenon_status_t refuse(const reading_t* reading, const char* what, size_t number) {
  return tenon__fail(reading->sink, TENON_ERROR_INVALID_DATA, "dimensions: %s %zu is broken", what,
                     number);
}

static tenon_status_t read_symbols(reading_t* reading) {
  tenon__dim_pool_t* pool = reading->pool;
  const uint32_t count = tenon__read_count(reading->reader, SYMBOL_LEAST_SIZE);
  TENON_TRY_MEMORY(tenon__dim_restore_begin(pool, count));
  for (uint32_t i = 0; i < count; ++i) {
    tenon__symbol_t symbol = {0};
    const uint8_t kind = tenon__read_u8(reading->reader);
    symbol.kind = (tenon__symbol_kind_t)kind;
    symbol.a = tenon__read_u32(reading->reader);
    symbol.b = tenon__read_u32(reading->reader);
    symbol.min = tenon__read_i64(reading->reader);
    symbol.max = tenon__read_i64(reading->reader);
    symbol.bound.id = tenon__read_u32(reading->reader);
    symbol.name = tenon__read_string(reading->reader);
    if (reading->reader->failed || kind > TENON_SYMBOL_ITERATION || symbol.min > symbol.max) {
      return refuse(reading, "symbol", i);
    }
    TENON_TRY_MEMORY(tenon__dim_restore_symbol(pool, &symbol));
  }
  return TENON_OK;
}

/* The operation's number of operands is one that it can have. */
static bool arity_fits(uint32_t opcode, uint32_t count) {
  switch (opcode) {
    case TENON_OPCODE_ADD:
    case TENON_OPCODE_MUL:
    case TENON_OPCODE_MIN:
    case TENON_OPCODE_MAX:
      return count >= 2;
    case TENON_OPCODE_FLOOR_DIV:
    case TENON_OPCODE_MOD:
    case TENON_OPCODE_EQ:
    case TENON_OPCODE_LT:
      return count == 2;
    case TENON_OPCODE_SELECT:
      return count == 3;
    default:
      return false;
  }
}

static bool read_operands(reading_t* reading, tenon__dim_node_t* node, tenon_dim_t* operands) {
  node->operand_count = tenon__read_u32(reading->reader);
  if (node->operand_count > TENON__DIM_OPERANDS) {
    return false;
  }
  for (uint32_t i = 0; i < node->operand_count; ++i) {
    operands[i].id = tenon__read_u32(reading->reader);
    if (operands[i].id >= reading->pool->node_count) {
      return false;
    }
  }
  node->operands = operands;
  return node->kind == TENON_DIM_ELEMENT || arity_fits(node->opcode, node->operand_count);
}

/* A symbol's bound must come before its node: then ranges follow in one pass. */
static bool symbol_fits(const tenon__dim_pool_t* pool, uint32_t index) {
  if (index >= pool->symbol_count || tenon__dim_valid(pool, pool->symbol_dims[index])) {
    return false;
  }
  const tenon_dim_t bound = pool->symbols[index]->bound;
  return bound.id == TENON_NONE || tenon__dim_valid(pool, bound);
}

static tenon_status_t read_node(reading_t* reading, uint32_t number) {
  tenon__dim_pool_t* pool = reading->pool;
  tenon_dim_t operands[TENON__DIM_OPERANDS];
  const uint8_t kind = tenon__read_u8(reading->reader);
  tenon__dim_node_t node = {.kind = (tenon__dim_kind_t)kind};
  bool fine = kind <= TENON_DIM_ELEMENT;
  if (fine && node.kind == TENON_DIM_CONSTANT) {
    node.value = tenon__read_i64(reading->reader);
  } else if (fine && node.kind == TENON_DIM_SYMBOL) {
    node.index = tenon__read_u32(reading->reader);
    fine = symbol_fits(pool, node.index);
  } else if (fine) {
    const uint32_t what = tenon__read_u32(reading->reader);
    node.opcode = node.kind == TENON_DIM_OPERATION ? what : 0;
    node.index = node.kind == TENON_DIM_ELEMENT ? what : 0;
    fine = read_operands(reading, &node, operands);
  }
  if (!fine || reading->reader->failed) {
    return refuse(reading, "node", number);
  }
  const tenon_status_t status = tenon__dim_restore_node(pool, &node);
  return status == TENON_ERROR_INVALID_DATA ? refuse(reading, "node", number) /* a repetition */
                                            : status;
}

tenon_status_t tenon__dim_pool_read(tenon_allocator_t allocator,
                                    struct tenon__byte_reader_t* reader, const tenon_sink_t* sink,
                                    tenon__dim_pool_t** out_pool) {
  tenon__dim_pool_t* pool = NULL;
  tenon_status_t status = tenon__dim_pool_create(allocator, &pool);
  TENON_TRY(status);
  reading_t reading = {.reader = reader, .sink = sink, .pool = pool};
  status = read_symbols(&reading);
  const uint32_t count = status == TENON_OK ? tenon__read_count(reader, NODE_LEAST_SIZE) : 0;
  for (uint32_t i = 0; i < count && status == TENON_OK; ++i) {
    status = read_node(&reading, i);
  }
  if (status == TENON_OK && reader->failed) {
    status = refuse(&reading, "node", pool->node_count);
  }
  if (status != TENON_OK) {
    tenon__dim_pool_destroy(pool);
    return status;
  }
  tenon__dim_restore_end(pool);
  *out_pool = pool;
  return TENON_OK;
}
