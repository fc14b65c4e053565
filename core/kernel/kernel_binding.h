/* A kernel with the data that its calls need. */
#ifndef TENON_CORE_KERNEL_KERNEL_BINDING_H_
#define TENON_CORE_KERNEL_KERNEL_BINDING_H_

#include "core/device/device.h"
#include "core/kernel/known_values.h"

/* A kernel, its plugin and its device. All members are borrowed and outlive each instance. */
typedef struct tenon__kernel_binding_t {
  const tenon_kernel_t* kernel;
  void* state;                        /* the plugin's */
  const char* plugin;                 /* for messages */
  const tenon__known_values_t* known; /* the plugin's */
  const tenon__device_t* device;
} tenon__kernel_binding_t;

#endif
