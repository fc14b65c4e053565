/* Makes block plans: the steps of each phase, the shapes of values and the buffers. */
#include "block.h"

#include <string.h>

#include "block_plan.h"

static const tenon_instruction_t* instruction_at(const tenon__cpu_block_t* block, uint32_t i) {
  return &block->program->source.instructions[i];
}

static bool is_sum(const tenon__cpu_block_t* block, uint32_t i) {
  return tenon__cpu_opcode_reduces(instruction_at(block, i)->opcode);
}

/* Returns true if exactly one coordinate varies along columns and it is INDEX of the column
 * axis. */
static bool gathers_along(const tenon__cpu_block_t* block, const tenon_instruction_t* in) {
  uint32_t varying = 0;
  bool plain = false;
  for (uint32_t k = 0; k < in->operands[1]; k++) {
    const uint32_t c = block->program->source.coordinates[in->operands[0] + k];
    if ((block->varies[c] & TENON_CPU_COLUMNS) != 0) {
      const tenon_instruction_t* coordinate = instruction_at(block, c);
      varying++;
      plain = coordinate->opcode == TENON_OPCODE_INDEX &&
              (uint32_t)coordinate->immediate.i == block->shape.column_axis;
    }
  }
  return varying == 1 && plain;
}

/* A function that is called for each instruction that another instruction reads. */
typedef void (*visit_t)(void* user, uint32_t input);
static void visit_inputs(const tenon__cpu_block_t* block, uint32_t i, visit_t visit, void* user) {
  const tenon_instruction_t* in = instruction_at(block, i);
  if (block->places[i] != NULL) {
    return;
  }
  if (in->opcode == TENON_OPCODE_LOAD) {
    const bool along = block->is_shaped && gathers_along(block, in);
    for (uint32_t k = 0; k < in->operands[1]; k++) {
      const uint32_t c = block->program->source.coordinates[in->operands[0] + k];
      const uint32_t wrapped = tenon__cpu_block_wrapped(block, in, k);
      if (!along || (block->varies[c] & TENON_CPU_COLUMNS) == 0) {
        visit(user, wrapped == TENON_NONE ? c : wrapped);
      }
    }
    return;
  }
  for (uint32_t k = 0; k < tenon__cpu_opcode_operands(in->opcode); k++) {
    visit(user, in->operands[k]);
  }
}

/* ---- Shapes ---- */

static uint8_t walk_varies(const tenon__cpu_block_t* block, tenon__cpu_walk_t walk) {
  uint8_t varies = 0;
  if (walk.row != 0 && block->shape.row_axis != TENON_NONE) {
    varies |= TENON_CPU_ROWS;
  }
  if (walk.column != 0) {
    varies |= TENON_CPU_COLUMNS;
  }
  return varies;
}

typedef struct gather_varies_t {
  const uint8_t* varies;
  uint8_t all;
} gather_varies_t;
static void add_varies(void* user, uint32_t input) {
  gather_varies_t* gathered = user;
  gathered->all |= gathered->varies[input];
}

static void set_constant(tenon__cpu_block_t* block, uint32_t i, const void* value, size_t size) {
  block->is_constant[i] = true;
  memcpy(&block->constants[i], value, size);
}

static void set_number(tenon__cpu_block_t* block, uint32_t i, int64_t whole, double real) {
  const tenon__cpu_type_t type = (tenon__cpu_type_t)block->program->types[i];
  const bool is_float = type == TENON_CPU_TYPE_F32 || type == TENON_CPU_TYPE_F64;
  const tenon__cpu_type_t from = is_float ? TENON_CPU_TYPE_F64 : TENON_CPU_TYPE_I64;
  uint64_t converted = 0;
  block->elements->convert[from][type](&converted, is_float ? (const void*)&real : &whole, 1);
  set_constant(block, i, &converted, tenon__cpu_type_bytes(type));
}

static void find_shape(tenon__cpu_block_t* block, uint32_t i) {
  const tenon_instruction_t* in = instruction_at(block, i);
  const uint32_t axis = (uint32_t)in->immediate.i;
  int64_t extent = 0;
  gather_varies_t gathered = {block->varies, 0};
  visit_inputs(block, i, add_varies, &gathered);
  switch (in->opcode) {
    case TENON_OPCODE_INPUT:
      gathered.all = walk_varies(block, block->shape.operands[axis]);
      break;
    case TENON_OPCODE_INDEX:
      gathered.all = axis == block->shape.column_axis ? TENON_CPU_COLUMNS
                     : axis == block->shape.row_axis  ? TENON_CPU_ROWS
                                                      : 0;
      break;
    case TENON_OPCODE_SIZE:
    case TENON_OPCODE_EXTENT: /* the immediate is the index of an operand */
      extent = in->opcode == TENON_OPCODE_SIZE ? block->shape.extents[axis]
                                               : block->shape.tables[axis].dims[in->operands[0]];
      set_number(block, i, extent, (double)extent);
      break;
    case TENON_OPCODE_CONSTANT:
      set_number(block, i, in->immediate.i, in->immediate.f);
      break;
    default:
      break;
  }
  if (is_sum(block, i)) {
    gathered.all &= (uint8_t)(block->shape.rows_reduced ? ~TENON_CPU_ROWS : ~0);
    gathered.all &= (uint8_t)(block->shape.columns_reduced ? ~TENON_CPU_COLUMNS : ~0);
  }
  block->varies[i] = gathered.all;
}

/* ---- Steps ---- */

/* The state while steps are listed. `needed` and `done` have one entry for each instruction. */
typedef struct listing_t {
  tenon__cpu_block_t* block;
  bool* needed;
  bool* done;
  uint32_t* uses; /* [instruction]: number of steps and outputs that read it */
  bool* guarded;  /* [instruction]: a SELECT reads it, directly or not */
} listing_t;

static void need(void* user, uint32_t input) {
  ((listing_t*)user)->needed[input] = true;
}
static void count_use(void* user, uint32_t input) {
  ((listing_t*)user)->uses[input] += 1;
}
static void guard(void* user, uint32_t input) {
  ((listing_t*)user)->guarded[input] = true;
}

/* Returns true if steps can read the operand's memory without a conversion or a copy. */
static bool is_view(const tenon__cpu_block_t* block, uint32_t i) {
  const tenon_instruction_t* in = instruction_at(block, i);
  const tenon__cpu_walk_t walk = block->shape.operands[in->immediate.i];
  const tenon_dtype_t stored = block->program->source.operands[in->immediate.i].dtype;
  tenon__cpu_type_t type;
  if (!tenon__cpu_type_of(stored, &type) || (uint8_t)type != block->program->types[i] ||
      tenon__cpu_element_bytes(stored) != tenon__cpu_type_bytes(type)) {
    return false;
  }
  if ((block->varies[i] & TENON_CPU_COLUMNS) != 0) {
    return walk.column == 1;
  }
  return (block->varies[i] & TENON_CPU_ROWS) == 0 || walk.row == 1;
}

static void list_step(listing_t* listing, uint32_t i) {
  tenon__cpu_block_t* block = listing->block;
  const tenon_instruction_t* in = instruction_at(block, i);
  step_t* step = &block->steps[block->step_count++];
  *step = (step_t){.result = i, .buffer = TENON_NONE, .output = TENON_NONE};
  step->inputs[0] = in->operands[0];
  step->inputs[1] = in->operands[1];
  step->inputs[2] = in->operands[2];
  step->operand = (uint32_t)in->immediate.i;
  switch (in->opcode) {
    case TENON_OPCODE_INPUT:
      step->kind = is_view(block, i) ? STEP_VIEW : STEP_READ;
      break;
    case TENON_OPCODE_INDEX:
      step->kind = STEP_INDEX;
      break;
    case TENON_OPCODE_LOAD:
      step->kind = STEP_GATHER;
      step->checked = !listing->guarded[i];
      step->along = gathers_along(block, in);
      for (uint32_t k = 0; k < in->operands[1]; k++) {
        const bool wraps = tenon__cpu_block_wrapped(block, in, k) != TENON_NONE;
        step->wraps |= (uint64_t)wraps << k;
      }
      break;
    case TENON_OPCODE_CAST:
      step->kind = STEP_CAST;
      break;
    case TENON_OPCODE_SELECT:
      step->kind = STEP_SELECT;
      break;
    default:
      step->kind = tenon__cpu_opcode_operands(in->opcode) == 1 ? STEP_UNARY : STEP_BINARY;
      break;
  }
}

static void list_sums(listing_t* listing, uint32_t phase) {
  tenon__cpu_block_t* block = listing->block;
  for (uint32_t s = 0; s < block->sum_count; s++) {
    if (block->sums[s].phase == phase) {
      const uint32_t i = block->sums[s].instruction;
      block->steps[block->step_count++] =
          (step_t){.kind = STEP_REDUCE,
                   .result = i,
                   .inputs = {instruction_at(block, i)->operands[0]},
                   .buffer = TENON_NONE,
                   .output = TENON_NONE};
    }
  }
}

static bool is_finished_late(const tenon__cpu_block_t* block, uint32_t output) {
  return block->program->reduces && block->program->source.outputs[output].reduced_axes != 0;
}

/* Lists the steps of phase `phase`. If `phase` is phase_count, lists the steps of finish. */
static void list_phase(listing_t* listing, uint32_t phase) {
  tenon__cpu_block_t* block = listing->block;
  const tenon__cpu_program_t* program = block->program;
  const bool last = phase + 1 == program->phase_count;
  const bool finish = phase == program->phase_count;
  memset(listing->needed, 0, program->source.instruction_count * sizeof(bool));
  for (uint32_t s = 0; s < block->sum_count; s++) {
    if (block->sums[s].phase == phase) {
      listing->needed[instruction_at(block, block->sums[s].instruction)->operands[0]] = true;
    }
  }
  for (uint32_t o = 0; o < program->source.output_count; o++) {
    if (is_finished_late(block, o) ? finish : last) {
      listing->needed[program->source.outputs[o].instruction] = true;
    }
  }
  for (uint32_t i = program->source.instruction_count; i-- > 0;) {
    if (listing->needed[i] && (is_sum(block, i) || (block->shape.whole && listing->done[i]))) {
      listing->needed[i] = false;
    }
    if (listing->needed[i]) {
      visit_inputs(block, i, need, listing);
    }
  }
  block->phase_begin[phase] = block->step_count;
  for (uint32_t i = 0; i < program->source.instruction_count; i++) {
    if (listing->needed[i] && !block->is_constant[i]) {
      list_step(listing, i);
      listing->done[i] = true;
    }
  }
  list_sums(listing, phase);
  for (uint32_t o = 0; o < program->source.output_count; o++) {
    if (is_finished_late(block, o) ? finish : last) {
      block->steps[block->step_count++] =
          (step_t){.kind = STEP_WRITE,
                   .result = o,
                   .inputs = {program->source.outputs[o].instruction},
                   .buffer = TENON_NONE,
                   .output = TENON_NONE};
    }
  }
}

/* ---- Buffers ---- */

/* Returns true if the step that computes the written value can store it in the output itself. */
static bool writes_through(const listing_t* listing, const step_t* write) {
  const tenon__cpu_block_t* block = listing->block;
  const tenon_program_output_t* output = &block->program->source.outputs[write->result];
  const uint32_t i = write->inputs[0];
  tenon__cpu_type_t type;
  const uint8_t full =
      block->shape.row_axis == TENON_NONE ? TENON_CPU_COLUMNS : TENON_CPU_ROWS | TENON_CPU_COLUMNS;
  return !is_finished_late(block, write->result) && listing->uses[i] == 1 &&
         tenon__cpu_type_of(output->dtype, &type) && (uint8_t)type == block->program->types[i] &&
         tenon__cpu_element_bytes(output->dtype) == tenon__cpu_type_bytes(type) &&
         (block->varies[i] & full) == full && block->shape.outputs[write->result].column == 1;
}

/* Returns true if the step can store its result in an output. CAST to half precision rounds
 * contiguous elements in a buffer. */
static bool can_send(const tenon__cpu_block_t* block, const step_t* step) {
  const uint32_t dtype = instruction_at(block, step->result)->dtype;
  const bool rounds = dtype == TENON_DTYPE_FLOAT16 || dtype == TENON_DTYPE_BFLOAT16;
  return step->kind == STEP_UNARY || step->kind == STEP_BINARY || step->kind == STEP_SELECT ||
         step->kind == STEP_READ || step->kind == STEP_GATHER ||
         (step->kind == STEP_CAST && !rounds);
}

/* Makes the step of this phase that computes the value of `write` store it in the output. Returns
 * false if no step of this phase computes it. */
static bool sends(tenon__cpu_block_t* block, const step_t* write, uint32_t begin, uint32_t end) {
  for (uint32_t t = end; t-- > begin;) {
    if (block->steps[t].result == write->inputs[0] && can_send(block, &block->steps[t])) {
      block->steps[t].output = write->result;
      return true;
    }
  }
  return false;
}

static void send_through(listing_t* listing) {
  tenon__cpu_block_t* block = listing->block;
  uint32_t kept = 0;
  uint32_t phase = 0;
  for (uint32_t s = 0; s < block->step_count; s++) {
    while (phase <= block->program->phase_count && block->phase_begin[phase] == s) {
      block->phase_begin[phase++] = kept;
    }
    const step_t* step = &block->steps[s];
    const bool gone = step->kind == STEP_WRITE && writes_through(listing, step) &&
                      sends(block, step, block->phase_begin[phase - 1], kept);
    if (!gone) {
      block->steps[kept++] = *step;
    }
  }
  while (phase <= block->program->phase_count + 1) {
    block->phase_begin[phase++] = kept;
  }
  block->step_count = kept;
}

typedef struct pool_t {
  uint32_t* last_use; /* [instruction]: the last step that reads it */
  uint32_t* holder;   /* [buffer]: the instruction whose value it has, or TENON_NONE */
  uint32_t count;
  uint32_t step;
} pool_t;

static void note_last_use(void* user, uint32_t input) {
  pool_t* pool = user;
  pool->last_use[input] = pool->step;
}

static void visit_step(const tenon__cpu_block_t* block, const step_t* step, visit_t visit,
                       void* user) {
  if (step->kind == STEP_WRITE || step->kind == STEP_REDUCE || step->kind == STEP_GELU) {
    visit(user, step->inputs[0]);
  } else if (tenon__cpu_block_has_three(step->kind)) {
    for (uint32_t k = 0; k < 3; k++) {
      if (step->inputs[k] != TENON_NONE) {
        visit(user, step->inputs[k]);
      }
    }
    if (tenon__cpu_block_has_addend(step->kind) && step->addend != TENON_NONE) {
      visit(user, step->addend);
    }
  } else if (step->kind == STEP_SHIFTED_SUM) {
    const uint32_t inputs[] = {step->inputs[0], step->inputs[1], step->guard, step->guarded};
    for (uint32_t k = 0; k < 4; k++) {
      if (inputs[k] != TENON_NONE) {
        visit(user, inputs[k]);
      }
    }
  } else {
    visit_inputs(block, step->result, visit, user);
  }
}

static uint32_t take_buffer(pool_t* pool, uint32_t instruction) {
  for (uint32_t b = 0; b < pool->count; b++) {
    if (pool->holder[b] == TENON_NONE || pool->last_use[pool->holder[b]] < pool->step) {
      pool->holder[b] = instruction;
      return b;
    }
  }
  pool->holder[pool->count] = instruction;
  return pool->count++;
}

/* Assigns buffers. The next phase reuses the buffers of a phase, unless one block covers all
 * phases. Each sum has a separate buffer. */
static void give_buffers(tenon__cpu_block_t* block, pool_t* pool) {
  uint32_t most = 0;
  const uint32_t lists = block->program->phase_count + 1;
  for (uint32_t list = 0; list < lists; list++) {
    const bool fresh = !block->shape.whole || list == 0;
    const uint32_t begin = block->phase_begin[list];
    const uint32_t end = block->shape.whole ? block->step_count : block->phase_begin[list + 1];
    if (fresh) {
      for (pool->step = begin; pool->step < end; pool->step++) {
        visit_step(block, &block->steps[pool->step], note_last_use, pool);
      }
    }
    pool->count = fresh ? 0 : pool->count;
    for (pool->step = begin; pool->step < block->phase_begin[list + 1]; pool->step++) {
      step_t* step = &block->steps[pool->step];
      const bool wants = step->kind != STEP_VIEW && step->kind != STEP_REDUCE &&
                         step->kind != STEP_FOUND && step->kind != STEP_WRITE &&
                         step->output == TENON_NONE && !step->discards;
      if (wants) {
        step->buffer = take_buffer(pool, step->result);
      }
    }
    most = pool->count > most ? pool->count : most;
  }
  for (uint32_t s = 0; s < block->sum_count; s++) {
    block->sums[s].buffer = most++;
  }
  block->buffer_count = most;
}

/* ---- The plan ---- */

static void find_uses(listing_t* listing) {
  tenon__cpu_block_t* block = listing->block;
  const tenon_program_t* source = &block->program->source;
  for (uint32_t i = source->instruction_count; i-- > 0;) {
    visit_inputs(block, i, count_use, listing);
    if (listing->guarded[i] || instruction_at(block, i)->opcode == TENON_OPCODE_SELECT) {
      visit_inputs(block, i, guard, listing);
    }
  }
  for (uint32_t o = 0; o < source->output_count; o++) {
    listing->uses[source->outputs[o].instruction] += 1;
  }
}

static void list_all(listing_t* listing) {
  tenon__cpu_block_t* block = listing->block;
  for (uint32_t i = 0; i < block->program->source.instruction_count; i++) {
    if (is_sum(block, i) && block->program->phases[i] < block->program->phase_count) {
      block->sums[block->sum_count++] = (sum_t){i, block->program->phases[i] - 1, TENON_NONE};
    }
  }
  find_uses(listing);
  for (uint32_t phase = 0; phase <= block->program->phase_count; phase++) {
    list_phase(listing, phase);
  }
  block->phase_begin[block->program->phase_count + 1] = block->step_count;
  send_through(listing);
  tenon__cpu_block_fuse(block);
}

tenon_status_t tenon__cpu_block_create(const tenon__cpu_elements_t* elements,
                                       const tenon__cpu_program_t* program,
                                       const tenon__cpu_block_shape_t* shape,
                                       tenon__cpu_allocate_t allocate, void* user,
                                       tenon__cpu_block_t** out_block) {
  const size_t count = program->source.instruction_count + 1U;
  const size_t lists = program->phase_count + 1U;
  const size_t steps =
      (shape->whole ? 1 : lists) * count + count + lists + program->source.output_count;
  tenon__cpu_block_t* block = allocate(user, sizeof(*block));
  listing_t listing = {.block = block};
  pool_t pool = {.last_use = allocate(user, count * sizeof(uint32_t)),
                 .holder = allocate(user, 2 * count * sizeof(uint32_t))};
  listing.needed = allocate(user, count);
  listing.done = allocate(user, count);
  listing.guarded = allocate(user, count);
  listing.uses = allocate(user, count * sizeof(uint32_t));
  if (block == NULL || pool.last_use == NULL || pool.holder == NULL || listing.needed == NULL ||
      listing.done == NULL || listing.guarded == NULL || listing.uses == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *block = (tenon__cpu_block_t){.elements = elements, .program = program, .shape = *shape};
  block->varies = allocate(user, count);
  block->constants = allocate(user, count * sizeof(uint64_t));
  block->is_constant = allocate(user, count);
  block->steps = allocate(user, steps * sizeof(step_t));
  block->phase_begin = allocate(user, (lists + 1) * sizeof(uint32_t));
  block->sums = allocate(user, count * sizeof(sum_t));
  /* The elements are pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
  block->places = allocate(user, count * sizeof(*block->places));
  if (block->varies == NULL || block->constants == NULL || block->is_constant == NULL ||
      block->places == NULL || block->steps == NULL || block->phase_begin == NULL ||
      block->sums == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t i = 0; i + 1 < count; i++) {
    find_shape(block, i);
  }
  const tenon_status_t status = tenon__cpu_block_make_places(block, allocate, user);
  block->is_shaped = true;
  list_all(&listing);
  give_buffers(block, &pool);
  *out_block = block;
  return status;
}
