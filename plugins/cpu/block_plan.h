/*
 * The insides of a block's plan, shared by the files that make it and run it. Names have no prefix:
 * nothing else includes this. A plan is a list of steps, in the order of the instructions; a step
 * is a call of a block function (elements.h) over the points of a block. The scratch of a run lies
 * so:
 *
 *   | places, one an instruction | temporary | offsets | buffer 0 | buffer 1 | ...
 *
 * each part at a multiple of 64 bytes, temporary and offsets with 8 bytes for each element of the
 * capacity, a buffer with as many as the program's widest value has.
 */
#ifndef TENON_CPU_BLOCK_PLAN_H_
#define TENON_CPU_BLOCK_PLAN_H_

#include <string.h>

#include "block.h"

/* What a step does. All but VIEW, REDUCE and WRITE make a value in a buffer, or straight in an
 * output. */
typedef enum step_kind_t {
  STEP_VIEW, /* an operand, where it is */
  /* An operand, into a buffer: strided along columns, or converted. */
  STEP_READ,
  STEP_INDEX,  /* coordinates along an axis */
  STEP_GATHER, /* LOAD */
  STEP_UNARY,
  STEP_BINARY,
  STEP_SELECT,
  STEP_CAST,
  STEP_REDUCE, /* adds to a sum */
  /* An output that no step could write itself: converted and scattered. */
  STEP_WRITE,
  /* A function of a row less a number, and its sum, in one pass. */
  STEP_SHIFTED_SUM,
  /* A row times a number, times a row, and more of a row: the end of a normalisation. */
  STEP_SCALED,
  /* round(inputs[0] / inputs[1]) + inputs[2] as a byte, of a row and two numbers for each row. */
  STEP_QUANTIZED,
  STEP_NONE, /* left out */
} step_kind_t;

/* One step. Which members count, `kind` says. */
typedef struct step_t {
  step_kind_t kind;
  /* Instruction; WRITE: the output's number. */
  uint32_t result;
  /* Instructions. GATHER: where its coordinates begin in the program's list, and how many. */
  uint32_t inputs[3];
  /* VIEW, READ, GATHER: of the program; INDEX: the axis. */
  uint32_t operand;
  /* TENON_NONE: none, or straight into output `output`. */
  uint32_t buffer;
  uint32_t output;
  /* GATHER: a coordinate out of range is an error; not where a SELECT reads the value. */
  bool checked;
  /* GATHER: one coordinate alone varies along columns, and is their index: a row is copied, as
   * of embeddings. */
  bool along;
  /* BINARY: a quotient, by the divisor's reciprocal where that is not near a limit. */
  bool reciprocal;
  /* SHIFTED_SUM: of inputs[0] less inputs[1], TENON_NONE: less nothing. */
  tenon__cpu_shifted_sum_t function;
  uint32_t sum;     /* its instruction */
  uint32_t guard;   /* TENON_NONE, or a condition of each row: if it is true, all elements are */
  uint32_t guarded; /* this one */
  uint32_t addend;  /* SCALED: inputs[0] * inputs[1] * inputs[2] + addend; TENON_NONE: none */
  bool discards;    /* only the sum is read */
} step_t;

/* Where a LOAD reads that depends on coordinates alone: at `base`, and what the table of each axis
 * has at the point's coordinate, in elements. */
typedef struct places_t {
  int64_t base;
  int64_t** tables;  /* [axis]; NULL: does not matter */
  uint32_t* runs;    /* of each column: how many from there on are read side by side */
  bool is_scattered; /* no run is long */
} places_t;

/* Elements side by side that are better copied at once than one by one. */
enum { TENON_CPU_LEAST_RUN = 8 };

/* A reduction on its way, with a buffer that no other value gets. */
typedef struct sum_t {
  uint32_t instruction;
  uint32_t phase; /* in which it is added up */
  uint32_t buffer;
} sum_t;

/* The plan. Arrays without a count have an entry for each instruction. */
struct tenon__cpu_block_t {
  const tenon__cpu_elements_t* elements;
  const tenon__cpu_program_t* program;
  tenon__cpu_block_shape_t shape;
  uint8_t* varies; /* TENON_CPU_ROWS | TENON_CPU_COLUMNS */
  /* The bytes of a constant, in the value's type, where is_constant. */
  uint64_t* constants;
  bool* is_constant;
  const places_t** places; /* NULL: coordinates are computed */
  bool is_shaped;          /* `varies`, constants and places are known */
  /* Of phase p: [phase_begin[p], phase_begin[p + 1]); the last is finish. */
  step_t* steps;
  uint32_t* phase_begin;
  uint32_t step_count;
  sum_t* sums;
  uint32_t sum_count;
  uint32_t buffer_count;
};

/* Where a value is while a block is evaluated. */
typedef struct place_t {
  char* data;
  ptrdiff_t row_bytes; /* 0: the same in all rows */
} place_t;

static inline size_t tenon__cpu_round_up(size_t size) {
  return (size + 63) & ~(size_t)63;
}
static inline size_t tenon__cpu_buffer_bytes(size_t capacity, size_t element_bytes) {
  return tenon__cpu_round_up(capacity * element_bytes) + TENON_CPU_BUFFER_PADDING;
}

/* A block while it is evaluated; on the stack of tenon__cpu_block_run. `places` last from phase
 * to phase. */
typedef struct run_t {
  const tenon__cpu_block_t* block;
  const tenon__cpu_frame_t* frame;
  place_t* places;
  /* Of 8 bytes for each element of a block: an operand widened to a row, elements before they
   * are converted. */
  char* temporary;
  /* Likewise: where LOAD reads, and what is converted twice. */
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
  /* Varies along columns: a row of elements, not one for all. */
  bool is_row;
} source_t;

static inline tenon__cpu_type_t type_of(const run_t* run, uint32_t i) {
  return (tenon__cpu_type_t)run->block->program->types[i];
}
static inline size_t bytes_of(const run_t* run, uint32_t i) {
  return tenon__cpu_type_bytes(type_of(run, i));
}

/* A value that varies along rows alone is a vector of rows: its rows lie an element apart. */
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

/* Where a step's result goes, noted for those that read it: a buffer, its rows dense (those of a
 * vector an element apart), or an output. */
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

/* Makes the tables of those LOADs that have some, once `varies` and constants are known.
 * OUT_OF_MEMORY alone. */
tenon_status_t tenon__cpu_block_make_places(tenon__cpu_block_t* block,
                                            tenon__cpu_allocate_t allocate, void* user);
/* Joins steps, before they get buffers. */
void tenon__cpu_block_fuse(tenon__cpu_block_t* block);
/* Dense elements of a dtype become a block's type; from and to do not overlap. f16 and bf16 go
 * by f32, through `offsets`. */
void tenon__cpu_block_convert(const run_t* run, tenon_dtype_t dtype, tenon__cpu_type_t to,
                              void* out, const void* in, size_t count);
/* LOAD. Coordinates out of range read the nearest element (an empty table reads zeros). False
 * when one was that must not be. */
bool tenon__cpu_block_gather(const run_t* run, const step_t* step);

#endif
