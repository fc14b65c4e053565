/* The objects behind tenon.h. The library is thin: it checks arguments, binds core and registry, and counts. */
#ifndef TENON_SDK_LIBRARY_LIBRARY_H_
#define TENON_SDK_LIBRARY_LIBRARY_H_

#include <pthread.h>

#include "core/base/arena.h"
#include "core/base/file.h"
#include "core/build.h"
#include "core/network/builder.h"
#include "core/runtime/context.h"
#include "core/runtime/engine.h"
#include "plugin_registry/registry.h"
#include "tenon/tenon.h"

struct tenon_registry_t {
  tenon_allocator_t allocator;
  tenon_sink_t logger;
  tenon__catalog_t* catalog;
  tenon__registry_t* registry;
  _Atomic uint32_t reference_count;
};

/* One mapped file of a model. */
typedef struct tenon__model_file_t {
  struct tenon__model_file_t* next;
  tenon__mapped_file_t file;
} tenon__model_file_t;

struct tenon_network_t {
  tenon_registry_t* registry;
  tenon__network_t* network;
  tenon_builder_t* builder;
  tenon__arena_t arena; /* names, infos; lives as long as the network */
  tenon__model_file_t* files;
  const char* file_name; /* of the model, for messages */
  bool is_parsed;
};

/* Serialised bytes, shared by a plan and the engines made of it. */
typedef struct tenon__plan_bytes_t {
  tenon_allocator_t allocator;
  _Atomic uint32_t reference_count;
  void* data;
  size_t size_bytes;
  tenon__mapped_file_t file; /* data is NULL unless it is mapped */
  bool is_borrowed;          /* the application's memory */
} tenon__plan_bytes_t;
void tenon__plan_bytes_release(void* bytes);

struct tenon_plan_t {
  tenon_registry_t* registry;
  tenon__plan_bytes_t* bytes;
};

struct tenon_engine_t {
  tenon_registry_t* registry;
  _Atomic uint32_t reference_count;
  tenon__engine_t* engine;
  tenon__arena_t arena;
  tenon_io_info_t* inputs;
  tenon_io_info_t* outputs;
  const int64_t** profiles; /* 3 for each input */
  pthread_mutex_t mutex;
  tenon_step_info_t* steps; /* made when first asked for */
  uint64_t plan_bytes;
  uint32_t step_count;
  tenon_engine_info_t info;
};

struct tenon_context_t {
  tenon_engine_t* engine;
  tenon__context_t* context;
};

struct tenon_timing_cache_t {
  tenon_registry_t* registry;
  tenon__timing_cache_t* cache;
};

/* A growing option structure of the application's, copied into a full-size one. */
void tenon__options_copy(void* target, size_t target_size, const void* source);
/* Describes a value of the main graph; strings in the arena. */
tenon_status_t tenon__io_describe(tenon__arena_t* arena, const tenon__network_t* network,
                                  uint32_t value, const char* name, tenon_io_info_t* out_info);
/* Finds operators for builders: user is a tenon_registry_t. */
const tenon__operator_t* tenon__library_find_operator(void* user, const char* name);
/* Steps and info of a loaded engine. */
tenon_status_t tenon__engine_describe(tenon_engine_t* engine);
tenon_status_t tenon__engine_describe_steps(tenon_engine_t* engine);

#endif
