/* See network_facts.h. */
#include "session/network_facts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "data/element.h"
#include "text/memory.h"
#include "text/units.h"

typedef struct count_t {
  const tenon_builder_table_t* table;
  tenon_builder_t* builder;
  tool_network_facts_t facts;
  size_t op_capacity;
  bool* counted; /* constants, by the value's id */
  size_t id_capacity;
} count_t;

static void count_op(count_t* count, const char* op) {
  tool_network_facts_t* facts = &count->facts;
  ++facts->node_count;
  for (size_t i = 0; i < facts->op_count; ++i) {
    if (strcmp(facts->ops[i].op, op) == 0) {
      ++facts->ops[i].count;
      return;
    }
  }
  facts->ops = tool_grow(facts->ops, &count->op_capacity, facts->op_count + 1, sizeof(*facts->ops));
  facts->ops[facts->op_count++] = (tool_op_count_t){tool_copy_text(op), 1};
}

/* True for the first time that the value is met. */
static bool is_new(count_t* count, uint32_t id) {
  count->counted =
      tool_grow(count->counted, &count->id_capacity, id + (size_t)1, sizeof(*count->counted));
  const bool first = !count->counted[id];
  count->counted[id] = true;
  return first;
}

static void count_constant(count_t* count, tenon_value_t value) {
  tenon_value_type_t type = {.size = sizeof(type)};
  uint64_t elements = 0;
  uint64_t bytes = 0;
  if (value.id == 0 || !is_new(count, value.id) ||
      count->table->type(count->builder, value, &type) != TENON_OK || type.constant_data == NULL) {
    return;
  }
  ++count->facts.constant_count;
  if (tool_element_count(type.rank, type.dims, type.dtype, &elements, &bytes)) {
    count->facts.constant_bytes += bytes;
  }
}

static int32_t visit(void* user, const tenon_network_item_t* item) {
  count_t* count = user;
  if (item->kind == TENON_ITEM_NODE) {
    count_op(count, item->op != NULL ? item->op : "expression or move");
  }
  for (uint32_t i = 0; i < item->input_count; ++i) {
    count_constant(count, item->inputs[i]);
  }
  return TENON_OK;
}

static int compare_counts(const void* a, const void* b) {
  const tool_op_count_t* x = a;
  const tool_op_count_t* y = b;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                              : strcmp(x->op, y->op);
}

tenon_status_t tool_network_facts_find(tenon_network_t* network, tool_network_facts_t* out_facts) {
  count_t count = {.table = tenon_builder_get_table(),
                   .builder = tenon_network_get_builder(network)};
  const tenon_status_t status = tenon_network_walk_bodies(network, visit, &count);
  tool_free(count.counted);
  if (status != TENON_OK) {
    tool_network_facts_free(&count.facts);
    return status;
  }
  if (count.facts.op_count > 0) {
    qsort(count.facts.ops, count.facts.op_count, sizeof(*count.facts.ops), compare_counts);
  }
  *out_facts = count.facts;
  return TENON_OK;
}

void tool_network_facts_free(tool_network_facts_t* facts) {
  for (size_t i = 0; i < facts->op_count; ++i) {
    tool_free(facts->ops[i].op);
  }
  tool_free(facts->ops);
  *facts = (tool_network_facts_t){0};
}

/* ---- Texts ---- */

char* tool_network_text(const tenon_network_t* network) {
  tool_text_t text = {0};
  tenon_network_print(network, tool_text_add, &text);
  return tool_text_take(&text);
}

char* tool_engine_text(const tenon_engine_t* engine) {
  tool_text_t text = {0};
  tenon_engine_print_network(engine, tool_text_add, &text);
  return tool_text_take(&text);
}

char* tool_weights_text(const tenon_engine_info_t* info) {
  const uint64_t packed = info->weights_bytes - info->original_bytes;
  if (info->tuned_only != 0) {
    return tool_format("weights %.2f MiB, as kernels packed them", tool_mib(info->weights_bytes));
  }
  if (packed == 0) {
    return tool_format("weights %.2f MiB", tool_mib(info->weights_bytes));
  }
  return tool_format("weights %.2f MiB, packed copies %.2f (--tuned-only drops the originals)",
                     tool_mib(info->original_bytes), tool_mib(packed));
}
