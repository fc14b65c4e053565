/* A hash map from names, or from addresses, to pointers. Keys are borrowed. A map that holds
 * something stays where it is in memory. */
#ifndef TENON_PARSER_ONNX_NAMES_H_
#define TENON_PARSER_ONNX_NAMES_H_

#include "context.h"

typedef struct tenon__onnx_names_t {
  struct tenon__onnx_name_t* slots;
  size_t capacity; /* a power of two */
  size_t count;
} tenon__onnx_names_t;

/* Sets or replaces. All zeros is an empty map. OUT_OF_MEMORY leaves it as it was. */
tenon_status_t tenon__onnx_names_set(tenon__onnx_context_t* context, tenon__onnx_names_t* names,
                                     const char* name, void* value);
/* NULL when absent. */
void* tenon__onnx_names_find(const tenon__onnx_names_t* names, const char* name);

/* The same map with addresses for keys; one map holds one kind of key. */
tenon_status_t tenon__onnx_addresses_set(tenon__onnx_context_t* context, tenon__onnx_names_t* names,
                                         const void* key, void* value);
void* tenon__onnx_addresses_find(const tenon__onnx_names_t* names, const void* key);

#endif
