/*
 * Reads operands of other types and evaluates LOAD, which reads elements at computed coordinates.
 * If only one coordinate varies along the columns and it is their index, LOAD copies whole rows, as
 * in an embedding lookup.
 */
#include <string.h>

#include "block.h"
#include "block_plan.h"
#include "copy.h"

void tenon__cpu_block_convert(const run_t* run, tenon_dtype_t dtype, tenon__cpu_type_t to,
                              void* out, const void* in, size_t count) {
  const tenon__cpu_elements_t* elements = run->block->elements;
  tenon__cpu_type_t from = TENON_CPU_TYPE_F32;
  (void)tenon__cpu_type_of(dtype, &from);
  if (dtype == TENON_DTYPE_FLOAT16 || dtype == TENON_DTYPE_BFLOAT16) {
    const tenon__cpu_unary_t widen =
        dtype == TENON_DTYPE_FLOAT16 ? elements->from_f16 : elements->from_bf16;
    if (to == TENON_CPU_TYPE_F32) {
      widen(out, in, count);
    } else {
      widen(run->offsets, in, count);
      elements->convert[from][to](out, run->offsets, count);
    }
    return;
  }
  elements->convert[from][to](out, in, count);
}

/* Returns one coordinate of a row of points as 64-bit integers: `count` of them, or one if it does
 * not vary along columns. */
static const int64_t* coordinate_row(const run_t* run, uint32_t i, source_t source, size_t row,
                                     size_t count) {
  const char* data = source.data + (ptrdiff_t)row * source.row_bytes;
  if (type_of(run, i) == TENON_CPU_TYPE_I64 && ((uintptr_t)data & 7U) == 0) {
    return (const int64_t*)(const void*)data;
  }
  run->block->elements->convert[type_of(run, i)][TENON_CPU_TYPE_I64](run->temporary, data, count);
  return (const int64_t*)(const void*)run->temporary;
}

static int64_t clamp_coordinate(int64_t x, int64_t extent, uint32_t axis,
                                tenon__cpu_fault_t* inout_fault) {
  if (x >= 0 && x < extent) {
    return x;
  }
  if (!inout_fault->found) {
    *inout_fault = (tenon__cpu_fault_t){true, axis, inout_fault->operand, x, extent};
  }
  return x < 0 || extent == 0 ? 0 : extent - 1;
}

static const int64_t* clamp_row(const run_t* run, const int64_t* x, size_t count,
                                const tenon__cpu_offsets_t* shape, uint32_t axis,
                                tenon__cpu_fault_t* inout_fault) {
  int64_t* clamped = (int64_t*)(void*)run->temporary;
  for (size_t k = 0; k < count; k++) {
    const int64_t wrapped = shape->wraps && x[k] < 0 ? x[k] + shape->extent : x[k];
    clamped[k] = clamp_coordinate(wrapped, shape->extent, axis, inout_fault);
  }
  return clamped;
}

/* Adds coordinates of axis `axis` to the offsets. */
static void add_row(const run_t* run, const int64_t* x, tenon__cpu_offsets_t shape, size_t count,
                    uint32_t axis, tenon__cpu_fault_t* inout_fault) {
  const tenon__cpu_elements_t* elements = run->block->elements;
  int64_t* offsets = (int64_t*)(void*)run->offsets;
  if (!elements->add_offsets(offsets, x, &shape, count)) {
    x = clamp_row(run, x, count, &shape, axis, inout_fault);
    shape.wraps = false;
    (void)elements->add_offsets(offsets, x, &shape, count);
  }
}

/* The macro arguments are types. NOLINTBEGIN(bugprone-macro-parentheses) */
#define GATHER_LOOP(type)                               \
  for (size_t k = 0; k < count; k++) {                  \
    ((type*)out)[k] = ((const type*)table)[offsets[k]]; \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

static void gather_elements(const void* table, const int64_t* offsets, size_t bytes, size_t count,
                            void* out) {
  switch (bytes) {
    case 1:
      GATHER_LOOP(uint8_t)
      break;
    case 2:
      GATHER_LOOP(uint16_t)
      break;
    case 4:
      GATHER_LOOP(uint32_t)
      break;
    case 8:
      GATHER_LOOP(uint64_t)
      break;
    default:
      for (size_t k = 0; k < count; k++) {
        memcpy((char*)out + k * bytes, (const char*)table + offsets[k] * (int64_t)bytes, bytes);
      }
      break;
  }
}

/* Rows of at most so many elements are not divided into runs. */
enum { SHORT_ROW = 32 };

/* Reads one row through the offsets of its columns. Contiguous elements are copied with one call. */
static void gather_runs(const char* table, const int64_t* offsets, const uint32_t* runs,
                        size_t bytes, size_t count, char* out) {
  for (size_t k = 0; k < count;) {
    size_t length = runs[k] < count - k ? runs[k] : count - k;
    if (length >= TENON_CPU_LEAST_RUN) {
      memcpy(out + k * bytes, table + offsets[k] * (int64_t)bytes, length * bytes);
    } else {
      while (k + length < count && runs[k + length] < TENON_CPU_LEAST_RUN) {
        length += runs[k + length];
      }
      length = length < count - k ? length : count - k;
      gather_elements(table, offsets + k, bytes, length, out + k * bytes);
    }
    k += length;
  }
}

/* The rows of a block whose offsets are in tables. */
typedef struct table_rows_t {
  const char* first;        /* the operand, at the offset of all axes but rows and columns */
  const int64_t* by_row;    /* offsets of rows; NULL: all rows are the same */
  const int64_t* by_column; /* offsets of columns */
  const uint32_t* runs;
  size_t bytes; /* of an element */
} table_rows_t;

static table_rows_t find_table_rows(const run_t* run, const step_t* step) {
  const tenon__cpu_block_t* block = run->block;
  const places_t* places = block->places[step->result];
  const uint32_t columns = block->shape.column_axis;
  const int64_t* origin = run->frame->origin;
  table_rows_t rows = {
      .by_column = places->tables[columns] + origin[columns],
      .runs = places->runs + origin[columns],
      .bytes = tenon__cpu_element_bytes(block->program->source.operands[step->operand].dtype)};
  int64_t base = places->base;
  for (uint32_t axis = 0; axis < block->program->source.rank; axis++) {
    const int64_t* table = places->tables[axis];
    if (table != NULL && axis == block->shape.row_axis) {
      rows.by_row = table + origin[axis];
    } else if (table != NULL && axis != columns) {
      base += table[origin[axis]];
    }
  }
  rows.first = run->frame->operands[step->operand] + base * (int64_t)rows.bytes;
  return rows;
}

static void gather_table_row(const run_t* run, const step_t* step, const table_rows_t* rows,
                             size_t row, size_t count, char* out) {
  const int64_t offset = rows->by_row == NULL ? 0 : rows->by_row[row];
  const char* table = rows->first + offset * (int64_t)rows->bytes;
  const bool is_one_run = rows->runs[0] >= count;
  if (!is_one_run && (count <= SHORT_ROW || run->block->places[step->result]->is_scattered)) {
    gather_elements(table, rows->by_column, rows->bytes, count, out);
  } else {
    gather_runs(table, rows->by_column, rows->runs, rows->bytes, count, out);
  }
}

static bool is_empty(const tenon__cpu_table_t* table) {
  bool empty = false;
  for (uint32_t k = 0; k < table->rank; k++) {
    empty = empty || table->dims[k] == 0;
  }
  return empty;
}

/* If the columns are contiguous and the rows evenly spaced, steps read the block in the operand, as
 * the indices of gathered elements. */
static bool reads_in_place(const run_t* run, const step_t* step, const table_rows_t* rows,
                           place_t* out_place) {
  const bool has_rows = (run->block->varies[step->result] & TENON_CPU_ROWS) != 0;
  const size_t count = has_rows && rows->by_row != NULL ? run->frame->rows : 1;
  if (step->output != TENON_NONE || rows->runs[0] < run->frame->columns) {
    return false;
  }
  const int64_t first = rows->by_row == NULL ? 0 : rows->by_row[0];
  const int64_t step_of_rows = count > 1 ? rows->by_row[1] - first : 0;
  for (size_t r = 2; r < count; r++) {
    if (rows->by_row[r] != first + (int64_t)r * step_of_rows) {
      return false;
    }
  }
  const int64_t bytes = (int64_t)rows->bytes;
  *out_place = (place_t){(char*)rows->first + first * bytes, (ptrdiff_t)(step_of_rows * bytes)};
  return true;
}

/* Reads one row of points into contiguous elements of the table's dtype. */
static void gather_row(const run_t* run, const step_t* step, size_t row, size_t count, char* out,
                       tenon__cpu_fault_t* inout_fault) {
  const tenon__cpu_block_t* block = run->block;
  const tenon_program_t* source = &block->program->source;
  const tenon__cpu_table_t* table = &block->shape.tables[step->operand];
  const size_t bytes = tenon__cpu_element_bytes(source->operands[step->operand].dtype);
  const char* data = run->frame->operands[step->operand];
  int64_t* offsets = (int64_t*)(void*)run->offsets;
  int64_t base = 0;
  int64_t along_stride = 0;
  int64_t along_extent = 0;
  uint32_t along_axis = 0;
  bool varies = false;
  for (uint32_t k = 0; k < table->rank; k++) {
    const bool wraps = (step->wraps >> k & 1) != 0;
    const uint32_t i = tenon__cpu_block_coordinate(block, step, k);
    const source_t c = source_of(run, i);
    if (c.is_row && step->along) {
      along_stride = table->strides[k];
      along_extent = table->dims[k];
      along_axis = k;
      continue;
    }
    const int64_t* x = coordinate_row(run, i, c, row, c.is_row ? count : 1);
    if (!c.is_row) {
      const int64_t at = wraps && x[0] < 0 ? x[0] + table->dims[k] : x[0];
      base += clamp_coordinate(at, table->dims[k], k, inout_fault) * table->strides[k];
      continue;
    }
    add_row(run, x, (tenon__cpu_offsets_t){table->dims[k], table->strides[k], varies, wraps}, count,
            k, inout_fault);
    varies = true;
  }
  const int64_t first = step->along ? run->frame->origin[block->shape.column_axis] : 0;
  if (step->along && first + (int64_t)count <= along_extent) {
    const tenon__cpu_copy_2d_t shape = {.element_bytes = bytes,
                                        .rows = 1,
                                        .columns = count,
                                        .out_column = 1,
                                        .in_column = along_stride};
    tenon__cpu_copy_2d(block->elements, &shape, out,
                       data + (base + first * along_stride) * (int64_t)bytes);
    return;
  }
  if (step->along) {
    for (size_t j = 0; j < count; j++) {
      const int64_t at =
          clamp_coordinate(first + (int64_t)j, along_extent, along_axis, inout_fault);
      offsets[j] = at * along_stride;
    }
  } else if (!varies) {
    memset(offsets, 0, count * sizeof(*offsets));
  }
  if (is_empty(table)) {
    memset(out, 0, count * bytes);
    return;
  }
  gather_elements(data + base * (int64_t)bytes, offsets, bytes, count, out);
}

/* ---- All rows of a block at once ---- */

/* Offsets of points, one for each row; the columns of a row are `stride` elements apart. */
typedef struct lookup_t {
  const char* data;
  const int64_t* offsets;
  int64_t stride;
  bool is_inside; /* the columns are in range */
} lookup_t;

/* Finds the rows' offsets. Returns false if a coordinate varies along both axes of the block, or
 * along the columns and is not their index. */
static bool find_rows(const run_t* run, const step_t* step, size_t rows, lookup_t* out_lookup,
                      tenon__cpu_fault_t* inout_fault) {
  const tenon__cpu_block_t* block = run->block;
  const tenon_program_t* source = &block->program->source;
  const tenon__cpu_table_t* table = &block->shape.tables[step->operand];
  const size_t bytes = tenon__cpu_element_bytes(source->operands[step->operand].dtype);
  int64_t* offsets = (int64_t*)(void*)run->offsets;
  lookup_t lookup = {.offsets = offsets, .is_inside = true};
  int64_t base = 0;
  bool varies = false;
  for (uint32_t k = 0; k < table->rank; k++) {
    const bool wraps = (step->wraps >> k & 1) != 0;
    const uint32_t i = tenon__cpu_block_coordinate(block, step, k);
    const int64_t extent = table->dims[k];
    if (step->along && (block->varies[i] & TENON_CPU_COLUMNS) != 0) {
      const int64_t first = run->frame->origin[block->shape.column_axis];
      lookup.stride = table->strides[k];
      lookup.is_inside = first + (int64_t)run->frame->columns <= extent;
      base += first * lookup.stride;
      continue;
    }
    const source_t c = source_of(run, i);
    if (c.is_row || (c.row_bytes != 0 && c.row_bytes != (ptrdiff_t)bytes_of(run, i))) {
      return false;
    }
    const int64_t* x = coordinate_row(run, i, c, 0, c.row_bytes != 0 ? rows : 1);
    if (c.row_bytes == 0) {
      const int64_t at = wraps && x[0] < 0 ? x[0] + extent : x[0];
      base += clamp_coordinate(at, extent, k, inout_fault) * table->strides[k];
      continue;
    }
    add_row(run, x, (tenon__cpu_offsets_t){extent, table->strides[k], varies, wraps}, rows, k,
            inout_fault);
    varies = true;
  }
  if (!varies) {
    memset(offsets, 0, rows * sizeof(*offsets));
  }
  lookup.data = run->frame->operands[step->operand] + base * (int64_t)bytes;
  *out_lookup = lookup;
  return true;
}

/* Reads all rows of a block. Returns false, and has written nothing, if each row must be read by
 * itself. */
static bool gather_rows(const run_t* run, const step_t* step, place_t out, bool converts,
                        tenon__cpu_fault_t* inout_fault) {
  const tenon__cpu_block_t* block = run->block;
  const uint8_t varies = block->varies[step->result];
  const tenon_dtype_t dtype = block->program->source.operands[step->operand].dtype;
  const size_t bytes = tenon__cpu_element_bytes(dtype);
  const size_t rows = rows_of(run, varies);
  const bool is_vector = (varies & TENON_CPU_COLUMNS) == 0;
  tenon__cpu_fault_t fault = *inout_fault;
  lookup_t lookup;
  if (rows == 1 || block->places[step->result] != NULL ||
      is_empty(&block->shape.tables[step->operand]) || (!is_vector && (converts || !step->along)) ||
      !find_rows(run, step, rows, &lookup, &fault) || !lookup.is_inside) {
    return false;
  }
  *inout_fault = fault;
  if (is_vector) {
    char* target = converts ? run->temporary : out.data;
    gather_elements(lookup.data, lookup.offsets, bytes, rows, target);
    if (converts) {
      tenon__cpu_block_convert(run, dtype, type_of(run, step->result), out.data, target, rows);
    }
    return true;
  }
  const tenon__cpu_copy_2d_t row = {.element_bytes = bytes,
                                    .rows = 1,
                                    .columns = run->frame->columns,
                                    .out_column = 1,
                                    .in_column = lookup.stride};
  for (size_t r = 0; r < rows; r++) {
    tenon__cpu_copy_2d(block->elements, &row, out.data + (ptrdiff_t)r * out.row_bytes,
                       lookup.data + lookup.offsets[r] * (int64_t)bytes);
  }
  return true;
}

/* ---- Blocks of short rows, if one coordinate of a point depends on data ---- */

/* Longer rows are read one after the other. */
enum { MOST_POINTS_COLUMNS = 256 };

/* Adds one coordinate of all points to the offsets. Returns false if its numbers are neither one for
 * each row nor one for each point. */
static bool add_points(const run_t* run, const step_t* step, uint32_t k, bool adds,
                       tenon__cpu_fault_t* inout_fault) {
  const tenon__cpu_block_t* block = run->block;
  const tenon__cpu_table_t* table = &block->shape.tables[step->operand];
  const int64_t extent = table->dims[k];
  const int64_t stride = table->strides[k];
  const uint32_t i = tenon__cpu_block_coordinate(block, step, k);
  const bool wraps = (step->wraps >> k & 1) != 0;
  const size_t columns = run->frame->columns;
  const size_t rows = run->frame->rows;
  const source_t c = source_of(run, i);
  int64_t* offsets = (int64_t*)(void*)run->offsets;
  const tenon_instruction_t* in = &block->program->source.instructions[i];
  const bool is_index = in->opcode == TENON_OPCODE_INDEX;
  if (c.is_row && is_index && (uint32_t)in->immediate.i == block->shape.column_axis) {
    const int64_t first = run->frame->origin[block->shape.column_axis];
    if (!adds || first + (int64_t)columns > extent) {
      return false;
    }
    for (size_t r = 0; r < rows; r++) {
      for (size_t column = 0; column < columns; column++) {
        offsets[r * columns + column] += (first + (int64_t)column) * stride;
      }
    }
    return true;
  }
  if (type_of(run, i) != TENON_CPU_TYPE_I64 || ((uintptr_t)c.data & 7U) != 0) {
    return false;
  }
  const int64_t* x = (const int64_t*)(const void*)c.data;
  if (c.is_row) {
    if (c.row_bytes != (ptrdiff_t)(columns * sizeof(*x))) {
      return false;
    }
    add_row(run, x, (tenon__cpu_offsets_t){extent, stride, adds, wraps}, rows * columns, k,
            inout_fault);
    return true;
  }
  if (!adds || (c.row_bytes != 0 && c.row_bytes != (ptrdiff_t)sizeof(*x))) {
    return false;
  }
  for (size_t r = 0; r < rows; r++) {
    const int64_t number = x[c.row_bytes != 0 ? r : 0];
    const int64_t at = wraps && number < 0 ? number + extent : number;
    const int64_t offset = clamp_coordinate(at, extent, k, inout_fault) * stride;
    for (size_t column = 0; column < columns; column++) {
      offsets[r * columns + column] += offset;
    }
  }
  return true;
}

/* Does the coordinate have a number of its own for each point? */
static bool is_dense(const run_t* run, const step_t* step, uint32_t k) {
  const uint32_t i = tenon__cpu_block_coordinate(run->block, step, k);
  return run->block->varies[i] == (TENON_CPU_ROWS | TENON_CPU_COLUMNS);
}

/* Reads all points of a block of short rows. Returns false, and has written nothing, if it cannot. */
static bool gather_points(const run_t* run, const step_t* step, place_t out, bool converts,
                          tenon__cpu_fault_t* inout_fault) {
  const tenon__cpu_block_t* block = run->block;
  const tenon__cpu_table_t* table = &block->shape.tables[step->operand];
  const size_t bytes =
      tenon__cpu_element_bytes(block->program->source.operands[step->operand].dtype);
  const size_t columns = run->frame->columns;
  const size_t rows = run->frame->rows;
  tenon__cpu_fault_t fault = *inout_fault;
  uint32_t dense = 0;
  while (dense < table->rank && !is_dense(run, step, dense)) {
    dense++;
  }
  if (rows == 1 || columns > MOST_POINTS_COLUMNS || converts || dense == table->rank ||
      block->places[step->result] != NULL || is_empty(table) ||
      out.row_bytes != (ptrdiff_t)(columns * bytes) ||
      !add_points(run, step, dense, false, &fault)) {
    return false;
  }
  for (uint32_t k = 0; k < table->rank; k++) {
    if (k != dense && !add_points(run, step, k, true, &fault)) {
      return false;
    }
  }
  *inout_fault = fault;
  gather_elements(run->frame->operands[step->operand], (const int64_t*)(const void*)run->offsets,
                  bytes, rows * columns, out.data);
  return true;
}

bool tenon__cpu_block_gather(const run_t* run, const step_t* step) {
  const uint8_t varies = run->block->varies[step->result];
  const tenon_dtype_t dtype = run->block->program->source.operands[step->operand].dtype;
  const tenon__cpu_type_t type = type_of(run, step->result);
  tenon__cpu_type_t natural = type;
  const bool converts = !tenon__cpu_type_of(dtype, &natural) || natural != type ||
                        tenon__cpu_element_bytes(dtype) != tenon__cpu_type_bytes(type);
  const place_t out = result_place(run, step);
  const bool is_vector = (varies & TENON_CPU_COLUMNS) == 0;
  const size_t rows = rows_of(run, varies);
  const size_t columns = columns_of(run, varies);
  const size_t bytes = tenon__cpu_type_bytes(type);
  const bool has_tables = run->block->places[step->result] != NULL;
  const table_rows_t table_rows = has_tables ? find_table_rows(run, step) : (table_rows_t){0};
  if (has_tables && !converts && !is_vector &&
      reads_in_place(run, step, &table_rows, &run->places[step->result])) {
    return true;
  }
  tenon__cpu_fault_t fault = {.operand = step->operand};
  const bool is_done = gather_rows(run, step, out, converts, &fault) ||
                       (!is_vector && gather_points(run, step, out, converts, &fault));
  for (size_t r = is_done ? rows : 0; r < rows; r++) {
    char* target = out.data + (is_vector ? (ptrdiff_t)(r * bytes) : (ptrdiff_t)r * out.row_bytes);
    if (has_tables) {
      gather_table_row(run, step, &table_rows, r, columns, converts ? run->temporary : target);
    } else {
      gather_row(run, step, r, columns, converts ? run->temporary : target, &fault);
    }
    if (converts) {
      tenon__cpu_block_convert(run, dtype, type, target, run->temporary, columns);
    }
  }
  const bool is_fault = fault.found && step->checked;
  if (is_fault && run->frame->fault != NULL && !run->frame->fault->found) {
    *run->frame->fault = fault;
  }
  return !is_fault;
}
