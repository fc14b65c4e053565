/*
 * The expression kernel. It evaluates any program with any strides. If a program only moves its
 * operand, it is a strided copy. All other programs are evaluated block by block (block.h) in loops
 * that loops.h plans from the strides.
 */
#include "kernels.h"

#include <stdio.h>
#include <string.h>

#include "copy.h"
#include "loops.h"

enum { LEAST_WORK = 16384, CHUNKS_PER_THREAD = 4 };

typedef struct instance_t {
  const tenon__cpu_isa_t* isa;
  tenon__cpu_program_t* program;
  size_t capacity;
  size_t slot_bytes;
  const char** names; /* [operand]: names of values, for messages */
} instance_t;

typedef struct bound_t {
  const instance_t* instance;
  tenon__cpu_block_t* block;
  tenon__cpu_loops_t loops;
  int64_t* bytes; /* [tensor]: bytes of an element */
  bool copies;
  tenon__cpu_copy_t copy;
  int64_t offset; /* of the first copied element, in elements */
} bound_t;

/* Strides of all tensors, and the dimensions and strides of indexed operands. */
typedef struct shapes_t {
  int64_t* strides; /* [tensor][axis] */
  tenon__cpu_table_t* tables;
  uint32_t primary;
} shapes_t;

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cpu_state_t* cpu = state;
  const tenon_program_t* program = table->program(region);
  if (program == NULL) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_OTHER, "no program");
  }
  if (program->operand_count + program->output_count > TENON_CPU_LOOP_TENSORS) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_OTHER, "too many operands");
  }
  return tenon__cpu_program_accepts(cpu->isa->elements, program, out_refusal);
}

/* Scratch beyond that of small blocks, for larger ones. */
enum { LARGE_BLOCK_BYTES = 96 * 1024 };

static size_t block_capacity(const tenon_program_t* program) {
  size_t capacity = TENON_CPU_BLOCK_ELEMENTS;
  for (uint32_t i = 0; i < program->instruction_count; i++) {
    const uint32_t opcode = program->instructions[i].opcode;
    if (tenon__cpu_opcode_reduces(opcode)) {
      return TENON_CPU_LONG_BLOCK_ELEMENTS;
    }
    capacity = opcode == TENON_OPCODE_LOAD ? TENON_CPU_LOOKUP_BLOCK_ELEMENTS : capacity;
  }
  return capacity;
}

static size_t scratch_bytes(const tenon_program_t* program) {
  return tenon__cpu_block_scratch_limit(program, block_capacity(program)) + LARGE_BLOCK_BYTES;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  const tenon_program_t* program = table->program(region);
  tenon_argument_rule_t rules[TENON_CPU_MAX_RULES];
  for (size_t k = 0; k < TENON_CPU_MAX_RULES; k++) {
    rules[k] = (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  }
  if (table->input_count(region) > TENON_CPU_MAX_RULES ||
      table->output_count(region) > TENON_CPU_MAX_RULES) {
    return TENON_OK;
  }
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = "blocks",
      .inputs = rules,
      .outputs = rules,
      .numerics = &numerics,
      .launches = 1,
      .scratch_bytes_per_thread = scratch_bytes(program),
  };
  return add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  tenon__cpu_preparation_t preparation = {call->preparation, call->host};
  const tenon_program_t* program = call->table->program(call->region);
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  const char** names =
      call->host->allocate(call->preparation, (program->operand_count + 1) * sizeof(*names));
  if (instance == NULL || names == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < program->operand_count; k++) {
    const tenon_value_info_t* value = call->table->value(
        call->region, call->table->input(call->region, program->operands[k].index));
    names[k] = value == NULL ? NULL : value->name;
  }
  instance->names = names;
  instance->isa = cpu->isa;
  instance->capacity = block_capacity(program);
  instance->slot_bytes = scratch_bytes(program);
  *out_instance = instance;
  return call->tactic->scratch_bytes_per_thread < instance->slot_bytes /* damaged plan */
             ? TENON_ERROR_INVALID_ARGUMENT
             : tenon__cpu_program_create(program, tenon__cpu_allocate_prepared, &preparation,
                                         &instance->program);
}

/* ---- Binding ---- */

typedef struct binding_t {
  tenon_binding_t* handle;
  const tenon_bind_table_t* host;
} binding_t;
static void* allocate_bound(void* user, size_t size_bytes) {
  const binding_t* binding = user;
  return binding->host->allocate(binding->handle, size_bytes);
}

static const tenon_tensor_view_t* view_of(const binding_t* binding, const tenon_program_t* program,
                                          uint32_t tensor) {
  return tensor < program->operand_count
             ? &binding->host->input(binding->handle, program->operands[tensor].index)->tensor
             : &binding->host
                    ->output(binding->handle,
                             program->outputs[tensor - program->operand_count].index)
                    ->tensor;
}

static tenon_status_t read_shapes(const binding_t* binding, const tenon_program_t* program,
                                  const int64_t* extents, int64_t* out_bytes,
                                  shapes_t* out_shapes) {
  const uint32_t count = program->operand_count + program->output_count;
  const uint32_t rank = program->rank;
  void* user = (void*)binding;
  out_shapes->strides = allocate_bound(user, ((size_t)count * rank + 1) * sizeof(int64_t));
  out_shapes->tables = allocate_bound(user, (count + 1U) * sizeof(tenon__cpu_table_t));
  if (out_shapes->strides == NULL || out_shapes->tables == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  uint32_t most = 0;
  out_shapes->primary = 0;
  for (uint32_t t = 0; t < count; t++) {
    const tenon_tensor_view_t* view = view_of(binding, program, t);
    out_bytes[t] = (int64_t)tenon__cpu_element_bytes(view->dtype);
    if (t < program->operand_count && program->operands[t].indexed != 0) {
      out_shapes->tables[t] = (tenon__cpu_table_t){view->rank, view->dims, view->strides};
      continue;
    }
    if (view->rank != rank) {
      return TENON_ERROR_INVALID_ARGUMENT;
    }
    uint32_t varying = t >= program->operand_count ? 1 : 0; /* outputs win ties */
    for (uint32_t k = 0; k < rank; k++) {
      const bool varies = extents[k] != 1 && view->dims[k] != 1;
      out_shapes->strides[t * rank + k] = varies ? view->strides[k] : 0;
      varying += varies ? 2U : 0U;
    }
    if (varying > most) {
      most = varying;
      out_shapes->primary = t;
    }
  }
  return TENON_OK;
}

static uint64_t indexed_axes(const tenon_program_t* program) {
  uint64_t axes = 0;
  for (uint32_t i = 0; i < program->instruction_count; i++) {
    if (program->instructions[i].opcode == TENON_OPCODE_INDEX) {
      axes |= (uint64_t)1 << program->instructions[i].immediate.i;
    }
  }
  return axes;
}

/* Returns true if the program has one operand, one output and no computation but that of
 * coordinates. `opcode` reads the operand. */
static bool only_copies(const tenon__cpu_program_t* program, uint32_t opcode) {
  const tenon_program_t* source = &program->source;
  if (source->output_count != 1 || source->operand_count != 1) {
    return false;
  }
  const tenon_instruction_t* in = &source->instructions[source->outputs[0].instruction];
  const tenon_dtype_t dtype = source->operands[0].dtype;
  return in->opcode == opcode && dtype == source->outputs[0].dtype &&
         (opcode == TENON_OPCODE_LOAD) == (source->operands[0].indexed != 0) &&
         (in->dtype == dtype || in->dtype == TENON_DTYPE_FLOAT32) && !program->reduces;
}

static tenon_status_t plan_with(const binding_t* binding, bound_t* bound, const shapes_t* shapes,
                                const int64_t* extents, size_t capacity) {
  const tenon__cpu_program_t* program = bound->instance->program;
  const tenon_program_t* source = &program->source;
  const uint32_t count = source->operand_count + source->output_count;
  void* user = (void*)binding;
  int64_t* strides =
      allocate_bound(user, ((size_t)count + 1) * TENON_CPU_LOOP_AXES * sizeof(int64_t));
  tenon__cpu_walk_t* walks = allocate_bound(user, (count + 1U) * sizeof(*walks));
  int64_t* copied = allocate_bound(user, (source->rank + 1U) * sizeof(int64_t));
  if (strides == NULL || walks == NULL || copied == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memcpy(copied, extents, source->rank * sizeof(int64_t));
  const tenon__cpu_space_t space = {.rank = source->rank,
                                    .extents = extents,
                                    .reduced_axes = program->reduced_axes,
                                    .indexed_axes = indexed_axes(source),
                                    .tensor_count = count,
                                    .strides = shapes->strides,
                                    .primary = shapes->primary};
  tenon__cpu_loops_plan(&space, capacity, strides, &bound->loops);
  const tenon__cpu_loops_t* loops = &bound->loops;
  for (uint32_t t = 0; t < count; t++) {
    const int64_t* own = strides + (size_t)t * TENON_CPU_LOOP_AXES;
    walks[t].row = loops->rows == TENON_NONE ? 0 : own[loops->rows];
    walks[t].column = own[loops->columns];
  }
  const tenon__cpu_block_shape_t shape = {
      .operands = walks,
      .outputs = walks + source->operand_count,
      .tables = shapes->tables,
      .extents = copied,
      .row_axis = loops->rows == TENON_NONE ? TENON_NONE : loops->axes[loops->rows].id,
      .column_axis = loops->axes[loops->columns].id,
      .rows_reduced = loops->rows != TENON_NONE && loops->axes[loops->rows].reduced,
      .columns_reduced = loops->axes[loops->columns].reduced,
      .whole = loops->whole,
      .capacity = capacity,
  };
  return tenon__cpu_block_create(bound->instance->isa->elements, program, &shape, allocate_bound,
                                 user, &bound->block);
}

/* Large blocks if the space is larger than a small one and they need no buffers. The buffers of small
 * blocks fit the first-level cache. */
static tenon_status_t plan_blocks(const binding_t* binding, bound_t* bound, const shapes_t* shapes,
                                  const int64_t* extents) {
  const instance_t* instance = bound->instance;
  int64_t points = 1;
  for (uint32_t k = 0; k < instance->program->source.rank; k++) {
    points = tenon__cpu_times(points, extents[k]);
  }
  if (instance->capacity < TENON_CPU_LOOKUP_BLOCK_ELEMENTS &&
      points > (int64_t)instance->capacity) {
    const tenon_status_t status =
        plan_with(binding, bound, shapes, extents, TENON_CPU_LOOKUP_BLOCK_ELEMENTS);
    if (status != TENON_OK || (!tenon__cpu_block_is_buffered(bound->block) &&
                               tenon__cpu_block_scratch(bound->block) <= instance->slot_bytes)) {
      return status;
    }
  }
  return plan_with(binding, bound, shapes, extents, instance->capacity);
}

static tenon_status_t bind(void* instance, tenon_binding_t* handle, const tenon_bind_table_t* host,
                           void** out_bound) {
  const binding_t binding = {handle, host};
  const instance_t* self = instance;
  const tenon_program_t* source = &self->program->source;
  const int64_t* extents = host->space(handle, TENON_NONE);
  const uint32_t count = source->operand_count + source->output_count;
  bound_t* bound = host->allocate(handle, sizeof(*bound));
  shapes_t shapes;
  if (bound == NULL || extents == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->instance = self;
  bound->bytes = host->allocate(handle, (count + 1U) * sizeof(int64_t));
  if (bound->bytes == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon_status_t status = read_shapes(&binding, source, extents, bound->bytes, &shapes);
  if (status == TENON_OK && only_copies(self->program, TENON_OPCODE_INPUT)) {
    bound->copies = tenon__cpu_copy_plan(source->rank, extents, shapes.strides + source->rank,
                                         shapes.strides, (size_t)bound->bytes[0], &bound->copy);
  }
  if (status == TENON_OK && !bound->copies) {
    status = plan_blocks(&binding, bound, &shapes, extents);
  }
  if (status == TENON_OK && !bound->copies && only_copies(self->program, TENON_OPCODE_LOAD)) {
    bound->copies = tenon__cpu_block_copies(bound->block, shapes.strides + source->rank,
                                            (size_t)bound->bytes[0], &bound->copy, &bound->offset);
  }
  *out_bound = bound;
  return status;
}

/* ---- Running ---- */

typedef struct job_t {
  const bound_t* bound;
  const tenon_argument_t* inputs;
  const tenon_argument_t* outputs;
  char* scratch;
  uint32_t chunks;
  int32_t failed;
  tenon__cpu_fault_t fault; /* of the first chunk that failed */
} job_t;

/* Sets the part of [0, count) that belongs to chunk `index`. */
static void chunk_range(int64_t count, uint32_t chunks, uint32_t index, int64_t* out_begin,
                        int64_t* out_end) {
  *out_begin = count * index / chunks;
  *out_end = count * (index + 1) / chunks;
}

static void copy_chunk(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const tenon_program_t* source = &job->bound->instance->program->source;
  int64_t begin = 0;
  int64_t end = 0;
  chunk_range(job->bound->copy.tasks, job->chunks, index, &begin, &end);
  tenon__cpu_copy_run(job->bound->instance->isa->elements, &job->bound->copy,
                      job->outputs[source->outputs[0].index].tensor.data,
                      (const char*)job->inputs[source->operands[0].index].tensor.data +
                          job->bound->offset * (int64_t)job->bound->copy.element_bytes,
                      begin, end);
}

/* The addresses of one block. */
typedef struct place_t {
  const char* operands[TENON_CPU_LOOP_TENSORS];
  char* outputs[TENON_CPU_LOOP_TENSORS];
  int64_t origin[TENON_CPU_LOOP_AXES];
  tenon__cpu_frame_t frame;
} place_t;

static void set_frame(const job_t* job, const tenon__cpu_point_t* point, place_t* place) {
  const bound_t* bound = job->bound;
  const tenon_program_t* source = &bound->instance->program->source;
  for (uint32_t t = 0; t < source->operand_count; t++) {
    const int64_t offset = tenon__cpu_loops_offset(&bound->loops, t, point);
    place->operands[t] =
        (const char*)job->inputs[source->operands[t].index].tensor.data + offset * bound->bytes[t];
  }
  for (uint32_t o = 0; o < source->output_count; o++) {
    const uint32_t t = source->operand_count + o;
    const int64_t offset = tenon__cpu_loops_offset(&bound->loops, t, point);
    place->outputs[o] =
        (char*)job->outputs[source->outputs[o].index].tensor.data + offset * bound->bytes[t];
  }
  for (uint32_t k = 0; k < bound->loops.axis_count; k++) {
    const uint32_t id = bound->loops.axes[k].id;
    if (id != TENON_NONE) {
      place->origin[id] = point->at[k];
    }
  }
  place->frame.rows = point->rows;
  place->frame.columns = point->columns;
}

/* Runs all phases for one block of elements that are not reduced. */
static bool run_reduced(const job_t* job, tenon__cpu_point_t* point, place_t* place) {
  const bound_t* bound = job->bound;
  const uint32_t phases = bound->instance->program->phase_count;
  bool inside = true;
  for (uint32_t phase = 0; phase < phases; phase++) {
    tenon__cpu_loops_seek(&bound->loops, true, 0, point);
    set_frame(job, point, place);
    tenon__cpu_block_begin(bound->block, phase, &place->frame);
    for (int64_t inner = 0; inner < bound->loops.inner_count; inner++) {
      if (inner > 0) {
        tenon__cpu_loops_seek(&bound->loops, true, inner, point);
        set_frame(job, point, place);
      }
      inside = tenon__cpu_block_run(bound->block, phase, &place->frame) && inside;
    }
    tenon__cpu_block_end(bound->block, phase, &place->frame, bound->loops.reduced_count);
  }
  if (bound->loops.inner_count != 1) {
    tenon__cpu_loops_seek(&bound->loops, true, 0, point);
    set_frame(job, point, place);
  }
  tenon__cpu_block_finish(bound->block, &place->frame);
  return inside;
}

static void run_chunk(void* user, uint32_t index, uint32_t thread) {
  job_t* job = user;
  const bound_t* bound = job->bound;
  place_t place;
  memset(place.origin, 0, sizeof(place.origin));
  place.frame.operands = place.operands;
  place.frame.outputs = place.outputs;
  place.frame.origin = place.origin;
  tenon__cpu_fault_t fault = {.found = false};
  place.frame.fault = &fault;
  place.frame.buffers = job->scratch + thread * bound->instance->slot_bytes;
  tenon__cpu_point_t point = {.rows = 1, .columns = 1};
  int64_t begin = 0;
  int64_t end = 0;
  bool inside = true;
  chunk_range(bound->loops.outer_count, job->chunks, index, &begin, &end);
  for (int64_t outer = begin; outer < end; outer++) {
    tenon__cpu_loops_seek(&bound->loops, false, outer, &point);
    if (bound->instance->program->reduces) {
      inside = run_reduced(job, &point, &place) && inside;
    } else {
      set_frame(job, &point, &place);
      inside = tenon__cpu_block_run(bound->block, 0, &place.frame) && inside;
    }
  }
  if (!inside && __atomic_exchange_n(&job->failed, 1, __ATOMIC_RELAXED) == 0) {
    job->fault = fault;
  }
}

static tenon_status_t fail_load(const job_t* job, const tenon_enqueue_t* call) {
  char message[512];
  const char* name = job->bound->instance->names[job->fault.operand];
  const bool has_name = name != NULL && name[0] != '\0';
  (void)snprintf(message, sizeof(message),
                 "element %lld of axis %u%s%.300s%s is read, whose extent is %lld",
                 (long long)job->fault.element, job->fault.axis, has_name ? " of '" : "",
                 has_name ? name : "", has_name ? "'" : "", (long long)job->fault.extent);
  return call->host->fail(call->run, TENON_ERROR_INVALID_DATA, message);
}

/* Returns the number of chunks: enough to keep all threads busy, but each with enough work. */
static uint32_t chunk_count(int64_t tasks, int64_t work, uint32_t threads) {
  const int64_t most = work / LEAST_WORK;
  int64_t chunks = threads > 1 ? (int64_t)threads * CHUNKS_PER_THREAD : 1;
  chunks = chunks > most ? most : chunks;
  chunks = chunks > tasks ? tasks : chunks;
  return chunks < 1 ? 1 : (uint32_t)chunks;
}

static int64_t space_work(const bound_t* bound) {
  const uint32_t instructions = bound->instance->program->source.instruction_count;
  int64_t work = 1 + instructions;
  for (uint32_t k = 0; k < bound->loops.axis_count; k++) {
    work = tenon__cpu_times(work, bound->loops.axes[k].extent);
  }
  return work;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  job_t job = {.bound = bound,
               .inputs = call->inputs,
               .outputs = call->outputs,
               .scratch = call->host->scratch(call->run),
               .chunks = 1};
  const uint32_t threads = call->host->thread_count(call->run);
  if (bound->copies) {
    const int64_t tasks = bound->copy.tasks;
    const int64_t elements =
        tasks * (int64_t)(bound->copy.inner.columns) * bound->copy.rows_per_task;
    if (tasks > 0) {
      job.chunks = chunk_count(tasks, elements, threads);
      tenon__cpu_parallel(call, job.chunks, copy_chunk, &job);
    }
    return TENON_OK;
  }
  if (bound->loops.empty) {
    return TENON_OK;
  }
  job.chunks = chunk_count(bound->loops.outer_count, space_work(bound), threads);
  tenon__cpu_parallel(call, job.chunks, run_chunk, &job);
  return job.failed != 0 ? fail_load(&job, call) : TENON_OK;
}

const tenon_kernel_t tenon__cpu_expression_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "expressions",
    .device = "cpu",
    .version = 1,
    .flags = TENON_KERNEL_EXPRESSIONS,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
};
