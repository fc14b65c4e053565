/* A hash map from names to pointers. Keys are borrowed. A map that holds something stays where it
 * is in memory. */
#ifndef TENON_PARSER_UFF_NAMES_H_
#define TENON_PARSER_UFF_NAMES_H_

#include "context.h"

typedef struct tenon__uff_names_t {
  struct tenon__uff_name_t* slots;
  size_t capacity; /* a power of two */
  size_t count;
} tenon__uff_names_t;

/* Sets or replaces. All zeros is an empty map. OUT_OF_MEMORY leaves it as it was. */
tenon_status_t tenon__uff_names_set(tenon__uff_context_t* context, tenon__uff_names_t* names,
                                    const char* name, void* value);
/* NULL when absent. */
void* tenon__uff_names_find(const tenon__uff_names_t* names, const char* name);

#endif
