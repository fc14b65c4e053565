/* A set of names: a hash table with open addressing, at most three quarters full. All zeros is
 * empty. */
#ifndef TOOL_EXPORT_NAMES_H_
#define TOOL_EXPORT_NAMES_H_

#include <stdbool.h>
#include <stddef.h>

typedef struct tool_names_t {
  /* [capacity], a power of two; NULL: free. */
  char** slots;
  size_t capacity;
  size_t count;
} tool_names_t;

/* Copies the name; false when it is there already. */
bool tool_names_add(tool_names_t* names, const char* name);
bool tool_names_has(const tool_names_t* names, const char* name);
void tool_names_free(tool_names_t* names);

#endif
