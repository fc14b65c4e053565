/* A list of all kernels of one sort in its own memory. tenon__catalog_kernels is called twice. */
#ifndef TENON_CORE_CATALOG_KERNEL_LIST_H_
#define TENON_CORE_CATALOG_KERNEL_LIST_H_

#include "core/catalog/catalog.h"

typedef struct tenon__kernel_list_t {
  tenon_allocator_t allocator;
  const tenon__kernel_entry_t** entries;
  uint32_t count;
  uint32_t capacity;
} tenon__kernel_list_t;

/* `op` and `flags` as in tenon__catalog_kernels. The entries belong to the catalogue. OUT_OF_MEMORY
 * leaves an empty list, which may be deinitialised. */
tenon_status_t tenon__kernel_list_initialize(tenon_allocator_t allocator, tenon__catalog_t* catalog,
                                             const char* op, uint32_t flags,
                                             const tenon_sink_t* sink,
                                             tenon__kernel_list_t* out_list);
/* Makes a list of one kernel. OUT_OF_MEMORY leaves an empty list. */
tenon_status_t tenon__kernel_list_of_one(tenon_allocator_t allocator,
                                         const tenon__kernel_entry_t* entry,
                                         tenon__kernel_list_t* out_list);
void tenon__kernel_list_deinitialize(tenon__kernel_list_t* list);

#endif
