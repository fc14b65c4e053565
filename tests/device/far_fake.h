/*
 * Runs what plugins/reference's own tests describe on the device `far`: each of them is compiled
 * with this header before it, so its `fake_run` is the one here. Arguments go to the device, the
 * kernel's call is put on a stream, recorded and replayed where it may be, and what it made comes
 * back; the tests' expectations are the reference's own. What the device has no kernel for the
 * reference runs, as before.
 */
#ifndef TENON_TESTS_DEVICE_FAR_FAKE_H_
#define TENON_TESTS_DEVICE_FAR_FAKE_H_

#include "device_world.h"
#include "plugins/reference/fake_host.h"

typedef struct far_memory_t {
  void* data;
  size_t size;
} far_memory_t;

/* A case on its way. The first member, so that the tables of the fake host take it for theirs. */
typedef struct far_case_t {
  fake_t fake;
  world_t world;
  const tenon_kernel_t* kernel;
  tenon_argument_t inputs[FAKE_VALUES];
  tenon_argument_t outputs[FAKE_VALUES];
  far_memory_t memory[FAKE_VALUES * 2 + 3];
  uint32_t memory_count;
  void* scratch;
  void* zeroed;
  void* persistent;
  tenon_stream_t* stream; /* what the run gives: the world's, or NULL */
} far_case_t;

static inline far_case_t* far_case(const void* handle) {
  return (far_case_t*)handle; /* const for its users alone */
}

/* ---- What the kernel is given ---- */

static inline void* far_case_allocate(far_case_t* c, size_t size) {
  far_memory_t* memory = &c->memory[c->memory_count++];
  *memory = (far_memory_t){world_allocate(&c->world, size), size};
  return memory->data;
}

static inline void* far_case_scratch(tenon_run_t* r) {
  return far_case(r)->scratch;
}
static inline void* far_case_zeroed(tenon_run_t* r) {
  return far_case(r)->zeroed;
}
static inline void* far_case_persistent(tenon_run_t* r) {
  return far_case(r)->persistent;
}
static inline tenon_stream_t* far_case_stream(tenon_run_t* r) {
  return far_case(r)->stream;
}
/* `results` says the extents, and where the bytes are to be in the end. */
static inline tenon_status_t far_case_allocate_output(tenon_run_t* r, uint32_t output,
                                                      uint32_t rank, const int64_t* dims,
                                                      void** out_data) {
  far_case_t* c = far_case(r);
  c->fake.results[output] = fake_tensor(&c->fake, c->outputs[output].tensor.dtype, rank, dims);
  const int64_t count = tenon__dims_product(dims, 0, rank);
  *out_data = far_case_allocate(c, (size_t)count * 16);
  c->outputs[output].tensor.data = *out_data;
  return TENON_OK;
}
static const tenon_run_table_t far_case_run_table = {
    .size = sizeof(tenon_run_table_t),
    .scratch = far_case_scratch,
    .zeroed = far_case_zeroed,
    .persistent = far_case_persistent,
    .stream = far_case_stream,
    .allocate_output = far_case_allocate_output,
    .fail = fake_fail,
};

/* ---- Which kernel ---- */

static inline const tenon_kernel_t* far_case_find(const world_t* world, const fake_t* fake) {
  const tenon_offering_t* offering = far_plugin_offering(world->plugin, "kernel/1");
  const tenon_kernel_t* kernels = offering->items.items;
  const uint32_t flag = fake->program != NULL ? TENON_KERNEL_EXPRESSIONS : TENON_KERNEL_MOVES;
  for (uint32_t index = 0; index < offering->items.count; ++index) {
    const bool same = fake->op == NULL ? (kernels[index].flags & flag) != 0
                                       : kernels[index].operators != NULL &&
                                             strcmp(kernels[index].operators[0], fake->op) == 0;
    if (same) {
      return &kernels[index];
    }
  }
  return NULL;
}

/* Texts and sequences are not for the device. */
static inline bool far_case_has_texts(const fake_t* fake) {
  bool has = false;
  for (uint32_t index = 0; index < fake->input_count + fake->output_count; ++index) {
    const tenon_argument_t* argument = index < fake->input_count
                                           ? &fake->inputs[index]
                                           : &fake->outputs[index - fake->input_count];
    has = has || argument->tensor.dtype == TENON_DTYPE_STRING ||
          argument->kind == TENON_ARGUMENT_SEQUENCE || argument->kind == TENON_ARGUMENT_OPTIONAL;
  }
  return has;
}

/* ---- There and back ---- */

/* A tensor of the fake host has 16 bytes for each element, and is dense. */
static inline size_t far_case_bytes(const tenon_tensor_view_t* view) {
  return (size_t)tenon__dims_product(view->dims, 0, view->rank) * 16;
}

static inline void far_case_place(far_case_t* c, const tenon_argument_t* from, uint32_t count,
                                  tenon_argument_t* to) {
  for (uint32_t index = 0; index < count; ++index) {
    to[index] = from[index];
    if (from[index].kind == TENON_ARGUMENT_TENSOR) {
      const size_t size = far_case_bytes(&from[index].tensor);
      to[index].tensor.data = far_case_allocate(c, size);
      EXPECT_STATUS(world_write(&c->world, c->world.stream, to[index].tensor.data,
                                from[index].tensor.data, size),
                    TENON_OK);
    }
  }
}

static inline void far_case_fetch(far_case_t* c) {
  for (uint32_t index = 0; index < c->fake.output_count; ++index) {
    const tenon_tensor_view_t* result = &c->fake.results[index];
    if (c->outputs[index].kind != TENON_ARGUMENT_ABSENT && c->outputs[index].tensor.data != NULL) {
      EXPECT_STATUS(world_read(&c->world, c->world.stream, result->data,
                               c->outputs[index].tensor.data, far_case_bytes(result)),
                    TENON_OK);
    }
  }
}

static inline tenon_status_t far_case_keep_tactic(tenon_emit_t* emit,
                                                  const tenon_tactic_t* tactic) {
  fake_keep_tactic(&far_case(emit)->fake, tactic);
  return TENON_OK;
}

/* Enqueues the call; a second time by a recording, where the tactic says that it may be. */
static inline tenon_status_t far_case_enqueue(far_case_t* c, const tenon_enqueue_t* call) {
  const tenon_device_descriptor_t* table = c->world.table;
  if (c->stream == NULL) {
    EXPECT_STATUS(world_synchronize(&c->world), TENON_OK); /* the arguments are there */
  }
  tenon_status_t status = c->kernel->enqueue(call);
  if (status != TENON_OK || c->stream == NULL ||
      (c->fake.tactic.flags & TENON_TACTIC_RECORDABLE) == 0 ||
      (c->fake.tactic.flags & TENON_TACTIC_HOST_WAITS) != 0) {
    return status;
  }
  void* recording = NULL;
  EXPECT_STATUS(table->begin_record(c->world.device, c->world.stream), TENON_OK);
  EXPECT_STATUS(c->kernel->enqueue(call), TENON_OK);
  status = table->end_record(c->world.device, c->world.stream, &recording);
  if (status == TENON_OK) {
    status = table->replay(c->world.device, c->world.stream, recording);
    table->destroy_recording(c->world.device, recording);
  }
  return status;
}

static inline tenon_status_t far_case_life(far_case_t* c, const tenon_region_t* region) {
  tenon_emit_t* emit = (tenon_emit_t*)(void*)c;
  void* instance = NULL;
  void* bound = NULL;
  EXPECT_STATUS(c->kernel->tactics(NULL, region, &fake_region_table, emit, far_case_keep_tactic),
                TENON_OK);
  const tenon_prepare_t making = fake_prepare_call(&c->fake, NULL);
  tenon_status_t status = c->kernel->prepare(&making, &instance);
  if (status == TENON_OK) {
    status = c->kernel->bind(instance, (tenon_binding_t*)(void*)c, &fake_bind_table, &bound);
  }
  if (status != TENON_OK) {
    return status;
  }
  const tenon_tactic_t* tactic = &c->fake.tactic;
  c->scratch = far_case_allocate(c, tactic->scratch_bytes);
  c->zeroed = far_case_allocate(c, tactic->zeroed_bytes);
  c->persistent = far_case_allocate(c, tactic->persistent_bytes);
  (void)c->world.table->fill(c->world.device, c->world.stream, c->zeroed, 0, tactic->zeroed_bytes);
  (void)c->world.table->fill(c->world.device, c->world.stream, c->persistent, 0,
                             tactic->persistent_bytes);
  far_case_place(c, c->fake.inputs, c->fake.input_count, c->inputs);
  far_case_place(c, c->fake.outputs, c->fake.output_count, c->outputs);
  tenon_enqueue_t call = fake_enqueue_call(&c->fake, instance, bound);
  call.host = &far_case_run_table;
  call.inputs = c->inputs;
  call.outputs = c->outputs;
  status = far_case_enqueue(c, &call);
  if (status == TENON_OK) {
    far_case_fetch(c);
  }
  const tenon_status_t done = world_synchronize(&c->world);
  return status == TENON_OK ? done : status;
}

/* What a stream says when it fails begins with the kernel's name. */
static inline void far_case_keep_words(far_case_t* c) {
  char words[256];
  c->world.far->words(0, words, sizeof(words));
  const char* colon = strstr(words, ": ");
  (void)snprintf(c->fake.failure, sizeof(c->fake.failure), "%s", colon == NULL ? words : colon + 2);
}

/* On a stream, or without: then the kernel itself tells its failure. */
static inline tenon_status_t far_case_run(far_case_t* c, tenon_stream_t* stream) {
  c->stream = stream;
  c->fake.failure[0] = 0;
  const tenon_status_t status = far_case_life(c, (const tenon_region_t*)(void*)c);
  if (stream != NULL) {
    far_case_keep_words(c);
  }
  for (uint32_t k = 0; k < c->memory_count; ++k) {
    world_free(&c->world, c->memory[k].data, c->memory[k].size);
  }
  c->memory_count = 0;
  return status;
}

static inline tenon_status_t far_fake_run(fake_t* fake) {
  far_case_t* c = calloc(1, sizeof(*c));
  if (c == NULL || !world_open(&c->world, 0)) {
    free(c);
    return TENON_ERROR_INTERNAL;
  }
  world_set(&c->world, FAR_SETTING_LAZY, 1);
  c->fake = *fake;
  c->fake.kind = fake->op != NULL        ? TENON_REGION_OPERATOR
                 : fake->program != NULL ? TENON_REGION_EXPRESSION
                                         : TENON_REGION_MOVE;
  c->kernel = far_case_find(&c->world, fake);
  const tenon_region_t* region = (const tenon_region_t*)(void*)c;
  tenon_refusal_t refusal = {0};
  const bool takes = c->kernel != NULL && !far_case_has_texts(fake) &&
                     c->kernel->match(NULL, region, &fake_region_table, &refusal) != 0;
  tenon_status_t status = TENON_OK;
  if (takes) {
    const tenon_status_t at_once = far_case_run(c, NULL);
    char failure[sizeof(c->fake.failure)];
    (void)snprintf(failure, sizeof(failure), "%s", c->fake.failure);
    status = far_case_run(c, c->world.stream);
    EXPECT_STATUS(at_once, status);
    EXPECT_TEXT(failure, c->fake.failure);
    *fake = c->fake;
  } else {
    status = fake_run(fake);
  }
  world_close(&c->world);
  free(c);
  return status;
}
/* Instead of what the tests call. NOLINTNEXTLINE(readability-identifier-naming) */
#define fake_run far_fake_run

#endif
