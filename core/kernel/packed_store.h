/*
 * Packed weights by key, shared by all instances of a plan or a build. Kernels that pack the same
 * sources with the same format and parameters share the bytes.
 *
 * Thread-safe. Bytes keep their addresses while the store lives. Descriptions, which find and get
 * return, are valid until the next addition.
 */
#ifndef TENON_CORE_KERNEL_PACKED_STORE_H_
#define TENON_CORE_KERNEL_PACKED_STORE_H_

#include "core/kernel/blob_folder.h"
#include "core/plan/plan.h"

typedef struct tenon__packed_store_t tenon__packed_store_t;

/* Creates an empty store; returns OUT_OF_MEMORY only. Destroying frees bytes that were made here,
 * but not mapped ones. */
tenon_status_t tenon__packed_store_create(tenon_allocator_t allocator,
                                          tenon__packed_store_t** out_store);
void tenon__packed_store_destroy(tenon__packed_store_t* store);
/* Sets a folder in which blobs are also searched and kept; NULL: none. It must outlive the store.
 * Call this before all other functions. */
void tenon__packed_store_use_folder(tenon__packed_store_t* store, tenon__blob_folder_t* folder);
tenon__blob_folder_t* tenon__packed_store_folder(const tenon__packed_store_t* store);
/* Adds bytes of a plan, which are never written or freed. */
tenon_status_t tenon__packed_store_add_mapped(tenon__packed_store_t* store,
                                              const tenon__packed_t* packed);
/* For the writer of plans: the present entries, in order of creation. */
uint32_t tenon__packed_store_count(const tenon__packed_store_t* store);
const tenon__packed_t* tenon__packed_store_get(const tenon__packed_store_t* store, uint32_t index);

/* Returns the bytes of `key`. If there are none, creates zero-filled ones with *out_ready 0, which
 * the caller must fill before the next request; steps are prepared one after another. Returns
 * INVALID_DATA if the size differs, because the packing has then changed its meaning. */
tenon_status_t tenon__packed_store_get_or_make(tenon__packed_store_t* store,
                                               const tenon__digest_t* key, const char* format,
                                               size_t size_bytes, void** out_data,
                                               int32_t* out_ready);

/* Returns the bytes of `key` in the memory of a device. They are copied there on the first request
 * and freed with the store, which the device must outlive. If the device has the host's memory, the
 * host's bytes are returned. At most TENON_DEVICE_LIMIT devices. Returns NOT_FOUND for an unknown
 * key. */
tenon_status_t tenon__packed_store_on_device(tenon__packed_store_t* store,
                                             const tenon__digest_t* key,
                                             const tenon__device_t* device, const void** out_data);

/* Returns the bytes of all copies in the device's memory. */
uint64_t tenon__packed_store_bytes_on_device(tenon__packed_store_t* store,
                                             const tenon__device_t* device);

/* Returns NULL for an unknown key. */
const tenon__packed_t* tenon__packed_store_find(tenon__packed_store_t* store,
                                                const tenon__digest_t* key);

#endif
