/*
 * What the files of the library share: the objects behind tenon.h. Thin: the work is the core's and
 * the registry's. Objects hold counted references to what they need, so that the application may
 * let go of them in any order; only a network's model files and a context's memory belong to one
 * object alone. A function of tenon.h that can fail begins with tenon__enter; one whose failure may
 * be silent ends by passing its status through tenon__tell.
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

/* Shared and counted; everything else holds one. `plugins` fills `catalog` and outlives what it
 * lists, so it is destroyed after it. */
struct tenon_registry_t {
  atomic_uint reference_count;
  tenon_allocator_t allocator;
  tenon_sink_t logger; /* the application's */
  /* To it, with what models and plugins say made fit to be shown; keeps the thread's last words. */
  tenon_sink_t sink;
  tenon__catalog_t* catalog;
  tenon__registry_t* plugins;
};

/* A file that a network's constants may point into. Mapped as long as the network builds on it, and
 * unmapped when the network is made anew. */
typedef struct tenon__model_file_t {
  const char* path; /* as opened: to find it again */
  const char* name; /* as the model says it */
  tenon__mapped_file_t file;
} tenon__model_file_t;

/* What the last parse found in the file (description.h), in the network's arena. */
typedef struct tenon__node_type_t tenon__node_type_t;
/* In arenas: growing leaves the old array behind. */
typedef struct tenon__io_list_t {
  tenon_io_info_t* items;
  uint32_t count;
  uint32_t capacity;
} tenon__io_list_t;
/* All zeros: nothing was parsed. What it lists lies in the network's arena. */
typedef struct tenon__description_t {
  bool stands; /* for a network that could not be made of it */
  tenon__io_list_t inputs;
  tenon__io_list_t outputs;
  tenon__node_type_t* types;
  uint32_t type_count;
  uint32_t type_capacity;
} tenon__description_t;

/* Not counted: the caller's alone. `network` and `builder` are made anew together
 * (tenon__network_reset), and constants point into `files`, which go after them. */
struct tenon_network_t {
  tenon_registry_t* registry; /* counted */
  tenon__arena_t arena;       /* names and infos that are lent */
  tenon__description_t description;
  tenon__network_t* network;
  tenon_builder_t* builder;
  tenon__prefix_sink_t sink; /* puts the model's name before messages while it is parsed */
  size_t file_count;
  size_t file_capacity;
  tenon__model_file_t* files;
};

/* The caller's; builds may share it, as it locks itself. */
struct tenon_timing_cache_t {
  tenon_registry_t* registry; /* counted */
  tenon__timing_cache_t* cache;
};

/* A plan's bytes, shared by the plan and the engines made of it. Never changed, so nothing is
 * locked but the count. */
typedef struct tenon__plan_bytes_t {
  atomic_uint reference_count;
  tenon_registry_t* registry; /* counted */
  void* data;
  size_t size;
} tenon__plan_bytes_t;

/* A handle on bytes: nothing of a plan is parsed before an engine is made of it. */
struct tenon_plan_t {
  tenon__plan_bytes_t* bytes; /* counted */
};

/* Texts and tables of an engine that are made when first asked for. */
typedef struct tenon__engine_texts_t tenon__engine_texts_t;

/* Shared and counted; each context holds one. Of `file` and `bytes` at most one holds the plan. */
struct tenon_engine_t {
  atomic_uint reference_count;
  tenon_registry_t* registry; /* counted */
  tenon__engine_t* engine;
  tenon__mapped_file_t file;  /* where it was loaded from; not mapped otherwise */
  tenon__plan_bytes_t* bytes; /* counted; NULL when from a file or from the caller's memory */
  size_t plan_size;
  bool is_made_again; /* its plugins were others: nothing of the bytes is used any more */
  tenon_sink_t sink;  /* the registry's: the core keeps a pointer to it */
  tenon__engine_texts_t* texts;
};

/* The caller's, one thread at a time: `in_use` finds a second one. `extents` has 2 * 64 numbers for
 * each output. */
struct tenon_context_t {
  tenon_engine_t* engine; /* counted */
  tenon__context_t* context;
  atomic_flag in_use;
  int64_t* extents; /* of each output, known and most: made when first asked for */
};

/* Checks a view of the application, and fills in row-major strides if it has none: `strides` is
 * memory for them. `what` is for the message: "input 'image'". INVALID_ARGUMENT gives the fault. */
tenon_status_t tenon__complete_view(const tenon_sink_t* sink, const char* what,
                                    const tenon_tensor_view_t* view,
                                    int64_t strides[TENON_RANK_LIMIT],
                                    tenon_tensor_view_t* out_view);

/* Copies an options structure that begins with its size into one of `own_size` bytes, zeros where
 * the caller's is shorter. NULL: all zeros. INVALID_ARGUMENT when `size` is not set. What a newer
 * caller has beyond `own_size` is not looked at. `name` is the structure's, for the message. */
tenon_status_t tenon__options_copy(const tenon_sink_t* sink, const char* name, const void* options,
                                   void* out_options, size_t own_size);

/* Copies a result into the caller's structure as far as its `size` reaches. INVALID_ARGUMENT if
 * `out_result` is NULL, or its size is not set. */
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

/* INVALID_ARGUMENT if a list has items and no address, or a stride that holds no pointer. */
tenon_status_t tenon__check_list(const tenon_sink_t* sink, const char* function, const char* name,
                                 const tenon_list_t* list);

/* What the library itself allocates for an application and did not get. */
static inline tenon_status_t tenon__fail_memory(const tenon_sink_t* sink) {
  return tenon__fail(sink, TENON_ERROR_OUT_OF_MEMORY, "out of memory");
}
/* Ends a call: passes the status on. A failure that nobody has put into words is named here, as
 * where memory ends and nobody has a sink. */
tenon_status_t tenon__tell(const tenon_sink_t* sink, const char* function, tenon_status_t status);
/* A sink that keeps what tenon_last_message gives and passes on to the registry's logger, with what
 * models and plugins say made fit to be shown; and one without a registry. What was a name in a
 * model may hold control characters; nothing reaches the application otherwise than through here.
 */
tenon_sink_t tenon__message_sink_of(tenon_registry_t* registry);
extern const tenon_sink_t tenon__message_sink;
void tenon__last_message_clear(void); /* this thread has said nothing yet */

/* INVALID_ARGUMENT: "tenon_build: argument 'network' is NULL"; the second unless it is there. */
tenon_status_t tenon__fail_null(const tenon_sink_t* sink, const char* function,
                                const char* argument);
/* `function` is __func__: the words name the call as the application wrote it. */
static inline tenon_status_t tenon__need(const tenon_sink_t* sink, const char* function,
                                         const char* argument, bool is_there) {
  if (!is_there) {
    (void)tenon__fail_null(sink, function, argument);
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  return TENON_OK;
}
/* Begins a call: the thread's last words go. INVALID_ARGUMENT unless `argument`, the object that
 * would know a logger, is there. */
static inline tenon_status_t tenon__enter(const char* function, const char* argument,
                                          bool is_there) {
  tenon__last_message_clear();
  return tenon__need(&tenon__message_sink, function, argument, is_there);
}

/* The folder of installed plugins that belongs to this library: beside it as installed, or in its
 * build tree. NULL when there is none; in the arena. Found by where the code of the library itself
 * lies, so a folder that was moved as a whole still works. */
const char* tenon__installed_directory(tenon__arena_t* arena);

/* Finds an operator for the core; `user` is the registry. May load plugins. */
const tenon__operator_t* tenon__library_find_operator(void* user, const char* name);
/* Offers names like one that was not found, for messages (builder_input.h). */
void tenon__library_suggest_operator(void* user, const char* name, tenon__nearest_t* nearest);

/* Fills an io info. With a profile, extents whose minimum and maximum agree are numbers. In the
 * arena. dims[k] is -1, and symbols[k] its name, where an extent is open. OUT_OF_MEMORY only. */
tenon_status_t tenon__io_info(const tenon__network_t* network, const tenon__profile_t* profile,
                              uint32_t value, const char* name, tenon__arena_t* arena,
                              tenon_io_info_t* out_info);

/* Networks: makes the core's network and builder anew, and lets go of all files. On failure the
 * network is as it was; OUT_OF_MEMORY only. */
tenon_status_t tenon__network_reset(tenon_network_t* network);
/* Adopts a mapping (on failure too); `path` is copied. One that was opened before under the same
 * name is for the caller to find. */
tenon_status_t tenon__network_adopt_file(tenon_network_t* network, const char* path,
                                         const char* name, tenon__mapped_file_t* file,
                                         const tenon__model_file_t** out_file);
/* Nothing was built into it yet. */
bool tenon__network_is_empty(const tenon_network_t* network);

/* Plans. Any thread; the last release frees bytes and registry. */
void tenon__plan_bytes_retain(tenon__plan_bytes_t* bytes);
void tenon__plan_bytes_release(tenon__plan_bytes_t* bytes);

/* Engines. An input or output by its index: INVALID_ARGUMENT names those that there are. Borrowed
 * from the engine's texts. */
tenon_status_t tenon__engine_input(const tenon_engine_t* engine, const char* function,
                                   uint32_t index, const tenon_io_info_t** out_info);
tenon_status_t tenon__engine_output(const tenon_engine_t* engine, const char* function,
                                    uint32_t index, const tenon_io_info_t** out_info);
/* Where the main graph's activations lie; in the arena. OUT_OF_MEMORY is not told. */
tenon_status_t tenon__engine_list_blocks(const tenon__plan_t* plan, tenon__arena_t* arena,
                                         tenon_block_info_t** out_blocks, uint32_t* out_count);
/* Infos of the engine, its inputs and outputs, made here; OUT_OF_MEMORY is told, and what was made
 * is the destroying's to free. Texts of the steps are made when first asked for, under a mutex, as
 * several threads may ask. All live as long as the engine. */
tenon_status_t tenon__engine_texts_create(tenon_engine_t* engine);
void tenon__engine_texts_destroy(tenon_engine_t* engine);

/* JSON text: "\"...\"" escaped, through `write`. Bytes that are no UTF-8 are shown as messages show
 * them. */
void tenon__write_json_text(tenon_write_t write, void* user, const char* text);
/* "key": "text", with ", " before it unless it is the first. */
void tenon__write_json_field(tenon_write_t write, void* user, bool first, const char* key,
                             const char* text);
/* , "attributes": [...], "inputs": [...], "outputs": [...]: what an operator declares of them. */
void tenon__write_operator_ports(const tenon__operator_t* op, tenon_write_t write, void* user);

#endif
