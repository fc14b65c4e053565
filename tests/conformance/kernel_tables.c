/* Blobs in this process' memory; the device's services. */
#include "kernel_tables.h"

typedef struct blob_t {
  char key[128];
  void* data;
  size_t size;
} blob_t;
static blob_t blobs[KERNEL_BLOBS];
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
  if (blob_count < KERNEL_BLOBS) {
    blob_t* blob = &blobs[blob_count++];
    name_blob(key, validity, blob->key);
    blob->data = malloc(size_bytes);
    blob->size = size_bytes;
    memcpy(blob->data, data, size_bytes);
  }
  return TENON_OK;
}
static void* service(tenon_preparation_t* preparation, const char* name) {
  (void)preparation;
  return kernel_device.table->service(kernel_device.device, name);
}
static const tenon_sink_t* prepare_sink(tenon_preparation_t* preparation) {
  (void)preparation;
  return &opened_sink;
}
const tenon_prepare_table_t kernel_prepare_table = {.size = sizeof(tenon_prepare_table_t),
                                                    .allocate = fake_prepare_allocate,
                                                    .pack = fake_pack,
                                                    .load_blob = load_blob,
                                                    .save_blob = save_blob,
                                                    .service = service,
                                                    .sink = prepare_sink};
