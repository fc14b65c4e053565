/* What programs the expression kernel takes, and in which forms and orders. */
#include <stdio.h>

#include "compiler.h"
#include "expression.h"
#include "form.h"
#include "layouts.h"

int32_t tenon__cuda_expression_match(void* state, const tenon_region_t* region,
                                     const tenon_region_table_t* table,
                                     tenon_refusal_t* out_refusal) {
  const tenon_program_t* program = table->program(region);
  tenon__cuda_analysis_t analysis;
  uint32_t reason = TENON_REFUSAL_OTHER;
  if (program == NULL) {
    return tenon__cuda_refuse(out_refusal, reason, "no program");
  }
  const char* why = tenon__cuda_analyse(program, &analysis, &reason);
  if (why != NULL) {
    return tenon__cuda_refuse(out_refusal, reason, why);
  }
  if (tenon__cuda_is_narrow(program)) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_DTYPE, "below a byte");
  }
  return tenon__cuda_compiler_exists(state) ? 1
                                            : tenon__cuda_refuse(out_refusal, TENON_REFUSAL_LIBRARY,
                                                                 "CUDA's run-time compiler, NVRTC");
}

enum { ARGUMENTS = TENON_CUDA_TENSORS };
typedef struct rules_t {
  tenon_argument_rule_t inputs[ARGUMENTS];
  tenon_argument_rule_t outputs[ARGUMENTS];
} rules_t;

/* What is of the space's own rank lies in the order that the form is made for: how long rows take
 * depends on it. Constants stay as they are: they would be copied in each run. */
static tenon_argument_rule_t rule_of(const tenon_value_info_t* value, uint32_t rank,
                                     int32_t order) {
  tenon_argument_rule_t rule = {.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  if (value == NULL || value->rank != rank || (value->flags & TENON_VALUE_CONSTANT) != 0) {
    return rule;
  }
  if (order == TENON_CUDA_ORDER_ROWS) {
    rule.kind = TENON_LAYOUT_ROW_MAJOR;
    rule.flags = 0; /* STRIDED would allow any strides */
  } else if (order == TENON_CUDA_ORDER_CHANNELS_LAST) {
    rule.kind = TENON_LAYOUT_EXACT;
    rule.layout = tenon__cuda_channels_last(rank);
  }
  return rule;
}

static void write_rules(const tenon_region_t* region, const tenon_region_table_t* table,
                        int32_t order, rules_t* out_rules) {
  const uint32_t rank = table->program(region)->rank;
  for (uint32_t k = 0; k < table->input_count(region); k++) {
    const uint32_t value = table->input(region, k);
    out_rules->inputs[k] =
        rule_of(value == TENON_NONE ? NULL : table->value(region, value), rank, order);
  }
  for (uint32_t k = 0; k < table->output_count(region); k++) {
    const uint32_t value = table->output(region, k);
    out_rules->outputs[k] =
        rule_of(value == TENON_NONE ? NULL : table->value(region, value), rank, order);
  }
}

tenon_status_t tenon__cuda_expression_tactics(void* state, const tenon_region_t* region,
                                              const tenon_region_table_t* table, tenon_emit_t* emit,
                                              tenon_status_t (*add)(tenon_emit_t*,
                                                                    const tenon_tactic_t*)) {
  static const char* const of_points[] = {"half the elements an access", "by rule",
                                          "two accesses a thread", NULL};
  static const char* const of_rows[] = {"half the threads a row", "by rule",
                                        "twice the threads a row", "several blocks a row"};
  static const char* const orders[] = {"", "", ", channels last"};
  tenon__cuda_analysis_t analysis;
  tenon__cuda_choice_t choices[TENON_CUDA_CHOICES];
  uint32_t reason = 0;
  (void)state;
  if (table->input_count(region) > ARGUMENTS || table->output_count(region) > ARGUMENTS ||
      tenon__cuda_analyse(table->program(region), &analysis, &reason) != NULL) {
    return TENON_OK;
  }
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  tenon_status_t status = TENON_OK;
  const uint32_t count = tenon__cuda_form_choices(&analysis, region, table, choices);
  for (uint32_t k = 0; status == TENON_OK && k < count; k++) {
    const bool is_split = choices[k].variant == TENON_CUDA_FORM_SPLIT;
    uint64_t split_bytes = 0;
    if (is_split) {
      (void)tenon__cuda_form_splits(&analysis, region, table, choices[k].order, &split_bytes);
    }
    const char* how = (analysis.reduces ? of_rows : of_points)[choices[k].variant + 1];
    rules_t rules;
    char name[64];
    (void)snprintf(name, sizeof(name), "%s%s", how, orders[choices[k].order]);
    write_rules(region, table, choices[k].order, &rules);
    const tenon_tactic_t tactic = {
        .size = sizeof(tactic),
        .name = name,
        .configuration = &choices[k],
        .configuration_size = sizeof(choices[k]),
        .inputs = rules.inputs,
        .outputs = rules.outputs,
        .numerics = &numerics,
        .scratch_bytes = split_bytes,
        .launches = is_split ? analysis.levels + 1 : 1,
        .flags = TENON_TACTIC_RECORDABLE | TENON_TACTIC_RELEASES_EARLY,
    };
    status = add(emit, &tactic);
  }
  return status;
}
