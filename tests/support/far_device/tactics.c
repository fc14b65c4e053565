/* What the device's kernels take, and ask for besides what the reference's do. */
#include <string.h>

#include "call.h"
#include "offering.h"
#include "plugins/reference/interpreter.h"
#include "plugins/reference/kernels.h"
#include "slots.h"

const far_heart_t* far_heart_of(const tenon_region_t* region, const tenon_region_table_t* table) {
  static const far_heart_t operators = {tenon__work_tactics, tenon__work_prepare, tenon__work_bind,
                                        tenon__work_enqueue};
  static const far_heart_t expressions = {tenon__interpreter_tactics, tenon__expressions_prepare,
                                          tenon__expressions_bind, tenon__expressions_enqueue};
  static const far_heart_t moves = {tenon__interpreter_tactics, tenon__moves_prepare,
                                    tenon__moves_bind, tenon__moves_enqueue};
  static const far_heart_t slots = {tenon__work_tactics, far_slots_prepare, far_slots_bind,
                                    far_slots_enqueue};
  const uint32_t kind = table->kind(region);
  return kind == TENON_REGION_EXPRESSION       ? &expressions
         : kind == TENON_REGION_MOVE           ? &moves
         : far_slots_are_filled(region, table) ? &slots
                                               : &operators;
}

int32_t far_match_program(void* state, const tenon_region_t* region,
                          const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  (void)state;
  for (uint32_t value = 0; value < table->value_count(region); ++value) {
    const tenon_value_info_t* info = table->value(region, value);
    if (info != NULL && info->dtype == TENON_DTYPE_STRING) {
      *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_DTYPE, .detail = "texts"};
      return 0;
    }
  }
  return 1;
}

int32_t far_match_operator(void* state, const tenon_region_t* region,
                           const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  return far_match_program(state, region, table, out_refusal) != 0
             ? tenon__work_match(state, region, table, out_refusal)
             : 0;
}

typedef struct emission_t {
  tenon_emit_t* emit;
  tenon_status_t (*add)(tenon_emit_t* emit, const tenon_tactic_t* tactic);
  const tenon_region_t* region;
  const tenon_region_table_t* table;
  uint32_t flags;
} emission_t;

enum { MOST_RULED = 64 };

/* Is each element made by itself, whatever the extents are? Then it is computed up to the bound. */
static bool is_elementwise(const emission_t* emission) {
  const tenon_program_t* program =
      emission->table->kind(emission->region) == TENON_REGION_EXPRESSION
          ? emission->table->program(emission->region)
          : NULL;
  bool is = program != NULL;
  for (uint32_t k = 0; is && k < program->instruction_count; ++k) {
    const uint32_t opcode = program->instructions[k].opcode;
    is = opcode != TENON_OPCODE_SIZE && opcode != TENON_OPCODE_LOAD && opcode < TENON_OPCODE_SUM;
  }
  return is;
}

/* What finds extents leaves them in the device's memory, what is elementwise passes them on. */
static const tenon_argument_rule_t* rule_extents(bool takes, const tenon_argument_rule_t* rules,
                                                 uint32_t count, tenon_argument_rule_t* out_rules) {
  if (!takes || count > MOST_RULED) {
    return rules;
  }
  for (uint32_t k = 0; k < count; ++k) {
    out_rules[k] = rules == NULL ? (tenon_argument_rule_t){0} : rules[k];
    out_rules[k].flags |= TENON_RULE_EXTENTS;
  }
  return out_rules;
}

/* Numbers that shapes are made of are read at enqueue, as a launch's parameters would be. */
static const tenon_argument_rule_t* rule_inputs(const emission_t* emission,
                                                const tenon_argument_rule_t* rules,
                                                tenon_argument_rule_t* out_rules) {
  const tenon_region_table_t* table = emission->table;
  const uint32_t count = table->input_count(emission->region);
  if (count > MOST_RULED || table->kind(emission->region) != TENON_REGION_OPERATOR) {
    return rules;
  }
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t value = table->input(emission->region, k);
    const tenon_value_info_t* info =
        value == TENON_NONE ? NULL : table->value(emission->region, value);
    out_rules[k] = rules == NULL ? (tenon_argument_rule_t){0} : rules[k];
    if (info != NULL && (info->flags & TENON_VALUE_SHAPE_OPERAND) != 0) {
      out_rules[k] = (tenon_argument_rule_t){.flags = TENON_RULE_HOST};
    }
  }
  return out_rules;
}

/* Products that the device has in bf16 too: what they read and make, but for constants. */
static const char* const narrow[] = {"standard.convolution/1", "standard.mat_mul/1"};

static int is_narrow(const emission_t* emission) {
  const char* op = emission->table->kind(emission->region) == TENON_REGION_OPERATOR
                       ? emission->table->node_operator(emission->region, 0)
                       : NULL;
  for (size_t k = 0; op != NULL && k < sizeof(narrow) / sizeof(narrow[0]); ++k) {
    if (strcmp(narrow[k], op) == 0) {
      return emission->table->input_count(emission->region) <= MOST_RULED;
    }
  }
  return 0;
}

static int is_float(const emission_t* emission, uint32_t value) {
  const tenon_value_info_t* info =
      value == TENON_NONE ? NULL : emission->table->value(emission->region, value);
  return info != NULL && info->dtype == TENON_DTYPE_FLOAT32 &&
         (info->flags & TENON_VALUE_CONSTANT) == 0;
}

/* In half the time, it says: what it does is what the reference does with what it reads. */
static tenon_status_t add_narrow(const emission_t* emission, const tenon_tactic_t* tactic) {
  const tenon_region_table_t* table = emission->table;
  tenon_argument_rule_t inputs[MOST_RULED] = {{0}};
  tenon_argument_rule_t output = tactic->outputs == NULL ? inputs[0] : tactic->outputs[0];
  tenon_tactic_t more = *tactic;
  for (uint32_t k = 0; k < table->input_count(emission->region); ++k) {
    inputs[k] = tactic->inputs == NULL ? inputs[k] : tactic->inputs[k];
    inputs[k].dtype = is_float(emission, table->input(emission->region, k)) ? TENON_DTYPE_BFLOAT16
                                                                            : TENON_DTYPE_UNDEFINED;
  }
  if (!is_float(emission, table->output(emission->region, 0))) {
    return TENON_OK;
  }
  output.dtype = TENON_DTYPE_BFLOAT16;
  more.name = "bf16";
  more.inputs = inputs;
  more.outputs = &output;
  more.estimate_seconds /= 2;
  return emission->add(emission->emit, &more);
}

static tenon_status_t add_more(tenon_emit_t* emit, const tenon_tactic_t* tactic) {
  const emission_t* emission = (const void*)emit;
  tenon_argument_rule_t rules[MOST_RULED];
  tenon_argument_rule_t input_rules[MOST_RULED];
  tenon_argument_rule_t output_rules[MOST_RULED];
  const tenon_region_table_t* table = emission->table;
  const bool passes_on = is_elementwise(emission);
  const bool finds = (emission->flags & TENON_TACTIC_HOST_WAITS) != 0;
  tenon_tactic_t more = *tactic;
  const int is_operator = emission->table->kind(emission->region) == TENON_REGION_OPERATOR;
  more.inputs = rule_inputs(emission, tactic->inputs, rules);
  more.inputs =
      rule_extents(passes_on, more.inputs, table->input_count(emission->region), input_rules);
  more.outputs = rule_extents(passes_on || finds, tactic->outputs,
                              table->output_count(emission->region), output_rules);
  more.scratch_bytes += FAR_OWN_SCRATCH;
  more.zeroed_bytes += FAR_OWN_ZEROED;
  more.persistent_bytes += FAR_OWN_PERSISTENT;
  more.flags |= emission->flags;
  more.estimate_seconds = is_operator ? 1e-3 : 1e-5;
  const tenon_status_t status = emission->add(emission->emit, &more);
  return status == TENON_OK && is_narrow(emission) ? add_narrow(emission, &more) : status;
}

tenon_status_t far_tactics(void* state, const tenon_region_t* region,
                           const tenon_region_table_t* table, tenon_emit_t* emit,
                           tenon_status_t (*add)(tenon_emit_t* emit,
                                                 const tenon_tactic_t* tactic)) {
  const bool waits = table->kind(region) == TENON_REGION_OPERATOR &&
                     far_kernel_waits(table->node_operator(region, 0)) != 0;
  emission_t emission = {emit, add, region, table,
                         TENON_TACTIC_RECORDABLE | (waits ? TENON_TACTIC_HOST_WAITS : 0u)};
  return far_heart_of(region, table)
      ->tactics(state, region, table, (tenon_emit_t*)(void*)&emission, add_more);
}
