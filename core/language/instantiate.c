/* From the text of a case to the program of a node, in two rounds: a dry one finds the inputs that
 * make the space, the other builds the program over it. */
#include "core/language/instantiate.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/instantiate_types.h"
#include "core/language/instantiate_worth.h"
#include "core/language/shape_rule.h"

enum { RANK_LIMIT = 64 };

/* One output of the program while it is made. */
typedef struct made_output_t {
  uint32_t instruction;
  uint32_t item; /* number among the node's outputs */
  tenon_dtype_t dtype;
  bool rounds; /* the value was cast to that type */
} made_output_t;

static tenon_status_t begin_round(tenon__instantiation_t* in, bool dry) {
  const uint32_t count = in->text->statement_count;
  tenon__program_builder_initialize(&in->builder, in->arena);
  in->dry = dry;
  in->lets = tenon__arena_allocate(in->arena, count + 1u, sizeof(*in->lets));
  in->let_done = tenon__arena_allocate(in->arena, count + 1u, sizeof(*in->let_done));
  return in->lets == NULL || in->let_done == NULL ? tenon__fail_memory(in->sink) : TENON_OK;
}

static const tenon__statement_t* find_statement(const tenon__text_t* text, const char* name) {
  for (uint32_t i = 0; i < text->statement_count; ++i) {
    if (!text->statements[i].is_let && strcmp(text->statements[i].target, name) == 0) {
      return &text->statements[i];
    }
  }
  return NULL;
}

/* An output's value, as an instruction; a literal takes the output's type. */
static tenon_status_t output_code(tenon__instantiation_t* in, const tenon__statement_t* statement,
                                  made_output_t* inout_output) {
  tenon__worth_t worth = {0};
  in->let_end = (uint32_t)(statement - in->text->statements);
  TENON_TRY(tenon__worth_evaluate(in, statement->value, &worth));
  const tenon_dtype_t type = tenon__dtype_arithmetic(inout_output->dtype);
  const char kind = tenon__dtype_class(type);
  const bool is_float = worth.kind == TENON_WORTH_FLOAT ||
                        (worth.kind == TENON_WORTH_CHOICE && worth.choice_is_float);
  const bool untyped = tenon__worth_is_literal(&worth) || worth.kind == TENON_WORTH_CHOICE;
  if (untyped && (kind == 'f' || (!is_float && (kind == 'i' || kind == 'u')))) {
    return tenon__worth_typed(in, statement->value, &worth, type, &inout_output->instruction);
  }
  inout_output->rounds = worth.narrowed == inout_output->dtype;
  return tenon__worth_code(in, statement->value, &worth, &inout_output->instruction);
}

/* Evaluates every output that is wanted. */
static tenon_status_t evaluate_outputs(tenon__instantiation_t* in, made_output_t* outputs,
                                       uint32_t* out_count) {
  uint32_t count = 0;
  uint32_t item = 0;
  for (uint32_t i = 0; i < in->scope->output_count; ++i) {
    const tenon__scope_port_t* port = &in->scope->outputs[i];
    if (port->count == 0 || !port->values[0].present) {
      item += port->count;
      continue;
    }
    const tenon__statement_t* statement = find_statement(in->text, port->name);
    if (statement == NULL || port->count != 1 || statement->subscript != NULL ||
        statement->member != NULL || statement->prefix != NULL) {
      return tenon__fail(in->sink, TENON_ERROR_INVALID_DATA,
                         "the expression has no statement \"%s = ...\"", port->name);
    }
    outputs[count] = (made_output_t){.item = item, .dtype = port->values[0].dtype};
    TENON_TRY(output_code(in, statement, &outputs[count]));
    ++count;
    item += port->count;
  }
  *out_count = count;
  return TENON_OK;
}

/* The space: the broadcast of the aligned inputs, or the shape that a rule gave the first output.
 */
static tenon_status_t find_space(tenon__instantiation_t* in, const tenon__inferred_shape_t* shapes,
                                 const made_output_t* outputs, uint32_t output_count) {
  tenon__inferred_shape_t space = {0, NULL};
  if (shapes != NULL && !in->reduces && output_count > 0) {
    space = shapes[outputs[0].item];
    in->is_given = true;
  } else {
    TENON_TRY(tenon__shape_broadcast(in->pool, in->arena, in->aligned, in->aligned_count, in->sink,
                                     &space));
  }
  if (space.rank > RANK_LIMIT) {
    return tenon__fail(in->sink, TENON_ERROR_UNSUPPORTED, "an expression of more than 64 axes");
  }
  in->rank = space.rank;
  in->space = space.dims;
  return TENON_OK;
}

static bool keeps_dims(const tenon__scope_t* scope) {
  for (uint32_t i = 0; i < scope->attribute_count; ++i) {
    if (scope->attributes[i].kind == TENON_ATTRIBUTE_INT &&
        strcmp(scope->attributes[i].name, "keepdims") == 0) {
      return scope->attributes[i].integer != 0;
    }
  }
  return true;
}

static uint32_t count_bits(uint64_t mask) {
  uint32_t count = 0;
  for (; mask != 0; mask &= mask - 1u) {
    ++count;
  }
  return count;
}

/* The axes of an output's own shape in the space, and, unless a rule gave it, that shape. */
static tenon_status_t place_output(const tenon__instantiation_t* in, uint64_t reduced,
                                   const tenon__inferred_shape_t* given, const uint32_t** out_axes,
                                   uint32_t* out_rank, tenon__inferred_shape_t* out_shape) {
  const uint32_t kept_rank = in->rank - count_bits(reduced);
  bool keep = keeps_dims(in->scope);
  if (given != NULL) {
    keep = given->rank == in->rank;
    if (!keep && given->rank != kept_rank) {
      return tenon__fail(in->sink, TENON_ERROR_INVALID_DATA,
                         "the shape rule says rank %u, the expression %u", given->rank, kept_rank);
    }
  }
  uint32_t* axes = tenon__arena_allocate(in->arena, in->rank + 1u, sizeof(*axes));
  tenon_dim_t* dims = tenon__arena_allocate(in->arena, in->rank + 1u, sizeof(*dims));
  if (axes == NULL || dims == NULL) {
    return tenon__fail_memory(in->sink);
  }
  const tenon_dim_t one = tenon__dim_constant(in->pool, 1);
  uint32_t rank = 0;
  for (uint32_t k = 0; k < in->rank; ++k) {
    const bool gone = ((reduced >> k) & 1u) != 0;
    if (!gone || keep) {
      dims[rank] = gone ? one : in->space[k];
      axes[rank++] = k;
    }
  }
  *out_axes = axes;
  *out_rank = rank;
  *out_shape = (tenon__inferred_shape_t){rank, dims};
  return TENON_OK;
}

/* Outputs with their axes; the program. */
static tenon_status_t finish(tenon__instantiation_t* in, const made_output_t* made, uint32_t count,
                             const tenon__inferred_shape_t* shapes,
                             tenon__expression_t* out_expression,
                             tenon__inferred_shape_t* out_shapes) {
  const tenon_program_t program = {.instructions = in->builder.instructions,
                                   .operands = in->builder.operands,
                                   .coordinates = in->builder.coordinates,
                                   .instruction_count = in->builder.instruction_count,
                                   .rank = in->rank};
  if (program.instruction_count > TENON__MOST_INSTRUCTIONS) {
    return tenon__fail(in->sink, TENON_ERROR_UNSUPPORTED,
                       "an expression of %u instructions, at most %d are possible",
                       program.instruction_count, TENON__MOST_INSTRUCTIONS);
  }
  uint64_t* varying =
      tenon__arena_allocate(in->arena, program.instruction_count + 1u, sizeof(*varying));
  uint64_t* reduced =
      tenon__arena_allocate(in->arena, program.instruction_count + 1u, sizeof(*reduced));
  tenon_program_output_t* outputs = tenon__arena_allocate(in->arena, count + 1u, sizeof(*outputs));
  const uint32_t** axes = tenon__arena_allocate(in->arena, count + 1u, sizeof(*axes));
  uint32_t* ranks = tenon__arena_allocate(in->arena, count + 1u, sizeof(*ranks));
  tenon__inferred_shape_t* found = tenon__arena_allocate(in->arena, count + 1u, sizeof(*found));
  if (varying == NULL || reduced == NULL || outputs == NULL || axes == NULL || ranks == NULL ||
      found == NULL) {
    return tenon__fail_memory(in->sink);
  }
  tenon__program_axes(&program, varying, reduced);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t instruction = made[i].instruction;
    const uint64_t gone = reduced[instruction] & ~varying[instruction];
    outputs[i] = (tenon_program_output_t){.instruction = instruction,
                                          .dtype = made[i].dtype,
                                          .index = made[i].item,
                                          .reserved = made[i].rounds ? TENON_OUTPUT_ROUNDS : 0,
                                          .reduced_axes = gone};
    TENON_TRY(place_output(in, gone, shapes == NULL ? NULL : &shapes[made[i].item], &axes[i],
                           &ranks[i], &found[i]));
  }
  const tenon__program_outputs_t all = {count, outputs, axes, ranks};
  TENON_TRY(tenon__program_builder_finish(&in->builder, in->rank, in->space, &all, in->sink,
                                          out_expression));
  for (uint32_t i = 0; shapes == NULL && i < count; ++i) {
    out_shapes[made[i].item] = found[i];
  }
  return TENON_OK;
}

tenon_status_t tenon__expression_instantiate(const tenon__scope_t* scope, const tenon__text_t* text,
                                             const tenon__inferred_shape_t* shapes,
                                             tenon__arena_t* arena, const tenon_sink_t* sink,
                                             tenon__expression_t* out_expression,
                                             tenon__inferred_shape_t* out_shapes) {
  tenon__instantiation_t in = {.scope = scope,
                               .text = text,
                               .pool = scope->pool,
                               .arena = arena,
                               .sink = sink,
                               .rank = TENON_NONE};
  made_output_t* outputs = tenon__arena_allocate(arena, scope->output_count + 1u, sizeof(*outputs));
  uint32_t count = 0;
  if (outputs == NULL) {
    return tenon__fail_memory(sink);
  }
  TENON_TRY(begin_round(&in, true));
  TENON_TRY(evaluate_outputs(&in, outputs, &count));
  TENON_TRY(find_space(&in, shapes, outputs, count));
  TENON_TRY(begin_round(&in, false));
  TENON_TRY(evaluate_outputs(&in, outputs, &count));
  return finish(&in, outputs, count, shapes, out_expression, out_shapes);
}
