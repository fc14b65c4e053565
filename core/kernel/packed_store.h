/*
 * Packed weights by key, shared by all instances of a plan or a build. A kernel that packs what
 * another has packed alike (the same sources, format and parameters) gets the same bytes.
 *
 * Thread safe. Bytes stay where they are while the store lives; descriptions of them, which find
 * and get give, only until the next one is added.
 */
#ifndef TENON_CORE_KERNEL_PACKED_STORE_H_
#define TENON_CORE_KERNEL_PACKED_STORE_H_

#include "core/kernel/blob_folder.h"
#include "core/plan/plan.h"

typedef struct tenon__packed_store_t tenon__packed_store_t;

/* Empty; OUT_OF_MEMORY only. Destroying frees what was made here, not what is mapped. */
tenon_status_t tenon__packed_store_create(tenon_allocator_t allocator,
                                          tenon__packed_store_t** out_store);
void tenon__packed_store_destroy(tenon__packed_store_t* store);
/* Where blobs are looked for besides, and kept too; NULL: nowhere. It must outlive the store. Set
 * before anybody asks. */
void tenon__packed_store_use_folder(tenon__packed_store_t* store, tenon__blob_folder_t* folder);
tenon__blob_folder_t* tenon__packed_store_folder(const tenon__packed_store_t* store);
/* Bytes from a plan: never written, never freed. */
tenon_status_t tenon__packed_store_add_mapped(tenon__packed_store_t* store,
                                              const tenon__packed_t* packed);
/* For the writer of plans: those that are there now, in the order in which they were made. */
uint32_t tenon__packed_store_count(const tenon__packed_store_t* store);
const tenon__packed_t* tenon__packed_store_get(const tenon__packed_store_t* store, uint32_t index);

/* The bytes under `key`, made (zero-filled, *out_ready 0: the caller fills them) when they are not
 * there. INVALID_DATA when they are of another size: the packing changed its meaning. Who gets
 * *out_ready 0 fills them before anybody else asks: steps are prepared one after the other. */
tenon_status_t tenon__packed_store_get_or_make(tenon__packed_store_t* store,
                                               const tenon__digest_t* key, const char* format,
                                               size_t size_bytes, void** out_data,
                                               int32_t* out_ready);

/* The bytes under `key` in the memory of a device: copied there when somebody asks first, freed
 * with the store, which the device must outlive. The host's own where the device has its memory. At
 * most TENON_DEVICE_LIMIT devices. NOT_FOUND when they are not there at all. */
tenon_status_t tenon__packed_store_on_device(tenon__packed_store_t* store,
                                             const tenon__digest_t* key,
                                             const tenon__device_t* device, const void** out_data);

/* Of all that was copied to the device's memory. */
uint64_t tenon__packed_store_bytes_on_device(tenon__packed_store_t* store,
                                             const tenon__device_t* device);

/* NULL when it is not there. */
const tenon__packed_t* tenon__packed_store_find(tenon__packed_store_t* store,
                                                const tenon__digest_t* key);

#endif
