/*
 * Declarations that the library's files share: the objects behind tenon.h. The library is thin; the
 * core and the registry do the work. Objects hold references to the objects that they need, so that
 * the application may release them in any order. Only a network's model files and a context's
 * memory belong to one object alone. A function of tenon.h that can fail begins with tenon__enter.
 * A function that could fail without a message passes its status through tenon__tell.
 */
#ifndef TENON_SDK_LIBRARY_LIBRARY_H_
#define TENON_SDK_LIBRARY_LIBRARY_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/file.h"
#include "core/base/nearest.h"
#include "core/base/status.h"
#include "core/context/context.h"
#include "core/dimension/extents.h"
#include "core/network/network.h"
#include "core/plan/plan.h"
#include "core/timing/timing_cache.h"
#include "plugin_registry/registry.h"
#include "tenon/tenon.h"

/* Shared and reference-counted; all other objects hold a reference. `plugins` fills `catalog`,
 * outlives the entries, and is destroyed after it. */
struct tenon_registry_t {
  atomic_uint reference_count;
  tenon_allocator_t allocator;
  tenon_sink_t logger; /* the application's */
  /* Passes messages to the logger, with text of models and plugins escaped, and keeps the thread's
   * last message. */
  tenon_sink_t sink;
  tenon__catalog_t* catalog;
  tenon__registry_t* plugins;
};

/* A file that a network's constants may point into. Mapped while the network uses it, and unmapped
 * by tenon__network_reset. */
typedef struct tenon__model_file_t {
  const char* path; /* as opened, to find it again */
  const char* name; /* as given in the model */
  tenon__mapped_file_t file;
} tenon__model_file_t;

/* One result of the last parse of the file (description.h), in the network's arena. */
typedef struct tenon__node_type_t tenon__node_type_t;
/* In an arena: the old array stays allocated when the list grows. */
typedef struct tenon__io_list_t {
  tenon_io_info_t* items;
  uint32_t count;
  uint32_t capacity;
} tenon__io_list_t;
/* All zeros: nothing was parsed. Its lists are in the network's arena. */
typedef struct tenon__description_t {
  bool stands; /* true if it replaces a network that could not be built */
  tenon__io_list_t inputs;
  tenon__io_list_t outputs;
  tenon__node_type_t* types;
  uint32_t type_count;
  uint32_t type_capacity;
} tenon__description_t;

/* Not reference-counted: the caller is the only owner. tenon__network_reset replaces `network` and
 * `builder` together. Constants point into `files`, which are closed after them. */
struct tenon_network_t {
  tenon_registry_t* registry; /* counted */
  tenon__arena_t arena;       /* names and infos that callers borrow */
  tenon__description_t description;
  tenon__network_t* network;
  tenon_builder_t* builder;
  tenon__prefix_sink_t sink; /* puts the model's name before messages while it is parsed */
  size_t file_count;
  size_t file_capacity;
  tenon__model_file_t* files;
};

/* Owned by the caller. Builds may share it, because it has its own lock. */
struct tenon_timing_cache_t {
  tenon_registry_t* registry; /* counted */
  tenon__timing_cache_t* cache;
};

/* A plan's bytes, shared by the plan and the engines made of it. Never changed, so only the
 * reference count is atomic. */
typedef struct tenon__plan_bytes_t {
  atomic_uint reference_count;
  tenon_registry_t* registry; /* counted */
  void* data;
  size_t size;
} tenon__plan_bytes_t;

/* A handle of the bytes. A plan is parsed only when an engine is created from it. */
struct tenon_plan_t {
  tenon__plan_bytes_t* bytes; /* counted */
};

/* Texts and tables of an engine, created on first use. */
typedef struct tenon__engine_texts_t tenon__engine_texts_t;

/* Shared and reference-counted; each context holds a reference. At most one of `file` and `bytes`
 * holds the plan. */
struct tenon_engine_t {
  atomic_uint reference_count;
  tenon_registry_t* registry; /* counted */
  tenon__engine_t* engine;
  tenon__mapped_file_t file;  /* the file from which it was loaded, else not mapped */
  tenon__plan_bytes_t* bytes; /* counted; NULL when from a file or from the caller's memory */
  size_t plan_size;
  bool is_made_again; /* it was rebuilt for other plugins: the bytes are not used any more */
  tenon_sink_t sink;  /* the registry's: the core keeps a pointer to it */
  tenon__engine_texts_t* texts;
};

/* Owned by the caller and used by one thread at a time; `in_use` detects a second one. `extents`
 * has 2 * 64 numbers for each output. */
struct tenon_context_t {
  tenon_engine_t* engine; /* counted */
  tenon__context_t* context;
  atomic_flag in_use;
  int64_t* extents; /* of each output, known and maximum; created on first use */
};

/* Checks a view of the application, and fills in row-major strides if it has none: `strides` is
 * memory for them. `what` is for messages, for example "input 'image'". Returns INVALID_ARGUMENT
 * with a message. */
tenon_status_t tenon__complete_view(const tenon_sink_t* sink, const char* what,
                                    const tenon_tensor_view_t* view,
                                    int64_t strides[TENON_RANK_LIMIT],
                                    tenon_tensor_view_t* out_view);

/* Copies an options structure that begins with its size into one of `own_size` bytes, zeros where
 * the caller's is shorter. NULL: all zeros. Returns INVALID_ARGUMENT if `size` is not set. Members
 * of a newer caller beyond `own_size` are ignored. `name` is the structure's name, for messages. */
tenon_status_t tenon__options_copy(const tenon_sink_t* sink, const char* name, const void* options,
                                   void* out_options, size_t own_size);

/* Copies a result into the caller's structure up to its `size`. Returns INVALID_ARGUMENT if
 * `out_result` is NULL or its size is not set. */
typedef struct tenon__result_t {
  const char* argument; /* the name of the caller's argument */
  const char* name;
  const void* data;
  size_t size;
} tenon__result_t;
tenon_status_t tenon__result_fill(const tenon_sink_t* sink, const char* function,
                                  const tenon__result_t* result, void* out_result);
#define TENON_RESULT_FILL(sink, type, result, out_result)                                  \
  tenon__result_fill((sink), __func__,                                                     \
                     &(const tenon__result_t){#out_result, #type, (result), sizeof(type)}, \
                     (out_result))

/* Returns INVALID_ARGUMENT if a list has items but no address, or a stride smaller than a
 * pointer. */
tenon_status_t tenon__check_list(const tenon_sink_t* sink, const char* function, const char* name,
                                 const tenon_list_t* list);

/* Fails because the library could not allocate memory for an application. */
static inline tenon_status_t tenon__fail_memory(const tenon_sink_t* sink) {
  return tenon__fail(sink, TENON_ERROR_OUT_OF_MEMORY, "out of memory");
}
/* Ends a call and returns its status. If a failure has no message yet, this function sends one, for
 * example after an allocation failure in code without a sink. */
tenon_status_t tenon__tell(const tenon_sink_t* sink, const char* function, tenon_status_t status);
/* The first returns a sink that keeps the text for tenon_last_message and passes messages to the
 * registry's logger. The second has no registry. Both escape text of models and plugins, as names
 * in a model may contain control characters. All messages reach the application through these
 * sinks. */
tenon_sink_t tenon__message_sink_of(tenon_registry_t* registry);
extern const tenon_sink_t tenon__message_sink;
void tenon__last_message_clear(void); /* no message of this thread */

/* Return INVALID_ARGUMENT with the message "tenon_build: argument 'network' is NULL"; the second
 * only if `is_there` is false. */
tenon_status_t tenon__fail_null(const tenon_sink_t* sink, const char* function,
                                const char* argument);
/* `function` is __func__, so the message names the function that the application has called. */
static inline tenon_status_t tenon__need(const tenon_sink_t* sink, const char* function,
                                         const char* argument, bool is_there) {
  if (!is_there) {
    (void)tenon__fail_null(sink, function, argument);
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  return TENON_OK;
}
/* Begins a call: clears the thread's last message. Returns INVALID_ARGUMENT if `argument`, the
 * object that has the logger, is absent. */
static inline tenon_status_t tenon__enter(const char* function, const char* argument,
                                          bool is_there) {
  tenon__last_message_clear();
  return tenon__need(&tenon__message_sink, function, argument, is_there);
}

/* Returns the folder of installed plugins that belongs to this library: relative to the library as
 * installed, or in its build tree. NULL if there is none. In the arena. It is found from the
 * address of the library's own code, so a folder that was moved as a whole still works. */
const char* tenon__installed_directory(tenon__arena_t* arena);

/* Finds an operator for the core; `user` is the registry. May load plugins. */
const tenon__operator_t* tenon__library_find_operator(void* user, const char* name);
/* Adds names similar to one that was not found, for messages (builder_input.h). */
void tenon__library_suggest_operator(void* user, const char* name, tenon__nearest_t* nearest);

/* Fills an io info. With a profile, extents with equal minimum and maximum are numbers. If an
 * extent is open, dims[k] is -1 and symbols[k] is its name. In the arena. Returns OUT_OF_MEMORY
 * only. */
tenon_status_t tenon__io_info(const tenon__network_t* network, const tenon__profile_t* profile,
                              uint32_t value, const char* name, tenon__arena_t* arena,
                              tenon_io_info_t* out_info);

/* Networks: replaces the core's network and builder by empty ones and closes all files. On failure
 * the network is unchanged. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__network_reset(tenon_network_t* network);
/* Adopts a mapping (on failure too); `path` is copied. The caller checks whether the same name was
 * opened before. */
tenon_status_t tenon__network_adopt_file(tenon_network_t* network, const char* path,
                                         const char* name, tenon__mapped_file_t* file,
                                         const tenon__model_file_t** out_file);
/* Returns true if nothing has been built into it yet. */
bool tenon__network_is_empty(const tenon_network_t* network);

/* Plans. Any thread may call these. The last release frees the bytes and releases the registry. */
void tenon__plan_bytes_retain(tenon__plan_bytes_t* bytes);
void tenon__plan_bytes_release(tenon__plan_bytes_t* bytes);

/* Engines. Return an input or output by its index, borrowed from the engine's texts. Return
 * INVALID_ARGUMENT for an unknown index; the message gives the valid ones. */
tenon_status_t tenon__engine_input(const tenon_engine_t* engine, const char* function,
                                   uint32_t index, const tenon_io_info_t** out_info);
tenon_status_t tenon__engine_output(const tenon_engine_t* engine, const char* function,
                                    uint32_t index, const tenon_io_info_t** out_info);
/* Lists the memory blocks of the main graph's activations, in the arena. Returns OUT_OF_MEMORY
 * only, without a message. */
tenon_status_t tenon__engine_list_blocks(const tenon__plan_t* plan, tenon__arena_t* arena,
                                         tenon_block_info_t** out_blocks, uint32_t* out_count);
/* Create the infos of the engine, its inputs and outputs. OUT_OF_MEMORY has a message;
 * tenon__engine_texts_destroy frees what was created. The texts of the steps are created on first
 * use, under a mutex, as several threads may request them. All live as long as the engine. */
tenon_status_t tenon__engine_texts_create(tenon_engine_t* engine);
void tenon__engine_texts_destroy(tenon_engine_t* engine);

/* Writes a quoted and escaped JSON string through `write`. Bytes that are not UTF-8 are shown as in
 * messages. */
void tenon__write_json_text(tenon_write_t write, void* user, const char* text);
/* Writes "key": "text", with ", " before it unless it is the first. */
void tenon__write_json_field(tenon_write_t write, void* user, bool first, const char* key,
                             const char* text);
/* Writes , "attributes": [...], "inputs": [...], "outputs": [...] as the operator declares them. */
void tenon__write_operator_ports(const tenon__operator_t* op, tenon_write_t write, void* user);

#endif
