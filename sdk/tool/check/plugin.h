/*
 * The plugin under check, in a child: a registry that finds it, and the descriptors of all plugins,
 * as their query functions return them.
 */
#ifndef TOOL_CHECK_PLUGIN_H_
#define TOOL_CHECK_PLUGIN_H_

#include "check/check.h"
#include "text/memory.h"

/* Copies of descriptors, zero-filled where the plugin is older. `plugin`: its name. */
typedef struct check_operator_t {
  tenon_operator_t op;
  const char* plugin;
} check_operator_t;

typedef struct check_kernel_t {
  tenon_kernel_t kernel;
  const char* plugin;
} check_kernel_t;

typedef struct check_plugin_t {
  tenon_registry_t* registry;
  tenon_plugin_info_t info; /* of the file */
  tool_text_t warnings;     /* and errors: what the registry reported, one a line */
  check_operator_t* operators;
  size_t operator_count;
  size_t operator_capacity;
  check_kernel_t* kernels;
  size_t kernel_count;
  size_t kernel_capacity;
} check_plugin_t;

/* Finds the file, loads nothing. The folder of the file is searched first; other plugins in it
 * count only if they are on the search path without it. NULL allocator: the C library's. */
tenon_status_t check_plugin_find(const check_t* check, const tenon_allocator_t* allocator,
                                 check_plugin_t* out_plugin);
/* Loads all plugins, and lists the descriptors that were admitted. */
tenon_status_t check_plugin_load(check_plugin_t* plugin);
void check_plugin_close(check_plugin_t* plugin);

/* NULL if there is none. */
const check_operator_t* check_plugin_operator(const check_plugin_t* plugin, const char* name);

#endif
