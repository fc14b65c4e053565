/*
 * A plugin with one kernel that takes anybody's arithmetic: two products with a node between them
 * whose program the host shows (node_program), which it runs instruction by instruction.
 */
#include <string.h>

#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("shown_programs", "1.0.0", "offers: kernel between * cpu\n");

enum { MOST = 16 };

static const char product_op[] = "standard.mat_mul/1";

/* The products, the node between them, and its program. */
typedef struct between_t {
  uint32_t last;
  uint32_t middle;
  uint32_t first;
  const tenon_program_t* program;
} between_t;

static uint32_t maker(const tenon_region_t* region, const tenon_region_table_t* table,
                      uint32_t value) {
  uint32_t node = 0;
  while (node < table->node_count(region) &&
         (value == TENON_NONE || table->node_output(region, node, 0) != value)) {
    node++;
  }
  return node < table->node_count(region) ? node : TENON_NONE;
}

static int is_product(const tenon_region_t* region, const tenon_region_table_t* table,
                      uint32_t node) {
  return node != TENON_NONE && strcmp(table->node_operator(region, node), product_op) == 0;
}

static int is_understood(const tenon_program_t* program) {
  int good = program != NULL && program->instruction_count <= MOST;
  for (uint32_t k = 0; good && k < program->instruction_count; ++k) {
    const uint16_t opcode = program->instructions[k].opcode;
    good = opcode == TENON_OPCODE_INPUT || opcode == TENON_OPCODE_CONSTANT ||
           opcode == TENON_OPCODE_ADD || opcode == TENON_OPCODE_SUB || opcode == TENON_OPCODE_MUL;
  }
  return good;
}

static int find(const tenon_region_t* region, const tenon_region_table_t* table, uint32_t seed,
                between_t* out) {
  *out = (between_t){.last = seed, .first = TENON_NONE};
  if (!TENON_HAS(table, tenon_region_table_t, node_program) || !is_product(region, table, seed)) {
    return 0;
  }
  out->middle = maker(region, table, table->node_input(region, seed, 0));
  out->program = out->middle == TENON_NONE ? NULL : table->node_program(region, out->middle);
  if (!is_understood(out->program)) {
    return 0;
  }
  for (uint32_t k = 0; k < out->program->operand_count; ++k) {
    const uint32_t index = out->program->operands[k].index;
    const uint32_t node = maker(region, table, table->node_input(region, out->middle, index));
    out->first = is_product(region, table, node) ? node : out->first;
  }
  return out->first != TENON_NONE;
}

static uint32_t propose(void* state, const tenon_region_t* graph, const tenon_region_table_t* table,
                        uint32_t seed, uint32_t* out_nodes, uint32_t capacity) {
  between_t between;
  (void)state;
  if (capacity < 3 || !find(graph, table, seed, &between)) {
    return 0;
  }
  out_nodes[0] = between.last;
  out_nodes[1] = between.middle;
  out_nodes[2] = between.first;
  return 3;
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  between_t between;
  (void)state;
  (void)out_refusal;
  return table->output_count(region) == 1 && find(region, table, 0, &between);
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "loops", .estimate_seconds = 1e-9, .launches = 1};
  (void)state;
  (void)region;
  (void)table;
  return add(emit, &tactic);
}

typedef struct instance_t {
  const tenon_program_t* program;
  uint32_t a;
  uint32_t b;
  uint32_t c;
  uint32_t operands[MOST]; /* inputs of the call; TENON_NONE: the first product */
} instance_t;

static uint32_t input_of(const tenon_prepare_t* call, uint32_t node, uint32_t index) {
  const uint32_t value = call->table->node_input(call->region, node, index);
  return call->table->value(call->region, value)->input;
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  between_t between;
  instance_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL || !find(call->region, call->table, 0, &between)) {
    return self == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_ERROR_INVALID_ARGUMENT;
  }
  self->program = between.program;
  self->a = input_of(call, between.first, 0);
  self->b = input_of(call, between.first, 1);
  self->c = input_of(call, between.last, 1);
  for (uint32_t k = 0; k < between.program->operand_count && k < MOST; ++k) {
    self->operands[k] = input_of(call, between.middle, between.program->operands[k].index);
  }
  *out_instance = self;
  return TENON_OK;
}

/* The program's value at an element of the first product, `sum`. */
static float element(const instance_t* self, const tenon_argument_t* inputs, float sum, int64_t row,
                     int64_t column) {
  float values[MOST] = {0};
  for (uint32_t k = 0; k < self->program->instruction_count; ++k) {
    const tenon_instruction_t* in = &self->program->instructions[k];
    const float x = values[in->operands[0]];
    const float y = values[in->operands[1]];
    if (in->opcode == TENON_OPCODE_INPUT) {
      const uint32_t input = self->operands[in->immediate.i];
      values[k] = input == TENON_NONE
                      ? sum
                      : ((const float*)inputs[input]
                             .tensor.data)[row * inputs[input].tensor.dims[1] + column];
    } else if (in->opcode == TENON_OPCODE_CONSTANT) {
      values[k] = (float)in->immediate.f;
    } else {
      values[k] = in->opcode == TENON_OPCODE_ADD   ? x + y
                  : in->opcode == TENON_OPCODE_SUB ? x - y
                                                   : x * y;
    }
  }
  return values[self->program->outputs[0].instruction];
}

static float product_at(const tenon_tensor_view_t* a, const tenon_tensor_view_t* b, int64_t row,
                        int64_t column) {
  float sum = 0;
  for (int64_t k = 0; k < a->dims[1]; ++k) {
    sum += ((const float*)a->data)[row * a->dims[1] + k] *
           ((const float*)b->data)[k * b->dims[1] + column];
  }
  return sum;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const instance_t* self = call->instance;
  const tenon_tensor_view_t* a = &call->inputs[self->a].tensor;
  const tenon_tensor_view_t* b = &call->inputs[self->b].tensor;
  const tenon_tensor_view_t* c = &call->inputs[self->c].tensor;
  const tenon_tensor_view_t* y = &call->outputs[0].tensor;
  for (int64_t place = 0; place < y->dims[0] * y->dims[1]; ++place) {
    const int64_t row = place / y->dims[1];
    float sum = 0;
    for (int64_t k = 0; k < b->dims[1]; ++k) {
      sum += element(self, call->inputs, product_at(a, b, row, k), row, k) *
             ((const float*)c->data)[k * c->dims[1] + place % y->dims[1]];
    }
    ((float*)y->data)[place] = sum;
  }
  return TENON_OK;
}

static const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),
                                          .name = "between",
                                          .device = "cpu",
                                          .version = 1,
                                          .match = match,
                                          .tactics = tactics,
                                          .prepare = prepare,
                                          .enqueue = enqueue,
                                          .propose = propose}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("kernel/1", kernels)};

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "shown_programs",
    .version = "1.0.0",
    .offerings = TENON_LIST(offerings),
};

TENON_EXPORT const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
