/* Finding kernels and tactics; preparing, binding, running with memory of the device. */
#include "kernel_life.h"

#include "kernel_tables.h"

opened_device_t kernel_device;
const tenon_plugin_t* kernel_plugin;
void* kernel_plugin_state;
bool kernel_is_quiet;
int kernel_failures;
int kernel_runs;

/* ---- Kernels and tactics ---- */

static void* kernel_state(void) {
  return kernel_plugin != NULL ? kernel_plugin_state : kernel_device.state;
}

static bool computes(const tenon_kernel_t* kernel, const fake_t* fake) {
  const uint32_t flag =
      fake->kind == TENON_REGION_MOVE ? TENON_KERNEL_MOVES : TENON_KERNEL_EXPRESSIONS;
  if (fake->nodes != NULL) {
    return kernel->propose != NULL;
  }
  if (fake->op == NULL) {
    return (kernel->flags & flag) != 0;
  }
  const char* const* op = kernel->operators;
  while (op != NULL && *op != NULL && strcmp(*op, fake->op) != 0) {
    op++;
  }
  return op != NULL && *op != NULL;
}

const tenon_kernel_t* kernel_find_nth(const fake_t* fake, uint32_t nth) {
  const tenon_plugin_t* plugin = kernel_plugin != NULL ? kernel_plugin : kernel_device.plugin;
  const tenon_kernel_t* kernel = NULL;
  for (uint32_t k = 0; (kernel = opened_offered(plugin, "kernel/1", k)) != NULL; k++) {
    if (computes(kernel, fake) && strcmp(kernel->device, kernel_device.table->name) == 0 &&
        nth-- == 0) {
      return kernel;
    }
  }
  return NULL;
}

const tenon_kernel_t* kernel_find(const fake_t* fake) {
  return kernel_find_nth(fake, 0);
}

bool kernel_takes(const tenon_kernel_t* kernel, fake_t* fake, tenon_refusal_t* out_refusal) {
  *out_refusal = (tenon_refusal_t){0};
  return kernel != NULL &&
         (kernel->match == NULL || kernel->match(kernel_state(), (const tenon_region_t*)(void*)fake,
                                                 &fake_region_table, out_refusal) != 0);
}

uint32_t kernel_take_tactic(const tenon_kernel_t* kernel, fake_t* fake, uint32_t wanted) {
  if (kernel->tactics == NULL) {
    return 1;
  }
  fake->tactic_count = 0;
  fake->tactic_index = wanted;
  (void)kernel->tactics(kernel_state(), (const tenon_region_t*)(void*)fake, &fake_region_table,
                        (tenon_emit_t*)(void*)fake, fake_add_tactic);
  return fake->tactic_count;
}

static tenon_prepare_t preparation_of(fake_t* fake) {
  tenon_prepare_t call = fake_prepare_call(fake, kernel_state());
  call.host = &kernel_prepare_table;
  return call;
}

void kernel_expect_tactics(const tenon_kernel_t* kernel, fake_t* fake, uint32_t first,
                           uint32_t count, uint32_t step) {
  for (uint32_t k = first; k < count && kernel->begin_prepare != NULL; k += step) {
    (void)kernel_take_tactic(kernel, fake, k);
    const tenon_prepare_t call = preparation_of(fake);
    kernel->begin_prepare(&call);
  }
}

/* ---- Memory ---- */

static uint64_t scratch_bytes; /* of kernel_scratch */

void kernel_free_scratch(void) {
  if (kernel_scratch != NULL) {
    kernel_device.table->free(kernel_device.device, NULL, kernel_scratch, scratch_bytes);
  }
  kernel_scratch = NULL;
  scratch_bytes = 0;
}

static tenon_status_t take_scratch(uint64_t wanted_bytes) {
  if (wanted_bytes <= scratch_bytes) {
    return TENON_OK;
  }
  kernel_free_scratch();
  const tenon_status_t status =
      kernel_device.table->allocate(kernel_device.device, NULL, wanted_bytes, &kernel_scratch);
  scratch_bytes = status == TENON_OK ? wanted_bytes : 0;
  return status;
}

tenon_status_t kernel_life_block(kernel_life_t* life, size_t size_bytes, int32_t byte,
                                 void** out_block) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  void* block = NULL;
  *out_block = NULL;
  if (size_bytes == 0) {
    return TENON_OK;
  }
  const tenon_status_t status = t->allocate(kernel_device.device, life->stream, size_bytes, &block);
  if (status != TENON_OK) {
    return status;
  }
  life->blocks[life->block_count] = block;
  life->sizes[life->block_count++] = size_bytes;
  *out_block = block;
  return t->fill(kernel_device.device, life->stream, block, byte, size_bytes);
}

/* ---- A life ---- */

tenon_status_t kernel_life_begin(kernel_life_t* out_life, const tenon_kernel_t* kernel,
                                 fake_t* fake) {
  kernel_life_t* life = out_life;
  memset(life, 0, sizeof(*life));
  kernel_forget_packed();
  life->kernel = kernel;
  life->fake = fake;
  const tenon_tactic_t* tactic = &fake->tactic;
  tenon_status_t status =
      kernel_device.table->create_stream(kernel_device.device, NULL, &life->stream);
  status = status == TENON_OK ? take_scratch(tactic->scratch_bytes) : status;
  if (status == TENON_OK) {
    status = kernel_life_block(life, tactic->zeroed_bytes, 0, &life->zeroed);
  }
  return status == TENON_OK
             ? kernel_life_block(life, tactic->persistent_bytes, 0, &life->persistent)
             : status;
}

tenon_status_t kernel_life_bind(kernel_life_t* life) {
  const tenon_prepare_t making = preparation_of(life->fake);
  const tenon_status_t status = life->kernel->prepare(&making, &life->instance);
  return status == TENON_OK ? life->kernel->bind(life->instance, (tenon_binding_t*)(void*)life,
                                                 &kernel_bind_table, &life->bound)
                            : status;
}

tenon_status_t kernel_life_enqueue(const kernel_life_t* life) {
  tenon_enqueue_t call = fake_enqueue_call(life->fake, life->instance, life->bound);
  call.run = (tenon_run_t*)(void*)life;
  call.host = &kernel_run_table;
  call.inputs = life->inputs;
  call.outputs = life->outputs;
  return life->kernel->enqueue(&call);
}

tenon_status_t kernel_life_record(const kernel_life_t* life, void** out_recording) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  void* recording = NULL;
  tenon_status_t status = t->begin_record(kernel_device.device, life->stream);
  if (status != TENON_OK) {
    return status;
  }
  status = kernel_life_enqueue(life);
  const tenon_status_t ended = t->end_record(kernel_device.device, life->stream, &recording);
  status = status == TENON_OK ? ended : status;
  if (status != TENON_OK) {
    t->destroy_recording(kernel_device.device, recording);
    return status;
  }
  *out_recording = recording;
  return TENON_OK;
}

tenon_status_t kernel_life_play(const kernel_life_t* life, void* recording) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  tenon_status_t status = t->replay(kernel_device.device, life->stream, recording);
  if (status == TENON_OK) {
    status = t->synchronize(kernel_device.device, life->stream);
  }
  t->destroy_recording(kernel_device.device, recording);
  return status;
}

tenon_status_t kernel_life_read(const kernel_life_t* life, const void* block, size_t size_bytes,
                                void* out_bytes) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  const tenon_status_t status =
      t->copy(kernel_device.device, life->stream, TENON_COPY_TO_HOST, out_bytes, block, size_bytes);
  return status == TENON_OK ? t->synchronize(kernel_device.device, life->stream) : status;
}

void kernel_life_end(kernel_life_t* life) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  if (life->bound != NULL && life->kernel->unbind != NULL) {
    life->kernel->unbind(life->instance, life->bound);
  }
  if (life->instance != NULL && life->kernel->destroy != NULL) {
    life->kernel->destroy(life->instance);
  }
  for (uint32_t k = 0; k < life->block_count; k++) {
    t->free(kernel_device.device, life->stream, life->blocks[k], life->sizes[k]);
  }
  if (life->stream != NULL) {
    (void)t->synchronize(kernel_device.device, life->stream);
    t->destroy_stream(kernel_device.device, life->stream);
  }
}
