/* Preparing one step: what the host offers a kernel meanwhile. */
#include "core/kernel/instance.h"

#include <stdatomic.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/kernel/bound.h"
#include "core/kernel/packed_store.h"
#include "core/region/region_table.h"

struct tenon_preparation_t {
  tenon__instance_t* instance;
  tenon__packed_store_t* store;
  const tenon_sink_t* sink;
};

static void* prepare_allocate(tenon_preparation_t* preparation, size_t size_bytes) {
  return tenon__arena_allocate_aligned(&preparation->instance->memory, size_bytes);
}

static tenon_status_t note_packing(tenon__instance_t* instance, const tenon__digest_t* key) {
  tenon__packing_key_t* packing = tenon__arena_allocate(&instance->memory, 1, sizeof *packing);
  TENON_TRY_MEMORY(packing != NULL);
  *packing = (tenon__packing_key_t){.key = *key, .next = instance->packings};
  instance->packings = packing;
  instance->packing_count += 1;
  return TENON_OK;
}

/* A plan for the machine that built it (tuned_only) has packed weights alone. */
static tenon_status_t check_sources(const tenon_preparation_t* preparation,
                                    const tenon_packing_t* packing) {
  const struct tenon_region_t* region = preparation->instance->region;
  const tenon__value_node_t* values = region->network->graphs[region->graph]->values;
  for (size_t k = 0; k < packing->source_count; ++k) {
    const tenon__weights_t* weights =
        &region->network->weights[values[region->graph_values[packing->sources[k]]].weights];
    if (weights->data == NULL && weights->size_bytes > 0) {
      return tenon__fail(preparation->sink, TENON_ERROR_UNSUPPORTED,
                         "weights '%s' must be packed for this machine, but the plan holds them "
                         "only as packed for the machine that built it (tuned_only): build the "
                         "plan again",
                         weights->name);
    }
  }
  return TENON_OK;
}

static tenon_status_t prepare_pack(tenon_preparation_t* preparation, const tenon_packing_t* given,
                                   void** out_data, int32_t* out_ready) {
  tenon_packing_t packing = {0};
  memcpy(&packing, given, given->size < sizeof packing ? given->size : sizeof packing);
  const struct tenon_region_t* region = preparation->instance->region;
  tenon__digest_state_t state;
  tenon__digest_begin(&state);
  tenon__digest_add(&state, packing.format, strlen(packing.format) + 1);
  if (packing.parameters != NULL) {
    tenon__digest_add(&state, packing.parameters, strlen(packing.parameters) + 1);
  }
  for (size_t k = 0; k < packing.source_count; ++k) {
    const uint32_t value = packing.sources[k];
    if (value >= region->value_count) {
      return TENON_ERROR_INVALID_ARGUMENT;
    }
    const uint32_t weights =
        region->network->graphs[region->graph]->values[region->graph_values[value]].weights;
    if (weights == TENON_NONE) {
      return TENON_ERROR_INVALID_ARGUMENT;
    }
    /* The digest is a cache inside the network: it changes nothing that can be seen. */
    const tenon__digest_t* digest =
        tenon__weights_digest(tenon__drop_const(region->network), weights);
    tenon__digest_add(&state, digest, sizeof *digest);
    preparation->instance->packed[value] = true;
  }
  const tenon__digest_t key = tenon__digest_end(&state);
  TENON_TRY(note_packing(preparation->instance, &key));
  if (tenon__packed_store_find(preparation->store, &key) == NULL) {
    TENON_TRY(check_sources(preparation, &packing));
  }
  return tenon__packed_store_get_or_make(preparation->store, &key, packing.format,
                                         packing.size_bytes, out_data, out_ready);
}

static tenon__digest_t blob_key(const tenon_preparation_t* preparation, const char* key,
                                const char* validity) {
  tenon__digest_state_t state;
  tenon__digest_begin(&state);
  tenon__digest_add(&state, preparation->instance->kernel.plugin,
                    strlen(preparation->instance->kernel.plugin) + 1);
  tenon__digest_add(&state, key, strlen(key) + 1);
  tenon__digest_add(&state, validity, strlen(validity) + 1);
  return tenon__digest_end(&state);
}

static tenon_status_t prepare_load_blob(tenon_preparation_t* preparation, const char* key,
                                        const char* validity, const void** out_data,
                                        size_t* out_size) {
  const tenon__digest_t digest = blob_key(preparation, key, validity);
  const tenon__packed_t* blob = tenon__packed_store_find(preparation->store, &digest);
  if (blob == NULL) {
    *out_data =
        tenon__blob_folder_find(tenon__packed_store_folder(preparation->store), &digest, out_size);
  } else {
    *out_data = blob->data;
    *out_size = blob->size_bytes;
  }
  return TENON_OK;
}

static tenon_status_t prepare_save_blob(tenon_preparation_t* preparation, const char* key,
                                        const char* validity, const void* data, size_t size_bytes) {
  const tenon__digest_t digest = blob_key(preparation, key, validity);
  void* target = NULL;
  int32_t ready = 0;
  TENON_TRY(tenon__packed_store_get_or_make(preparation->store, &digest, "blob", size_bytes,
                                            &target, &ready));
  if (ready == 0 && size_bytes > 0) {
    memcpy(target, data, size_bytes);
  }
  tenon__blob_folder_keep(tenon__packed_store_folder(preparation->store), &digest, data,
                          size_bytes);
  return TENON_OK;
}

static void* prepare_service(tenon_preparation_t* preparation, const char* name) {
  const tenon__device_t* device = preparation->instance->kernel.device;
  return device == NULL || device->source.descriptor->service == NULL
             ? NULL
             : device->source.descriptor->service(device->handle, name);
}

static const tenon_sink_t* prepare_sink(tenon_preparation_t* preparation) {
  return preparation->sink;
}

static const tenon_prepare_table_t prepare_table = {
    .size = sizeof(tenon_prepare_table_t),
    .allocate = prepare_allocate,
    .pack = prepare_pack,
    .load_blob = prepare_load_blob,
    .save_blob = prepare_save_blob,
    .service = prepare_service,
    .sink = prepare_sink,
};

/* The tactic as the plugin made it. */
static tenon_tactic_t public_tactic(const tenon__step_tactic_t* tactic) {
  return (tenon_tactic_t){
      .size = sizeof(tenon_tactic_t),
      .name = tactic->name,
      .configuration = tactic->configuration,
      .configuration_size = tactic->configuration_size,
      .inputs = tactic->input_rules,
      .outputs = tactic->output_rules,
      .numerics = &tactic->numerics,
      .scratch_bytes = tactic->scratch_bytes,
      .scratch_bytes_per_thread = tactic->scratch_bytes_per_thread,
      .zeroed_bytes = tactic->zeroed_bytes,
      .persistent_bytes = tactic->persistent_bytes,
      .flags = tactic->flags,
      .launches = tactic->launches,
  };
}

/* What the region computes, for messages. */
static const char* operator_of(const struct tenon_region_t* region) {
  if (region->kind != TENON_REGION_OPERATOR || region->node_count == 0) {
    return region->kind == TENON_REGION_MOVE ? "a move" : "an expression";
  }
  const tenon__operator_t* op = region->network->graphs[region->graph]->nodes[region->nodes[0]].op;
  return op == NULL ? "an operator" : op->name;
}

/* "blur1 (acme.blur/1, fast:blur): " before all that the kernel says. */
static const char* prefix_of(tenon__instance_t* instance) {
  return instance->name == NULL
             ? ""
             : tenon__arena_format(&instance->memory, "%s (%s, %s:%s): ", instance->name,
                                   operator_of(instance->region), instance->kernel.plugin,
                                   instance->kernel.kernel->name);
}

/* Calls `prepare`, or `begin_prepare`, which has no status. */
static tenon_status_t call_kernel(tenon__instance_t* instance, bool is_ahead,
                                  const tenon_sink_t* sink) {
  const tenon_kernel_t* kernel = instance->kernel.kernel;
  tenon_preparation_t preparation = {.instance = instance, .store = instance->store, .sink = sink};
  const tenon_tactic_t tactic = public_tactic(instance->tactic);
  const tenon_prepare_t given = {.size = sizeof given,
                                 .state = instance->kernel.state,
                                 .region = instance->region,
                                 .table = tenon__region_table(),
                                 .tactic = &tactic,
                                 .preparation = &preparation,
                                 .host = &prepare_table};
  tenon_status_t status = TENON_OK;
  const tenon__call_t call = tenon__instance_call(instance, is_ahead ? "begin_prepare" : "prepare");
  const tenon__call_t* outer = tenon__call_enter(&call);
  if (is_ahead) {
    kernel->begin_prepare(&given);
  } else {
    status = kernel->prepare(&given, &instance->prepared);
  }
  tenon__call_leave(outer);
  return status;
}

static tenon_status_t prepare(tenon__instance_t* instance, const tenon_sink_t* sink) {
  if (instance->kernel.kernel->prepare == NULL) {
    return TENON_OK;
  }
  tenon__prefix_sink_t prefixed;
  tenon__prefix_sink_initialize(&prefixed, sink, instance->prefix);
  const tenon_status_t status = call_kernel(instance, false, &prefixed.sink);
  return status == TENON_OK ? status : tenon__kernel_failed(&prefixed, "prepared", status);
}

static tenon_status_t begin(tenon_allocator_t allocator, const tenon__instance_request_t* request,
                            tenon__instance_t** out_instance) {
  const tenon__kernel_binding_t* kernel = request->kernel;
  const struct tenon_region_t* region = request->region;
  tenon__instance_t* instance = tenon__allocate(allocator, 1, sizeof *instance);
  TENON_TRY_MEMORY(instance != NULL);
  *instance = (tenon__instance_t){.allocator = allocator,
                                  .kernel = *kernel,
                                  .region = region,
                                  .tactic = request->tactic,
                                  .name = request->step_name,
                                  .store = request->store,
                                  .running = {.plugin = kernel->plugin,
                                              .function = "enqueue",
                                              .item = kernel->kernel->name,
                                              .node = tenon__region_name(region)}};
  atomic_init(&instance->reference_count, 1);
  tenon__arena_initialize(&instance->memory, allocator);
  instance->packed =
      tenon__arena_allocate(&instance->memory, region->value_count + 1u, sizeof *instance->packed);
  instance->prefix = prefix_of(instance);
  if (instance->packed == NULL || instance->prefix == NULL) {
    tenon__instance_release(instance);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_instance = instance;
  return TENON_OK;
}

tenon_status_t tenon__instance_create(tenon_allocator_t allocator,
                                      const tenon__instance_request_t* request,
                                      const tenon_sink_t* sink, tenon__instance_t** out_instance) {
  tenon__instance_t* instance = NULL;
  TENON_TRY(begin(allocator, request, &instance));
  const tenon_status_t status = prepare(instance, sink);
  if (status != TENON_OK) {
    tenon__instance_release(instance);
    return status;
  }
  instance->is_prepared = true;
  *out_instance = instance;
  return TENON_OK;
}

static void ignore(void* user, int32_t severity, const char* message) {
  (void)user, (void)severity, (void)message;
}

void tenon__instance_ahead(tenon_allocator_t allocator, const tenon__instance_request_t* request) {
  static const tenon_sink_t silence = {NULL, ignore};
  tenon__instance_t* instance = NULL;
  if (request->kernel->kernel->begin_prepare != NULL &&
      begin(allocator, request, &instance) == TENON_OK) {
    (void)call_kernel(instance, true, &silence);
    tenon__instance_release(instance);
  }
}

bool tenon__instance_is_reference(const tenon__instance_t* instance) {
  return (instance->kernel.kernel->flags & TENON_KERNEL_REFERENCE) != 0;
}

bool tenon__instance_packs(const tenon__instance_t* instance, uint32_t value) {
  return value < instance->region->value_count && instance->packed[value];
}

/* It packed one use of the value: where the value stands twice (an epilogue reads it too, say), the
 * other use reads it as it is. */
bool tenon__instance_reads(const tenon__instance_t* instance, uint32_t input) {
  const struct tenon_region_t* region = instance->region;
  const uint32_t value = region->input_values[input];
  uint32_t uses = 0;
  for (uint32_t k = 0; k < region->input_count; ++k) {
    uses += region->input_values[k] == value ? 1u : 0u;
  }
  return value != TENON_NONE && (uses > 1 || !instance->packed[value]);
}

void tenon__instance_release(tenon__instance_t* instance) {
  if (instance == NULL ||
      atomic_fetch_sub_explicit(&instance->reference_count, 1, memory_order_acq_rel) != 1) {
    return;
  }
  if (instance->is_prepared && instance->kernel.kernel->destroy != NULL) {
    const tenon__call_t call = tenon__instance_call(instance, "destroy");
    const tenon__call_t* outer = tenon__call_enter(&call);
    instance->kernel.kernel->destroy(instance->prepared);
    tenon__call_leave(outer);
  }
  tenon__arena_deinitialize(&instance->memory);
  tenon__free(instance->allocator, instance, sizeof *instance);
}
