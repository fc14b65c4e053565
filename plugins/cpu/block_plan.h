/*
 * Internal types of a block's plan, shared by the files that make and run it. The names have no
 * prefix because only these files include this header. A plan is a list of steps in the order of
 * the instructions. Each step calls a block function (elements.h) for the points of a block. The
 * scratch memory of a run has these parts:
 *
 *   | values, one for each instruction | temporary | offsets | buffer 0 | buffer 1 | ... |
 *
 * Each part begins at a multiple of 64 bytes. `temporary` and `offsets` have 8 bytes for each
 * element of the capacity. Each buffer has the element size of the program's largest type.
 */
#ifndef TENON_CPU_BLOCK_PLAN_H_
#define TENON_CPU_BLOCK_PLAN_H_

#include <string.h>

#include "block.h"

/* The kind of a step. All kinds except VIEW, REDUCE, FOUND and WRITE compute a value into a buffer or into
 * an output. */
typedef enum step_kind_t {
  STEP_VIEW, /* an operand that is read in place */
  /* Copies an operand to a buffer because it is strided along columns or needs a conversion. */
  STEP_READ,
  STEP_INDEX,  /* coordinates along an axis */
  STEP_GATHER, /* LOAD */
  STEP_UNARY,
  STEP_BINARY,
  STEP_SELECT,
  STEP_CAST,
  STEP_REDUCE, /* adds to a sum */
  /* Converts and stores an output that no step can write directly. */
  STEP_WRITE,
  /* Applies a function to x - m, where x is a row and m a number, and sums the results in one
   * pass. */
  STEP_SHIFTED_SUM,
  /* Computes row * number * row + row, the end of a normalisation. */
  STEP_SCALED,
  /* Computes round(inputs[0] / inputs[1]) + inputs[2] as a byte. The first input is a row, the
   * others are one number for each row. */
  STEP_QUANTIZED,
  /* Computes round(f32(inputs[0]) * inputs[1]) + inputs[2] as a byte. The first input is a row of
   * i32, the second a row or one number for each row, the third one number for each row. */
  STEP_REQUANTIZED,
  /* Computes (f32(inputs[0]) - inputs[2]) * inputs[1]. The first input is a row of bytes, the others
   * are one number for each row. Without inputs[2] (TENON_NONE) nothing is subtracted. */
  STEP_DEQUANTIZED,
  /* Reduces the number inputs[2] where the row inputs[0] equals inputs[1] or is NaN, and `addend`
   * elsewhere, to the minimum or maximum, as arg_max does. */
  STEP_FOUND,
  /* (inputs[0] - inputs[1]) * inputs[2] + addend, where inputs[0] is a row and the others are rows or
   * numbers. inputs[1] may be TENON_NONE. */
  STEP_AFFINE,
  STEP_GELU, /* inputs[0] * 0.5 * (erf(inputs[0] / sqrt(2)) + 1) */
  STEP_NONE, /* removed */
} step_kind_t;

/* Steps whose inputs are inputs[0] to inputs[2], and `addend` perhaps. */
static inline bool tenon__cpu_block_has_addend(step_kind_t kind) {
  return kind == STEP_SCALED || kind == STEP_FOUND || kind == STEP_AFFINE;
}
static inline bool tenon__cpu_block_has_three(step_kind_t kind) {
  return tenon__cpu_block_has_addend(kind) || kind == STEP_QUANTIZED || kind == STEP_REQUANTIZED ||
         kind == STEP_DEQUANTIZED;
}

/* One step. `kind` determines the members that are set. */
typedef struct step_t {
  step_kind_t kind;
  /* The instruction that is computed. WRITE: index of the output. REDUCE, FOUND: the sum. */
  uint32_t result;
  /* Instructions. GATHER: the first coordinate's index in the program's list, and the number of
   * coordinates. */
  uint32_t inputs[3];
  /* VIEW, READ, GATHER: index of the program's operand. INDEX: the axis. */
  uint32_t operand;
  /* Buffer of the result. TENON_NONE if there is no result or if output `output` receives it. */
  uint32_t buffer;
  uint32_t output;
  /* GATHER: a coordinate out of range is an error. False if a SELECT reads the value. */
  bool checked;
  /* GATHER: only one coordinate varies along columns and it is their index, so that whole rows are
   * copied. */
  bool along;
  /* GATHER: the bits of coordinates t < 0 ? t + extent : t. The step reads t and adds the extent. */
  uint64_t wraps;
  /* BINARY: a division that multiplies by the reciprocal of the divisor if the divisor has a usual
   * magnitude. */
  bool reciprocal;
  /* SHIFTED_SUM: applied to inputs[0] - inputs[1], or to inputs[0] if inputs[1] is TENON_NONE. */
  tenon__cpu_shifted_sum_t function;
  uint32_t sum;     /* SHIFTED_SUM: the instruction of the sum */
  uint32_t guard;   /* SHIFTED_SUM: one condition for each row, or TENON_NONE */
  uint32_t guarded; /* instruction that replaces all elements of the row if `guard` is true */
  /* SCALED: inputs[0] * inputs[1] * inputs[2] + addend, or TENON_NONE. FOUND: the other number.
   * AFFINE: the addend. */
  uint32_t addend;
  bool discards; /* SHIFTED_SUM: only the sum is stored */
} step_t;

/* Offsets of a LOAD whose coordinates do not depend on data. The offset of a point, in elements, is
 * `base` plus the sum of tables[axis][coordinate of the point] over all axes. */
typedef struct places_t {
  int64_t base;
  int64_t** tables;  /* [axis][coordinate]. NULL if the offset does not depend on the axis */
  uint32_t* runs;    /* [column]: number of contiguous elements from this column on */
  bool is_scattered; /* all runs are shorter than TENON_CPU_LEAST_RUN */
} places_t;

/* The minimum number of contiguous elements for which a copy is faster than single reads. */
enum { TENON_CPU_LEAST_RUN = 8 };

/* A reduction. No other value uses its buffer. */
typedef struct sum_t {
  uint32_t instruction;
  uint32_t phase; /* the phase that adds to it */
  uint32_t buffer;
} sum_t;

/* The plan. Arrays without a count have one entry for each instruction. */
struct tenon__cpu_block_t {
  const tenon__cpu_elements_t* elements;
  const tenon__cpu_program_t* program;
  tenon__cpu_block_shape_t shape;
  uint8_t* varies; /* flags TENON_CPU_ROWS and TENON_CPU_COLUMNS */
  /* The bytes of a constant in the value's type. Valid if is_constant is true. */
  uint64_t* constants;
  bool* is_constant;
  const places_t** places; /* NULL if LOAD computes its coordinates in each run */
  bool is_shaped;          /* `varies`, constants and places are set */
  /* Phase p has the steps [phase_begin[p], phase_begin[p + 1]). The last list is finish. */
  step_t* steps;
  uint32_t* phase_begin;
  uint32_t step_count;
  sum_t* sums;
  uint32_t sum_count;
  uint32_t buffer_count;
};

/* Returns t if coordinate `axis` of a LOAD is t < 0 ? t + extent of the axis : t, because LOAD reads t
 * and adds the extent. Returns TENON_NONE for other coordinates. */
uint32_t tenon__cpu_block_wrapped(const tenon__cpu_block_t* block, const tenon_instruction_t* load,
                                  uint32_t axis);
/* Returns the instruction that coordinate k of a GATHER reads. */
static inline uint32_t tenon__cpu_block_coordinate(const tenon__cpu_block_t* block,
                                                   const step_t* step, uint32_t k) {
  const tenon_program_t* source = &block->program->source;
  const uint32_t i = source->coordinates[step->inputs[0] + k];
  return (step->wraps >> k & 1) != 0 ? source->instructions[i].operands[2] : i;
}

/* The memory of a value during the evaluation of a block. */
typedef struct place_t {
  char* data;
  ptrdiff_t row_bytes; /* 0 if all rows are the same */
} place_t;

static inline size_t tenon__cpu_round_up(size_t size) {
  return (size + 63) & ~(size_t)63;
}
static inline size_t tenon__cpu_buffer_bytes(size_t capacity, size_t element_bytes) {
  return tenon__cpu_round_up(capacity * element_bytes) + TENON_CPU_BUFFER_PADDING;
}

/* The state of one call of tenon__cpu_block_run. `places` persists between phases. */
typedef struct run_t {
  const tenon__cpu_block_t* block;
  const tenon__cpu_frame_t* frame;
  place_t* places;
  /* 8 bytes for each element of a block: an operand expanded to a row, or elements before their
   * conversion. */
  char* temporary;
  /* 8 bytes for each element of a block: offsets of LOAD, or values between two conversions. */
  char* offsets;
  char* buffers;
} run_t;

static inline run_t make_run(const tenon__cpu_block_t* block, const tenon__cpu_frame_t* frame) {
  run_t run = {.block = block, .frame = frame, .places = (place_t*)(void*)frame->buffers};
  const size_t places = block->program->source.instruction_count * sizeof(place_t);
  const size_t bytes = tenon__cpu_buffer_bytes(block->shape.capacity, 8);
  run.temporary = frame->buffers + tenon__cpu_round_up(places);
  run.offsets = run.temporary + bytes;
  run.buffers = run.offsets + bytes;
  return run;
}

static inline char* buffer_at(const run_t* run, uint32_t buffer) {
  const tenon__cpu_block_t* block = run->block;
  return run->buffers +
         buffer * tenon__cpu_buffer_bytes(block->shape.capacity, block->program->element_bytes);
}

/* A value as a step reads it. */
typedef struct source_t {
  const char* data;
  ptrdiff_t row_bytes;
  /* True: one element for each column. False: one element for all columns. */
  bool is_row;
} source_t;

static inline tenon__cpu_type_t type_of(const run_t* run, uint32_t i) {
  return (tenon__cpu_type_t)run->block->program->types[i];
}
static inline size_t bytes_of(const run_t* run, uint32_t i) {
  return tenon__cpu_type_bytes(type_of(run, i));
}

/* Returns the memory of a value. The rows of a value that varies only along rows are contiguous
 * elements. */
static inline source_t source_of(const run_t* run, uint32_t i) {
  const tenon__cpu_block_t* block = run->block;
  if (block->is_constant[i]) {
    return (source_t){(const char*)&block->constants[i], 0, false};
  }
  const place_t place = run->places[i];
  return (source_t){place.data, place.row_bytes, (block->varies[i] & TENON_CPU_COLUMNS) != 0};
}

static inline size_t rows_of(const run_t* run, uint8_t varies) {
  return (varies & TENON_CPU_ROWS) != 0 ? run->frame->rows : 1;
}
static inline size_t columns_of(const run_t* run, uint8_t varies) {
  return (varies & TENON_CPU_COLUMNS) != 0 ? run->frame->columns : 1;
}

/* Returns the memory for a step's result and records it for later steps. Rows in a buffer are
 * contiguous. The memory may also be in an output. */
static inline place_t result_place(const run_t* run, const step_t* step) {
  const uint8_t varies = run->block->varies[step->result];
  const size_t bytes = bytes_of(run, step->result);
  place_t place;
  if (step->output != TENON_NONE) {
    place.data = run->frame->outputs[step->output];
    place.row_bytes = (ptrdiff_t)(run->block->shape.outputs[step->output].row * (int64_t)bytes);
  } else {
    place.data = buffer_at(run, step->buffer);
    place.row_bytes = (ptrdiff_t)(columns_of(run, varies) * bytes);
  }
  if ((varies & TENON_CPU_ROWS) == 0) {
    place.row_bytes = 0;
  }
  run->places[step->result] = place;
  return place;
}

/* The calls of one step: `calls` calls for `count` elements each. `flat` means that one call can
 * handle all rows. */
typedef struct loop_t {
  size_t calls;
  size_t count;
  bool flat;
} loop_t;

static inline bool follows_on(source_t source, size_t columns, size_t bytes) {
  return source.is_row ? source.row_bytes == (ptrdiff_t)(columns * bytes) : source.row_bytes == 0;
}

static inline loop_t start_loop(const run_t* run, const step_t* step, place_t out) {
  const uint8_t varies = run->block->varies[step->result];
  const size_t rows = rows_of(run, varies);
  const size_t columns = columns_of(run, varies);
  loop_t loop = {rows, columns, false};
  if ((varies & TENON_CPU_COLUMNS) == 0) {
    return (loop_t){1, rows, true};
  }
  loop.flat = rows == 1 || out.row_bytes == (ptrdiff_t)(columns * bytes_of(run, step->result));
  return loop;
}

static inline void finish_loop(loop_t* loop) {
  if (loop->flat) {
    loop->count *= loop->calls;
    loop->calls = 1;
  }
}

/* block_run_fused.c: run the steps of these kinds. */
void tenon__cpu_block_run_shifted_sum(const run_t* run, const step_t* step);
void tenon__cpu_block_run_scaled(const run_t* run, const step_t* step);
void tenon__cpu_block_run_affine(const run_t* run, const step_t* step);
void tenon__cpu_block_run_quantized(const run_t* run, const step_t* step);
void tenon__cpu_block_run_found(const run_t* run, const step_t* step);
/* Makes the tables of each LOAD whose coordinates do not depend on data. `varies` and the constants
 * must be set. The only error is OUT_OF_MEMORY. */
tenon_status_t tenon__cpu_block_make_places(tenon__cpu_block_t* block,
                                            tenon__cpu_allocate_t allocate, void* user);
/* Fuses steps. Call this before buffers are assigned. */
void tenon__cpu_block_fuse(tenon__cpu_block_t* block);
/* Converts contiguous elements of a dtype to a block's type. `from` and `to` must not overlap. f16
 * and bf16 are converted through f32, with `offsets` as temporary memory. */
void tenon__cpu_block_convert(const run_t* run, tenon_dtype_t dtype, tenon__cpu_type_t to,
                              void* out, const void* in, size_t count);
/* Evaluates LOAD. Coordinates out of range read the nearest element, and an empty table reads
 * zeros. Returns false if a checked coordinate was out of range. */
bool tenon__cpu_block_gather(const run_t* run, const step_t* step);

#endif
