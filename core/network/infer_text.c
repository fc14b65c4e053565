/*
 * A text's one output takes the element type in which it computes, or, where an input of a narrower
 * type computes in that type, the type of the first such input: half precision in, half precision
 * out.
 */

#include "core/base/status.h"
#include "core/language/instantiate.h"
#include "core/network/infer.h"

const char* tenon__text_output(const tenon__text_t* text) {
  for (uint32_t i = 0; i < text->statement_count; ++i) {
    if (!text->statements[i].is_let) {
      return text->statements[i].target;
    }
  }
  return NULL;
}

tenon_status_t tenon__infer_text_scope(tenon__inference_t* inference,
                                       const tenon__expression_source_t* source) {
  const uint32_t count = inference->input_count;
  tenon__scope_port_t* ports =
      tenon__arena_allocate(inference->scratch, count + 2u, sizeof(*ports));
  inference->input_values =
      tenon__arena_allocate(inference->scratch, count + 1u, sizeof(*inference->input_values));
  inference->output_values =
      tenon__arena_allocate(inference->scratch, 1, sizeof(*inference->output_values));
  inference->outputs = tenon__arena_allocate(inference->scratch, 1, sizeof(*inference->outputs));
  TENON_TRY_MEMORY(ports != NULL && inference->input_values != NULL &&
                   inference->output_values != NULL && inference->outputs != NULL);
  for (uint32_t i = 0; i < count; ++i) {
    inference->input_values[i] =
        tenon__infer_scope_value(inference->network, inference->graph, inference->inputs[i], i);
    ports[i] =
        (tenon__scope_port_t){.name = source == NULL ? "x" : source->input_names[i],
                              .type = tenon__dtype_name(inference->input_values[i].type.dtype),
                              .count = 1,
                              .values = &inference->input_values[i]};
  }
  inference->output_values[0] = (tenon__scope_value_t){.present = true, .type.rank = TENON_NONE};
  inference->outputs[0] = (tenon__inferred_value_t){
      .type.kind = TENON_ARGUMENT_TENSOR, .type.rank = TENON_NONE, .handle = TENON_NONE};
  ports[count] =
      (tenon__scope_port_t){.name = source == NULL ? "y" : tenon__text_output(&source->text),
                            .type = "",
                            .count = 1,
                            .values = inference->output_values};
  inference->output_count = 1;
  inference->scope = (tenon__scope_t){
      .pool = inference->network->pool,
      .input_count = count,
      .inputs = ports,
      .output_count = 1,
      .outputs = ports + count,
  };
  return TENON_OK;
}

/* The type of an instruction's value. */
static tenon_dtype_t result_type(const tenon_instruction_t* instruction) {
  const uint32_t opcode = instruction->opcode;
  const bool is_bool = (opcode >= TENON_OPCODE_EQ && opcode <= TENON_OPCODE_GE) ||
                       opcode == TENON_OPCODE_IS_NAN || opcode == TENON_OPCODE_IS_INF;
  return is_bool ? TENON_DTYPE_BOOL : instruction->dtype;
}

static tenon_dtype_t storage_type(const tenon__inference_t* inference, tenon_dtype_t arithmetic) {
  for (uint32_t i = 0; i < inference->input_count; ++i) {
    const tenon_dtype_t dtype = inference->input_values[i].type.dtype;
    if (tenon__dtype_arithmetic(dtype) == arithmetic) {
      return dtype;
    }
  }
  return arithmetic;
}

tenon_status_t tenon__infer_text(tenon__inference_t* inference,
                                 const tenon__expression_source_t* source) {
  TENON_TRY(tenon__infer_text_scope(inference, source));
  tenon__expression_t* expression =
      tenon__arena_allocate(&inference->network->arena, 1, sizeof(*expression));
  TENON_TRY_MEMORY(expression != NULL);
  tenon__inferred_shape_t shape = {TENON_NONE, NULL};
  /* The first time only to learn the type of the result. */
  inference->output_values[0].type.dtype = TENON_DTYPE_FLOAT64;
  for (uint32_t round = 0; round < 2; ++round) {
    const tenon__node_text_t text = {&inference->scope, &source->text,
                                     round == 0 ? inference->scratch : &inference->network->arena,
                                     inference->sink};
    TENON_TRY(tenon__expression_instantiate(&text, NULL, expression, &shape));
    const tenon_program_t* program = &expression->program;
    if (round == 0) {
      const tenon_instruction_t* last = &program->instructions[program->outputs[0].instruction];
      const tenon_dtype_t own = result_type(last);
      inference->output_values[0].type.dtype = storage_type(inference, own);
    }
  }
  inference->outputs[0].type.dtype = inference->output_values[0].type.dtype;
  TENON_TRY(tenon__infer_set_shape(inference, 0, &shape));
  inference->expression = expression;
  return tenon__infer_expression_contents(inference, expression, 0, &inference->outputs[0].type);
}
