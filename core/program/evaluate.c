/*
 * The evaluator, block by block. Reductions are computed in stages, each a pass over the space for
 * all whose operands are ready (f32 sums are kept in double and rounded once); then the outputs,
 * each on its own extents. A LOAD out of range gives a clamped element and a fault; a SELECT passes
 * on the fault of the side that it takes, and a fault that reaches an output or a sum is an error.
 */
#include "core/program/evaluate.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/status.h"
#include "core/program/evaluate_block.h"
#include "core/program/scalar.h"
#include "core/tensor/layout.h"

enum { ROW_LIMIT = 1u << 20, LEAST_BLOCK = 8 };

/* Results of one reduction, over the space without the axes that it removes. */
typedef struct sums_t {
  tenon__scalar_t* values;
  uint64_t count;
  uint64_t length;                   /* points for each sum */
  int64_t strides[TENON_RANK_LIMIT]; /* 0 along removed axes */
} sums_t;

typedef struct evaluation_t {
  const tenon_program_t* program;
  const int64_t* space;
  const tenon_tensor_view_t* inputs;
  const tenon_tensor_view_t* outputs;
  tenon__arena_t arena; /* of this evaluation */
  const tenon_sink_t* sink;
  uint32_t block;
  tenon__scalar_t* values; /* a row of `block` for each instruction */
  uint8_t* faults;         /* likewise; NULL without LOADs */
  sums_t* sums;            /* for each instruction that reduces */
  uint32_t* stages;        /* reductions that must be done before an instruction can be computed */
  uint32_t* needed;
  tenon__walk_t walk;
  int64_t offsets[TENON__BLOCK];
} evaluation_t;

static tenon__scalar_t* row_of(const evaluation_t* e, uint32_t instruction) {
  return e->values + (size_t)instruction * e->block;
}

static uint8_t* faults_of(const evaluation_t* e, uint32_t instruction) {
  return e->faults == NULL ? NULL : e->faults + (size_t)instruction * e->block;
}

/* An operand of an empty space cannot be read even where its own results have extent 1. */
static bool is_readable(const evaluation_t* e, uint32_t operand) {
  const tenon_tensor_view_t* view = &e->inputs[operand];
  for (uint32_t k = 0; k < view->rank && k < e->program->rank; ++k) {
    const bool broadcast = ((e->program->operands[operand].broadcast_axes >> k) & 1u) != 0;
    if (view->dims[k] == 0 && !broadcast) {
      return false;
    }
  }
  return true;
}

static void evaluate_input(evaluation_t* e, const tenon_instruction_t* i, tenon__scalar_t* out,
                           uint32_t count) {
  const uint32_t operand = (uint32_t)i->immediate.i;
  if (!is_readable(e, operand)) {
    memset(out, 0, count * sizeof(*out));
    return;
  }
  tenon__walk_offsets(&e->walk, e->inputs[operand].strides, count, e->offsets);
  tenon__block_read(&e->inputs[operand], e->offsets, i->dtype, out, count);
}

/* Places of a LOAD, clamped; marks what was out of range. */
static void place_load(evaluation_t* e, const tenon_instruction_t* i, uint8_t* faults,
                       uint32_t count) {
  const tenon_tensor_view_t* view = &e->inputs[i->immediate.i];
  memset(e->offsets, 0, count * sizeof(*e->offsets));
  memset(faults, 0, count);
  for (uint32_t d = 0; d < i->operands[1]; ++d) {
    const uint32_t coordinate = e->program->coordinates[i->operands[0] + d];
    const tenon__scalar_t* row = row_of(e, coordinate);
    const uint8_t* inherited = faults_of(e, coordinate);
    for (uint32_t p = 0; p < count; ++p) {
      int64_t at = row[p].i;
      if (at < 0 || at >= view->dims[d]) {
        at = at < 0 || view->dims[d] == 0 ? 0 : view->dims[d] - 1;
        faults[p] = 1;
      }
      faults[p] = (uint8_t)(faults[p] | inherited[p]);
      e->offsets[p] += at * view->strides[d];
    }
  }
}

static void evaluate_load(evaluation_t* e, uint32_t index, uint32_t count) {
  const tenon_instruction_t* i = &e->program->instructions[index];
  const tenon_tensor_view_t* view = &e->inputs[i->immediate.i];
  uint8_t* faults = faults_of(e, index);
  uint64_t elements = 0;
  place_load(e, i, faults, count);
  if (!tenon__element_count(view->rank, view->dims, &elements) || elements == 0 ||
      view->rank != i->operands[1]) {
    memset(row_of(e, index), 0, count * sizeof(tenon__scalar_t));
    memset(faults, 1, count);
    return;
  }
  tenon__block_read(view, e->offsets, i->dtype, row_of(e, index), count);
}

static void evaluate_index(evaluation_t* e, uint32_t axis, tenon__scalar_t* out, uint32_t count) {
  int64_t strides[TENON_RANK_LIMIT] = {0};
  strides[axis] = 1;
  tenon__walk_offsets(&e->walk, strides, count, e->offsets);
  for (uint32_t p = 0; p < count; ++p) {
    out[p].i = e->offsets[p];
  }
}

static void evaluate_sums(evaluation_t* e, uint32_t index, uint32_t count) {
  const sums_t* sums = &e->sums[index];
  tenon__scalar_t* out = row_of(e, index);
  tenon__walk_offsets(&e->walk, sums->strides, count, e->offsets);
  for (uint32_t p = 0; p < count; ++p) {
    out[p] = sums->values[e->offsets[p]];
  }
}

/* Instructions without operands, and results of reductions. */
static void evaluate_leaf(evaluation_t* e, uint32_t index, uint32_t count) {
  const tenon_instruction_t* i = &e->program->instructions[index];
  tenon__scalar_t* out = row_of(e, index);
  tenon__scalar_t value;
  memcpy(&value, &i->immediate, sizeof(value));
  switch (i->opcode) {
    case TENON_OPCODE_INPUT:
      evaluate_input(e, i, out, count);
      return;
    case TENON_OPCODE_INDEX:
      evaluate_index(e, (uint32_t)i->immediate.i, out, count);
      return;
    case TENON_OPCODE_CONSTANT:
      value = tenon__scalar_fit(i->dtype, value);
      break;
    case TENON_OPCODE_SIZE:
      value.i = e->space[i->immediate.i];
      break;
    case TENON_OPCODE_EXTENT:
      value.i = e->inputs[i->immediate.i].dims[i->operands[0]];
      break;
    default:
      evaluate_sums(e, index, count);
      return;
  }
  for (uint32_t p = 0; p < count; ++p) {
    out[p] = value;
  }
}

/* A lane is at fault when an operand is; of a SELECT, when its condition or the side that it takes
 * is. */
static void pass_faults(evaluation_t* e, uint32_t index, uint32_t count) {
  const tenon_instruction_t* i = &e->program->instructions[index];
  const uint32_t operand_count = tenon__opcode_operand_count(i->opcode);
  uint8_t* out = faults_of(e, index);
  memset(out, 0, count);
  if (i->opcode == TENON_OPCODE_SELECT) {
    const tenon__scalar_t* condition = row_of(e, i->operands[0]);
    const uint8_t* faults[3] = {faults_of(e, i->operands[0]), faults_of(e, i->operands[1]),
                                faults_of(e, i->operands[2])};
    for (uint32_t p = 0; p < count; ++p) {
      out[p] = (uint8_t)(faults[0][p] | faults[condition[p].i != 0 ? 1 : 2][p]);
    }
    return;
  }
  for (uint32_t o = 0; o < operand_count && !tenon__opcode_is_reduction(i->opcode); ++o) {
    const uint8_t* faults = faults_of(e, i->operands[o]);
    for (uint32_t p = 0; p < count; ++p) {
      out[p] = (uint8_t)(out[p] | faults[p]);
    }
  }
}

static void evaluate_instruction(evaluation_t* e, uint32_t index, uint32_t count) {
  const tenon_instruction_t* i = &e->program->instructions[index];
  if (i->opcode == TENON_OPCODE_LOAD) {
    evaluate_load(e, index, count);
    return;
  }
  if (tenon__opcode_operand_count(i->opcode) == 0 || tenon__opcode_is_reduction(i->opcode)) {
    evaluate_leaf(e, index, count);
  } else {
    const tenon_dtype_t from = tenon__instruction_type(&e->program->instructions[i->operands[0]]);
    const tenon__scalar_t* const operands[3] = {
        row_of(e, i->operands[0]), row_of(e, i->operands[1]), row_of(e, i->operands[2])};
    tenon__block_apply(i, from, operands, row_of(e, index), count);
  }
  if (e->faults != NULL) {
    pass_faults(e, index, count);
  }
}

/* A pass over the space without some axes; what is needed for it is marked down to reductions,
 * which are there already. */
static void begin_pass(evaluation_t* e, uint64_t without) {
  const tenon_program_t* program = e->program;
  tenon__count_needs(program->instructions, program->coordinates, program->instruction_count, false,
                     e->needed);
  (void)tenon__walk_begin(program->rank, e->space, without, &e->walk);
}

/* The next block of the walk; false at the end. */
static bool evaluate_block(evaluation_t* e, uint32_t* out_count) {
  if (e->walk.left == 0) {
    return false;
  }
  const uint32_t count = e->walk.left < e->block ? (uint32_t)e->walk.left : e->block;
  for (uint32_t k = 0; k < e->program->instruction_count; ++k) {
    if (e->needed[k]) {
      evaluate_instruction(e, k, count);
    }
  }
  *out_count = count;
  return true;
}

/* A fault that arrived where it counts: says which index it was. */
static tenon_status_t check_faults(const evaluation_t* e, uint32_t root, uint32_t count) {
  const uint8_t* faults = faults_of(e, root);
  uint32_t lane = 0;
  while (faults != NULL && lane < count && faults[lane] == 0) {
    ++lane;
  }
  if (faults == NULL || lane == count) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k <= root; ++k) {
    const tenon_instruction_t* i = &e->program->instructions[k];
    if (!e->needed[k] || i->opcode != TENON_OPCODE_LOAD || faults_of(e, k)[lane] == 0) {
      continue;
    }
    const tenon_tensor_view_t* view = &e->inputs[i->immediate.i];
    for (uint32_t d = 0; d < i->operands[1] && d < view->rank; ++d) {
      const int64_t at = row_of(e, e->program->coordinates[i->operands[0] + d])[lane].i;
      if (at < 0 || at >= view->dims[d]) {
        return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA,
                           "element %lld of axis %u is read, whose extent is %lld", (long long)at,
                           d, (long long)view->dims[d]);
      }
    }
  }
  return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA, "an element is read from an empty tensor");
}

/* ---- Reductions ---- */

/* Room and a beginning for a reduction's results; its operand is needed in the pass that comes. */
static tenon_status_t begin_sums(evaluation_t* e, uint32_t index) {
  const tenon_instruction_t* i = &e->program->instructions[index];
  sums_t* sums = &e->sums[index];
  int64_t extents[TENON_RANK_LIMIT] = {0};
  sums->length = 1;
  for (uint32_t k = 0; k < e->program->rank; ++k) {
    const bool gone = (((uint64_t)i->immediate.i >> k) & 1u) != 0;
    extents[k] = gone ? 1 : e->space[k];
    sums->length *= gone ? (uint64_t)e->space[k] : 1u;
  }
  if (!tenon__element_count(e->program->rank, extents, &sums->count) ||
      !tenon__strides_row_major(e->program->rank, extents, sums->strides)) {
    return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA, "a reduction's result is too large");
  }
  sums->values = tenon__arena_allocate(&e->arena, sums->count, sizeof(tenon__scalar_t));
  TENON_TRY_MEMORY(sums->values != NULL);
  for (uint32_t k = 0; k < e->program->rank; ++k) {
    sums->strides[k] = extents[k] == 1 ? 0 : sums->strides[k];
  }
  const tenon__scalar_t begin = tenon__reduction_begin(i);
  for (uint64_t k = 0; k < sums->count; ++k) {
    sums->values[k] = begin;
  }
  ++e->needed[i->operands[0]];
  return TENON_OK;
}

static bool is_of_stage(const evaluation_t* e, uint32_t index, uint32_t stage) {
  return tenon__opcode_is_reduction(e->program->instructions[index].opcode) &&
         e->stages[index] == stage;
}

static tenon_status_t add_block(evaluation_t* e, uint32_t stage, uint32_t count) {
  for (uint32_t k = 0; k < e->program->instruction_count; ++k) {
    if (!is_of_stage(e, k, stage)) {
      continue;
    }
    const tenon_instruction_t* i = &e->program->instructions[k];
    TENON_TRY(check_faults(e, i->operands[0], count));
    tenon__walk_offsets(&e->walk, e->sums[k].strides, count, e->offsets);
    tenon__reduction_add(i, row_of(e, i->operands[0]), e->offsets, e->sums[k].values, count);
  }
  return TENON_OK;
}

/* All reductions whose operands are ready at this stage, in one pass. */
static tenon_status_t reduce(evaluation_t* e, uint32_t stage) {
  memset(e->needed, 0, e->program->instruction_count * sizeof(*e->needed));
  for (uint32_t k = 0; k < e->program->instruction_count; ++k) {
    TENON_TRY(is_of_stage(e, k, stage) ? begin_sums(e, k) : TENON_OK);
  }
  begin_pass(e, 0);
  uint32_t count = 0;
  while (evaluate_block(e, &count)) {
    TENON_TRY(add_block(e, stage, count));
    tenon__walk_advance(&e->walk, count);
  }
  for (uint32_t k = 0; k < e->program->instruction_count; ++k) {
    const sums_t* sums = &e->sums[k];
    for (uint64_t s = 0; is_of_stage(e, k, stage) && s < sums->count; ++s) {
      sums->values[s] =
          tenon__reduction_end(&e->program->instructions[k], sums->values[s], sums->length);
    }
  }
  return TENON_OK;
}

/* ---- Outputs ---- */

static tenon_status_t store_block(evaluation_t* e, uint64_t reduced, uint32_t count) {
  for (uint32_t k = 0; k < e->program->output_count; ++k) {
    const tenon_program_output_t* output = &e->program->outputs[k];
    if (output->reduced_axes != reduced || e->outputs[k].data == NULL) {
      continue;
    }
    TENON_TRY(check_faults(e, output->instruction, count));
    tenon__walk_offsets(&e->walk, e->outputs[k].strides, count, e->offsets);
    tenon__block_write(&e->outputs[k], e->offsets, row_of(e, output->instruction),
                       tenon__instruction_type(&e->program->instructions[output->instruction]),
                       count);
  }
  return TENON_OK;
}

/* All outputs that lack the same axes, in one pass over what is left of the space. */
static tenon_status_t store(evaluation_t* e, uint64_t reduced) {
  memset(e->needed, 0, e->program->instruction_count * sizeof(*e->needed));
  for (uint32_t k = 0; k < e->program->output_count; ++k) {
    if (e->program->outputs[k].reduced_axes == reduced && e->outputs[k].data != NULL) {
      ++e->needed[e->program->outputs[k].instruction];
    }
  }
  begin_pass(e, reduced);
  uint32_t count = 0;
  while (evaluate_block(e, &count)) {
    TENON_TRY(store_block(e, reduced, count));
    tenon__walk_advance(&e->walk, count);
  }
  return TENON_OK;
}

static tenon_status_t evaluate(evaluation_t* e) {
  const tenon_program_t* program = e->program;
  const size_t count = (size_t)program->instruction_count + 1;
  const bool loads = tenon__program_has(program, TENON_OPCODE_LOAD, TENON_OPCODE_LOAD);
  e->values = tenon__arena_allocate(&e->arena, count * e->block, sizeof(*e->values));
  e->faults = loads ? tenon__arena_allocate(&e->arena, count * e->block, 1) : NULL;
  e->sums = tenon__arena_allocate(&e->arena, count, sizeof(*e->sums));
  e->stages = tenon__arena_allocate(&e->arena, count, sizeof(*e->stages));
  e->needed = tenon__arena_allocate(&e->arena, count, sizeof(*e->needed));
  TENON_TRY_MEMORY(!e->arena.failed);
  const uint32_t stages = tenon__program_stages(program, e->stages);
  for (uint32_t stage = 1; stage <= stages; ++stage) {
    TENON_TRY(reduce(e, stage));
  }
  for (uint32_t k = 0; k < program->output_count; ++k) {
    const uint64_t reduced = program->outputs[k].reduced_axes;
    bool done = e->outputs[k].data == NULL;
    for (uint32_t other = 0; other < k; ++other) {
      done = done ||
             (program->outputs[other].reduced_axes == reduced && e->outputs[other].data != NULL);
    }
    TENON_TRY(done ? TENON_OK : store(e, reduced));
  }
  return TENON_OK;
}

/* Rows of long programs are shorter. */
static uint32_t block_for(uint32_t instruction_count) {
  const uint32_t fitting = ROW_LIMIT / (instruction_count + 1);
  return fitting > TENON__BLOCK ? TENON__BLOCK : fitting < LEAST_BLOCK ? LEAST_BLOCK : fitting;
}

tenon_status_t tenon__program_evaluate(const tenon_program_t* program, const int64_t* space,
                                       const tenon_tensor_view_t* inputs,
                                       const tenon_tensor_view_t* outputs,
                                       tenon_allocator_t allocator, const tenon_sink_t* sink) {
  evaluation_t e = {.program = program,
                    .space = space,
                    .inputs = inputs,
                    .outputs = outputs,
                    .sink = sink,
                    .block = block_for(program->instruction_count)};
  if (program->rank > TENON_RANK_LIMIT || !tenon__walk_begin(program->rank, space, 0, &e.walk)) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "an expression's space is too large");
  }
  tenon__arena_initialize(&e.arena, allocator);
  const tenon_status_t status = evaluate(&e);
  tenon__arena_deinitialize(&e.arena);
  return status;
}
