/*
 * Tables for LOADs whose coordinates do not depend on data, such as tiles, reflected padding and
 * depth-to-space. If each coordinate is a sum of functions of one axis each, so is the offset in
 * memory. Then bind makes one table of offsets for each axis, and a run adds their entries.
 */
#include <string.h>

#include "block_plan.h"
#include "copy.h"
#include "loops.h"

enum {
  PART = 256,              /* positions for each evaluation */
  MAX_POSITIONS = 1 << 20, /* maximum of the extents' sum */
};

/* The state while tables are made. Coordinates are evaluated as 64-bit integers and conditions as
 * bytes. The arrays have one entry for each instruction. */
typedef struct making_t {
  const tenon__cpu_block_t* block;
  uint64_t* axes;  /* flags: the axes on which the instruction depends */
  bool* is_sum;    /* it is a sum of functions of one axis each */
  bool* is_whole;  /* it depends on no data and can be evaluated */
  int64_t* values; /* [instruction][PART] */
} making_t;

static const tenon_instruction_t* instruction_at(const making_t* making, uint32_t i) {
  return &making->block->program->source.instructions[i];
}

static bool is_single(uint64_t axes) {
  return (axes & (axes - 1)) == 0;
}

/* Returns true if the instruction has this type. */
static bool has_type(const making_t* making, uint32_t i, tenon__cpu_type_t type) {
  return making->block->program->types[i] == (uint8_t)type;
}

static bool is_linear(const making_t* making, const tenon_instruction_t* in) {
  const uint32_t* x = in->operands;
  switch (in->opcode) {
    case TENON_OPCODE_ADD:
    case TENON_OPCODE_SUB:
      return making->is_sum[x[0]] && making->is_sum[x[1]];
    case TENON_OPCODE_NEG:
      return making->is_sum[x[0]];
    case TENON_OPCODE_MUL:
      return (making->axes[x[0]] == 0 && making->is_sum[x[1]]) ||
             (making->axes[x[1]] == 0 && making->is_sum[x[0]]);
    default:
      return false;
  }
}

/* Sets `axes`, `is_sum` and `is_whole` of instruction i from those of its operands. */
static void examine(making_t* making, uint32_t i) {
  const tenon_instruction_t* in = instruction_at(making, i);
  const tenon__cpu_elements_t* elements = making->block->elements;
  const uint32_t operands = tenon__cpu_opcode_operands(in->opcode);
  const tenon__cpu_type_t of =
      operands == 0 ? TENON_CPU_TYPE_I64
                    : (tenon__cpu_type_t)making->block->program->types[in->operands[0]];
  bool whole = has_type(making, i, TENON_CPU_TYPE_I64) || has_type(making, i, TENON_CPU_TYPE_BOOL);
  uint64_t axes = 0;
  switch (in->opcode) {
    case TENON_OPCODE_INDEX:
      axes = (uint64_t)1 << in->immediate.i;
      break;
    case TENON_OPCODE_SIZE:
    case TENON_OPCODE_EXTENT:
    case TENON_OPCODE_CONSTANT:
      break;
    case TENON_OPCODE_SELECT:
      whole = whole && has_type(making, i, TENON_CPU_TYPE_I64);
      break;
    default:
      whole = whole && (operands == 1   ? elements->unary[in->opcode][of] != NULL
                        : operands == 2 ? elements->binary[in->opcode][of][TENON_CPU_VV] != NULL
                                        : false);
      break;
  }
  for (uint32_t k = 0; k < operands && whole; k++) {
    whole = making->is_whole[in->operands[k]];
    axes |= making->axes[in->operands[k]];
  }
  making->axes[i] = axes;
  making->is_whole[i] = whole;
  making->is_sum[i] = whole && (is_single(axes) || is_linear(making, in));
}

/* Evaluates all instructions up to `last` at positions [first, first + count) of `axis` and at
 * position 0 of all other axes. */
static void evaluate(const making_t* making, uint32_t last, uint32_t axis, int64_t first,
                     size_t count) {
  const tenon__cpu_elements_t* elements = making->block->elements;
  for (uint32_t i = 0; i <= last; i++) {
    const tenon_instruction_t* in = instruction_at(making, i);
    int64_t* out = making->values + (size_t)i * PART;
    const int64_t* x[3];
    if (!making->is_whole[i]) {
      continue;
    }
    for (uint32_t k = 0; k < 3; k++) {
      x[k] = making->values + (size_t)(in->operands[k] <= last ? in->operands[k] : 0) * PART;
    }
    if (making->block->is_constant[i]) {
      tenon__cpu_fill(out, &making->block->constants[i],
                      has_type(making, i, TENON_CPU_TYPE_BOOL) ? 1 : sizeof(*out), count);
      continue;
    }
    const uint8_t of = making->block->program->types[in->operands[0] <= last ? in->operands[0] : 0];
    switch (in->opcode) {
      case TENON_OPCODE_INDEX:
        for (size_t k = 0; k < count; k++) {
          out[k] = in->immediate.i == (int64_t)axis ? first + (int64_t)k : 0;
        }
        break;
      case TENON_OPCODE_SELECT:
        elements->select[3](out, x[0], x[1], 1, x[2], 1, count);
        break;
      default:
        if (tenon__cpu_opcode_operands(in->opcode) == 1) {
          elements->unary[in->opcode][of](out, x[0], count);
        } else {
          elements->binary[in->opcode][of][TENON_CPU_VV](out, x[0], x[1], count);
        }
        break;
    }
  }
}

typedef struct range_t {
  int64_t low;
  int64_t high;
} range_t;

/* Adds the contribution of one coordinate to the table of an axis and extends the coordinate's
 * range. */
static void add_axis(const making_t* making, uint32_t coordinate, uint32_t axis, int64_t stride,
                     int64_t* inout_table, range_t* inout_range) {
  const int64_t extent = making->block->shape.extents[axis];
  const int64_t* x = making->values + (size_t)coordinate * PART;
  int64_t least = 0;
  int64_t most = 0;
  evaluate(making, coordinate, axis, 0, 1);
  const int64_t start = x[0];
  for (int64_t first = 0; first < extent; first += PART) {
    const size_t count = (size_t)(extent - first < PART ? extent - first : PART);
    evaluate(making, coordinate, axis, first, count);
    for (size_t k = 0; k < count; k++) {
      const int64_t part = x[k] - start;
      least = part < least ? part : least;
      most = part > most ? part : most;
      inout_table[first + (int64_t)k] += part * stride;
    }
  }
  inout_range->low += least;
  inout_range->high += most;
}

/* Sets, for each position, the number of contiguous elements from there on. */
static void find_runs(places_t* places, const int64_t* table, int64_t extent) {
  places->is_scattered = true;
  for (int64_t k = extent; k-- > 0;) {
    const bool goes_on = k + 1 < extent && table[k + 1] == table[k] + 1;
    places->runs[k] = goes_on ? places->runs[k + 1] + 1 : 1;
    places->is_scattered = places->is_scattered && places->runs[k] < TENON_CPU_LEAST_RUN;
  }
}

/* Fills the tables. Returns false if a coordinate may be out of the operand's range. */
static bool fill_tables(const making_t* making, const tenon_instruction_t* in, uint64_t axes,
                        places_t* places) {
  const tenon__cpu_table_t* operand = &making->block->shape.tables[in->immediate.i];
  for (uint32_t k = 0; k < in->operands[1]; k++) {
    const uint32_t c = making->block->program->source.coordinates[in->operands[0] + k];
    evaluate(making, c, 0, 0, 1);
    const int64_t start = making->values[(size_t)c * PART];
    range_t range = {start, start};
    places->base += start * operand->strides[k];
    for (uint32_t axis = 0; axis < making->block->program->source.rank; axis++) {
      if (((making->axes[c] & axes) >> axis & 1U) != 0) {
        add_axis(making, c, axis, operand->strides[k], places->tables[axis], &range);
      }
    }
    if (range.low < 0 || range.high >= operand->dims[k]) {
      return false;
    }
  }
  return true;
}

static tenon_status_t make_places(const making_t* making, uint32_t load,
                                  tenon__cpu_allocate_t allocate, void* user,
                                  const places_t** out_places) {
  const tenon__cpu_block_t* block = making->block;
  const tenon_instruction_t* in = instruction_at(making, load);
  const uint32_t rank = block->program->source.rank;
  int64_t positions = 0;
  int64_t points = 1;
  for (uint32_t axis = 0; axis < rank; axis++) {
    const int64_t extent = block->shape.extents[axis];
    points = tenon__cpu_times(points, extent);
    positions += extent < MAX_POSITIONS ? extent : MAX_POSITIONS;
  }
  if (points / 4 < positions || positions > MAX_POSITIONS) {
    return TENON_OK; /* too few points to justify the tables */
  }
  places_t* places = allocate(user, sizeof(*places));
  int64_t** tables = allocate(user, (rank + 1) * sizeof(*tables));
  if (places == NULL || tables == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  places->tables = tables;
  uint64_t axes = 0;
  for (uint32_t k = 0; k < in->operands[1]; k++) {
    axes |= making->axes[block->program->source.coordinates[in->operands[0] + k]];
  }
  for (uint32_t axis = 0; axis < rank; axis++) {
    const size_t extent = (size_t)block->shape.extents[axis];
    if ((axes >> axis & 1U) != 0 || axis == block->shape.column_axis) {
      tables[axis] = allocate(user, (extent + 1) * sizeof(int64_t));
      if (tables[axis] == NULL) {
        return TENON_ERROR_OUT_OF_MEMORY;
      }
    }
  }
  const uint32_t columns = block->shape.column_axis;
  if (columns != TENON_NONE) {
    places->runs = allocate(user, ((size_t)block->shape.extents[columns] + 1) * sizeof(uint32_t));
    if (places->runs == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
  }
  if (fill_tables(making, in, axes, places)) {
    if (columns != TENON_NONE) {
      find_runs(places, tables[columns], block->shape.extents[columns]);
    }
    *out_places = places;
  }
  return TENON_OK;
}

static bool is_table_load(const making_t* making, uint32_t i) {
  const tenon_instruction_t* in = instruction_at(making, i);
  const tenon__cpu_block_t* block = making->block;
  bool good = in->opcode == TENON_OPCODE_LOAD && in->operands[1] > 0 &&
              (block->varies[i] & TENON_CPU_COLUMNS) != 0 &&
              block->shape.tables[in->immediate.i].rank == in->operands[1];
  for (uint32_t k = 0; good && k < in->operands[1]; k++) {
    const uint32_t c = block->program->source.coordinates[in->operands[0] + k];
    good = making->is_sum[c] && has_type(making, c, TENON_CPU_TYPE_I64);
  }
  return good;
}

tenon_status_t tenon__cpu_block_make_places(tenon__cpu_block_t* block,
                                            tenon__cpu_allocate_t allocate, void* user) {
  const uint32_t count = block->program->source.instruction_count;
  bool any = false;
  for (uint32_t i = 0; i < count; i++) {
    any = any || block->program->source.instructions[i].opcode == TENON_OPCODE_LOAD;
  }
  if (!any || block->program->source.rank > 64) {
    return TENON_OK;
  }
  making_t making = {.block = block,
                     .axes = allocate(user, count * sizeof(uint64_t)),
                     .is_sum = allocate(user, count),
                     .is_whole = allocate(user, count),
                     .values = allocate(user, (size_t)count * PART * sizeof(int64_t))};
  if (making.axes == NULL || making.is_sum == NULL || making.is_whole == NULL ||
      making.values == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t i = 0; i < count; i++) {
    examine(&making, i);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (is_table_load(&making, i)) {
      const tenon_status_t status = make_places(&making, i, allocate, user, &block->places[i]);
      if (status != TENON_OK) {
        return status;
      }
    }
  }
  return TENON_OK;
}

/* ---- Copies ---- */

enum { MAX_DIGITS = 64, LEAST_REPEATS = 16 };

/* A box: the axes of the space, divided where the offset is not linear. */
typedef struct box_t {
  uint32_t rank;
  int64_t extents[MAX_DIGITS];
  int64_t out[MAX_DIGITS];
  int64_t in[MAX_DIGITS];
} box_t;

/* Returns the number of positions, each `step` after the last, along which the offset grows by the
 * same difference. 0: other positions have other differences. */
static int64_t linear_length(const int64_t* table, int64_t step, int64_t count) {
  const int64_t difference = table[step] - table[0];
  int64_t length = 2;
  while (length < count && table[length * step] == table[0] + length * difference) {
    length++;
  }
  for (int64_t k = 0; k < count; k++) {
    const int64_t at = k % length;
    if (count % length != 0 || table[k * step] != table[(k - at) * step] + at * difference) {
      return 0;
    }
  }
  return length;
}

/* Appends the digits of one axis to the box, the last one first: index % 3 of 12 positions is a
 * digit of 3 positions with the stride of the operand and one of 4 positions with stride 0. */
static bool add_digits(const int64_t* table, int64_t extent, int64_t out_stride, box_t* inout_box) {
  for (int64_t step = 1; step < extent;) {
    const int64_t length = table == NULL ? extent : linear_length(table, step, extent / step);
    if (length == 0 || inout_box->rank == MAX_DIGITS) {
      return false;
    }
    inout_box->extents[inout_box->rank] = length;
    inout_box->out[inout_box->rank] = out_stride * step;
    inout_box->in[inout_box->rank] = table == NULL ? 0 : table[step] - table[0];
    inout_box->rank += 1;
    step *= length;
  }
  return true;
}

bool tenon__cpu_block_copies(const tenon__cpu_block_t* block, const int64_t* out_strides,
                             size_t element_bytes, tenon__cpu_copy_t* out_copy,
                             int64_t* out_offset) {
  const tenon_program_t* source = &block->program->source;
  const places_t* places = block->places[source->outputs[0].instruction];
  box_t box = {.rank = 0};
  if (places == NULL || source->operand_count != 1 || source->output_count != 1) {
    return false;
  }
  int64_t offset = places->base;
  for (uint32_t axis = source->rank; axis-- > 0;) {
    const int64_t* table = places->tables[axis];
    const int64_t extent = block->shape.extents[axis];
    offset += table == NULL || extent == 0 ? 0 : table[0];
    if (extent == 0 || !add_digits(table, extent, out_strides[axis], &box)) {
      return false;
    }
  }
  /* Short repetitions of single elements: reads through tables are as fast. */
  for (uint32_t k = 0; k < box.rank; k++) {
    if (box.out[k] == 1 && box.in[k] == 0 && box.extents[k] < LEAST_REPEATS) {
      return false;
    }
  }
  *out_offset = offset;
  return tenon__cpu_copy_plan(box.rank, box.extents, box.out, box.in, element_bytes, out_copy);
}
