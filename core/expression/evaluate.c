/*
 * The evaluator: block by block, up to 256 points of the space at a time. Reductions are computed first, each in
 * a pass of its own over the space (f32 sums are kept in double and rounded once); then the outputs.
 */
#include "core/expression/evaluate.h"

#include <math.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/expression/scalar.h"
#include "core/tensor/layout.h"

enum { BLOCK = 256, MAX_AXES = 64 };

typedef struct evaluation_t {
  const tenon_program_t* program;
  int64_t space[MAX_AXES];
  uint64_t point_count;
  const tenon_tensor_view_t* inputs;
  const tenon_tensor_view_t* outputs;
  tenon_allocator_t allocator;
  const tenon_sink_t* sink;
  tenon__scalar_t* values;  /* instruction_count * BLOCK */
  tenon__scalar_t** reduced; /* per instruction: results of reductions */
  uint64_t* reduced_counts;
  uint8_t* needed;
  int64_t coordinates[MAX_AXES][BLOCK];
  uint8_t guarded[BLOCK];
} evaluation_t;

/* Index into an array over the space without the axes of `mask`. */
static uint64_t reduced_index(const evaluation_t* e, uint64_t mask, uint32_t point) {
  uint64_t index = 0;
  for (uint32_t k = 0; k < e->program->rank; ++k) {
    if (((mask >> k) & 1u) == 0) {
      index = index * (uint64_t)e->space[k] + (uint64_t)e->coordinates[k][point];
    }
  }
  return index;
}

static void set_coordinates(evaluation_t* e, uint64_t first, uint32_t count) {
  for (uint32_t p = 0; p < count; ++p) {
    uint64_t rest = first + p;
    for (uint32_t k = e->program->rank; k-- > 0;) {
      e->coordinates[k][p] = (int64_t)(rest % (uint64_t)e->space[k]);
      rest /= (uint64_t)e->space[k];
    }
  }
}

static int64_t place_of(const evaluation_t* e, const tenon_tensor_view_t* view, uint32_t point) {
  int64_t place = 0;
  for (uint32_t k = 0; k < view->rank; ++k) {
    place += e->coordinates[k][point] * view->strides[k];
  }
  return place;
}

/* Elements may stand before `data` (negative strides): whole words are taken from where they are. */
static tenon__scalar_t load_at(const tenon_tensor_view_t* view, int64_t place) {
  const uint32_t bits = tenon__dtype_bits(view->dtype);
  if (bits < 8) {
    return tenon__element_load(view->data, view->dtype,
                               (uint64_t)(place + (int64_t)(view->bit_offset / bits)));
  }
  return tenon__element_load((const char*)view->data + place * (int64_t)(bits / 8), view->dtype, 0);
}

static void store_at(const tenon_tensor_view_t* view, int64_t place, tenon__scalar_t value,
                     tenon_dtype_t from) {
  const uint32_t bits = tenon__dtype_bits(view->dtype);
  if (bits < 8) {
    tenon__element_store(view->data, view->dtype,
                         (uint64_t)(place + (int64_t)(view->bit_offset / bits)), value, from);
    return;
  }
  tenon__element_store((char*)view->data + place * (int64_t)(bits / 8), view->dtype, 0, value,
                       from);
}

static void evaluate_input(evaluation_t* e, const tenon_instruction_t* i, tenon__scalar_t* out,
                           uint32_t count) {
  const tenon_tensor_view_t* view = &e->inputs[i->immediate.i];
  const tenon_dtype_t stored = tenon__dtype_arithmetic(view->dtype);
  for (uint32_t p = 0; p < count; ++p) {
    out[p] = load_at(view, place_of(e, view, p));
    if (stored != i->dtype) {
      out[p] = tenon__scalar_cast(out[p], stored, i->dtype);
    }
  }
}

/* Coordinates outside are clamped; whether that is an error is known when the value is used. */
static tenon_status_t evaluate_load(evaluation_t* e, const tenon_instruction_t* i,
                                    tenon__scalar_t* out, uint32_t count, bool is_guarded) {
  const tenon_tensor_view_t* view = &e->inputs[i->immediate.i];
  const uint32_t* coordinates = e->program->coordinates + i->operands[0];
  const tenon_dtype_t stored = tenon__dtype_arithmetic(view->dtype);
  uint64_t elements = 0;
  (void)tenon__element_count(view->rank, view->dims, &elements);
  for (uint32_t p = 0; p < count; ++p) {
    int64_t place = 0;
    for (uint32_t d = 0; d < i->operands[1]; ++d) {
      int64_t at = e->values[(size_t)coordinates[d] * BLOCK + p].i;
      if (at < 0 || at >= view->dims[d]) {
        if (!is_guarded) {
          return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA,
                             "index %lld is outside axis %u with extent %lld", (long long)at, d,
                             (long long)view->dims[d]);
        }
        at = at < 0 ? 0 : view->dims[d] - 1;
      }
      place += at * view->strides[d];
    }
    out[p] = elements == 0 ? (tenon__scalar_t){.i = 0} : load_at(view, place);
    if (stored != i->dtype && elements > 0) {
      out[p] = tenon__scalar_cast(out[p], stored, i->dtype);
    }
  }
  return TENON_OK;
}

/* Is a LOAD used by selects alone (then its condition excludes what is out of range)? */
static bool load_is_guarded(const tenon_program_t* program, uint32_t load) {
  bool any = false;
  for (uint32_t k = load + 1; k < program->instruction_count; ++k) {
    const tenon_instruction_t* i = &program->instructions[k];
    const uint32_t operand_count = tenon__opcode_operand_count(i->opcode);
    for (uint32_t o = 0; o < operand_count; ++o) {
      if (i->operands[o] == load) {
        if (i->opcode != TENON_OPCODE_SELECT || o == 0) {
          return false;
        }
        any = true;
      }
    }
  }
  for (uint32_t k = 0; k < program->output_count; ++k) {
    any = any && program->outputs[k].instruction != load;
  }
  return any;
}

static void evaluate_leaf(evaluation_t* e, uint32_t index, tenon__scalar_t* out, uint32_t count) {
  const tenon_instruction_t* i = &e->program->instructions[index];
  for (uint32_t p = 0; p < count; ++p) {
    switch (i->opcode) {
      case TENON_OPCODE_CONSTANT:
        if (tenon__dtype_class(i->dtype) == 'f') {
          out[p].f = tenon__round_float(i->dtype, i->immediate.f);
        } else {
          out[p].i = i->immediate.i;
        }
        break;
      case TENON_OPCODE_INDEX:
        out[p].i = e->coordinates[i->immediate.i][p];
        break;
      case TENON_OPCODE_SIZE:
        out[p].i = e->space[i->immediate.i];
        break;
      default: /* a reduction, computed before */
        out[p] = e->reduced[index][reduced_index(e, (uint64_t)i->immediate.i, p)];
        break;
    }
  }
}

static void evaluate_fast_f32(uint32_t opcode, const tenon__scalar_t* a, const tenon__scalar_t* b,
                              tenon__scalar_t* out, uint32_t count) {
  for (uint32_t p = 0; p < count; ++p) {
    const double x = a[p].f;
    const double y = b[p].f;
    const double r = opcode == TENON_OPCODE_ADD   ? x + y
                     : opcode == TENON_OPCODE_SUB ? x - y
                     : opcode == TENON_OPCODE_MUL ? x * y
                                                  : x / y;
    out[p].f = (double)(float)r;
  }
}

static tenon_status_t evaluate_instruction(evaluation_t* e, uint32_t index, uint32_t count) {
  const tenon_instruction_t* i = &e->program->instructions[index];
  tenon__scalar_t* out = e->values + (size_t)index * BLOCK;
  if (i->opcode == TENON_OPCODE_INPUT) {
    evaluate_input(e, i, out, count);
    return TENON_OK;
  }
  if (i->opcode == TENON_OPCODE_LOAD) {
    return evaluate_load(e, i, out, count, load_is_guarded(e->program, index));
  }
  if (tenon__opcode_operand_count(i->opcode) == 0 || tenon__opcode_is_reduction(i->opcode)) {
    evaluate_leaf(e, index, out, count);
    return TENON_OK;
  }
  const tenon__scalar_t* a = e->values + (size_t)i->operands[0] * BLOCK;
  const tenon__scalar_t* b = e->values + (size_t)i->operands[1] * BLOCK;
  const tenon__scalar_t* c = e->values + (size_t)i->operands[2] * BLOCK;
  if (i->dtype == TENON_DTYPE_FLOAT32 &&
      (i->opcode == TENON_OPCODE_ADD || i->opcode == TENON_OPCODE_SUB ||
       i->opcode == TENON_OPCODE_MUL || i->opcode == TENON_OPCODE_DIV)) {
    evaluate_fast_f32(i->opcode, a, b, out, count);
    return TENON_OK;
  }
  const tenon_dtype_t from =
      tenon__instruction_type(&e->program->instructions[i->operands[0]]);
  for (uint32_t p = 0; p < count; ++p) {
    if (i->opcode == TENON_OPCODE_RANDOM) {
      out[p].f = tenon__random_uniform(i->dtype, (uint64_t)a[p].i, (uint64_t)b[p].i);
    } else {
      out[p] = tenon__scalar_apply(i->opcode, i->dtype, from, a[p], b[p], c[p]);
    }
  }
  return TENON_OK;
}

/* Marks what instruction `root` needs, stopping at reductions that are there already. */
static void mark_needed(evaluation_t* e, uint32_t root) {
  const tenon_program_t* program = e->program;
  e->needed[root] = 1;
  for (uint32_t k = root + 1; k-- > 0;) {
    const tenon_instruction_t* i = &program->instructions[k];
    if (!e->needed[k] || (k != root && tenon__opcode_is_reduction(i->opcode))) {
      continue;
    }
    const uint32_t operand_count = tenon__opcode_operand_count(i->opcode);
    for (uint32_t o = 0; o < operand_count; ++o) {
      e->needed[i->operands[o]] = 1;
    }
    for (uint32_t o = 0; i->opcode == TENON_OPCODE_LOAD && o < i->operands[1]; ++o) {
      e->needed[program->coordinates[i->operands[0] + o]] = 1;
    }
  }
}

static tenon_status_t evaluate_block(evaluation_t* e, uint64_t first, uint32_t count,
                                     uint32_t end) {
  set_coordinates(e, first, count);
  for (uint32_t k = 0; k < end; ++k) {
    if (e->needed[k]) {
      TENON_TRY(evaluate_instruction(e, k, count));
    }
  }
  return TENON_OK;
}

static tenon__scalar_t reduction_start(const tenon_instruction_t* i) {
  const bool is_float = tenon__dtype_class(i->dtype) == 'f';
  const bool is_unsigned = tenon__dtype_class(i->dtype) == 'u';
  const int64_t bits = (int64_t)tenon__dtype_bits(i->dtype);
  tenon__scalar_t start = {.i = 0};
  switch (i->opcode) {
    case TENON_OPCODE_PROD:
      return is_float ? (tenon__scalar_t){.f = 1} : (tenon__scalar_t){.i = 1};
    case TENON_OPCODE_REDUCE_MIN:
      if (is_float) {
        start.f = INFINITY;
      } else {
        start.i = i->dtype == TENON_DTYPE_BOOL ? 1
                  : is_unsigned                ? (bits == 64 ? -1 : (INT64_C(1) << bits) - 1)
                                               : (int64_t)(UINT64_MAX >> (65 - bits));
      }
      return start;
    case TENON_OPCODE_REDUCE_MAX:
      if (is_float) {
        start.f = -INFINITY;
      } else if (!is_unsigned && i->dtype != TENON_DTYPE_BOOL) {
        start.i = -(int64_t)(UINT64_MAX >> (65 - bits)) - 1;
      }
      return start;
    default:
      return is_float ? (tenon__scalar_t){.f = 0} : start;
  }
}

static void accumulate(const tenon_instruction_t* i, tenon__scalar_t* sum, tenon__scalar_t value) {
  const bool is_float = tenon__dtype_class(i->dtype) == 'f';
  switch (i->opcode) {
    case TENON_OPCODE_REDUCE_MIN:
      *sum = tenon__scalar_apply(TENON_OPCODE_MIN, i->dtype, i->dtype, *sum, value, value);
      break;
    case TENON_OPCODE_REDUCE_MAX:
      *sum = tenon__scalar_apply(TENON_OPCODE_MAX, i->dtype, i->dtype, *sum, value, value);
      break;
    case TENON_OPCODE_PROD:
      if (is_float) {
        sum->f *= value.f;
      } else {
        sum->i = (int64_t)((uint64_t)sum->i * (uint64_t)value.i);
      }
      break;
    default:
      if (is_float) {
        sum->f += value.f;
      } else {
        sum->i = (int64_t)((uint64_t)sum->i + (uint64_t)value.i);
      }
      break;
  }
}

static void finish_reduction(const tenon_instruction_t* i, tenon__scalar_t* sums, uint64_t count,
                             uint64_t length) {
  const bool is_float = tenon__dtype_class(i->dtype) == 'f';
  for (uint64_t k = 0; k < count; ++k) {
    if (is_float) {
      const double sum = i->opcode == TENON_OPCODE_MEAN ? sums[k].f / (double)length : sums[k].f;
      sums[k].f = tenon__round_float(i->dtype, sum);
    } else {
      const int64_t sum = i->opcode == TENON_OPCODE_MEAN && length > 0
                              ? sums[k].i / (int64_t)length
                              : sums[k].i;
      sums[k].i = tenon__wrap_integer(i->dtype, sum);
    }
  }
}

static tenon_status_t reduce(evaluation_t* e, uint32_t index) {
  const tenon_instruction_t* i = &e->program->instructions[index];
  uint64_t count = 1;
  uint64_t length = 1;
  for (uint32_t k = 0; k < e->program->rank; ++k) {
    *(((uint64_t)i->immediate.i >> k) & 1u ? &length : &count) *= (uint64_t)e->space[k];
  }
  e->reduced_counts[index] = count;
  e->reduced[index] = tenon__allocate(e->allocator, count + 1, sizeof(tenon__scalar_t));
  if (e->reduced[index] == NULL) {
    return tenon__fail_memory(e->sink);
  }
  const tenon__scalar_t start = reduction_start(i);
  for (uint64_t k = 0; k < count; ++k) {
    e->reduced[index][k] = start;
  }
  memset(e->needed, 0, e->program->instruction_count);
  mark_needed(e, i->operands[0]);
  for (uint64_t first = 0; first < e->point_count; first += BLOCK) {
    const uint64_t left = e->point_count - first;
    const uint32_t points = left < BLOCK ? (uint32_t)left : BLOCK;
    TENON_TRY(evaluate_block(e, first, points, i->operands[0] + 1));
    const tenon__scalar_t* values = e->values + (size_t)i->operands[0] * BLOCK;
    for (uint32_t p = 0; p < points; ++p) {
      accumulate(i, &e->reduced[index][reduced_index(e, (uint64_t)i->immediate.i, p)], values[p]);
    }
  }
  finish_reduction(i, e->reduced[index], count, length);
  return TENON_OK;
}

static void store_outputs(evaluation_t* e, uint32_t points) {
  for (uint32_t k = 0; k < e->program->output_count; ++k) {
    const tenon_program_output_t* output = &e->program->outputs[k];
    const tenon_dtype_t from =
        tenon__instruction_type(&e->program->instructions[output->instruction]);
    const tenon__scalar_t* values = e->values + (size_t)output->instruction * BLOCK;
    for (uint32_t p = 0; p < points; ++p) {
      bool first = true;
      for (uint32_t a = 0; a < e->program->rank && first; ++a) {
        first = ((output->reduced_axes >> a) & 1u) == 0 || e->coordinates[a][p] == 0;
      }
      if (first) {
        store_at(&e->outputs[k], place_of(e, &e->outputs[k], p), values[p], from);
      }
    }
  }
}

static tenon_status_t evaluate_all(evaluation_t* e) {
  const tenon_program_t* program = e->program;
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    if (tenon__opcode_is_reduction(program->instructions[k].opcode)) {
      TENON_TRY(reduce(e, k));
    }
  }
  memset(e->needed, 0, program->instruction_count);
  for (uint32_t k = 0; k < program->output_count; ++k) {
    const uint32_t root = program->outputs[k].instruction;
    e->needed[root] = 1;
    if (!tenon__opcode_is_reduction(program->instructions[root].opcode)) {
      mark_needed(e, root);
    }
  }
  for (uint64_t first = 0; first < e->point_count; first += BLOCK) {
    const uint64_t left = e->point_count - first;
    const uint32_t points = left < BLOCK ? (uint32_t)left : BLOCK;
    TENON_TRY(evaluate_block(e, first, points, program->instruction_count));
    store_outputs(e, points);
  }
  return TENON_OK;
}

/* Sums over nothing still have results (0, 1, infinities): outputs without an extent along a reduced axis of
 * extent 0 are stored from one virtual point. */
static bool space_is_empty_but_for_reductions(const evaluation_t* e) {
  bool empty = false;
  for (uint32_t k = 0; k < e->program->rank; ++k) {
    if (e->space[k] == 0) {
      bool everywhere = e->program->output_count > 0;
      for (uint32_t o = 0; o < e->program->output_count; ++o) {
        everywhere = everywhere && ((e->program->outputs[o].reduced_axes >> k) & 1u) != 0;
      }
      if (!everywhere) {
        return false;
      }
      empty = true;
    }
  }
  return empty;
}

static tenon_status_t evaluate_empty(evaluation_t* e) {
  for (uint32_t k = 0; k < e->program->instruction_count; ++k) {
    if (tenon__opcode_is_reduction(e->program->instructions[k].opcode)) {
      TENON_TRY(reduce(e, k));
    }
  }
  uint64_t count = 1;
  for (uint32_t k = 0; k < e->program->rank; ++k) {
    e->space[k] = e->space[k] == 0 ? 1 : e->space[k];
    count *= (uint64_t)e->space[k];
  }
  e->point_count = count;
  memset(e->needed, 0, e->program->instruction_count);
  for (uint32_t k = 0; k < e->program->output_count; ++k) {
    mark_needed(e, e->program->outputs[k].instruction);
    e->needed[e->program->outputs[k].instruction] = 1;
  }
  for (uint32_t k = 0; k < e->program->instruction_count; ++k) { /* what reductions read is not there */
    const uint16_t opcode = e->program->instructions[k].opcode;
    if (opcode == TENON_OPCODE_INPUT || opcode == TENON_OPCODE_LOAD) {
      e->needed[k] = 0;
    }
  }
  for (uint64_t first = 0; first < count; first += BLOCK) {
    const uint64_t left = count - first;
    const uint32_t points = left < BLOCK ? (uint32_t)left : BLOCK;
    TENON_TRY(evaluate_block(e, first, points, e->program->instruction_count));
    store_outputs(e, points);
  }
  return TENON_OK;
}

tenon_status_t tenon__program_evaluate(const tenon_program_t* program, const int64_t* space,
                                       const tenon_tensor_view_t* inputs,
                                       const tenon_tensor_view_t* outputs,
                                       tenon_allocator_t allocator, const tenon_sink_t* sink) {
  const size_t count = program->instruction_count + 1u;
  evaluation_t* e = tenon__allocate(allocator, 1, sizeof *e);
  if (e == NULL) {
    return tenon__fail_memory(sink);
  }
  e->program = program;
  e->inputs = inputs;
  e->outputs = outputs;
  e->allocator = allocator;
  e->sink = sink;
  memcpy(e->space, space, program->rank * sizeof *space);
  e->values = tenon__allocate(allocator, count * BLOCK, sizeof *e->values);
  e->reduced = tenon__allocate(allocator, count, sizeof *e->reduced);
  e->reduced_counts = tenon__allocate(allocator, count, sizeof *e->reduced_counts);
  e->needed = tenon__allocate(allocator, count, 1);
  tenon_status_t status = TENON_OK;
  if (!tenon__element_count(program->rank, space, &e->point_count)) {
    status = tenon__fail(sink, TENON_ERROR_INVALID_DATA, "an expression's space is too large");
  } else if (e->values == NULL || e->reduced == NULL || e->reduced_counts == NULL ||
             e->needed == NULL) {
    status = tenon__fail_memory(sink);
  } else if (e->point_count == 0 && space_is_empty_but_for_reductions(e)) {
    status = evaluate_empty(e);
  } else if (e->point_count > 0) {
    status = evaluate_all(e);
  }
  for (uint32_t k = 0; e->reduced != NULL && e->reduced_counts != NULL && k < count; ++k) {
    tenon__free(allocator, e->reduced[k], (e->reduced_counts[k] + 1) * sizeof(tenon__scalar_t));
  }
  tenon__free(allocator, e->needed, count);
  tenon__free(allocator, e->reduced_counts, count * sizeof *e->reduced_counts);
  tenon__free(allocator, e->reduced, count * sizeof *e->reduced);
  tenon__free(allocator, e->values, count * BLOCK * sizeof *e->values);
  tenon__free(allocator, e, sizeof *e);
  return status;
}
