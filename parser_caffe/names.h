/* A hash map from names to pointers. Keys are borrowed. A map that holds something stays where it
 * is in memory. */
#ifndef TENON_PARSER_CAFFE_NAMES_H_
#define TENON_PARSER_CAFFE_NAMES_H_

#include "context.h"

typedef struct tenon__caffe_names_t {
  struct tenon__caffe_name_t* slots;
  size_t capacity; /* a power of two */
  size_t count;
} tenon__caffe_names_t;

/* Sets or replaces. All zeros is an empty map. OUT_OF_MEMORY leaves it as it was. */
tenon_status_t tenon__caffe_names_set(tenon__caffe_context_t* context, tenon__caffe_names_t* names,
                                      const char* name, void* value);
/* NULL when absent. */
void* tenon__caffe_names_find(const tenon__caffe_names_t* names, const char* name);

#endif
