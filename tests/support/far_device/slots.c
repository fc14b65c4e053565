#include "slots.h"

#include <string.h>

#include "plugins/reference/interpreter.h"
#include "plugins/reference/work.h"

enum {
  MOST_ARGUMENTS = 32,
  EVERY_BROADCAST = TENON_BROADCAST_SCALAR | TENON_BROADCAST_CHANNEL | TENON_BROADCAST_ROW |
                    TENON_BROADCAST_FULL | TENON_BROADCAST_OTHER
};

#define SLOT(slot_kind, slot_index)                                                              \
  {                                                                                              \
    .size = sizeof(tenon_slot_t), .kind = (slot_kind), .index = (slot_index), .max_operands = 4, \
    .max_instructions = 32, .broadcasts = EVERY_BROADCAST                                        \
  }
const tenon_slot_t far_product_slots[FAR_SLOT_COUNT] = {
    SLOT(TENON_SLOT_PROLOGUE, 0), SLOT(TENON_SLOT_PROLOGUE, 1), SLOT(TENON_SLOT_EPILOGUE, 0),
    SLOT(TENON_SLOT_SIDE, 0), SLOT(TENON_SLOT_SIDE, 0)};

/* What prepare leaves. */
typedef struct instance_t {
  void* product;
  void* programs[FAR_SLOT_COUNT];   /* the interpreter's; NULL: empty */
  uint32_t outputs[FAR_SLOT_COUNT]; /* which of the call's the program makes */
  tenon_dtype_t types[2];           /* of the operands as the product reads them */
  tenon_dtype_t type;               /* of the product */
  uint32_t input_count;
} instance_t;

/* What bind leaves. Tensors of its own lie dense. */
typedef struct bound_t {
  const instance_t* instance;
  void* product;
  void* programs[FAR_SLOT_COUNT];
  tenon_argument_t operands[2]; /* what prologues make */
  tenon_argument_t result;      /* the product, where an epilogue comes behind it */
} bound_t;

int far_slots_are_filled(const tenon_region_t* region, const tenon_region_table_t* table) {
  for (uint32_t k = 0; k < FAR_SLOT_COUNT; ++k) {
    if (table->slot_program(region, k) != NULL) {
      return 1;
    }
  }
  return 0;
}

int32_t far_match_slots(void* state, const tenon_region_t* region,
                        const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  if (!far_slots_are_filled(region, table)) {
    *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_OTHER,
                                     .detail = "nothing is in its slots: 'mat_mul' is for that"};
    return 0;
  }
  if (table->input_count(region) >= MOST_ARGUMENTS) {
    *out_refusal =
        (tenon_refusal_t){.reason = TENON_REFUSAL_SLOT, .detail = "too many operands in all"};
    return 0;
  }
  return far_match_operator(state, region, table, out_refusal);
}

/* ---- Prepare ---- */

/* A slot's program as the interpreter takes programs: one that reads arguments alone. */
static const tenon_program_t* program_of(const tenon_region_t* region) {
  return (const void*)region;
}

/* Its operands have no names. */
static uint32_t input_of(const tenon_region_t* region, uint32_t index) {
  (void)region;
  return index;
}

static const tenon_value_info_t* value_of(const tenon_region_t* region, uint32_t value) {
  (void)region;
  (void)value;
  return NULL;
}

static tenon_status_t prepare_program(const tenon_prepare_t* call, uint32_t slot,
                                      const tenon_program_t* program, instance_t* instance) {
  static const tenon_region_table_t table = {
      .size = sizeof(table), .program = program_of, .input = input_of, .value = value_of};
  tenon_operand_t* operands = call->host->allocate(
      call->preparation, (program->operand_count + 1) * sizeof(tenon_operand_t));
  if (operands == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    operands[k] = program->operands[k];
    if (operands[k].kind == TENON_OPERAND_SLOT_VALUE) {
      operands[k].kind = TENON_OPERAND_ARGUMENT;
      operands[k].index = instance->input_count; /* behind the call's */
    }
  }
  tenon_program_output_t output = program->outputs[0];
  tenon_program_t own = *program;
  tenon_prepare_t inner = *call;
  instance->outputs[slot] = output.index;
  output.index = 0;
  own.operands = operands;
  own.outputs = &output;
  inner.region = (const tenon_region_t*)(const void*)&own;
  inner.table = &table;
  return tenon__expressions_prepare(&inner, &instance->programs[slot]);
}

tenon_status_t far_slots_prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon_region_table_t* table = call->table;
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  instance->input_count = table->input_count(call->region);
  for (uint32_t k = 0; k < 2; ++k) {
    instance->types[k] = table->value(call->region, table->node_input(call->region, 0, k))->dtype;
  }
  instance->type = table->value(call->region, table->node_output(call->region, 0, 0))->dtype;
  tenon_status_t status = tenon__work_prepare(call, &instance->product);
  for (uint32_t slot = 0; slot < FAR_SLOT_COUNT && status == TENON_OK; ++slot) {
    const tenon_program_t* program = table->slot_program(call->region, slot);
    status = program == NULL ? TENON_OK : prepare_program(call, slot, program, instance);
  }
  *out_instance = status == TENON_OK ? instance : NULL;
  return status;
}

/* ---- Bind ---- */

/* A binding in which the product, or one program, sees what it is to see. */
typedef struct part_t {
  tenon_binding_t* binding;
  const tenon_bind_table_t* host;
  const bound_t* bound;
  uint32_t slot;
} part_t;

static const part_t* part_of(tenon_binding_t* binding) {
  return (const void*)binding;
}

static void* part_allocate(tenon_binding_t* binding, size_t size_bytes) {
  return part_of(binding)->host->allocate(part_of(binding)->binding, size_bytes);
}

static const tenon_argument_t* part_input(tenon_binding_t* binding, uint32_t index) {
  const part_t* part = part_of(binding);
  return index < 2 && part->bound->instance->programs[index] != NULL
             ? &part->bound->operands[index]
             : part->host->input(part->binding, index);
}

static const tenon_argument_t* part_output(tenon_binding_t* binding, uint32_t index) {
  const part_t* part = part_of(binding);
  return index == 0 && part->bound->instance->programs[FAR_SLOT_BEHIND] != NULL
             ? &part->bound->result
             : part->host->output(part->binding, index);
}

static const int64_t* part_space(tenon_binding_t* binding, uint32_t slot) {
  (void)slot;
  return part_of(binding)->host->space(part_of(binding)->binding, part_of(binding)->slot);
}

static const tenon_bind_table_t part_table = {.size = sizeof(part_table),
                                              .allocate = part_allocate,
                                              .input = part_input,
                                              .output = part_output,
                                              .space = part_space};

/* A dense tensor of that one's extents. */
static bool make_tensor(tenon_binding_t* binding, const tenon_bind_table_t* host,
                        const tenon_tensor_view_t* like, tenon_dtype_t dtype,
                        tenon_argument_t* out_argument) {
  int64_t* extents = host->allocate(binding, (2 * (size_t)like->rank + 1) * sizeof(int64_t));
  int64_t count = 1;
  if (extents == NULL) {
    return false;
  }
  for (uint32_t axis = like->rank; axis-- > 0;) {
    extents[axis] = like->dims[axis];
    extents[like->rank + axis] = count;
    count *= like->dims[axis];
  }
  *out_argument = (tenon_argument_t){
      .kind = TENON_ARGUMENT_TENSOR,
      .tensor = {.data = host->allocate(binding, (size_t)count * tenon__number_bits(dtype) / 8 + 8),
                 .dims = extents,
                 .strides = extents + like->rank,
                 .rank = like->rank,
                 .dtype = dtype,
                 .layout = TENON_NONE}};
  return out_argument->tensor.data != NULL;
}

tenon_status_t far_slots_bind(void* instance, tenon_binding_t* binding,
                              const tenon_bind_table_t* host, void** out_bound) {
  const instance_t* from = instance;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  bool made = bound != NULL && make_tensor(binding, host, &host->output(binding, 0)->tensor,
                                           from->type, &bound->result);
  for (uint32_t k = 0; made && k < 2; ++k) {
    made = from->programs[k] == NULL || make_tensor(binding, host, &host->input(binding, k)->tensor,
                                                    from->types[k], &bound->operands[k]);
  }
  if (!made) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->instance = from;
  part_t part = {.binding = binding, .host = host, .bound = bound};
  tenon_binding_t* inner = (tenon_binding_t*)(void*)&part;
  tenon_status_t status = tenon__work_bind(from->product, inner, &part_table, &bound->product);
  for (uint32_t slot = 0; slot < FAR_SLOT_COUNT && status == TENON_OK; ++slot) {
    part.slot = slot;
    if (from->programs[slot] != NULL) {
      status =
          tenon__expressions_bind(from->programs[slot], inner, &part_table, &bound->programs[slot]);
    }
  }
  *out_bound = bound;
  return status;
}

/* ---- Enqueue ---- */

/* One program: its own value stands behind the call's inputs. */
static tenon_status_t run_program(const tenon_enqueue_t* call, uint32_t slot,
                                  const tenon_argument_t* own, const tenon_argument_t* output) {
  const bound_t* bound = call->bound;
  tenon_argument_t inputs[MOST_ARGUMENTS];
  if (bound->programs[slot] == NULL) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < call->input_count; ++k) {
    inputs[k] = call->inputs[k];
  }
  inputs[call->input_count] = *own;
  tenon_enqueue_t inner = *call;
  inner.bound = bound->programs[slot];
  inner.inputs = inputs;
  inner.input_count += 1;
  inner.outputs = output;
  inner.output_count = 1;
  return tenon__expressions_enqueue(&inner);
}

static tenon_status_t run_product(const tenon_enqueue_t* call, const tenon_argument_t* result) {
  const bound_t* bound = call->bound;
  tenon_argument_t operands[2];
  for (uint32_t k = 0; k < 2; ++k) {
    operands[k] = bound->programs[k] == NULL ? call->inputs[k] : bound->operands[k];
  }
  tenon_enqueue_t inner = *call;
  inner.bound = bound->product;
  inner.inputs = operands;
  inner.input_count = 2;
  inner.outputs = result;
  inner.output_count = 1;
  return tenon__work_enqueue(&inner);
}

tenon_status_t far_slots_enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  const bool ends = bound->programs[FAR_SLOT_BEHIND] == NULL;
  const tenon_argument_t* result = ends ? &call->outputs[0] : &bound->result;
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < 2 && status == TENON_OK; ++k) {
    status = run_program(call, k, &call->inputs[k], &bound->operands[k]);
  }
  status = status == TENON_OK ? run_product(call, result) : status;
  for (uint32_t slot = FAR_SLOT_BEHIND; slot < FAR_SLOT_COUNT && status == TENON_OK; ++slot) {
    status = run_program(call, slot, result, &call->outputs[bound->instance->outputs[slot]]);
  }
  return status;
}
