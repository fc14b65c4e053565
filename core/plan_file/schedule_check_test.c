/* Schedules that say what must not be: each is refused, with the reason. */
#include "core/plan_file/test_hostile.h"

static void value_out_of_range(hostile_t* h) {
  place(h, A)->value = 1000;
}
static void weights_of_another(hostile_t* h) {
  place(h, W)->index = 1;
}
static void weights_out_of_range(hostile_t* h) {
  place(h, W)->index = 77;
}
static void state_out_of_range(hostile_t* h) {
  place(h, MEMORY)->index = 1;
}
static void input_that_is_none(hostile_t* h) {
  place(h, A)->storage = TENON_STORAGE_INPUT;
}
static void parameter_of_main(hostile_t* h) {
  place(h, X)->storage = TENON_STORAGE_PARAMETER;
}
static void output_of_another(hostile_t* h) {
  place(h, LAST)->index = 1;
}
static void view_of_itself(hostile_t* h) {
  place(h, TURNED)->base = TURNED;
}
static void view_out_of_range(hostile_t* h) {
  place(h, TURNED)->base = 99;
}
static void view_without_map(hostile_t* h) {
  place(h, TURNED)->map = NULL;
}
static void view_of_another_type(hostile_t* h) {
  place(h, TURNED)->base = CONDITION;
}
static void part_of_no_source(hostile_t* h) {
  place(h, LEFT)->index = 2;
}
static void order_that_is_none(hostile_t* h) {
  static const uint32_t no_order[2] = {0, 0};
  place(h, D)->order = no_order;
}
static void offset_past_the_end(hostile_t* h) {
  place(h, A)->offset = 1 << 20;
}
static void offset_that_wraps(hostile_t* h) {
  place(h, A)->offset = UINT64_MAX - 63;
}
static void offset_unaligned(hostile_t* h) {
  place(h, A)->offset += 4;
}
static void size_too_small(hostile_t* h) {
  place(h, A)->size_bytes = 16;
}
static void output_too_small(hostile_t* h) {
  place(h, LAST)->size_bytes = 16;
}
static void alias_of_itself(hostile_t* h) {
  place(h, A)->alias = A;
}
static void alias_elsewhere(hostile_t* h) {
  place(h, A)->alias = D;
  place(h, A)->offset = place(h, D)->offset == 0 ? 64 : 0;
}
static void memory_for_what_grows(hostile_t* h) {
  const uint32_t found = step(h, FOUND)->outputs[0];
  place(h, found)->storage = TENON_STORAGE_ARENA;
}
static void kept_in_a_wider_type(hostile_t* h) {
  place(h, A)->dtype = TENON_DTYPE_FLOAT64;
}
static void input_in_a_narrower_type(hostile_t* h) {
  place(h, X)->dtype = TENON_DTYPE_BFLOAT16;
}
static void type_that_nobody_asked_for(hostile_t* h) {
  place(h, D)->dtype = TENON_DTYPE_BFLOAT16;
}
static void program_in_a_type_that_its_place_has_not(hostile_t* h) {
  ((tenon__region_input_t*)region(h, SUM)->inputs)[0].dtype = TENON_DTYPE_BFLOAT16;
  ((tenon_operand_t*)region(h, SUM)->expression->program.operands)[0].dtype = TENON_DTYPE_BFLOAT16;
}
static void input_in_a_type_that_it_cannot_have(hostile_t* h) {
  ((tenon__region_input_t*)region(h, SUM)->inputs)[0].dtype = TENON_DTYPE_INT8;
}

static void argument_without_place(hostile_t* h) {
  numbers(step(h, SUM)->inputs)[0] = TENON_NONE;
}
static void argument_out_of_range(hostile_t* h) {
  numbers(step(h, SUM)->inputs)[0] = 500;
}
static void argument_of_another_value(hostile_t* h) {
  numbers(step(h, SUM)->inputs)[0] = MEMORY;
}
static void too_few_arguments(hostile_t* h) {
  step(h, SUM)->input_count = 1;
}
static void reads_before_it_is_written(hostile_t* h) {
  const tenon__step_t first = *step(h, SUM);
  *step(h, SUM) = *step(h, TWIST);
  *step(h, TWIST) = first;
}
static void writes_an_input(hostile_t* h) {
  numbers(step(h, SUM)->outputs)[0] = X;
  ((tenon__region_output_t*)region(h, SUM)->outputs)[0].value = place(h, X)->value;
}
static void writes_a_view(hostile_t* h) {
  numbers(step(h, COPY)->outputs)[0] = TURNED;
  ((tenon__region_output_t*)region(h, COPY)->outputs)[0].value = place(h, TURNED)->value;
}
static void writes_a_state_that_is_read(hostile_t* h) {
  numbers(step(h, UPDATE)->outputs)[0] = MEMORY;
  ((tenon__region_output_t*)region(h, UPDATE)->outputs)[0].value = place(h, MEMORY)->value;
}
static void scratch_past_the_plans(hostile_t* h) {
  step(h, SUM)->tactic.scratch_bytes = 10000;
}

static void scratch_of_threads_past_the_plans(hostile_t* h) {
  step(h, SUM)->tactic.scratch_bytes_per_thread = 10000;
}

static void scratch_past_counting(hostile_t* h) {
  step(h, SUM)->tactic.scratch_bytes_per_thread = UINT64_MAX / 2;
}
static void zeroed_past_the_plans(hostile_t* h) {
  step(h, SUM)->zeroed_offset = 1 << 20;
}
static void persistent_unaligned(hostile_t* h) {
  step(h, SUM)->persistent_offset = 1;
}
static void computed_twice(hostile_t* h) {
  numbers(region(h, PART_RIGHT)->nodes)[0] = region(h, PART_LEFT)->nodes[0];
  *(tenon__region_input_t*)region(h, PART_RIGHT)->inputs = *region(h, PART_LEFT)->inputs;
  *(tenon__region_output_t*)region(h, PART_RIGHT)->outputs = *region(h, PART_LEFT)->outputs;
  numbers(step(h, PART_RIGHT)->inputs)[0] = A;
  numbers(step(h, PART_RIGHT)->outputs)[0] = LEFT;
}
static void contents_of_the_unknown(hostile_t* h) {
  numbers(step(h, CONTENTS)->outputs)[0] = JOINED;
}
static void control_of_no_control(hostile_t* h) {
  step(h, CHOOSE)->node = 0;
}
static void control_of_another_form(hostile_t* h) {
  step(h, CHOOSE)->kind = TENON_STEP_REPEAT;
}
/* Of an operator that is not here, since no other has this contract. */
static void control_that_nobody_declares(hostile_t* h) {
  static tenon__operator_t op;
  tenon__node_t* node = &h->plan->network->graphs[0]->nodes[step(h, CHOOSE)->node];
  op = *node->op;
  op.descriptor.control = NULL;
  op.contract.bytes[0] ^= 1;
  node->op = &op;
}
static void node_out_of_range(hostile_t* h) {
  step(h, CHOOSE)->node = 1000;
}
static void body_past_the_memory(hostile_t* h) {
  step(h, CHOOSE)->body_offset[0] = 1 << 20;
}
/* A second device, on which the first branch alone is computed: right by itself. */
static void body_in_another_memory(hostile_t* h) {
  tenon__plan_t* plan = h->plan;
  const uint32_t branch = plan->network->graphs[0]->nodes[step(h, CHOOSE)->node].bodies[0];
  tenon__schedule_t* body = &plan->schedules[branch];
  plan->device_count = 2;
  plan->devices[1] = plan->devices[0];
  plan->devices[1].index = 1;
  for (uint32_t k = 0; k < body->place_count; ++k) {
    body->places[k].space = 1;
  }
  for (uint32_t k = 0; k < body->step_count; ++k) {
    body->steps[k].device = 1;
  }
  body->memory_bytes[1] = body->memory_bytes[0];
  body->memory_bytes[0] = 0;
  plan->schedules[0].memory_bytes[1] = body->memory_bytes[1];
}
static void body_run_twice(hostile_t* h) {
  tenon__schedule_t* schedule = &h->plan->schedules[0];
  schedule->steps[schedule->step_count++] = *step(h, CHOOSE);
}
static void output_never_written(hostile_t* h) {
  h->plan->schedules[0].step_count -= 2;
}
static void outputs_in_another_order(hostile_t* h) {
  h->plan->schedules[0].outputs[0] = h->plan->schedules[0].outputs[1];
}
static void inputs_in_another_order(hostile_t* h) {
  h->plan->schedules[0].inputs[0] = h->plan->schedules[0].inputs[1];
}
static void too_few_outputs(hostile_t* h) {
  h->plan->schedules[0].output_count = 3;
}

static void region_of_no_kind(hostile_t* h) {
  region(h, SUM)->kind = 7;
}
static void region_node_out_of_range(hostile_t* h) {
  numbers(region(h, TWIST)->nodes)[0] = 1000;
}
static void operator_without_node(hostile_t* h) {
  region(h, TWIST)->node_count = 0;
}
static void operator_with_other_inputs(hostile_t* h) {
  ((tenon__region_input_t*)region(h, TWIST)->inputs)[0].value = place(h, X)->value;
}
static void access_of_another_rank(hostile_t* h) {
  ((tenon__region_input_t*)region(h, SUM)->inputs)[0].access.rank = 1;
}
static void access_out_of_the_pool(hostile_t* h) {
  static const tenon_dim_t outside[2] = {{123456}, {0}};
  ((tenon__region_input_t*)region(h, SUM)->inputs)[0].access.coordinates = outside;
}
static void aligned_to_nowhere(hostile_t* h) {
  ((tenon__region_input_t*)region(h, SUM)->inputs)[0].space = 3;
}
static void runs_twice_along_an_axis(hostile_t* h) {
  numbers(region(h, SUM)->outputs[0].axes)[0] = region(h, SUM)->outputs[0].axes[1];
}
static void program_reads_no_input(hostile_t* h) {
  ((tenon_operand_t*)region(h, SUM)->expression->program.operands)[0].index = 9;
}
static void program_reads_another_type(hostile_t* h) {
  ((tenon_operand_t*)region(h, SUM)->expression->program.operands)[0].dtype = TENON_DTYPE_FLOAT64;
}
static void program_writes_another_type(hostile_t* h) {
  ((tenon_program_output_t*)region(h, SUM)->expression->program.outputs)[0].dtype =
      TENON_DTYPE_FLOAT64;
}
static void slot_writes_no_output(hostile_t* h) {
  ((tenon_program_output_t*)region(h, TWIST)->slots[0].expression.program.outputs)[0].index = 4;
}
static void slot_value_of_another_type(hostile_t* h) {
  ((tenon_operand_t*)region(h, TWIST)->slots[0].expression.program.operands)[0].dtype =
      TENON_DTYPE_FLOAT64;
}
static void move_from_no_input(hostile_t* h) {
  ((tenon__map_source_t*)region(h, COPY)->map->sources)[0].input = 1;
}
static void rule_follows_nobody(hostile_t* h) {
  ((tenon_argument_rule_t*)step(h, TWIST)->tactic.input_rules)[1].argument = 12;
}
static void rule_without_layout(hostile_t* h) {
  ((tenon_argument_rule_t*)step(h, TWIST)->tactic.output_rules)[0].layout = NULL;
}
static void in_place_of_nobody(hostile_t* h) {
  ((tenon_argument_rule_t*)step(h, TWIST)->tactic.output_rules)[0].in_place = 9;
}
static const fault_t faults[] = {
    FAULT(value_out_of_range, "holds none of its values"),
    FAULT(weights_of_another, "is not what it refers to"),
    FAULT(weights_out_of_range, "is not what it refers to"),
    FAULT(state_out_of_range, "is not what it refers to"),
    FAULT(input_that_is_none, "is not what it refers to"),
    FAULT(parameter_of_main, "is not what it refers to"),
    FAULT(output_of_another, "is not what it refers to"),
    FAULT(view_of_itself, "is a view of itself"),
    FAULT(view_out_of_range, "is not what it refers to"),
    FAULT(view_without_map, "is not what it refers to"),
    FAULT(view_of_another_type, "is not what it refers to"),
    FAULT(part_of_no_source, "is not what it refers to"),
    FAULT(order_that_is_none, "no permutation"),
    FAULT(offset_past_the_end, "does not lie within its memory"),
    FAULT(offset_that_wraps, "does not lie within its memory"),
    FAULT(offset_unaligned, "does not lie within its memory"),
    FAULT(size_too_small, "too small"),
    FAULT(output_too_small, "too small"),
    FAULT(alias_of_itself, "does not lie within its memory"),
    FAULT(alias_elsewhere, "does not lie within its memory"),
    FAULT(memory_for_what_grows, "known only when running"),
    FAULT(kept_in_a_wider_type, "is not what it refers to"),
    FAULT(input_in_a_narrower_type, "is not what it refers to"),
    FAULT(type_that_nobody_asked_for, ""),
    FAULT(program_in_a_type_that_its_place_has_not, "other arguments than its region's"),
    FAULT(input_in_a_type_that_it_cannot_have, "a type that its value cannot be kept in"),
    FAULT(argument_without_place, "other arguments than its region's"),
    FAULT(argument_out_of_range, "no place 500"),
    FAULT(argument_of_another_value, "other arguments than its region's"),
    FAULT(too_few_arguments, "other arguments than its region's"),
    FAULT(reads_before_it_is_written, "reads what was not written"),
    FAULT(writes_an_input, "writes what may only be read"),
    FAULT(writes_a_view, "writes what may only be read"),
    FAULT(writes_a_state_that_is_read, "writes what may only be read"),
    FAULT(scratch_past_the_plans, "needs more memory than there is"),
    FAULT(scratch_of_threads_past_the_plans, "needs more memory than there is"),
    FAULT(scratch_past_counting, "needs more memory than there is"),
    FAULT(zeroed_past_the_plans, "needs more memory than there is"),
    FAULT(persistent_unaligned, "needs more memory than there is"),
    FAULT(computed_twice, "computes what another step computes"),
    FAULT(contents_of_the_unknown, "writes contents that are not known"),
    FAULT(control_of_no_control, "is no such control node"),
    FAULT(control_of_another_form, "is no such control node"),
    FAULT(control_that_nobody_declares, "is no such control node"),
    FAULT(node_out_of_range, "is of no node"),
    FAULT(body_past_the_memory, "does not fit into its memory"),
    FAULT(body_in_another_memory, "lies in two memories"),
    FAULT(body_run_twice, "has a body that is another's"),
    FAULT(output_never_written, "nothing is left of output"),
    FAULT(outputs_in_another_order, "is not what it refers to"),
    FAULT(inputs_in_another_order, "is not what it refers to"),
    FAULT(too_few_outputs, "have no places"),
    FAULT(region_of_no_kind, "the kind is unknown"),
    FAULT(region_node_out_of_range, "a node is none of the graph's"),
    FAULT(operator_without_node, "operators are missing"),
    FAULT(operator_with_other_inputs, "not those of the operator"),
    FAULT(access_of_another_rank, "rank of its value"),
    FAULT(access_out_of_the_pool, "broken coordinates"),
    FAULT(aligned_to_nowhere, "does not fit the arguments"),
    FAULT(runs_twice_along_an_axis, "runs twice along an axis"),
    FAULT(program_reads_no_input, "does not fit the arguments"),
    FAULT(program_reads_another_type, "does not fit the arguments"),
    FAULT(program_writes_another_type, "does not fit the arguments"),
    FAULT(slot_writes_no_output, "does not fit the arguments"),
    FAULT(slot_value_of_another_type, "does not fit where it is"),
    FAULT(move_from_no_input, "a map is broken"),
    FAULT(rule_follows_nobody, "rule for an argument is none"),
    FAULT(rule_without_layout, "rule for an argument is none"),
    FAULT(in_place_of_nobody, "rule for an argument is none"),
};

TENON_TEST(the_sample_itself_is_fine) {
  try_fault(NULL);
}

TENON_TEST(refuses_each_fault_with_its_reason) {
  for (size_t k = 0; k < sizeof faults / sizeof faults[0]; ++k) {
    try_fault(&faults[k]);
  }
}
