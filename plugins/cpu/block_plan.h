/* The insides of a block's plan, shared by the files that make it and run it. */
#ifndef TENON_CPU_BLOCK_PLAN_H_
#define TENON_CPU_BLOCK_PLAN_H_

#include "block.h"

typedef enum step_kind_t {
  STEP_VIEW,   /* an operand, where it is */
  STEP_READ,   /* an operand, into a buffer */
  STEP_INDEX,  /* coordinates along an axis */
  STEP_GATHER, /* LOAD */
  STEP_UNARY,
  STEP_BINARY,
  STEP_SELECT,
  STEP_CAST,
  STEP_REDUCE, /* adds to a sum */
  STEP_WRITE,  /* an output */
} step_kind_t;

typedef struct step_t {
  step_kind_t kind;
  uint32_t result; /* instruction; WRITE: the output's number */
  uint32_t inputs[3];
  uint32_t operand; /* VIEW, READ, GATHER: of the program; INDEX: the axis */
  uint32_t buffer;  /* TENON_NONE: none, or straight into output `output` */
  uint32_t output;
  bool checked; /* GATHER: a coordinate out of range is an error */
  bool along;   /* GATHER: one coordinate alone varies along columns, and is their index */
} step_t;

typedef struct sum_t {
  uint32_t instruction;
  uint32_t phase; /* in which it is added up */
  uint32_t buffer;
} sum_t;

struct tenon__cpu_block_t {
  const tenon__cpu_elements_t* elements;
  const tenon__cpu_program_t* program;
  tenon__cpu_block_shape_t shape;
  uint8_t* varies;     /* of each instruction: TENON_CPU_ROWS | TENON_CPU_COLUMNS */
  uint64_t* constants; /* of each instruction: the bytes of a constant */
  bool* is_constant;
  step_t* steps; /* of phase p: [phase_begin[p], phase_begin[p + 1]); the last is finish */
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

/* A block while it is evaluated. */
typedef struct run_t {
  const tenon__cpu_block_t* block;
  const tenon__cpu_frame_t* frame;
  place_t* places;
  char* temporary; /* of 8 bytes for each element of a block */
  char* offsets;   /* likewise */
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
  bool is_row; /* varies along columns: a row of elements, not one for all */
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

/* Where a step's result goes: a buffer, its rows dense, or an output. */
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

/* Dense elements of a dtype become a block's type; from and to do not overlap. */
void tenon__cpu_block_convert(const run_t* run, tenon_dtype_t dtype, tenon__cpu_type_t to,
                              void* out, const void* in, size_t count);
/* LOAD. False when a coordinate was out of range that must not be. */
bool tenon__cpu_block_gather(const run_t* run, const step_t* step);

#endif
