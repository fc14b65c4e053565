/* Packed weights by key: one copy for all tactics, profiles and contexts that want the same bytes.
 */
#include <pthread.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/device/memory.h"
#include "core/kernel/packed_store.h"

typedef struct entry_t {
  tenon__packed_t packed;
  char* format;
  size_t format_size;
  bool owned;
  void* copies[TENON_DEVICE_LIMIT]; /* on the store's devices */
} entry_t;

struct tenon__packed_store_t {
  tenon_allocator_t allocator;
  tenon__blob_folder_t* folder;
  pthread_mutex_t mutex;
  entry_t* entries;
  size_t capacity;
  uint32_t count;
  const tenon__device_t* devices[TENON_DEVICE_LIMIT]; /* that something was copied to */
  uint32_t device_count;
};

tenon_status_t tenon__packed_store_create(tenon_allocator_t allocator,
                                          tenon__packed_store_t** out_store) {
  tenon__packed_store_t* store = tenon__allocate(allocator, 1, sizeof *store);
  TENON_TRY_MEMORY(store != NULL);
  store->allocator = allocator;
  if (pthread_mutex_init(&store->mutex, NULL) != 0) {
    tenon__free(allocator, store, sizeof *store);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_store = store;
  return TENON_OK;
}

void tenon__packed_store_use_folder(tenon__packed_store_t* store, tenon__blob_folder_t* folder) {
  store->folder = folder;
}

tenon__blob_folder_t* tenon__packed_store_folder(const tenon__packed_store_t* store) {
  return store->folder;
}

void tenon__packed_store_destroy(tenon__packed_store_t* store) {
  if (store == NULL) {
    return;
  }
  const tenon_allocator_t allocator = store->allocator;
  for (uint32_t k = 0; k < store->count; ++k) {
    entry_t* entry = &store->entries[k];
    if (entry->owned) {
      tenon__free(allocator, tenon__drop_const(entry->packed.data), entry->packed.size_bytes);
    }
    tenon__free(allocator, entry->format, entry->format_size);
    for (uint32_t d = 0; d < store->device_count; ++d) {
      const tenon__memory_t memory = {.allocator = allocator, .device = store->devices[d]};
      tenon__memory_free(&memory, entry->copies[d], entry->packed.size_bytes);
    }
  }
  tenon__free(allocator, store->entries, store->capacity * sizeof *store->entries);
  (void)pthread_mutex_destroy(&store->mutex);
  tenon__free(allocator, store, sizeof *store);
}

static entry_t* find(tenon__packed_store_t* store, const tenon__digest_t* key) {
  for (uint32_t k = 0; k < store->count; ++k) {
    if (memcmp(&store->entries[k].packed.key, key, sizeof *key) == 0) {
      return &store->entries[k];
    }
  }
  return NULL;
}

/* A new entry without data, at the end; the caller holds the mutex. NULL: memory is out. */
static entry_t* append(tenon__packed_store_t* store, const tenon__digest_t* key,
                       const char* format) {
  if (!TENON_GROW(store->allocator, store->entries, store->capacity, store->count + 1u)) {
    return NULL;
  }
  entry_t* entry = &store->entries[store->count];
  memset(entry, 0, sizeof *entry);
  entry->format_size = strlen(format) + 1;
  entry->format = tenon__allocate(store->allocator, entry->format_size, 1);
  if (entry->format == NULL) {
    return NULL;
  }
  memcpy(entry->format, format, entry->format_size);
  entry->packed.key = *key;
  entry->packed.format = entry->format;
  return entry;
}

tenon_status_t tenon__packed_store_add_mapped(tenon__packed_store_t* store,
                                              const tenon__packed_t* packed) {
  (void)pthread_mutex_lock(&store->mutex);
  tenon_status_t status = TENON_OK;
  if (find(store, &packed->key) == NULL) {
    entry_t* entry = append(store, &packed->key, packed->format);
    if (entry == NULL) {
      status = TENON_ERROR_OUT_OF_MEMORY;
    } else {
      entry->packed.data = packed->data;
      entry->packed.size_bytes = packed->size_bytes;
      store->count += 1;
    }
  }
  (void)pthread_mutex_unlock(&store->mutex);
  return status;
}

tenon_status_t tenon__packed_store_get_or_make(tenon__packed_store_t* store,
                                               const tenon__digest_t* key, const char* format,
                                               size_t size_bytes, void** out_data,
                                               int32_t* out_ready) {
  (void)pthread_mutex_lock(&store->mutex);
  tenon_status_t status = TENON_OK;
  entry_t* entry = find(store, key);
  if (entry != NULL && entry->packed.size_bytes == size_bytes) {
    *out_data = tenon__drop_const(entry->packed.data);
    *out_ready = 1;
  } else if (entry != NULL) {
    status = TENON_ERROR_INVALID_DATA; /* same key, another size: the packing changed its meaning */
  } else {
    void* data = tenon__allocate(store->allocator, size_bytes, 1);
    entry = data == NULL ? NULL : append(store, key, format);
    if (entry == NULL) {
      tenon__free(store->allocator, data, size_bytes);
      status = TENON_ERROR_OUT_OF_MEMORY;
    } else {
      entry->owned = true;
      entry->packed.data = data;
      entry->packed.size_bytes = size_bytes;
      store->count += 1;
      *out_data = data;
      *out_ready = 0;
    }
  }
  (void)pthread_mutex_unlock(&store->mutex);
  return status;
}

const tenon__packed_t* tenon__packed_store_find(tenon__packed_store_t* store,
                                                const tenon__digest_t* key) {
  (void)pthread_mutex_lock(&store->mutex);
  const entry_t* entry = find(store, key);
  (void)pthread_mutex_unlock(&store->mutex);
  return entry == NULL ? NULL : &entry->packed;
}

/* Its number among the store's; their count: it is none of them. */
static uint32_t find_device(const tenon__packed_store_t* store, const tenon__device_t* device) {
  uint32_t d = 0;
  while (d < store->device_count && store->devices[d] != device) {
    ++d;
  }
  return d;
}

/* The same for one that is among them from now on; TENON_NONE: one too many. */
static uint32_t number_of(tenon__packed_store_t* store, const tenon__device_t* device) {
  const uint32_t d = find_device(store, device);
  if (d == TENON_DEVICE_LIMIT) {
    return TENON_NONE;
  }
  store->devices[d] = device;
  store->device_count = d < store->device_count ? store->device_count : d + 1;
  return d;
}

/* The caller holds the mutex. */
static tenon_status_t copy_to(tenon__packed_store_t* store, entry_t* entry,
                              const tenon__device_t* device, const void** out_data) {
  const tenon__memory_t memory = {.allocator = store->allocator, .device = device};
  const uint32_t d = number_of(store, device);
  if (d == TENON_NONE) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (entry->copies[d] == NULL) {
    void* block = NULL;
    TENON_TRY(tenon__memory_allocate(&memory, entry->packed.size_bytes, &block));
    const tenon_status_t status =
        tenon__memory_write(&memory, block, entry->packed.data, entry->packed.size_bytes);
    if (status != TENON_OK) {
      tenon__memory_free(&memory, block, entry->packed.size_bytes);
      return status;
    }
    entry->copies[d] = block;
  }
  *out_data = entry->copies[d];
  return TENON_OK;
}

tenon_status_t tenon__packed_store_on_device(tenon__packed_store_t* store,
                                             const tenon__digest_t* key,
                                             const tenon__device_t* device, const void** out_data) {
  const tenon__memory_t memory = {.allocator = store->allocator, .device = device};
  (void)pthread_mutex_lock(&store->mutex);
  entry_t* entry = find(store, key);
  tenon_status_t status = entry == NULL ? TENON_ERROR_NOT_FOUND : TENON_OK;
  if (entry != NULL && tenon__memory_is_host(&memory)) {
    *out_data = entry->packed.data;
  } else if (entry != NULL) {
    status = copy_to(store, entry, device, out_data);
  }
  (void)pthread_mutex_unlock(&store->mutex);
  return status;
}

uint64_t tenon__packed_store_bytes_on_device(tenon__packed_store_t* store,
                                             const tenon__device_t* device) {
  uint64_t bytes = 0;
  (void)pthread_mutex_lock(&store->mutex);
  const uint32_t d = find_device(store, device);
  const uint32_t count = d < store->device_count ? store->count : 0;
  for (uint32_t k = 0; k < count; ++k) {
    bytes += store->entries[k].copies[d] == NULL ? 0 : store->entries[k].packed.size_bytes;
  }
  (void)pthread_mutex_unlock(&store->mutex);
  return bytes;
}

uint32_t tenon__packed_store_count(const tenon__packed_store_t* store) {
  return store->count;
}

const tenon__packed_t* tenon__packed_store_get(const tenon__packed_store_t* store, uint32_t index) {
  return &store->entries[index].packed;
}
