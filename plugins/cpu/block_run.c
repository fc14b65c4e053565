/* Runs plans. Each step handles one block of rows x columns points. */
#include <math.h>
#include <string.h>

#include "block.h"
#include "block_plan.h"
#include "copy.h"

/* Returns operand k. If the result varies only along rows, each operand that varies is a contiguous
 * vector. Otherwise it is a row. */
static source_t operand_of(const run_t* run, const step_t* step, size_t k, loop_t* inout_loop) {
  const uint32_t i = step->inputs[k];
  source_t source = source_of(run, i);
  if ((run->block->varies[step->result] & TENON_CPU_COLUMNS) == 0) {
    source.is_row = source.row_bytes != 0;
    source.row_bytes = 0;
  } else if (inout_loop->calls > 1) {
    inout_loop->flat = inout_loop->flat && follows_on(source, inout_loop->count, bytes_of(run, i));
  }
  return source;
}

static void run_unary(const run_t* run, const step_t* step, tenon__cpu_unary_t function) {
  const place_t out = result_place(run, step);
  loop_t loop = start_loop(run, step, out);
  const source_t a = operand_of(run, step, 0, &loop);
  finish_loop(&loop);
  for (size_t r = 0; r < loop.calls; r++) {
    function(out.data + (ptrdiff_t)r * out.row_bytes, a.data + (ptrdiff_t)r * a.row_bytes,
             loop.count);
  }
}

/* Multiplies by the reciprocal of the divisor. Returns false if the divisor is so large or small
 * that the reciprocal loses digits. */
static bool divide_row(const run_t* run, const loop_t* loop, const char* row, const char* divisor,
                       place_t out, size_t r) {
  const float number = *(const float*)(const void*)divisor;
  if (!(number >= 0x1p-64F && number <= 0x1p64F)) {
    return false;
  }
  const float reciprocal = 1.0F / number;
  run->block->elements->binary[TENON_OPCODE_MUL][TENON_CPU_TYPE_F32][TENON_CPU_VS](
      out.data + (ptrdiff_t)r * out.row_bytes, row, &reciprocal, loop->count);
  return true;
}

static void run_binary(const run_t* run, const step_t* step) {
  const uint32_t opcode = run->block->program->source.instructions[step->result].opcode;
  const tenon__cpu_binary_t* forms =
      run->block->elements->binary[opcode][type_of(run, step->inputs[0])];
  const size_t bytes = bytes_of(run, step->inputs[0]);
  const place_t out = result_place(run, step);
  loop_t loop = start_loop(run, step, out);
  const source_t a = operand_of(run, step, 0, &loop);
  const source_t b = operand_of(run, step, 1, &loop);
  finish_loop(&loop);
  uint32_t form = a.is_row == b.is_row ? TENON_CPU_VV : a.is_row ? TENON_CPU_VS : TENON_CPU_SV;
  const bool widens = form != TENON_CPU_VV && forms[form] == NULL;
  for (size_t r = 0; r < loop.calls; r++) {
    const char* left = a.data + (ptrdiff_t)r * a.row_bytes;
    const char* right = b.data + (ptrdiff_t)r * b.row_bytes;
    if (step->reciprocal && form == TENON_CPU_VS && divide_row(run, &loop, left, right, out, r)) {
      continue;
    }
    if (widens) {
      const char** single = form == TENON_CPU_VS ? &right : &left;
      tenon__cpu_fill(run->temporary, *single, bytes, loop.count);
      *single = run->temporary;
    }
    forms[widens ? TENON_CPU_VV : form](out.data + (ptrdiff_t)r * out.row_bytes, left, right,
                                        loop.count);
  }
}

static void run_select(const run_t* run, const step_t* step) {
  const size_t bytes = bytes_of(run, step->result);
  const size_t which = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  const place_t out = result_place(run, step);
  loop_t loop = start_loop(run, step, out);
  const source_t c = operand_of(run, step, 0, &loop);
  const source_t a = operand_of(run, step, 1, &loop);
  const source_t b = operand_of(run, step, 2, &loop);
  finish_loop(&loop);
  for (size_t r = 0; r < loop.calls; r++) {
    const char* condition = c.data + (ptrdiff_t)r * c.row_bytes;
    if (!c.is_row && loop.count > 1) { /* one condition for the whole row */
      const source_t taken = *condition != 0 ? a : b;
      const char* from = taken.data + (ptrdiff_t)r * taken.row_bytes;
      char* to = out.data + (ptrdiff_t)r * out.row_bytes;
      if (taken.is_row) {
        memmove(to, from, loop.count * bytes);
      } else {
        tenon__cpu_fill(to, from, bytes, loop.count);
      }
      continue;
    }
    run->block->elements->select[which](out.data + (ptrdiff_t)r * out.row_bytes, condition,
                                        a.data + (ptrdiff_t)r * a.row_bytes, a.is_row,
                                        b.data + (ptrdiff_t)r * b.row_bytes, b.is_row, loop.count);
  }
}

/* Rounds to half precision and converts back, in place. */
static void round_to(const run_t* run, const step_t* step, tenon_dtype_t dtype) {
  const tenon__cpu_elements_t* elements = run->block->elements;
  const bool bf16 = dtype == TENON_DTYPE_BFLOAT16;
  if (!bf16 && dtype != TENON_DTYPE_FLOAT16) {
    return;
  }
  const uint8_t varies = run->block->varies[step->result];
  const size_t count = rows_of(run, varies) * columns_of(run, varies);
  char* data = run->places[step->result].data;
  (bf16 ? elements->to_bf16 : elements->to_f16)(run->temporary, data, count);
  (bf16 ? elements->from_bf16 : elements->from_f16)(data, run->temporary, count);
}

static void run_cast(const run_t* run, const step_t* step) {
  const tenon__cpu_type_t from = type_of(run, step->inputs[0]);
  const tenon__cpu_type_t to = type_of(run, step->result);
  run_unary(run, step, run->block->elements->convert[from][to]);
  round_to(run, step, run->block->program->source.instructions[step->result].dtype);
}

static void run_read(const run_t* run, const step_t* step) {
  const tenon_dtype_t dtype = run->block->program->source.operands[step->operand].dtype;
  const tenon__cpu_walk_t walk = run->block->shape.operands[step->operand];
  const uint8_t varies = run->block->varies[step->result];
  const size_t stored = tenon__cpu_element_bytes(dtype);
  const tenon__cpu_type_t type = type_of(run, step->result);
  tenon__cpu_type_t natural = type;
  const bool converts = !tenon__cpu_type_of(dtype, &natural) || natural != type ||
                        stored != tenon__cpu_type_bytes(type);
  const place_t out = result_place(run, step);
  const bool is_vector = (varies & TENON_CPU_COLUMNS) == 0;
  const size_t rows = is_vector ? 1 : rows_of(run, varies);
  const size_t columns = is_vector ? rows_of(run, varies) : run->frame->columns;
  const tenon__cpu_copy_2d_t shape = {
      .element_bytes = stored,
      .rows = rows,
      .columns = columns,
      .out_row = converts ? (int64_t)columns : out.row_bytes / (ptrdiff_t)stored,
      .out_column = 1,
      .in_row = walk.row,
      .in_column = is_vector ? walk.row : walk.column,
  };
  char* target = converts ? run->temporary : out.data;
  tenon__cpu_copy_2d(run->block->elements, &shape, target, run->frame->operands[step->operand]);
  if (converts) {
    for (size_t r = 0; r < rows; r++) {
      tenon__cpu_block_convert(run, dtype, type, out.data + (ptrdiff_t)r * out.row_bytes,
                               target + r * columns * stored, columns);
    }
  }
}

static void run_index(const run_t* run, const step_t* step) {
  const uint8_t varies = run->block->varies[step->result];
  const place_t out = result_place(run, step);
  const size_t count =
      (varies & TENON_CPU_COLUMNS) != 0 ? run->frame->columns : rows_of(run, varies);
  int64_t* numbers = (int64_t*)(void*)run->temporary;
  for (size_t k = 0; k < count; k++) {
    numbers[k] = run->frame->origin[step->operand] + (int64_t)k;
  }
  run->block->elements->convert[TENON_CPU_TYPE_I64][type_of(run, step->result)](out.data, numbers,
                                                                                count);
}

static void run_view(const run_t* run, const step_t* step) {
  const uint8_t varies = run->block->varies[step->result];
  const int64_t bytes = (int64_t)bytes_of(run, step->result);
  const int64_t row = run->block->shape.operands[step->operand].row;
  run->places[step->result] =
      (place_t){(char*)run->frame->operands[step->operand],
                (varies & TENON_CPU_ROWS) != 0 ? (ptrdiff_t)(row * bytes) : 0};
}

/* Rows of at most so many elements are reduced through their transpose. Only elements of 4 bytes are
 * transposed by vectors. */
enum { SHORT_ROW = 40, SHORT_WIDE_ROW = 8, LEAST_ROWS = 8 };

/* Reduces short rows at once by adding the columns of the block. Returns false for long rows and
 * fewer than LEAST_ROWS. */
static bool reduce_short_rows(const run_t* run, source_t a, size_t bytes, tenon__cpu_binary_t add,
                              place_t sum) {
  const tenon__cpu_block_t* block = run->block;
  const size_t rows = run->frame->rows;
  const size_t columns = run->frame->columns;
  if (block->shape.rows_reduced || !a.is_row || rows < LEAST_ROWS ||
      columns > (bytes == 4 ? SHORT_ROW : SHORT_WIDE_ROW) || sum.row_bytes != (ptrdiff_t)bytes ||
      a.row_bytes % (ptrdiff_t)bytes != 0) {
    return false;
  }
  const tenon__cpu_copy_2d_t transpose = {.element_bytes = bytes,
                                          .rows = columns,
                                          .columns = rows,
                                          .out_row = (int64_t)rows,
                                          .out_column = 1,
                                          .in_row = 1,
                                          .in_column = a.row_bytes / (ptrdiff_t)bytes};
  tenon__cpu_copy_2d(block->elements, &transpose, run->temporary, a.data);
  for (size_t c = 0; c < columns; c++) {
    add(sum.data, sum.data, run->temporary + c * rows * bytes, rows);
  }
  return true;
}

static void run_reduce(const run_t* run, const step_t* step) {
  const tenon__cpu_block_t* block = run->block;
  const uint32_t i = step->inputs[0];
  const uint32_t opcode = block->program->source.instructions[step->result].opcode;
  const tenon__cpu_type_t type = type_of(run, step->result);
  const size_t bytes = tenon__cpu_type_bytes(type);
  static const uint8_t combining[] = {
      [0] = TENON_OPCODE_ADD, /* for TENON_OPCODE_SUM */
      [TENON_OPCODE_PROD - TENON_OPCODE_SUM] = TENON_OPCODE_MUL,
      [TENON_OPCODE_REDUCE_MIN - TENON_OPCODE_SUM] = TENON_OPCODE_MIN,
      [TENON_OPCODE_REDUCE_MAX - TENON_OPCODE_SUM] = TENON_OPCODE_MAX,
      [TENON_OPCODE_MEAN - TENON_OPCODE_SUM] = TENON_OPCODE_ADD,
  };
  const uint32_t combine = combining[opcode - TENON_OPCODE_SUM];
  const tenon__cpu_binary_t add = type == TENON_CPU_TYPE_BOOL
                                      ? block->elements->binary[combine][TENON_CPU_TYPE_U8][0]
                                      : block->elements->binary[combine][type][0];
  const source_t a = source_of(run, i);
  const place_t sum = run->places[step->result];
  const bool by_rows = block->shape.rows_reduced || (block->varies[i] & TENON_CPU_ROWS) != 0;
  const size_t rows = by_rows ? run->frame->rows : 1;
  if (by_rows && block->shape.columns_reduced && reduce_short_rows(run, a, bytes, add, sum)) {
    return;
  }
  for (size_t r = 0; r < rows; r++) {
    const char* row = a.data + (ptrdiff_t)r * a.row_bytes;
    char* target = sum.data + (ptrdiff_t)r * sum.row_bytes;
    if (!block->shape.columns_reduced) {
      add(target, target, row, a.is_row ? run->frame->columns : 1);
      continue;
    }
    if (!a.is_row) {
      tenon__cpu_fill(run->temporary, row, bytes, run->frame->columns);
      row = run->temporary;
    }
    block->elements->fold[opcode][type](target, row, run->frame->columns);
  }
}

static void run_write(const run_t* run, const step_t* step) {
  const tenon__cpu_block_t* block = run->block;
  const uint32_t i = step->inputs[0];
  const tenon_dtype_t dtype = block->program->source.outputs[step->result].dtype;
  const tenon__cpu_walk_t walk = block->shape.outputs[step->result];
  const tenon__cpu_elements_t* elements = block->elements;
  const size_t stored = tenon__cpu_element_bytes(dtype);
  const bool late =
      block->program->source.outputs[step->result].reduced_axes != 0 && block->program->reduces;
  size_t rows = late && block->shape.rows_reduced ? 1 : run->frame->rows;
  size_t columns = late && block->shape.columns_reduced ? 1 : run->frame->columns;
  source_t a = source_of(run, i);
  tenon__cpu_type_t natural = TENON_CPU_TYPE_F32;
  (void)tenon__cpu_type_of(dtype, &natural);
  const tenon__cpu_type_t type = type_of(run, i);
  const size_t bytes = tenon__cpu_type_bytes(type);
  int64_t out_column = columns > 1 ? walk.column : 1;
  const bool is_vector = columns == 1 && rows > 1 && a.row_bytes > 0;
  if (is_vector && a.row_bytes == (ptrdiff_t)bytes) { /* one number for each row */
    columns = rows;
    rows = 1;
    out_column = walk.row;
    a.is_row = true;
  }
  const bool half = stored != tenon__cpu_type_bytes(natural);
  /* Each row is expanded, converted and stored. If no expansion or conversion is needed, one call
   * stores all rows. */
  const bool plain = natural == type && !half && a.is_row && a.row_bytes % (ptrdiff_t)bytes == 0;
  tenon__cpu_copy_2d_t shape = {.element_bytes = stored,
                                .rows = plain ? rows : 1,
                                .columns = columns,
                                .out_row = walk.row,
                                .out_column = out_column,
                                .in_row = a.row_bytes / (ptrdiff_t)bytes,
                                .in_column = 1};
  char* target = run->frame->outputs[step->result];
  for (size_t r = 0; r < rows; r += shape.rows) {
    const char* row = a.data + (ptrdiff_t)r * a.row_bytes;
    if (!a.is_row) {
      tenon__cpu_fill(run->temporary, row, bytes, columns);
      row = run->temporary;
    }
    if (natural != type) {
      elements->convert[type][natural](run->offsets, row, columns);
      row = run->offsets;
    }
    if (half) {
      char* free_half = row == run->temporary ? run->offsets : run->temporary;
      (dtype == TENON_DTYPE_FLOAT16 ? elements->to_f16 : elements->to_bf16)(free_half, row,
                                                                            columns);
      row = free_half;
    }
    tenon__cpu_copy_2d(elements, &shape, target + (int64_t)r * walk.row * (int64_t)stored, row);
  }
}

/* ---- Phases ---- */

static bool run_step(const run_t* run, const step_t* step) {
  const tenon_instruction_t* in = &run->block->program->source.instructions[step->result];
  switch (step->kind) {
    case STEP_VIEW:
      run_view(run, step);
      break;
    case STEP_READ:
      run_read(run, step);
      break;
    case STEP_INDEX:
      run_index(run, step);
      break;
    case STEP_GATHER:
      return tenon__cpu_block_gather(run, step);
    case STEP_UNARY:
      run_unary(run, step, run->block->elements->unary[in->opcode][type_of(run, step->inputs[0])]);
      break;
    case STEP_BINARY:
      run_binary(run, step);
      break;
    case STEP_SELECT:
      run_select(run, step);
      break;
    case STEP_CAST:
      run_cast(run, step);
      break;
    case STEP_REDUCE:
      run_reduce(run, step);
      break;
    case STEP_WRITE:
      run_write(run, step);
      break;
    case STEP_SHIFTED_SUM:
      tenon__cpu_block_run_shifted_sum(run, step);
      break;
    case STEP_SCALED:
      tenon__cpu_block_run_scaled(run, step);
      break;
    case STEP_QUANTIZED:
    case STEP_REQUANTIZED:
    case STEP_DEQUANTIZED:
      tenon__cpu_block_run_quantized(run, step);
      break;
    case STEP_FOUND:
      tenon__cpu_block_run_found(run, step);
      break;
    case STEP_AFFINE:
      tenon__cpu_block_run_affine(run, step);
      break;
    case STEP_GELU:
      run_unary(run, step, run->block->elements->gelu);
      break;
    case STEP_NONE:
      break;
  }
  return true;
}

bool tenon__cpu_block_run(const tenon__cpu_block_t* block, uint32_t phase,
                          const tenon__cpu_frame_t* frame) {
  const run_t run = make_run(block, frame);
  bool inside = true;
  for (uint32_t s = block->phase_begin[phase]; s < block->phase_begin[phase + 1]; s++) {
    inside = run_step(&run, &block->steps[s]) && inside;
  }
  return inside;
}

/* Stores the neutral element of a sum, product, minimum or maximum. */
static void neutral(const tenon__cpu_block_t* block, uint32_t i, void* out) {
  const uint32_t opcode = block->program->source.instructions[i].opcode;
  const tenon__cpu_type_t type = (tenon__cpu_type_t)block->program->types[i];
  const double real = opcode == TENON_OPCODE_PROD         ? 1.0
                      : opcode == TENON_OPCODE_REDUCE_MIN ? (double)INFINITY
                      : opcode == TENON_OPCODE_REDUCE_MAX ? -(double)INFINITY
                                                          : 0.0;
  if (type == TENON_CPU_TYPE_BOOL) {
    *(uint8_t*)out = opcode == TENON_OPCODE_REDUCE_MIN;
    return;
  }
  block->elements->convert[TENON_CPU_TYPE_F64][type](out, &real, 1);
}

void tenon__cpu_block_begin(const tenon__cpu_block_t* block, uint32_t phase,
                            const tenon__cpu_frame_t* frame) {
  const run_t run = make_run(block, frame);
  for (uint32_t s = 0; s < block->sum_count; s++) {
    const sum_t* sum = &block->sums[s];
    if (sum->phase != phase) {
      continue;
    }
    uint64_t start = 0;
    neutral(block, sum->instruction, &start);
    const uint8_t varies = block->varies[sum->instruction];
    const size_t bytes = bytes_of(&run, sum->instruction);
    place_t* place = &run.places[sum->instruction];
    place->data = buffer_at(&run, sum->buffer);
    place->row_bytes =
        (varies & TENON_CPU_ROWS) != 0 ? (ptrdiff_t)(columns_of(&run, varies) * bytes) : 0;
    tenon__cpu_fill(place->data, &start, bytes, rows_of(&run, varies) * columns_of(&run, varies));
  }
}

void tenon__cpu_block_end(const tenon__cpu_block_t* block, uint32_t phase,
                          const tenon__cpu_frame_t* frame, int64_t count) {
  const run_t run = make_run(block, frame);
  for (uint32_t s = 0; s < block->sum_count; s++) {
    const uint32_t i = block->sums[s].instruction;
    if (block->sums[s].phase != phase ||
        block->program->source.instructions[i].opcode != TENON_OPCODE_MEAN) {
      continue;
    }
    const tenon__cpu_type_t type = type_of(&run, i);
    uint64_t divisor = 0;
    block->elements->convert[TENON_CPU_TYPE_I64][type](&divisor, &count, 1);
    const uint8_t varies = block->varies[i];
    char* data = run.places[i].data;
    block->elements->binary[TENON_OPCODE_DIV][type][TENON_CPU_VS](
        data, data, &divisor, rows_of(&run, varies) * columns_of(&run, varies));
  }
}

void tenon__cpu_block_finish(const tenon__cpu_block_t* block, const tenon__cpu_frame_t* frame) {
  (void)tenon__cpu_block_run(block, block->program->phase_count, frame);
}
