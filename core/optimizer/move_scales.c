/*
 * x * scale + shift behind an operator that declares itself linear in its weights moves into the
 * weights and the bias: what is added or multiplied for each channel, a bias by itself, a division
 * by a constant. Scale and shift must be constants that vary along the operator's output axis
 * alone.
 *
 * What the operator declares is tried before it is used: with twice the weights along their axis,
 * the output must come out with twice the extent along its own, and otherwise the same.
 */
#include <math.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/optimizer/access.h"
#include "core/optimizer/evaluate_node.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"
#include "core/program/linear.h"
#include "core/tensor/layout.h"

enum { GROWTH_LIMIT = 64 * 1024 };

typedef struct scaling_t {
  tenon__rewriter_t* rewriter;
  tenon__arena_t* arena; /* of the visit */
  uint32_t graph;
  uint32_t linear;     /* the linear node */
  uint32_t arithmetic; /* the node of x * scale + shift */
  uint32_t operand;    /* of its expression: x */
  uint32_t axis;       /* of the output */
  uint32_t weights_axis;
  int64_t count; /* extent along both */
  double* scale;
  double* shift;
  bool scales;
  bool shifts;
} scaling_t;

static const tenon__node_t* linear_node(const scaling_t* scaling) {
  return tenon__rewriter_node(scaling->rewriter, scaling->graph, scaling->linear);
}

static const tenon__node_t* arithmetic_node(const scaling_t* scaling) {
  return tenon__rewriter_node(scaling->rewriter, scaling->graph, scaling->arithmetic);
}

static const tenon__value_node_t* value_of(const scaling_t* scaling, uint32_t value) {
  return tenon__rewriter_value(scaling->rewriter, scaling->graph, value);
}

static bool is_float(tenon_dtype_t dtype) {
  return dtype == TENON_DTYPE_FLOAT16 || dtype == TENON_DTYPE_BFLOAT16 ||
         dtype == TENON_DTYPE_FLOAT32 || dtype == TENON_DTYPE_FLOAT64;
}

static bool wrap(int32_t axis, uint32_t rank, uint32_t* out_axis) {
  const int64_t wrapped = axis < 0 ? axis + (int64_t)rank : axis;
  *out_axis = (uint32_t)wrapped;
  return rank != TENON_NONE && wrapped >= 0 && wrapped < (int64_t)rank;
}

/* The linear operator behind an operand, its weights constant and nobody else reading its output.
 */
static bool find_linear(scaling_t* scaling, uint32_t value) {
  const tenon__rewriter_t* rewriter = scaling->rewriter;
  const tenon__value_node_t* made = value_of(scaling, value);
  if (made->producer == TENON_NONE || made->producer_output != 0 ||
      tenon__rewriter_use_count(rewriter, scaling->graph, value) != 1 ||
      tenon__rewriter_has_handle(rewriter, scaling->graph, value)) {
    return false;
  }
  scaling->linear = made->producer;
  const tenon__node_t* node = linear_node(scaling);
  const tenon__operator_traits_t* traits = node->op == NULL ? NULL : &node->op->traits;
  if (traits == NULL || !traits->linear || node->body_count > 0 ||
      traits->linear_input >= node->input_count ||
      !wrap(traits->linear_output_axis, made->type.rank, &scaling->axis)) {
    return false;
  }
  const tenon__weights_t* weights =
      tenon__rewriter_constant(rewriter, scaling->graph, node->inputs[traits->linear_input]);
  int64_t extent = 0;
  if (weights == NULL || !is_float(weights->dtype) ||
      !wrap(traits->linear_axis, weights->rank, &scaling->weights_axis) ||
      !tenon__dim_known(rewriter->network->pool, made->type.dims[scaling->axis], &extent) ||
      weights->dims[scaling->weights_axis] != extent || extent <= 0) {
    return false;
  }
  for (uint32_t i = 1; i < node->output_count; ++i) {
    if (node->outputs[i] != TENON_NONE) {
      return false; /* it would scale too */
    }
  }
  scaling->count = extent;
  return true;
}

/* Does a coordinate depend on no axis of the space but that one? */
static bool follows_axis(const scaling_t* scaling, tenon_dim_t coordinate, uint32_t rank) {
  tenon__dim_pool_t* pool = scaling->rewriter->network->pool;
  tenon_dim_t coefficients[TENON_RANK_LIMIT];
  tenon_dim_t base = TENON_DIM_INVALID;
  if (!tenon__dim_affine(pool, coordinate, rank, &base, coefficients)) {
    return false;
  }
  for (uint32_t j = 0; j < rank; ++j) {
    int64_t number = 0;
    const bool is_zero = tenon__dim_known(pool, coefficients[j], &number) && number == 0;
    if (j != scaling->axis && !is_zero) {
      return false;
    }
  }
  return true;
}

/* All other operands are constants which vary along the axis alone. */
static bool varies_along_axis(const scaling_t* scaling, const tenon__expression_t* expression) {
  const tenon__node_t* node = arithmetic_node(scaling);
  for (uint32_t k = 0; k < expression->program.operand_count; ++k) {
    const uint32_t value = node->inputs[expression->program.operands[k].index];
    const tenon__access_t* access = &expression->accesses[k];
    if (expression->program.operands[k].indexed != 0 ||
        tenon__rewriter_constant(scaling->rewriter, scaling->graph, value) == NULL) {
      return false;
    }
    for (uint32_t d = 0; d < access->rank; ++d) {
      if (!follows_axis(scaling, access->coordinates[d], expression->program.rank)) {
        return false;
      }
    }
  }
  return true;
}

/* An expression over constants, along the axis: `count` numbers. */
static tenon_status_t numbers_of(scaling_t* scaling, const tenon__expression_t* expression,
                                 double** out_numbers) {
  tenon__dim_pool_t* pool = scaling->rewriter->network->pool;
  const uint32_t rank = expression->program.rank;
  tenon_dim_t* space = tenon__arena_allocate(scaling->arena, rank + 1u, sizeof(*space));
  int64_t* dims = tenon__arena_allocate(scaling->arena, rank + 1u, sizeof(*dims));
  double* numbers = tenon__arena_allocate(scaling->arena, (size_t)scaling->count, sizeof(*numbers));
  tenon_tensor_view_t* tensors = tenon__arena_allocate(
      scaling->arena, expression->program.operand_count + 1u, sizeof(*tensors));
  TENON_TRY_MEMORY(space != NULL && dims != NULL && numbers != NULL && tensors != NULL);
  for (uint32_t j = 0; j < rank; ++j) {
    dims[j] = j == scaling->axis ? scaling->count : 1;
    space[j] = tenon__dim_constant(pool, dims[j]);
  }
  for (uint32_t k = 0; k < expression->program.operand_count; ++k) {
    const uint32_t value = arithmetic_node(scaling)->inputs[expression->program.operands[k].index];
    tensors[k] =
        tenon__weights_view(tenon__rewriter_constant(scaling->rewriter, scaling->graph, value));
  }
  tenon_program_output_t output = expression->program.outputs[0];
  output.dtype = TENON_DTYPE_FLOAT64;
  tenon__expression_t along = *expression;
  along.space = space;
  along.program.outputs = &output;
  const tenon_tensor_view_t view = {.data = numbers,
                                    .dims = dims,
                                    .rank = rank,
                                    .dtype = TENON_DTYPE_FLOAT64,
                                    .layout = TENON_NONE};
  TENON_TRY(tenon__evaluate_expression(pool, &along, tensors, &view, scaling->arena));
  *out_numbers = numbers;
  return TENON_OK;
}

/* Recognises the arithmetic and finds its numbers. UNSUPPORTED: it is something else. */
static tenon_status_t recognise(scaling_t* scaling) {
  const tenon__node_t* node = arithmetic_node(scaling);
  const tenon__expression_t* expression = node->expression;
  tenon__expression_t scale;
  tenon__expression_t shift;
  const uint32_t value = node->inputs[expression->program.operands[scaling->operand].index];
  if (value_of(scaling, value)->type.dtype != value_of(scaling, node->outputs[0])->type.dtype ||
      !is_float(value_of(scaling, value)->type.dtype) || !tenon__output_is_space(expression) ||
      !tenon__access_is_identity(scaling->rewriter->network->pool, expression, scaling->operand)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(
      tenon__expression_linear_in(expression, scaling->operand, scaling->arena, &scale, &shift));
  if (!varies_along_axis(scaling, &scale) || !varies_along_axis(scaling, &shift)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(numbers_of(scaling, &scale, &scaling->scale));
  TENON_TRY(numbers_of(scaling, &shift, &scaling->shift));
  for (int64_t i = 0; i < scaling->count; ++i) {
    if (!isfinite(scaling->scale[i]) || !isfinite(scaling->shift[i])) {
      return TENON_ERROR_UNSUPPORTED;
    }
    scaling->scales = scaling->scales || scaling->scale[i] != 1;
    scaling->shifts = scaling->shifts || scaling->shift[i] != 0;
  }
  return TENON_OK;
}

/* Weights times the scale along their axis; `axis` TENON_NONE for `count` numbers as they lie. Not
 * finite any more: UNSUPPORTED. */
static tenon_status_t scaled(const scaling_t* scaling, const tenon__weights_t* source,
                             uint32_t axis, const double* shift, void** out_data) {
  const tenon_allocator_t allocator = scaling->rewriter->network->allocator;
  void* data = tenon__allocate(allocator, source->size_bytes, 1);
  TENON_TRY_MEMORY(data != NULL);
  uint64_t inner = 1;
  uint64_t total = 1;
  for (uint32_t d = 0; d < source->rank; ++d) {
    total *= (uint64_t)source->dims[d];
    inner *= axis != TENON_NONE && d > axis ? (uint64_t)source->dims[d] : 1;
  }
  bool is_finite = true;
  const tenon_dtype_t arithmetic = tenon__dtype_arithmetic(source->dtype);
  for (uint64_t i = 0; i < total; ++i) {
    const uint64_t k = i / inner % (uint64_t)scaling->count;
    tenon__scalar_t scalar = tenon__element_load(source->data, source->dtype, i);
    scalar.f = scalar.f * scaling->scale[k] + (shift == NULL ? 0 : shift[k]);
    tenon__element_store(data, source->dtype, i, scalar, arithmetic);
    is_finite = is_finite && isfinite(tenon__element_load(data, source->dtype, i).f);
  }
  if (!is_finite) {
    tenon__free(allocator, data, source->size_bytes);
    return TENON_ERROR_UNSUPPORTED;
  }
  *out_data = data;
  return TENON_OK;
}

static tenon_status_t add_weights(scaling_t* scaling, const tenon__weights_t* like, void* data,
                                  uint32_t* out_value) {
  tenon__weights_t weights = *like;
  weights.data = data;
  weights.owned = true;
  weights.digest_known = false;
  weights.derivation = tenon__arena_format(scaling->arena, "'%s' with '%s' moved into it",
                                           like->name, arithmetic_node(scaling)->name);
  return tenon__patch_add_constant(scaling->rewriter, &weights, out_value);
}

static tenon_status_t new_weights(scaling_t* scaling, uint32_t* inout_value) {
  const tenon__weights_t source =
      *tenon__rewriter_constant(scaling->rewriter, scaling->graph, *inout_value);
  void* data = NULL;
  if (!scaling->scales) {
    return TENON_OK;
  }
  if (tenon__rewriter_use_count(scaling->rewriter, scaling->graph, *inout_value) > 1 &&
      source.size_bytes > GROWTH_LIMIT) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(scaled(scaling, &source, scaling->weights_axis, NULL, &data));
  return add_weights(scaling, &source, data, inout_value);
}

static tenon_status_t new_bias(scaling_t* scaling, tenon_dtype_t dtype, uint32_t* inout_value) {
  if (*inout_value != TENON_NONE) {
    const tenon__weights_t* bias =
        tenon__rewriter_constant(scaling->rewriter, scaling->graph, *inout_value);
    uint64_t total = 0;
    if (bias == NULL || !is_float(bias->dtype) ||
        !tenon__element_count(bias->rank, bias->dims, &total) ||
        total != (uint64_t)scaling->count) {
      return TENON_ERROR_UNSUPPORTED;
    }
    const tenon__weights_t source = *bias;
    void* data = NULL;
    TENON_TRY(scaled(scaling, &source, TENON_NONE, scaling->shift, &data));
    return add_weights(scaling, &source, data, inout_value);
  }
  if (!scaling->shifts) {
    return TENON_OK;
  }
  size_t size = 0;
  (void)tenon__dtype_bytes(dtype, (uint64_t)scaling->count, &size);
  void* data = tenon__allocate(scaling->rewriter->network->allocator, size, 1);
  TENON_TRY_MEMORY(data != NULL);
  for (int64_t i = 0; i < scaling->count; ++i) {
    tenon__element_store(data, dtype, (uint64_t)i, (tenon__scalar_t){.f = scaling->shift[i]},
                         TENON_DTYPE_FLOAT64);
  }
  const tenon__weights_t weights = {.name = arithmetic_node(scaling)->name,
                                    .dtype = dtype,
                                    .rank = 1,
                                    .dims = &scaling->count,
                                    .size_bytes = size};
  return add_weights(scaling, &weights, data, inout_value);
}

/* The declaration, tried: twice the weights give twice the output along its axis, and no more. */
static tenon_status_t try_declaration(scaling_t* scaling) {
  tenon__rewriter_t* rewriter = scaling->rewriter;
  const tenon__node_t node = *linear_node(scaling);
  const tenon__operator_traits_t* traits = &node.op->traits;
  const uint32_t weights = node.inputs[traits->linear_input];
  const tenon__value_node_t value = *value_of(scaling, weights);
  uint32_t* inputs = tenon__arena_allocate(scaling->arena, node.input_count + 1u, sizeof(*inputs));
  tenon_dim_t* dims = tenon__arena_copy(&rewriter->network->arena, value.type.dims,
                                        value.type.rank * sizeof(*value.type.dims));
  uint32_t twice = 0;
  uint32_t made = 0;
  TENON_TRY_MEMORY(inputs != NULL && dims != NULL);
  TENON_TRY(tenon__patch_add_value_of(rewriter, "", value.weights, &twice));
  dims[scaling->weights_axis] = tenon__dim_constant(rewriter->network->pool, 2 * scaling->count);
  tenon__rewriter_value(rewriter, scaling->graph, twice)->type.dims = dims;
  tenon__rewriter_value(rewriter, scaling->graph, twice)->type.contents = NULL;
  for (uint32_t i = 0; i < node.input_count; ++i) {
    inputs[i] = i == traits->linear_input  ? twice
                : i == traits->linear_bias ? TENON_NONE
                                           : node.inputs[i];
  }
  TENON_TRY(tenon__patch_add_again(rewriter, scaling->graph, scaling->linear, inputs,
                                   node.input_count, &made));
  const tenon__value_node_t* before = value_of(scaling, node.outputs[0]);
  const tenon__value_node_t* after =
      value_of(scaling, tenon__rewriter_node(rewriter, scaling->graph, made)->outputs[0]);
  bool good = before->type.rank == after->type.rank;
  for (uint32_t d = 0; good && d < before->type.rank; ++d) {
    int64_t extent = 0;
    good = d == scaling->axis
               ? tenon__dim_known(rewriter->network->pool, after->type.dims[d], &extent) &&
                     extent == 2 * scaling->count
               : tenon__dim_equal(before->type.dims[d], after->type.dims[d]);
  }
  return good ? TENON_OK : TENON_ERROR_UNSUPPORTED;
}

static tenon_status_t move_in(scaling_t* scaling) {
  tenon__rewriter_t* rewriter = scaling->rewriter;
  const tenon__node_t node = *linear_node(scaling);
  const tenon__operator_traits_t* traits = &node.op->traits;
  const uint32_t bias = traits->linear_bias;
  uint32_t count = node.input_count;
  if (bias != TENON_NONE && bias >= count) {
    count = bias + 1;
  }
  uint32_t* inputs = tenon__arena_allocate(&rewriter->scratch, count + 1u, sizeof(*inputs));
  TENON_TRY_MEMORY(inputs != NULL);
  for (uint32_t i = 0; i < count; ++i) {
    inputs[i] = i < node.input_count ? node.inputs[i] : TENON_NONE;
  }
  if (bias == TENON_NONE && scaling->shifts) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(new_weights(scaling, &inputs[traits->linear_input]));
  if (bias != TENON_NONE) {
    TENON_TRY(new_bias(scaling, value_of(scaling, inputs[traits->linear_input])->type.dtype,
                       &inputs[bias]));
  }
  while (count > 0 && inputs[count - 1] == TENON_NONE) {
    --count;
  }
  uint32_t made = 0;
  TENON_TRY(
      tenon__patch_add_again(rewriter, scaling->graph, scaling->linear, inputs, count, &made));
  const uint32_t output = arithmetic_node(scaling)->outputs[0];
  const uint32_t value = tenon__rewriter_node(rewriter, scaling->graph, made)->outputs[0];
  if (!tenon__patch_fits(rewriter, scaling->graph, output, value)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon__patch_replace(rewriter, output, value);
  tenon__patch_swap_names(rewriter, made, scaling->linear);
  return TENON_OK;
}

/* Moves the scale and shift of `operand` into the operator that makes it, if this is possible. */
static tenon_status_t attempt(scaling_t* scaling) {
  tenon__rewriter_t* rewriter = scaling->rewriter;
  const tenon__node_t* node = arithmetic_node(scaling);
  if (!find_linear(scaling,
                   node->inputs[node->expression->program.operands[scaling->operand].index])) {
    return TENON_OK;
  }
  tenon_status_t status = recognise(scaling);
  if (status != TENON_OK) {
    return status == TENON_ERROR_OUT_OF_MEMORY ? status : TENON_OK;
  }
  if (!tenon__patch_begin(rewriter, "move scales", scaling->graph, scaling->linear)) {
    return TENON_OK;
  }
  status = try_declaration(scaling);
  tenon__patch_cancel(rewriter);
  if (status == TENON_OK &&
      tenon__patch_begin(rewriter, "move scales", scaling->graph, scaling->linear)) {
    return tenon__patch_settle(rewriter, move_in(scaling));
  }
  return status == TENON_ERROR_OUT_OF_MEMORY ? status : TENON_OK;
}

/* Finds the only operand that is not constant. Any other one would be in the scale or the shift. */
static bool find_operand(const tenon__rewriter_t* rewriter, uint32_t graph,
                         const tenon__node_t* node, uint32_t* out_operand) {
  const tenon_program_t* program = &node->expression->program;
  uint32_t count = 0;
  for (uint32_t k = 0; count < 2 && k < program->operand_count; ++k) {
    if (tenon__rewriter_constant(rewriter, graph, node->inputs[program->operands[k].index]) ==
        NULL) {
      *out_operand = k;
      ++count;
    }
  }
  return count == 1;
}

tenon_status_t tenon__pass_move_scales(tenon__rewriter_t* rewriter, uint32_t graph,
                                       uint32_t index) {
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  if (rewriter->options->strict || node->expression == NULL || node->output_count != 1 ||
      node->outputs[0] == TENON_NONE ||
      tenon__rewriter_use_count(rewriter, graph, node->outputs[0]) == 0 ||
      !tenon__program_is_pointwise(&node->expression->program)) {
    return TENON_OK;
  }
  scaling_t scaling = {
      .rewriter = rewriter, .arena = &rewriter->scratch, .graph = graph, .arithmetic = index};
  return find_operand(rewriter, graph, node, &scaling.operand) ? attempt(&scaling) : TENON_OK;
}
