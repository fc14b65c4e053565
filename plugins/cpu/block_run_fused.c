/* Runs the steps that block_fuse.c and block_fuse_elements.c make. */
#include "block.h"
#include "block_plan.h"
#include "copy.h"

/* Returns the rows of the first f32 output that this block will write, or NULL if there is none. */
static place_t will_write(const run_t* run) {
  const tenon__cpu_block_t* block = run->block;
  for (uint32_t o = 0; block->shape.whole && o < block->program->source.output_count; o++) {
    const tenon_program_output_t* output = &block->program->source.outputs[o];
    if (output->reduced_axes == 0 && output->dtype == TENON_DTYPE_FLOAT32 &&
        block->shape.outputs[o].column == 1) {
      return (place_t){run->frame->outputs[o],
                       (ptrdiff_t)(block->shape.outputs[o].row * (int64_t)sizeof(float))};
    }
  }
  return (place_t){0};
}

void tenon__cpu_block_run_shifted_sum(const run_t* run, const step_t* step) {
  const tenon__cpu_block_t* block = run->block;
  const bool is_shifted = step->inputs[1] != TENON_NONE;
  const source_t x = source_of(run, step->inputs[0]);
  const source_t shift = is_shifted ? source_of(run, step->inputs[1]) : (source_t){0};
  const source_t guard = step->guard != TENON_NONE ? source_of(run, step->guard) : (source_t){0};
  const source_t guarded =
      step->guard != TENON_NONE ? source_of(run, step->guarded) : (source_t){0};
  const place_t out = step->discards ? (place_t){0} : result_place(run, step);
  const place_t sum = run->places[step->sum];
  const place_t later = will_write(run);
  const uint8_t varies =
      block->varies[step->inputs[0]] | (is_shifted ? block->varies[step->inputs[1]] : 0);
  const bool by_rows = block->shape.rows_reduced || (varies & TENON_CPU_ROWS) != 0;
  const size_t rows = by_rows ? run->frame->rows : 1;
  for (size_t r = 0; r < rows; r++) {
    const ptrdiff_t at = (ptrdiff_t)r;
    tenon__cpu_shifted_row_t row = {.x = (const float*)(const void*)(x.data + at * x.row_bytes),
                                    .count = run->frame->columns};
    row.out = step->discards ? NULL : (float*)(void*)(out.data + at * out.row_bytes);
    float* total = (float*)(void*)(sum.data + at * sum.row_bytes);
    if (guard.data != NULL && guard.data[at * guard.row_bytes] != 0) {
      const float* value = (const float*)(const void*)(guarded.data + at * guarded.row_bytes);
      *total += *value * (float)row.count;
      if (row.out != NULL) {
        tenon__cpu_fill(row.out, value, sizeof(*value), row.count);
      }
      continue;
    }
    row.shift = is_shifted ? *(const float*)(const void*)(shift.data + at * shift.row_bytes) : 0;
    row.will_read = x.data + (at + (ptrdiff_t)rows) * x.row_bytes;
    row.will_write = later.data == NULL ? row.will_read : later.data + at * later.row_bytes;
    *total += step->function(&row);
  }
}

void tenon__cpu_block_run_scaled(const run_t* run, const step_t* step) {
  const bool adds = step->addend != TENON_NONE;
  const source_t a = source_of(run, step->inputs[0]);
  const source_t scale = source_of(run, step->inputs[1]);
  const source_t factor = source_of(run, step->inputs[2]);
  const source_t addend = adds ? source_of(run, step->addend) : (source_t){0};
  const place_t out = result_place(run, step);
  const size_t rows = rows_of(run, run->block->varies[step->result]);
  for (size_t r = 0; r < rows; r++) {
    const ptrdiff_t at = (ptrdiff_t)r;
    const tenon__cpu_scaled_row_t row = {
        .out = (float*)(void*)(out.data + at * out.row_bytes),
        .x = (const float*)(const void*)(a.data + at * a.row_bytes),
        .scale = *(const float*)(const void*)(scale.data + at * scale.row_bytes),
        .factor = (const float*)(const void*)(factor.data + at * factor.row_bytes),
        .addend = adds ? (const float*)(const void*)(addend.data + at * addend.row_bytes) : NULL,
        .count = run->frame->columns};
    run->block->elements->scaled(&row);
  }
}

void tenon__cpu_block_run_affine(const run_t* run, const step_t* step) {
  const uint32_t operands[4] = {step->inputs[0], step->inputs[1], step->inputs[2], step->addend};
  const place_t out = result_place(run, step);
  loop_t loop = start_loop(run, step, out);
  source_t sources[4] = {{0}};
  for (size_t k = 0; k < 4; k++) {
    if (operands[k] == TENON_NONE) {
      continue;
    }
    sources[k] = source_of(run, operands[k]);
    loop.flat = loop.flat && (loop.calls == 1 || follows_on(sources[k], loop.count, sizeof(float)));
  }
  finish_loop(&loop);
  for (size_t r = 0; r < loop.calls; r++) {
    tenon__cpu_affine_row_t row = {.out = (float*)(void*)(out.data + (ptrdiff_t)r * out.row_bytes),
                                   .count = loop.count};
    for (size_t k = 0; k < 4; k++) {
      const char* data = sources[k].data;
      row.values[k] = data == NULL
                          ? NULL
                          : (const float*)(const void*)(data + (ptrdiff_t)r * sources[k].row_bytes);
      row.is_row[k] = sources[k].is_row;
    }
    run->block->elements->affine(&row);
  }
}

/* One row of STEP_QUANTIZED, STEP_REQUANTIZED or STEP_DEQUANTIZED. */
typedef struct quantized_row_t {
  char* out;
  const char* x;
  const float* scale;
  size_t scale_step; /* 1: one scale for each column */
  float zero;
  size_t count;
} quantized_row_t;

static void quantize_row(const run_t* run, const step_t* step, const quantized_row_t* row) {
  const tenon__cpu_elements_t* elements = run->block->elements;
  if (step->kind == STEP_DEQUANTIZED) {
    const bool is_signed = type_of(run, step->inputs[0]) == TENON_CPU_TYPE_I8;
    elements->dequantize[is_signed ? 1 : 0]((float*)(void*)row->out, row->x, row->zero, *row->scale,
                                            row->count);
    return;
  }
  const size_t which = type_of(run, step->result) == TENON_CPU_TYPE_I8 ? 1 : 0;
  if (step->kind == STEP_QUANTIZED) {
    elements->quantize[which](row->out, (const float*)(const void*)row->x, *row->scale, row->zero,
                              row->count);
  } else {
    const tenon__cpu_requantized_t sums = {(const int32_t*)(const void*)row->x, row->scale,
                                           row->scale_step, row->zero, row->count};
    elements->requantize[which](row->out, &sums);
  }
}

void tenon__cpu_block_run_quantized(const run_t* run, const step_t* step) {
  static const float none = 0;
  const source_t x = source_of(run, step->inputs[0]);
  const source_t scale = source_of(run, step->inputs[1]);
  const source_t zero = step->inputs[2] != TENON_NONE
                            ? source_of(run, step->inputs[2])
                            : (source_t){.data = (const char*)(const void*)&none};
  const place_t out = result_place(run, step);
  size_t rows = rows_of(run, run->block->varies[step->result]);
  size_t count = run->frame->columns;
  if (!scale.is_row && scale.row_bytes == 0 && zero.row_bytes == 0 &&
      x.row_bytes == (ptrdiff_t)(count * bytes_of(run, step->inputs[0])) &&
      out.row_bytes == (ptrdiff_t)(count * bytes_of(run, step->result))) {
    count *= rows; /* rows follow one another, with the same numbers */
    rows = rows > 0 ? 1 : 0;
  }
  for (size_t r = 0; r < rows; r++) {
    const ptrdiff_t at = (ptrdiff_t)r;
    const quantized_row_t row = {
        .out = out.data + at * out.row_bytes,
        .x = x.data + at * x.row_bytes,
        .scale = (const float*)(const void*)(scale.data + at * scale.row_bytes),
        .scale_step = scale.is_row ? 1 : 0,
        .zero = *(const float*)(const void*)(zero.data + at * zero.row_bytes),
        .count = count};
    quantize_row(run, step, &row);
  }
}

void tenon__cpu_block_run_found(const run_t* run, const step_t* step) {
  const tenon__cpu_block_t* block = run->block;
  const source_t x = source_of(run, step->inputs[0]);
  const source_t wanted = source_of(run, step->inputs[1]);
  const source_t taken = source_of(run, step->inputs[2]);
  const source_t other = source_of(run, step->addend);
  const place_t sum = run->places[step->result];
  const uint32_t opcode = block->program->source.instructions[step->result].opcode;
  const bool largest = opcode == TENON_OPCODE_REDUCE_MAX;
  for (size_t r = 0; r < run->frame->rows; r++) {
    const ptrdiff_t at = (ptrdiff_t)r;
    const tenon__cpu_found_row_t row = {
        .sums = (int64_t*)(void*)(sum.data + at * sum.row_bytes),
        .x = (const float*)(const void*)(x.data + at * x.row_bytes),
        .wanted = (const float*)(const void*)(wanted.data + at * wanted.row_bytes),
        .taken = (const int64_t*)(const void*)(taken.data + at * taken.row_bytes),
        .other = *(const int64_t*)(const void*)(other.data + at * other.row_bytes),
        .count = run->frame->columns};
    block->elements->found[block->shape.columns_reduced ? 1 : 0][largest ? 1 : 0](&row);
  }
}
