/* Dimensions as people write them: "4*batch + 1", "(s0 + 1)/2", "min(n, 8)". */
#include "core/dimension/dimension_text.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/dimension/dimension_node.h"

enum { TEXT_SIZE = 1024, TEXT_DEPTH = 32 };

/* How tightly what surrounds the text binds. */
enum { BIND_NONE, BIND_COMPARE, BIND_ADD, BIND_MULTIPLY, BIND_ALL };

typedef struct text_t {
  const tenon__dim_pool_t* pool;
  size_t used;
  bool full;
  char data[TEXT_SIZE];
} text_t;

__attribute__((format(printf, 2, 3))) static void put(text_t* text, const char* format, ...) {
  if (text->full) {
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  const int written = vsnprintf(text->data + text->used, TEXT_SIZE - text->used, format, arguments);
  va_end(arguments);
  if (written < 0 || (size_t)written >= TEXT_SIZE - text->used - 4) {
    text->full = true;
    (void)snprintf(text->data + text->used, 4, "...");
    return;
  }
  text->used += (size_t)written;
}

static void put_dim(text_t* text, tenon_dim_t dim, int bind, uint32_t depth);

static void put_list(text_t* text, const char* name, const tenon__dim_node_t* node,
                     uint32_t depth) {
  put(text, "%s(", name);
  for (uint32_t i = 0; i < node->operand_count; ++i) {
    put(text, "%s", i > 0 ? ", " : "");
    put_dim(text, node->operands[i], BIND_NONE, depth + 1);
  }
  put(text, ")");
}

/* The leading coefficient of a product, 1 when it has none. */
static int64_t coefficient_of(const tenon__dim_pool_t* pool, tenon_dim_t dim) {
  const tenon__dim_node_t* node = tenon__dim_node(pool, dim.id);
  if (node->kind == TENON_DIM_CONSTANT) {
    return node->value;
  }
  if (node->kind != TENON_DIM_OPERATION || node->opcode != TENON_OPCODE_MUL) {
    return 1;
  }
  const tenon__dim_node_t* first = tenon__dim_node(pool, node->operands[0].id);
  return first->kind == TENON_DIM_CONSTANT ? first->value : 1;
}

static void put_product(text_t* text, const tenon__dim_node_t* node, bool negated, uint32_t depth) {
  uint32_t first = 0;
  const tenon__dim_node_t* leading = tenon__dim_node(text->pool, node->operands[0].id);
  if (leading->kind == TENON_DIM_CONSTANT && leading->value != INT64_MIN) {
    const int64_t value = negated ? -leading->value : leading->value;
    first = 1;
    if (value == -1) {
      put(text, "-");
    } else if (value != 1) {
      put(text, "%lld*", (long long)value);
    }
  }
  for (uint32_t i = first; i < node->operand_count; ++i) {
    put(text, "%s", i > first ? "*" : "");
    put_dim(text, node->operands[i], BIND_ALL, depth + 1);
  }
}

static void put_sum(text_t* text, const tenon__dim_node_t* node, uint32_t depth) {
  for (uint32_t i = 0; i < node->operand_count; ++i) {
    const tenon__dim_node_t* term = tenon__dim_node(text->pool, node->operands[i].id);
    const int64_t coefficient = coefficient_of(text->pool, node->operands[i]);
    const bool minus = i > 0 && coefficient < 0 && coefficient != INT64_MIN;
    if (i > 0) {
      put(text, minus ? " - " : " + ");
    }
    if (minus && term->kind == TENON_DIM_CONSTANT) {
      put(text, "%lld", (long long)-term->value);
    } else if (minus) {
      put_product(text, term, true, depth);
    } else {
      put_dim(text, node->operands[i], BIND_ADD, depth + 1);
    }
  }
}

static void put_binary(text_t* text, const char* sign, const tenon__dim_node_t* node, int bind,
                       uint32_t depth) {
  put_dim(text, node->operands[0], bind, depth + 1);
  put(text, "%s", sign);
  put_dim(text, node->operands[1], bind + 1, depth + 1);
}

static void put_operation(text_t* text, const tenon__dim_node_t* node, int bind, uint32_t depth) {
  int own = BIND_ALL;
  switch (node->opcode) {
    case TENON_OPCODE_MIN:
    case TENON_OPCODE_MAX:
      put_list(text, node->opcode == TENON_OPCODE_MIN ? "min" : "max", node, depth);
      return;
    case TENON_OPCODE_ADD:
      own = BIND_ADD;
      break;
    case TENON_OPCODE_MUL:
    case TENON_OPCODE_FLOOR_DIV:
    case TENON_OPCODE_MOD:
      own = BIND_MULTIPLY;
      break;
    case TENON_OPCODE_SELECT:
      own = BIND_NONE;
      break;
    default:
      own = BIND_COMPARE;
      break;
  }
  const bool parentheses = own < bind || (own == BIND_NONE && bind == BIND_NONE && depth > 0);
  put(text, "%s", parentheses ? "(" : "");
  if (node->opcode == TENON_OPCODE_ADD) {
    put_sum(text, node, depth);
  } else if (node->opcode == TENON_OPCODE_MUL) {
    put_product(text, node, false, depth);
  } else if (node->opcode == TENON_OPCODE_SELECT) {
    put_dim(text, node->operands[0], BIND_COMPARE, depth + 1);
    put(text, " ? ");
    put_dim(text, node->operands[1], BIND_NONE, depth + 1);
    put(text, " : ");
    put_dim(text, node->operands[2], BIND_NONE, depth + 1);
  } else if (own == BIND_COMPARE) {
    put_binary(text, node->opcode == TENON_OPCODE_EQ ? " == " : " < ", node, BIND_ADD, depth);
  } else {
    put_binary(text, node->opcode == TENON_OPCODE_MOD ? "%" : "/", node, BIND_MULTIPLY, depth);
  }
  put(text, "%s", parentheses ? ")" : "");
}

static void put_dim(text_t* text, tenon_dim_t dim, int bind, uint32_t depth) {
  if (!tenon__dim_valid(text->pool, dim) || depth > TEXT_DEPTH || text->full) {
    put(text, "?");
    return;
  }
  const tenon__dim_node_t* node = tenon__dim_node(text->pool, dim.id);
  if (node->kind == TENON_DIM_CONSTANT) {
    const bool parentheses = node->value < 0 && bind >= BIND_MULTIPLY;
    put(text, parentheses ? "(%lld)" : "%lld", (long long)node->value);
  } else if (node->kind == TENON_DIM_SYMBOL) {
    put(text, "%s", text->pool->symbols[node->index]->name);
  } else if (node->kind == TENON_DIM_ELEMENT) {
    put(text, "in%u", node->index);
    put_list(text, "", node, depth);
  } else {
    put_operation(text, node, bind, depth);
  }
}

const char* tenon__dim_text(const tenon__dim_pool_t* pool, tenon_dim_t dim,
                            struct tenon__arena_t* arena) {
  text_t text = {.pool = pool};
  put_dim(&text, dim, BIND_NONE, 0);
  const char* copy = tenon__arena_copy_string(arena, text.data);
  return copy == NULL ? "?" : copy;
}

const char* tenon__dims_text(const tenon__dim_pool_t* pool, const tenon_dim_t* dims, uint32_t count,
                             tenon__arena_t* arena) {
  const char* text = tenon__arena_copy_string(arena, "[");
  for (uint32_t i = 0; i < count && text != NULL; ++i) {
    text = tenon__arena_format(arena, "%s%s%s", text, i == 0 ? "" : ", ",
                               tenon__dim_text(pool, dims[i], arena));
  }
  text = text == NULL ? NULL : tenon__arena_format(arena, "%s]", text);
  return text == NULL ? "?" : text;
}
