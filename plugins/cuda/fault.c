/*
 * Errors that kernels find in data. A kernel that did more than that, a trap, would lose the device
 * for the whole process. So each step that may find one has a word in mapped memory of the host;
 * each thread that finds one stores there what it found and goes on; the host looks when it has
 * waited for the stream. Kernels never read these words, which would take half a millisecond.
 */
#include <stdio.h>
#include <string.h>

#include "device.h"

enum { NUMBER_BITS = 29 };

tenon_status_t tenon__cuda_faults_open(tenon_device_t* device) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  const size_t size_bytes = TENON_CUDA_FAULTS * sizeof(tenon__cuda_fault_t);
  void* words = NULL;
  device->faults = allocator->resize(allocator->user, NULL, 0, size_bytes);
  if (device->faults == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memset(device->faults, 0, size_bytes);
  /* Portable and mapped: with unified addresses a kernel uses the host's own. */
  tenon_status_t status =
      TENON_CUDA_CALL(device, cuMemHostAlloc, &words, TENON_CUDA_FAULTS * sizeof(uint64_t),
                      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (status != TENON_OK) {
    return status;
  }
  memset(words, 0, TENON_CUDA_FAULTS * sizeof(uint64_t));
  for (uint32_t k = 0; k < TENON_CUDA_FAULTS; k++) {
    device->faults[k].word = (uint64_t*)words + k;
    device->faults[k].address = (CUdeviceptr)(uintptr_t)device->faults[k].word;
  }
  return TENON_OK;
}

void tenon__cuda_faults_close(tenon_device_t* device) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  if (device->faults == NULL) {
    return;
  }
  if (device->faults[0].word != NULL) {
    (void)device->driver->cuMemFreeHost(device->faults[0].word);
  }
  (void)allocator->resize(allocator->user, device->faults,
                          TENON_CUDA_FAULTS * sizeof(tenon__cuda_fault_t), 0);
}

tenon__cuda_fault_t* tenon__cuda_fault_take(tenon_device_t* device) {
  tenon__cuda_fault_t* found = NULL;
  (void)pthread_mutex_lock(&device->lock);
  for (uint32_t k = 0; k < TENON_CUDA_FAULTS && found == NULL; k++) {
    if (!device->faults[k].taken) {
      found = &device->faults[k];
      found->taken = true;
      found->stream = NULL;
      *found->word = 0;
      device->fault_count = k >= device->fault_count ? k + 1 : device->fault_count;
    }
  }
  (void)pthread_mutex_unlock(&device->lock);
  return found;
}

void tenon__cuda_fault_give(tenon_device_t* device, tenon__cuda_fault_t* fault) {
  if (fault != NULL) {
    (void)pthread_mutex_lock(&device->lock);
    fault->taken = false;
    (void)pthread_mutex_unlock(&device->lock);
  }
}

static long long number_in(uint64_t word, int shift) {
  const uint64_t mask = ((uint64_t)1 << NUMBER_BITS) - 1;
  const uint64_t raw = word >> shift & mask;
  const uint64_t sign = (uint64_t)1 << (NUMBER_BITS - 1);
  return (long long)raw - ((raw & sign) != 0 ? (long long)mask + 1 : 0);
}

/* From the top: 1, the axis in 4 bits, index and extent in 29 each, which are cut to what fits. */
void tenon__cuda_fault_words(uint64_t word, char* out_text, size_t capacity) {
  (void)snprintf(out_text, capacity, "element %lld of axis %u is read, whose extent is %lld",
                 number_in(word, NUMBER_BITS), (unsigned)(word >> (2 * NUMBER_BITS) & 15),
                 number_in(word, 0));
}

tenon_status_t tenon__cuda_faults_collect(tenon_device_t* device, const tenon_stream_t* stream) {
  tenon_status_t status = TENON_OK;
  if (device->fault_count == 0) { /* nobody ever took one */
    return TENON_OK;
  }
  (void)pthread_mutex_lock(&device->lock);
  for (uint32_t k = 0; k < device->fault_count; k++) {
    tenon__cuda_fault_t* fault = &device->faults[k];
    const uint64_t word = *(volatile uint64_t*)fault->word;
    if (fault->taken && word != 0 && (stream == NULL || fault->stream == stream)) {
      tenon__cuda_fault_words(word, device->fault_text, sizeof(device->fault_text));
      *fault->word = 0;
      status = TENON_ERROR_INVALID_DATA;
    }
  }
  (void)pthread_mutex_unlock(&device->lock);
  return status;
}
