/* A list that grows until it holds all kernels. A lookup may load plugins, which add more. */
#include "core/catalog/kernel_list.h"

#include "core/base/allocator.h"
#include "core/base/status.h"

static tenon_status_t reserve(tenon__kernel_list_t* list, uint32_t capacity) {
  tenon__kernel_list_deinitialize(list);
  list->entries = tenon__allocate(list->allocator, capacity, sizeof(void*));
  list->capacity = list->entries == NULL ? 0 : capacity;
  return list->entries == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__kernel_list_initialize(tenon_allocator_t allocator, tenon__catalog_t* catalog,
                                             const char* op, uint32_t flags,
                                             const tenon_sink_t* sink,
                                             tenon__kernel_list_t* out_list) {
  *out_list = (tenon__kernel_list_t){.allocator = allocator};
  uint32_t found = tenon__catalog_kernels(catalog, op, flags, sink, NULL, 0);
  while (found > out_list->capacity) {
    TENON_TRY(reserve(out_list, found));
    found = tenon__catalog_kernels(catalog, op, flags, sink, out_list->entries, found);
  }
  out_list->count = found;
  return TENON_OK;
}

tenon_status_t tenon__kernel_list_of_one(tenon_allocator_t allocator,
                                         const tenon__kernel_entry_t* entry,
                                         tenon__kernel_list_t* out_list) {
  *out_list = (tenon__kernel_list_t){.allocator = allocator};
  TENON_TRY(reserve(out_list, 1));
  out_list->entries[out_list->count++] = entry;
  return TENON_OK;
}

void tenon__kernel_list_deinitialize(tenon__kernel_list_t* list) {
  tenon__free(list->allocator, list->entries, list->capacity * sizeof(void*));
  *list = (tenon__kernel_list_t){.allocator = list->allocator};
}
