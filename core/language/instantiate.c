/* From the text of a case to the program of a node, in two rounds: a dry one finds the inputs that
 * make the space, the other builds the program over it. */
#include "core/language/instantiate.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/evaluator.h"
#include "core/language/operation.h"
#include "core/language/shape_rule.h"
#include "core/tensor/dtype.h"

typedef tenon__environment_t environment_t;

/* One output of the program while it is made. */
typedef struct made_output_t {
  uint32_t instruction;
  uint32_t item; /* number among the node's outputs */
  tenon_dtype_t dtype;
  bool rounds; /* the value was cast to that type */
} made_output_t;

static tenon_status_t begin_round(environment_t* e, bool dry) {
  tenon__program_builder_initialize(&e->program->builder, e->arena);
  e->program->dry = dry;
  return tenon__environment_forget_lets(e);
}

/* An output's value, as an instruction; a known number takes the output's type. */
static tenon_status_t output_code(environment_t* e, const tenon__statement_t* statement,
                                  made_output_t* inout_output) {
  tenon__language_value_t value = {0};
  e->let_end = (uint32_t)(statement - e->text->statements);
  TENON_TRY(tenon__language_evaluate(e, statement->value, &value));
  const tenon_dtype_t type = tenon__dtype_arithmetic(inout_output->dtype);
  const char kind = tenon__dtype_class(type);
  const bool is_choice = value.kind == TENON_LANGUAGE_CHOICE;
  const bool is_real = value.kind == TENON_LANGUAGE_REAL || (is_choice && value.choice_is_real);
  if ((tenon__value_is_literal(&value) || is_choice) &&
      (kind == 'f' || (!is_real && (kind == 'i' || kind == 'u')))) {
    return tenon__value_typed(e, statement->value, &value, type, &inout_output->instruction);
  }
  inout_output->rounds =
      value.kind == TENON_LANGUAGE_INSTRUCTION && value.narrowed == inout_output->dtype;
  return tenon__value_instruction(e, statement->value, &value, &inout_output->instruction);
}

/* Evaluates every output that is wanted. */
static tenon_status_t evaluate_outputs(environment_t* e, made_output_t* outputs,
                                       uint32_t* out_count) {
  uint32_t count = 0;
  uint32_t item = 0;
  for (uint32_t i = 0; i < e->scope->output_count; ++i) {
    const tenon__scope_port_t* port = &e->scope->outputs[i];
    if (port->count == 0 || !port->values[0].present) {
      item += port->count;
      continue;
    }
    const tenon__statement_t* statement = tenon__text_statement(e->text, port->name, NULL);
    if (statement == NULL || port->count != 1 || statement->prefix != NULL) {
      return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA,
                         "the expression has no statement \"%s = ...\"", port->name);
    }
    outputs[count] = (made_output_t){.item = item, .dtype = port->values[0].type.dtype};
    TENON_TRY(output_code(e, statement, &outputs[count]));
    ++count;
    item += port->count;
  }
  *out_count = count;
  return TENON_OK;
}

/* The space: the broadcast of the aligned inputs, or the shape that a rule gave the first output.
 */
static tenon_status_t find_space(environment_t* e, const tenon__inferred_shape_t* shapes,
                                 const made_output_t* outputs, uint32_t output_count) {
  tenon__inferred_shape_t space = {0, NULL};
  if (shapes != NULL && !e->program->reduces && output_count > 0) {
    space = shapes[outputs[0].item];
    e->program->is_given = true;
  } else {
    TENON_TRY(tenon__shape_broadcast(e->pool, e->arena, e->program->aligned,
                                     e->program->aligned_count, e->sink, &space));
  }
  if (space.rank > TENON_RANK_LIMIT) {
    return tenon__fail(e->sink, TENON_ERROR_UNSUPPORTED, "an expression of more than 64 axes");
  }
  e->program->rank = space.rank;
  e->program->space = space.dims;
  return TENON_OK;
}

/* The axes of an output's own shape in the space, and, unless a rule gave it, that shape. */
static tenon_status_t place_output(const environment_t* e, uint64_t reduced,
                                   const tenon__inferred_shape_t* given, const uint32_t** out_axes,
                                   tenon__inferred_shape_t* out_shape) {
  const uint32_t kept_rank = e->program->rank - (uint32_t)__builtin_popcountll(reduced);
  bool keep = tenon__scope_integer(e->scope, "keepdims", 1) != 0;
  if (given != NULL) {
    keep = given->rank == e->program->rank;
    if (!keep && given->rank != kept_rank) {
      return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA,
                         "the shape rule says rank %u, the expression %u", given->rank, kept_rank);
    }
  }
  uint32_t* axes = tenon__arena_allocate(e->arena, e->program->rank + 1u, sizeof(*axes));
  tenon_dim_t* dims = tenon__arena_allocate(e->arena, e->program->rank + 1u, sizeof(*dims));
  TENON_TRY_MEMORY(axes != NULL && dims != NULL);
  const tenon_dim_t one = tenon__dim_constant(e->pool, 1);
  uint32_t rank = 0;
  for (uint32_t k = 0; k < e->program->rank; ++k) {
    const bool gone = ((reduced >> k) & 1u) != 0;
    if (!gone || keep) {
      dims[rank] = gone ? one : e->program->space[k];
      axes[rank++] = k;
    }
  }
  *out_axes = axes;
  *out_shape = (tenon__inferred_shape_t){rank, dims};
  return TENON_OK;
}

/* Outputs with their axes; the program. */
static tenon_status_t finish(environment_t* e, const made_output_t* made, uint32_t count,
                             const tenon__inferred_shape_t* shapes,
                             tenon__expression_t* out_expression,
                             tenon__inferred_shape_t* out_shapes) {
  const tenon_program_t program = tenon__builder_program(&e->program->builder, e->program->rank);
  if (program.instruction_count > TENON__MOST_INSTRUCTIONS) {
    return tenon__fail(e->sink, TENON_ERROR_UNSUPPORTED,
                       "an expression of %u instructions, at most %d are possible",
                       program.instruction_count, TENON__MOST_INSTRUCTIONS);
  }
  uint64_t* varying =
      tenon__arena_allocate(e->arena, program.instruction_count + 1u, sizeof(*varying));
  uint64_t* reduced =
      tenon__arena_allocate(e->arena, program.instruction_count + 1u, sizeof(*reduced));
  tenon_program_output_t* outputs = tenon__arena_allocate(e->arena, count + 1u, sizeof(*outputs));
  const uint32_t** axes = tenon__arena_allocate(e->arena, count + 1u, sizeof(*axes));
  uint32_t* ranks = tenon__arena_allocate(e->arena, count + 1u, sizeof(*ranks));
  tenon__inferred_shape_t* found = tenon__arena_allocate(e->arena, count + 1u, sizeof(*found));
  TENON_TRY_MEMORY(varying != NULL && reduced != NULL && outputs != NULL && axes != NULL &&
                   ranks != NULL && found != NULL);
  tenon__program_axes(&program, varying, reduced);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t instruction = made[i].instruction;
    const uint64_t gone = reduced[instruction] & ~varying[instruction];
    outputs[i] = (tenon_program_output_t){.instruction = instruction,
                                          .dtype = made[i].dtype,
                                          .index = made[i].item,
                                          .reserved = made[i].rounds ? TENON_OUTPUT_ROUNDS : 0,
                                          .reduced_axes = gone};
    TENON_TRY(
        place_output(e, gone, shapes == NULL ? NULL : &shapes[made[i].item], &axes[i], &found[i]));
    ranks[i] = found[i].rank;
  }
  const tenon__program_outputs_t all = {count, outputs, axes, ranks};
  TENON_TRY(tenon__program_builder_finish(&e->program->builder, e->program->rank, e->program->space,
                                          &all, out_expression));
  if (shapes == NULL) {
    for (uint32_t i = 0; i < count; ++i) {
      out_shapes[made[i].item] = found[i];
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__expression_instantiate(const tenon__node_text_t* text,
                                             const tenon__inferred_shape_t* shapes,
                                             tenon__expression_t* out_expression,
                                             tenon__inferred_shape_t* out_shapes) {
  tenon__program_maker_t maker = {.rank = TENON_NONE};
  environment_t environment;
  made_output_t* outputs =
      tenon__arena_allocate(text->arena, text->scope->output_count + 1u, sizeof(*outputs));
  uint32_t count = 0;
  TENON_TRY_MEMORY(outputs != NULL);
  TENON_TRY(tenon__language_begin(text, &environment));
  environment.program = &maker;
  TENON_TRY(begin_round(&environment, true));
  TENON_TRY(evaluate_outputs(&environment, outputs, &count));
  TENON_TRY(find_space(&environment, shapes, outputs, count));
  TENON_TRY(begin_round(&environment, false));
  TENON_TRY(evaluate_outputs(&environment, outputs, &count));
  return finish(&environment, outputs, count, shapes, out_expression, out_shapes);
}
