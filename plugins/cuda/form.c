/* The form of a program's kernels, see form.h. */
#include "form.h"

#include <string.h>

#include "layouts.h"

enum {
  UNKNOWN_LENGTH = 1024,
  MANY_ROWS = 2048,
  LANES = 32,
  KEPT_ELEMENTS = 64, /* of a thread, of all operands together */
  READ_ELEMENTS = 32, /* at once, likewise */
  READ_ACCESSES = 4,
  FEW_BLOCKS = 128,
  COLUMN_BYTES = 64, /* that neighbouring threads read */
  CROWDED_THREADS = 512,
  CROWDED_ELEMENTS = 24, /* a block of more threads leaves each 64 registers */
  SPLIT_LENGTH = 16384,  /* minimum elements of a row that blocks share */
  SPLIT_COLUMN = 2048,   /* the same for adjacent rows, which have fewer blocks otherwise */
  SPLIT_ROOM = 4,        /* minimum blocks that can share adjacent rows */
  SPLIT_THREADS = 256,
  SPLIT_BLOCKS = 264, /* maximum of all rows: 2 per multiprocessor of an H100 */
  MANY_POINTS = 1 << 20
};

/* What is known of the space: at the optimum, and whether it is so always. */
typedef struct extents_t {
  int64_t optimum[TENON_CUDA_AXES];
  int64_t most[TENON_CUDA_AXES]; /* -1: it has no bound */
  bool fixed[TENON_CUDA_AXES];
} extents_t;

/* Values of the space's own rank tell its extents; the others were aligned by the host, which knows
 * how when it binds. */
typedef struct looker_t {
  const tenon_region_t* region;
  const tenon_region_table_t* table;
  uint32_t rank;
} looker_t;
/* `without`: axes along which the value does not vary, of which its extent says nothing. */
static void look_at(const looker_t* looker, uint32_t value, uint64_t without, extents_t* extents) {
  const tenon_value_info_t* info =
      value == TENON_NONE ? NULL : looker->table->value(looker->region, value);
  const uint32_t rank = info != NULL && info->rank == looker->rank ? info->rank : 0;
  for (uint32_t axis = 0; axis < rank; axis++) {
    if ((without >> axis & 1) == 0 && info->dims_opt[axis] > extents->optimum[axis]) {
      extents->optimum[axis] = info->dims_opt[axis];
      extents->fixed[axis] = info->dims_min[axis] == info->dims_max[axis];
      extents->most[axis] = info->dims_max[axis];
    }
  }
}

static extents_t find_extents(const tenon__cuda_analysis_t* analysis, const tenon_region_t* region,
                              const tenon_region_table_t* table) {
  const tenon_program_t* program = analysis->program;
  const looker_t looker = {region, table, program->rank};
  extents_t extents;
  memset(&extents, 0, sizeof(extents));
  for (uint32_t k = 0; k < program->operand_count; k++) {
    if (program->operands[k].indexed == 0) {
      look_at(&looker, table->input(region, program->operands[k].index),
              program->operands[k].broadcast_axes, &extents);
    }
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    look_at(&looker, table->output(region, program->outputs[k].index),
            program->outputs[k].reduced_axes, &extents);
  }
  return extents;
}

/* Bytes of an element. */
typedef struct widths_t {
  uint32_t least;
  uint32_t most;
} widths_t;

/* Of what varies along a row, or without rows of everything. */
static widths_t widths_of(const tenon__cuda_analysis_t* analysis) {
  const tenon_program_t* program = analysis->program;
  uint32_t least = 8;
  uint32_t most = 2;
  for (uint32_t k = 0; k < program->operand_count + program->output_count; k++) {
    const bool is_operand = k < program->operand_count;
    if (is_operand &&
        (program->operands[k].indexed != 0 || tenon__cuda_operand_is_uniform(analysis, k))) {
      continue;
    }
    const uint32_t bytes =
        tenon__cuda_bytes(is_operand ? program->operands[k].dtype
                                     : program->outputs[k - program->operand_count].dtype);
    least = bytes < least ? bytes : least;
    most = bytes > most ? bytes : most;
  }
  return (widths_t){least, most};
}

/* As many as the narrowest tensor has in 16 bytes, but no more than 32 bytes of the widest. */
static uint32_t access_elements(const tenon__cuda_analysis_t* analysis) {
  const widths_t widths = widths_of(analysis);
  const uint32_t elements = widths.least <= 2 ? 8 : widths.least <= 4 ? 4 : 2;
  return elements * widths.most > 32 ? 32 / widths.most : elements;
}

static uint32_t power_above(int64_t number) {
  uint32_t power = 1;
  while (power < 1024 && power < number) {
    power *= 2;
  }
  return power;
}

static uint32_t between(uint32_t number, uint32_t least, uint32_t most) {
  return number < least ? least : number > most ? most : number;
}

/* Threads that share a row whose elements lie beside one another. */
static uint32_t row_threads(int64_t length, int64_t accesses, int64_t rows) {
  if (length <= 64) {
    return between(power_above(accesses), 1, LANES);
  }
  if (length <= 256) {
    return between(power_above(accesses), 16, LANES);
  }
  if (length <= 1024) {
    return rows >= MANY_ROWS ? LANES : between(power_above(accesses), LANES, 256);
  }
  return length <= 8192 ? between(power_above((accesses + 1) / 2), 128, 512) : 1024;
}

/* Operands of which each point of a row has its own element. */
static int64_t varying_operands(const tenon__cuda_analysis_t* analysis) {
  int64_t count = 0;
  for (uint32_t k = 0; k < analysis->program->operand_count; k++) {
    count +=
        analysis->program->operands[k].indexed == 0 && !tenon__cuda_operand_is_uniform(analysis, k);
  }
  return count;
}

/* The rows of a space. */
typedef struct rows_t {
  int64_t length;
  int64_t count;
  int64_t neighbours;   /* rows beside one another for certain */
  uint32_t along_count; /* axes of more than one element */
  bool fixed;           /* the length is known */
  bool innermost;       /* the last axis of more than one element is along the row */
} rows_t;

static uint32_t axis_at(uint32_t place, uint32_t rank, int32_t order) {
  return order == TENON_CUDA_ORDER_CHANNELS_LAST ? tenon__cuda_channels_last(rank)->order[place]
                                                 : place;
}

static rows_t rows_of(const tenon__cuda_analysis_t* analysis, const extents_t* extents,
                      int32_t order) {
  const uint32_t rank = analysis->program->rank;
  rows_t rows = {.length = 1, .count = 1, .neighbours = 1, .fixed = true};
  for (uint32_t place = 0; place < rank; place++) {
    const uint32_t axis = axis_at(place, rank, order);
    const bool along = (analysis->reduced_axes >> axis & 1) != 0;
    const int64_t extent = extents->optimum[axis] < 1 ? 1 : extents->optimum[axis];
    const bool is_fixed = extents->optimum[axis] > 0 && extents->fixed[axis];
    *(along ? &rows.length : &rows.count) *= extent;
    rows.fixed = rows.fixed && (!along || is_fixed);
    rows.innermost = extent > 1 ? along : rows.innermost;
    rows.along_count += along && extent > 1 ? 1 : 0;
    if (extent > 1 || !is_fixed) {
      rows.neighbours = along || !is_fixed || order == TENON_CUDA_ORDER_ANY ? 1 : extent;
    }
  }
  if (!rows.fixed && rows.length == 1) {
    rows.length = UNKNOWN_LENGTH;
  }
  return rows;
}

/* Returns the number of adjacent threads that have adjacent rows. An access has one element of each
 * of form->elements rows, which this function reduces until it divides the number of adjacent rows.
 * `bytes` is the size of the widest element. */
static uint32_t column_slots(const rows_t* rows, uint32_t bytes, tenon__cuda_form_t* form) {
  while (form->elements > 1 && rows->neighbours % form->elements != 0) {
    form->elements /= 2;
  }
  const uint32_t word = form->elements * bytes;
  return form->elements <= 1 ? LANES : between(COLUMN_BYTES / word, 1, LANES);
}

/* Chooses the form of adjacent rows, whose elements alternate in memory. */
static void choose_columns(const rows_t* rows, uint32_t bytes, int32_t variant,
                           tenon__cuda_form_t* form) {
  uint32_t slots = column_slots(rows, bytes, form);
  if (slots > 1 && form->elements > 1 && rows->count / form->elements / slots < FEW_BLOCKS) {
    slots /= 2;
  }
  const bool few = rows->count / form->elements / slots < 2 * (int64_t)FEW_BLOCKS;
  const uint32_t most = form->elements == 1 ? 16 * LANES : few ? 1024 : CROWDED_THREADS;
  uint32_t parts = between(power_above((rows->length + 7) / 8), 1, most / slots);
  parts = variant < 0 ? parts / 2 : parts << variant;
  form->parts = between(parts, LANES / slots, 1024 / slots);
  form->rows = slots * form->elements;
}

static void choose_rows(const tenon__cuda_analysis_t* analysis, const extents_t* extents,
                        tenon__cuda_choice_t choice, tenon__cuda_form_t* form) {
  const rows_t rows = rows_of(analysis, extents, choice.order);
  int64_t accesses = rows.length;
  form->columns = rows.count > 1 && !rows.innermost ? 1 : 0;
  if (form->columns != 0) {
    choose_columns(&rows, widths_of(analysis).most, choice.variant, form);
  } else {
    while (form->elements > 1 && rows.fixed && rows.length % form->elements != 0) {
      form->elements /= 2;
    }
    accesses = (rows.length + form->elements - 1) / form->elements;
    const uint32_t parts = row_threads(rows.length, accesses, rows.count);
    form->parts = between(choice.variant < 0 ? parts / 2 : parts << choice.variant, 1, 1024);
    form->rows = between(128 / form->parts, 1, 128);
  }
  const int64_t items = (accesses + form->parts - 1) / form->parts;
  const int64_t each = form->elements * varying_operands(analysis);
  const bool crowded = form->parts * tenon__cuda_form_slots(form) > CROWDED_THREADS;
  form->items = items * each <= (crowded ? CROWDED_ELEMENTS : KEPT_ELEMENTS) ? (uint32_t)items : 0;
  form->batch = between((uint32_t)(READ_ELEMENTS / (each < 1 ? 1 : each)), 1, READ_ACCESSES);
  /* Several axes may lie apart: then accesses end with the innermost, and there are more of them.
   */
  const bool sure =
      rows.fixed && (rows.along_count <= 1 || form->elements == 1 || form->columns != 0);
  form->again = form->items == 0 || !sure ? 1 : 0;
}

/* ---- Few long rows ---- */

/* Chooses the blocks and threads that share a row. form->split is 0 if no blocks share rows.
 * Adjacent rows share the same blocks. */
static void divide_row(const tenon__cuda_analysis_t* analysis, const rows_t* rows,
                       tenon__cuda_form_t* form) {
  uint32_t slots = 1;
  form->columns = rows->count > 1 && !rows->innermost ? 1 : 0;
  if (form->columns != 0) {
    slots = column_slots(rows, widths_of(analysis).most, form);
  }
  const int64_t along = form->columns != 0 ? 1 : form->elements; /* elements of a row per access */
  const int64_t across = form->columns != 0 ? (int64_t)slots * form->elements : 1;
  form->parts = SPLIT_THREADS / slots;
  form->rows = (uint32_t)across;
  const int64_t accesses = (rows->length + along - 1) / along;
  const int64_t groups = (rows->count + across - 1) / across;
  const int64_t filled = accesses / ((int64_t)form->parts * READ_ACCESSES);
  const int64_t room = SPLIT_BLOCKS / (groups < 1 ? 1 : groups);
  const int64_t blocks = filled < room ? filled : room;
  const bool pays = form->columns != 0 ? rows->length >= SPLIT_COLUMN && room >= SPLIT_ROOM
                                       : rows->length >= SPLIT_LENGTH;
  const bool splits = analysis->reduces && analysis->levels <= TENON_CUDA_SPLIT_LEVELS;
  form->split = splits && pays && blocks > 1 ? (uint32_t)blocks : 0;
}

static void choose_split(const tenon__cuda_analysis_t* analysis, const extents_t* extents,
                         tenon__cuda_choice_t choice, tenon__cuda_form_t* form) {
  const rows_t rows = rows_of(analysis, extents, choice.order);
  const int64_t varying = varying_operands(analysis);
  divide_row(analysis, &rows, form);
  const int64_t each = form->elements * (varying < 1 ? 1 : varying);
  form->batch = between((uint32_t)(READ_ELEMENTS / each), 1, READ_ACCESSES);
}

bool tenon__cuda_form_splits(const tenon__cuda_analysis_t* analysis, const tenon_region_t* region,
                             const tenon_region_table_t* table, int32_t order,
                             uint64_t* out_scratch_bytes) {
  const extents_t extents = find_extents(analysis, region, table);
  const tenon_program_t* program = analysis->program;
  const rows_t rows = rows_of(analysis, &extents, order);
  tenon__cuda_form_t form = {.elements = access_elements(analysis)};
  divide_row(analysis, &rows, &form);
  uint64_t bytes = (uint64_t)form.split * tenon__cuda_count_reductions(analysis) * sizeof(uint64_t);
  bool is_bounded = true;
  for (uint32_t axis = 0; axis < program->rank; axis++) {
    if ((analysis->reduced_axes >> axis & 1) == 0) {
      is_bounded = is_bounded && extents.optimum[axis] > 0 && extents.most[axis] >= 0;
      bytes *= is_bounded ? (uint64_t)extents.most[axis] : 1;
    }
  }
  *out_scratch_bytes = bytes;
  return form.split > 0 && is_bounded;
}

/* Does an element take long? Whoever only adds and multiplies waits for memory. */
static bool computes_much(const tenon_program_t* program) {
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    switch (program->instructions[k].opcode) {
      case TENON_OPCODE_ERF:
      case TENON_OPCODE_TANH:
      case TENON_OPCODE_POW:
      case TENON_OPCODE_EXP:
      case TENON_OPCODE_LOG:
      case TENON_OPCODE_SIN:
      case TENON_OPCODE_COS:
        return true;
      default:
        break;
    }
  }
  return false;
}

static bool has_orders(const tenon_program_t* program) {
  return program->rank == 3 || program->rank == 4;
}

/* Of axes as bits: is what is innermost in rows among them, and with channels last not, or the
 * other way round? */
static bool order_matters(const tenon_program_t* program, uint64_t axes) {
  return has_orders(program) && (axes >> 1 & 1) != (axes >> (program->rank - 1) & 1);
}

/* Does an operand go on along one of the two and stand still along the other? */
static bool spreads(const tenon_program_t* program) {
  bool spreads = false;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    const tenon_operand_t* operand = &program->operands[k];
    spreads = spreads || (operand->indexed == 0 && order_matters(program, operand->broadcast_axes));
  }
  return spreads;
}

/* So many that a thread may have two accesses and the device is still full. */
static bool has_many_points(const tenon__cuda_analysis_t* analysis, const extents_t* extents) {
  int64_t count = 1;
  for (uint32_t axis = 0; axis < analysis->program->rank && count < MANY_POINTS; axis++) {
    count *= extents->optimum[axis];
  }
  return !analysis->reduces && count >= MANY_POINTS;
}

uint32_t tenon__cuda_form_choices(const tenon__cuda_analysis_t* analysis,
                                  const tenon_region_t* region, const tenon_region_table_t* table,
                                  tenon__cuda_choice_t out_choices[TENON_CUDA_CHOICES]) {
  const extents_t extents = find_extents(analysis, region, table);
  const bool is_wide = access_elements(analysis) > 1;
  const bool by_order = order_matters(analysis->program, analysis->reduced_axes);
  const int32_t first = by_order ? TENON_CUDA_ORDER_ROWS : TENON_CUDA_ORDER_ANY;
  const int32_t last = by_order ? TENON_CUDA_ORDER_CHANNELS_LAST : TENON_CUDA_ORDER_ANY;
  uint64_t scratch_bytes = 0;
  uint32_t count = 0;
  for (int32_t order = first; order <= last; order++) {
    out_choices[count++] = (tenon__cuda_choice_t){TENON_CUDA_FORM_RULE, order};
    if (tenon__cuda_form_splits(analysis, region, table, order, &scratch_bytes)) {
      out_choices[count++] = (tenon__cuda_choice_t){TENON_CUDA_FORM_SPLIT, order};
    }
    if (analysis->reduces || (is_wide && computes_much(analysis->program))) {
      out_choices[count++] = (tenon__cuda_choice_t){TENON_CUDA_FORM_HALF, order};
    }
    if (analysis->reduces || (is_wide && has_many_points(analysis, &extents))) {
      out_choices[count++] = (tenon__cuda_choice_t){TENON_CUDA_FORM_TWICE, order};
    }
  }
  if (!analysis->reduces && spreads(analysis->program)) {
    out_choices[count++] =
        (tenon__cuda_choice_t){TENON_CUDA_FORM_RULE, TENON_CUDA_ORDER_CHANNELS_LAST};
  }
  return count;
}

bool tenon__cuda_extents_are_short(const tenon__cuda_analysis_t* analysis,
                                   const tenon_region_t* region,
                                   const tenon_region_table_t* table) {
  const tenon_program_t* program = analysis->program;
  const extents_t extents = find_extents(analysis, region, table);
  bool are_short = true;
  for (uint32_t axis = 0; axis < program->rank; axis++) {
    are_short = are_short && extents.optimum[axis] > 0 && extents.most[axis] >= 0 &&
                extents.most[axis] <= TENON_CUDA_SHORT_EXTENT;
  }
  for (uint32_t k = 0; k < program->operand_count; k++) {
    const uint32_t value = table->input(region, program->operands[k].index);
    const tenon_value_info_t* info = value == TENON_NONE ? NULL : table->value(region, value);
    const uint32_t rank = info == NULL ? 0 : info->rank;
    for (uint32_t axis = 0; axis < rank; axis++) {
      are_short =
          are_short && info->dims_max[axis] >= 0 && info->dims_max[axis] <= TENON_CUDA_SHORT_EXTENT;
    }
  }
  return are_short;
}

bool tenon__cuda_choice_is_one(tenon__cuda_choice_t choice, const tenon_program_t* program) {
  return choice.variant >= TENON_CUDA_FORM_HALF && choice.variant <= TENON_CUDA_FORM_SPLIT &&
         choice.order >= TENON_CUDA_ORDER_ANY && choice.order <= TENON_CUDA_ORDER_CHANNELS_LAST &&
         (choice.order == TENON_CUDA_ORDER_ANY || (program != NULL && has_orders(program)));
}

tenon__cuda_form_t tenon__cuda_form_choose(const tenon__cuda_analysis_t* analysis,
                                           const tenon_region_t* region,
                                           const tenon_region_table_t* table,
                                           tenon__cuda_choice_t choice) {
  tenon__cuda_form_t form = {.elements = access_elements(analysis)};
  if (analysis->reduces) {
    const extents_t extents = find_extents(analysis, region, table);
    if (choice.variant == TENON_CUDA_FORM_SPLIT) {
      choose_split(analysis, &extents, choice, &form);
    } else {
      choose_rows(analysis, &extents, choice, &form);
    }
  } else {
    form.elements /= choice.variant == TENON_CUDA_FORM_HALF && form.elements > 1 ? 2 : 1;
    form.batch = choice.variant == TENON_CUDA_FORM_TWICE ? 2 : 1;
  }
  return form;
}
