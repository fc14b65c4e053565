/* Blobs in this process' memory; the device's services; a life's memory and arguments. */
#include "kernel_tables.h"

void* kernel_scratch;

static void report_quietly(void* user, int32_t severity, const char* message) {
  (void)user, (void)severity;
  (void)snprintf(opened_words, sizeof(opened_words), "%s", message);
}
static const tenon_sink_t* current_sink(void) {
  static const tenon_sink_t quiet = {NULL, report_quietly};
  return kernel_is_quiet ? &quiet : &opened_sink;
}

/* ---- Preparing ---- */

enum { MOST_BLOBS = 16 };

typedef struct blob_t {
  char key[128];
  void* data;
  size_t size;
} blob_t;
static blob_t blobs[MOST_BLOBS];
static uint32_t blob_count;

void kernel_forget_blobs(void) {
  for (uint32_t k = 0; k < blob_count; k++) {
    free(blobs[k].data);
  }
  blob_count = 0;
}
uint32_t kernel_blob_count(void) {
  return blob_count;
}

static void name_blob(const char* key, const char* validity, char out_name[128]) {
  (void)snprintf(out_name, 128, "%s|%s", key, validity);
}
static tenon_status_t load_blob(tenon_preparation_t* preparation, const char* key,
                                const char* validity, const void** out_data, size_t* out_size) {
  char name[128];
  (void)preparation;
  name_blob(key, validity, name);
  *out_data = NULL;
  for (uint32_t k = 0; k < blob_count; k++) {
    if (strcmp(blobs[k].key, name) == 0) {
      *out_data = blobs[k].data;
      *out_size = blobs[k].size;
    }
  }
  return TENON_OK;
}
static tenon_status_t save_blob(tenon_preparation_t* preparation, const char* key,
                                const char* validity, const void* data, size_t size_bytes) {
  (void)preparation;
  if (blob_count < MOST_BLOBS) {
    blob_t* blob = &blobs[blob_count++];
    name_blob(key, validity, blob->key);
    blob->data = malloc(size_bytes);
    blob->size = size_bytes;
    memcpy(blob->data, data, size_bytes);
  }
  return TENON_OK;
}
/* Packings of one life: the host's bytes, and where they are on the device once bound. */
enum { MOST_PACKED = 4 };
typedef struct packed_t {
  void* data;
  size_t size;
} packed_t;
static packed_t packed[MOST_PACKED];
static uint32_t packed_count;

void kernel_forget_packed(void) {
  packed_count = 0;
}
static tenon_status_t pack(tenon_preparation_t* preparation, const tenon_packing_t* packing,
                           void** out_data, int32_t* out_ready) {
  const tenon_status_t status = packed_count == MOST_PACKED
                                    ? TENON_ERROR_OUT_OF_MEMORY
                                    : fake_pack(preparation, packing, out_data, out_ready);
  if (status == TENON_OK) {
    packed[packed_count++] = (packed_t){*out_data, packing->size_bytes};
  }
  return status;
}
static void* service(tenon_preparation_t* preparation, const char* name) {
  (void)preparation;
  return kernel_device.table->service(kernel_device.device, name);
}
static const tenon_sink_t* prepare_sink(tenon_preparation_t* preparation) {
  (void)preparation;
  return current_sink();
}
const tenon_prepare_table_t kernel_prepare_table = {.size = sizeof(tenon_prepare_table_t),
                                                    .allocate = fake_prepare_allocate,
                                                    .pack = pack,
                                                    .load_blob = load_blob,
                                                    .save_blob = save_blob,
                                                    .service = service,
                                                    .sink = prepare_sink};

/* ---- Binding ---- */

static const kernel_life_t* life_of(const void* handle) {
  return handle;
}
static void* bind_allocate(tenon_binding_t* binding, size_t size) {
  return fake_allocate(life_of(binding)->fake, size);
}
static const tenon_argument_t* bind_input(tenon_binding_t* binding, uint32_t index) {
  return &life_of(binding)->inputs[index];
}
static const tenon_argument_t* bind_output(tenon_binding_t* binding, uint32_t index) {
  return &life_of(binding)->outputs[index];
}
static const tenon_move_t* bind_move(tenon_binding_t* binding) {
  return life_of(binding)->fake->move;
}
static const int64_t* bind_space(tenon_binding_t* binding, uint32_t slot) {
  (void)slot;
  return life_of(binding)->fake->space;
}
static const tenon_sink_t* bind_sink(tenon_binding_t* binding) {
  (void)binding;
  return current_sink();
}
/* Copied when it is asked for, into memory of the life. */
static const void* bind_packed(tenon_binding_t* binding, uint32_t index) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  kernel_life_t* life = (kernel_life_t*)(void*)binding;
  void* block = NULL;
  const bool good = index < packed_count &&
                    kernel_life_block(life, packed[index].size, 0, &block) == TENON_OK &&
                    t->copy(kernel_device.device, life->stream, TENON_COPY_TO_DEVICE, block,
                            packed[index].data, packed[index].size) == TENON_OK &&
                    t->synchronize(kernel_device.device, life->stream) == TENON_OK;
  return good ? block : NULL;
}
const tenon_bind_table_t kernel_bind_table = {.size = sizeof(tenon_bind_table_t),
                                              .allocate = bind_allocate,
                                              .input = bind_input,
                                              .output = bind_output,
                                              .move = bind_move,
                                              .space = bind_space,
                                              .sink = bind_sink,
                                              .packed = bind_packed};

/* ---- Running ---- */

static void* run_scratch(tenon_run_t* run) {
  (void)run;
  return kernel_scratch;
}
static void* run_zeroed(tenon_run_t* run) {
  return life_of(run)->zeroed;
}
static void* run_persistent(tenon_run_t* run) {
  return life_of(run)->persistent;
}
static tenon_fault_t* run_fault(tenon_run_t* run) {
  return life_of(run)->fault;
}
static tenon_stream_t* run_stream(tenon_run_t* run) {
  return life_of(run)->stream;
}
static tenon_status_t run_fail(tenon_run_t* run, tenon_status_t status, const char* message) {
  (void)run;
  (void)fprintf(stderr, "  (%s)\n", message);
  return status;
}
const tenon_run_table_t kernel_run_table = {.size = sizeof(tenon_run_table_t),
                                            .scratch = run_scratch,
                                            .zeroed = run_zeroed,
                                            .persistent = run_persistent,
                                            .stream = run_stream,
                                            .fault = run_fault,
                                            .fail = run_fail};
