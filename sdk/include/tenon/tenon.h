/*
 * tenon/tenon.h - the application's interface.
 *
 *   registry -> network (parsed, or built by hand) -> plan (built) -> engine (loaded)
 *            -> context (run)
 *
 *     tenon_registry_create(NULL, &registry);
 *     tenon_network_create(registry, &network);
 *     tenon_network_parse_file(network, "model.onnx", NULL);
 *     tenon_build(network, NULL, &plan);
 *     tenon_engine_create_from_plan(registry, plan, NULL, &engine);
 *     tenon_context_create(engine, NULL, &context);
 *     tenon_context_set_input(context, 0, &image);
 *     tenon_context_run(context);
 *     tenon_context_get_output(context, 0, &scores);
 *
 * Where one of them fails, tenon_last_message() says why.
 *
 * Conventions. Every function that can fail returns a tenon_status_t (0 is success); on failure its
 * outputs are untouched, the words are written to the registry's logger, and tenon_last_message
 * gives them. `create`/`destroy`: the caller owns the result alone. `retain`/`release`: shared and
 * counted. `get`: borrowed, valid while its owner lives and is not changed. Option structures begin
 * with `size` (TENON_OPTIONS(type) sets it); NULL means defaults, zero fields mean defaults.
 * destroy and release take NULL.
 *
 * Threads. A registry, a plan and an engine may be used by several threads at once. A network and a
 * context belong to one thread at a time; one context has one execution in flight, which another
 * thread may cancel.
 *
 * Locale. The program's locale changes nothing, and is left alone: what Tenon reads and writes has
 * the C locale's numbers. The program's own functions that it calls (logger, progress, profiler,
 * write, allocator) may find the C locale on their thread (uselocale).
 */
#ifndef TENON_TENON_H_
#define TENON_TENON_H_

#include "tenon/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENON_API TENON_EXPORT
/* Of this header, for #if; tenon_version() is that of the library in use. */
#define TENON_VERSION_MAJOR 0
#define TENON_VERSION_MINOR 1
#define TENON_VERSION_PATCH 0
#define TENON_VERSION                  \
  TENON_STRINGIZE(TENON_VERSION_MAJOR) \
  "." TENON_STRINGIZE(TENON_VERSION_MINOR) "." TENON_STRINGIZE(TENON_VERSION_PATCH)
/* Defaults of an option structure. */
#ifdef __cplusplus
#define TENON_OPTIONS(type) (tenon_default_options<type>())
#else
#define TENON_OPTIONS(type) ((type){.size = sizeof(type)})
#endif

typedef struct tenon_registry_t tenon_registry_t;
typedef struct tenon_network_t tenon_network_t;
typedef struct tenon_timing_cache_t tenon_timing_cache_t;
typedef struct tenon_plan_t tenon_plan_t;
typedef struct tenon_engine_t tenon_engine_t;
typedef struct tenon_context_t tenon_context_t;

/* Version of the library in use ("0.1.0"), and words for a status ("invalid data"). Never NULL.
 * [any] */
TENON_API const char* tenon_version(void);
TENON_API const char* tenon_status_text(tenon_status_t status);

/* Why this thread's last call failed: what was said as an error, a line each, whether or not a
 * logger listened. "" when nothing was said; never NULL. Valid until the thread's next call of a
 * function that returns a status; the rest leaves it alone. What is longer than 4 KiB is cut: a
 * logger gets all of it, and warnings too. [any] */
TENON_API const char* tenon_last_message(void);

/* The name of an element type in every text ("f32") and the bits of one element: "undefined" and 0
 * for what is none. [any] */
TENON_API const char* tenon_dtype_name(tenon_dtype_t dtype);
TENON_API uint32_t tenon_dtype_bits(tenon_dtype_t dtype);

/* Which function of which plugin the calling thread is in. */
typedef struct tenon_call_info_t {
  const char* plugin;
  const char* function; /* as plugin.h calls it: "enqueue", "match", "convert"; "a constructor" */
  const char* item;     /* the kernel, operator, parser, ...; the file, where a plugin is loaded */
  const char* node;     /* the node that it is about, or the model's file; "" for none */
} tenon_call_info_t;

/* 1, or 0 when it is in none. Async-signal-safe: a program may ask in its handler of SIGSEGV and
 * the like whose fault a crash is; the innermost call counts, also in threads of Tenon's own that
 * work for one. The strings are valid until the handler returns. [any] */
TENON_API int32_t tenon_current_call(tenon_call_info_t* out_call);

/* SHA-256 of a file as 64 hexadecimal digits and NUL: how plans and policies name plugins. [any] */
TENON_API tenon_status_t tenon_digest_file(const char* path, char out_digest[65]);

/* Writes text for a person or a program, in pieces. */
typedef void (*tenon_write_t)(void* user, const char* text);

/* ---- Registry: the plugins of this process --------------------------------------------------- */

enum { TENON_POLICY_ANY = 0, TENON_POLICY_LISTED = 1 };

typedef struct tenon_registry_options_t {
  size_t size;
  /* Directories with plugins, absolute, NULL-terminated. NULL: TENON_PLUGIN_PATH, then the
   * installed directory beside this library. With paths given, these are searched first. */
  const char* const* paths;
  uint32_t only_paths;        /* 1: `paths` and nothing else */
  uint32_t policy;            /* TENON_POLICY_LISTED: only files whose SHA-256 is in `digests` */
  const char* const* digests; /* hexadecimal, NULL-terminated */
  tenon_sink_t logger;        /* where messages go; must be callable from several threads */
  const tenon_allocator_t* allocator; /* NULL: the C library's */
} tenon_registry_options_t;

TENON_API tenon_status_t tenon_registry_create(const tenon_registry_options_t* options,
                                               tenon_registry_t** out_registry);
TENON_API void tenon_registry_retain(tenon_registry_t* registry);
TENON_API void tenon_registry_release(tenon_registry_t* registry);

enum { TENON_PLUGIN_AVAILABLE = 0, TENON_PLUGIN_LOADED = 1, TENON_PLUGIN_REFUSED = 2 };

typedef struct tenon_plugin_info_t {
  const char* path;
  const char* name; /* "" when the manifest could not be read */
  const char* version;
  const char* vendor;
  const char* licence;
  const char* reason; /* REFUSED: why, and what mends it; else "" */
  const char* offers; /* lines of the manifest: "operator acme.swish/1\n..." */
  uint32_t state;
} tenon_plugin_info_t;

/* Every candidate found on the search path, used or not. [any] */
TENON_API uint32_t tenon_registry_plugin_count(const tenon_registry_t* registry);
TENON_API tenon_status_t tenon_registry_get_plugin(const tenon_registry_t* registry, uint32_t index,
                                                   tenon_plugin_info_t* out_info);
/* The directories searched, and a line for each that was refused. [any] */
TENON_API void tenon_registry_print_paths(const tenon_registry_t* registry, tenon_write_t write,
                                          void* user);
/* Everything on offer, one JSON object a line: {"kind": "operator", "name": ..., "plugin": ...}.
 * What has a fault, or a name that another plugin has, has "disabled": the reason. Loads all
 * plugins. [any] */
TENON_API tenon_status_t tenon_registry_print_index(tenon_registry_t* registry, tenon_write_t write,
                                                    void* user);
/* Devices: fingerprints and health, one JSON object a line. [any] */
TENON_API tenon_status_t tenon_registry_print_devices(tenon_registry_t* registry,
                                                      tenon_write_t write, void* user);

/* ---- Network --------------------------------------------------------------------------------- */

TENON_API tenon_status_t tenon_network_create(tenon_registry_t* registry,
                                              tenon_network_t** out_network);
TENON_API void tenon_network_destroy(tenon_network_t* network);

/* Shape of one input, for models that leave it open. dims[k] -1: stays symbolic. */
typedef struct tenon_input_shape_t {
  const char* name;
  uint32_t rank;
  const int64_t* dims;
} tenon_input_shape_t;

/* Value of one input, for what a build must know before it runs: the axes of a reduction, a target
 * shape. The input becomes this constant and is no input of the network any more. */
typedef struct tenon_input_value_t {
  const char* name;
  const tenon_tensor_view_t* view; /* any strides; copied */
} tenon_input_value_t;

typedef struct tenon_parse_options_t {
  size_t size;
  const char* format; /* NULL: sniffed */
  const tenon_input_shape_t* shapes;
  uint32_t shape_count;
  uint32_t value_count;
  /* More parts of one model (a caffemodel beside its prototxt), NULL-terminated. */
  const char* const* parts;
  /* INVALID_ARGUMENT when a value's type or extents are not its input's, or there is no such tensor
   * among the inputs. */
  const tenon_input_value_t* values;
  /* What the format's parser lets be set, NULL-terminated: "name=value". INVALID_ARGUMENT when it
   * does not ask for one of them. Caffe's: "weights=random" or "weights=random:SEED" (made up where
   * the files have none), "level=1", "stage=deploy,other" (the state that include rules ask for).
   * Of UFF and TensorFlow: "outputs=NODE,NODE:1" (of the network; else what the file marks, or
   * what nobody reads). */
  const char* const* settings;
} tenon_parse_options_t;

/* Parses into an empty network. The file is mapped until the network is destroyed. All operators
 * that nobody can convert are listed at once (UNSUPPORTED). After a failure the network is empty
 * again, and its builder another one; what the file says of itself can still be looked at: inputs,
 * outputs and node types, as far as it could be read. */
TENON_API tenon_status_t tenon_network_parse_file(tenon_network_t* network, const char* path,
                                                  const tenon_parse_options_t* options);
/* `data` must stay valid until the network is destroyed. `name` is for messages. */
TENON_API tenon_status_t tenon_network_parse_memory(tenon_network_t* network, const void* data,
                                                    size_t size_bytes, const char* name,
                                                    const tenon_parse_options_t* options);

/* The files that the network was parsed from: the model, its parts, and those that they name. NULL
 * past the end. */
TENON_API uint32_t tenon_network_file_count(const tenon_network_t* network);
TENON_API const char* tenon_network_get_file(const tenon_network_t* network, uint32_t index);

/* Building by hand: the same builder that parsers use (plugin.h, section 10). Valid while the
 * network lives. */
TENON_API tenon_builder_t* tenon_network_get_builder(tenon_network_t* network);
TENON_API const tenon_builder_table_t* tenon_builder_get_table(void);

/* One attribute of a node, for tenon_network_add. */
typedef struct tenon_attribute_t {
  const char* name;
  uint32_t kind;   /* TENON_ATTRIBUTE_INT .. _DTYPE */
  int64_t integer; /* INT, DTYPE */
  double number;
  const char* string;
  const int64_t* integers;
  const double* numbers;
  size_t count;
} tenon_attribute_t;
#ifdef __cplusplus
/* The same in C++; TENON_INTS("pads", pads) takes an array of int64_t that outlives its use. */
#define TENON_INT(attribute, value) (tenon_int_attribute((attribute), TENON_ATTRIBUTE_INT, (value)))
#define TENON_FLOAT(attribute, value) (tenon_float_attribute((attribute), (value)))
#define TENON_TEXT(attribute, value) (tenon_text_attribute((attribute), (value)))
#define TENON_INTS(attribute, values) (tenon_ints_attribute((attribute), (values)))
#define TENON_TYPE(attribute, value) \
  (tenon_int_attribute((attribute), TENON_ATTRIBUTE_DTYPE, (value)))
#else
#define TENON_INT(attribute, value) \
  ((tenon_attribute_t){.name = (attribute), .kind = TENON_ATTRIBUTE_INT, .integer = (value)})
#define TENON_FLOAT(attribute, value) \
  ((tenon_attribute_t){.name = (attribute), .kind = TENON_ATTRIBUTE_FLOAT, .number = (value)})
#define TENON_TEXT(attribute, value) \
  ((tenon_attribute_t){.name = (attribute), .kind = TENON_ATTRIBUTE_STRING, .string = (value)})
#define TENON_INTS(attribute, ...)                                 \
  ((tenon_attribute_t){.name = (attribute),                        \
                       .kind = TENON_ATTRIBUTE_INTS,               \
                       .integers = (const int64_t[]){__VA_ARGS__}, \
                       .count = sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})
#define TENON_TYPE(attribute, value) \
  ((tenon_attribute_t){.name = (attribute), .kind = TENON_ATTRIBUTE_DTYPE, .integer = (value)})
#endif

/* One layer in one call: begin, attributes, inputs, end. Inputs with id 0 are absent. */
TENON_API tenon_status_t tenon_network_add(tenon_network_t* network, const char* op,
                                           const char* name, const tenon_value_t* inputs,
                                           uint32_t input_count,
                                           const tenon_attribute_t* attributes,
                                           uint32_t attribute_count, tenon_value_t* out_values,
                                           uint32_t output_count);
/* An input, a constant (copied) and an output, without the table's longer forms. dims -1: symbolic.
 */
TENON_API tenon_status_t tenon_network_add_input(tenon_network_t* network, const char* name,
                                                 tenon_dtype_t dtype, uint32_t rank,
                                                 const int64_t* dims, tenon_value_t* out_value);
TENON_API tenon_status_t tenon_network_add_constant(tenon_network_t* network, const char* name,
                                                    tenon_dtype_t dtype, uint32_t rank,
                                                    const int64_t* dims, const void* data,
                                                    tenon_value_t* out_value);
TENON_API tenon_status_t tenon_network_add_output(tenon_network_t* network, tenon_value_t value,
                                                  const char* name);
/* Marks the tensor called `name`, wherever it is in the main graph, as an additional output. The
 * value that comes out is the unfused network's; other results do not change. NOT_FOUND names near
 * misses. */
TENON_API tenon_status_t tenon_network_mark_output(tenon_network_t* network, const char* name);
/* Removes all outputs (before marking others). */
TENON_API tenon_status_t tenon_network_clear_outputs(tenon_network_t* network);

/* An input or output of a network or an engine. dims[k] is -1 where symbolic. symbols[k] is the
 * text of what the network leaves open ("batch"), also where an engine's profile made it a number,
 * else "". */
typedef struct tenon_io_info_t {
  const char* name;
  uint32_t kind; /* TENON_ARGUMENT_TENSOR, _SEQUENCE or _OPTIONAL */
  tenon_dtype_t dtype;
  uint32_t rank; /* TENON_NONE: unknown */
  const int64_t* dims;
  const char* const* symbols;
} tenon_io_info_t;
/* Of a network, or, after a parse that failed, what the model file declares (with the shapes given
 * for the parse, and "?" for extents without a name). */
TENON_API uint32_t tenon_network_input_count(const tenon_network_t* network);
TENON_API uint32_t tenon_network_output_count(const tenon_network_t* network);
TENON_API tenon_status_t tenon_network_get_input(const tenon_network_t* network, uint32_t index,
                                                 tenon_io_info_t* out_info);
TENON_API tenon_status_t tenon_network_get_output(const tenon_network_t* network, uint32_t index,
                                                  tenon_io_info_t* out_info);
/* One kind of node in a model file, and who makes nodes of a network of it. */
typedef struct tenon_node_type_t {
  const char* domain; /* "" for the format's own */
  const char* type;
  int64_t version;
  uint32_t count;      /* nodes of this kind, in subgraphs too */
  uint32_t is_missing; /* 1: nobody does */
  const char* node;    /* the first one's name */
  const char* plugin;  /* whose converter takes it; "" when nobody's does */
  const char* words;   /* missing: what is needed, and who nearly has it; else "" */
} tenon_node_type_t;
/* The kinds of nodes that the last parse found, in order of appearance, also when it failed.
 * Strings live as long as the network. None for a network that was built by hand. */
TENON_API uint32_t tenon_network_node_type_count(const tenon_network_t* network);
TENON_API tenon_status_t tenon_network_get_node_type(const tenon_network_t* network, uint32_t index,
                                                     tenon_node_type_t* out_type);
/* The network as text; names of all values that nodes compute, one a line, in an order in which
 * they can be computed. */
TENON_API void tenon_network_print(const tenon_network_t* network, tenon_write_t write, void* user);
TENON_API void tenon_network_print_values(const tenon_network_t* network, tenon_write_t write,
                                          void* user);

/* An input, a node or an output of a network, as tenon_network_add and its companions would make it
 * again. Lent until the visit returns; ids of values are good while the network lives: the
 * builder's `type` tells their types, and the bytes of constants, which are no items of their own.
 */
enum { TENON_ITEM_INPUT = 1, TENON_ITEM_OUTPUT = 2, TENON_ITEM_NODE = 3 };
typedef struct tenon_network_item_t {
  size_t size;
  uint32_t kind;       /* TENON_ITEM_* */
  uint32_t body_count; /* of a control node */
  const char* name;    /* of a node: unique; of an output: the application's */
  const char* op;      /* of a node: "domain.name/1"; NULL: an expression or a move */
  const char* text;    /* of an expression that was given as a text: "y = a + b"; else NULL */
  const char* const* input_names;      /* in that text, one for each input */
  const tenon_value_t* inputs;         /* id 0: absent. An output has one */
  const tenon_value_t* outputs;        /* id 0: unwanted. An input has one */
  const tenon_attribute_t* attributes; /* all that the operator declares, defaults applied; not
                                          tensors and bodies */
  uint32_t input_count;
  uint32_t output_count;
  uint32_t attribute_count;
  uint32_t depth;                    /* of bodies: 0 is the main graph */
  const char* const* const* strings; /* one for each attribute: the texts of a list of texts, which
                                        tenon_attribute_t has no place for; NULL for others */
} tenon_network_item_t;
/* Returns TENON_OK to go on; another status ends the walk, and is its result. */
typedef int32_t (*tenon_visit_item_t)(void* user, const tenon_network_item_t* item);
/* Inputs, then outputs, so that who names things knows the application's names first; then all
 * nodes of the main graph, each after what it needs. `visit` may look at values, and must not
 * change the network. [parse] */
TENON_API tenon_status_t tenon_network_walk(tenon_network_t* network, tenon_visit_item_t visit,
                                            void* user);
/* The same, and behind each control node the nodes of its bodies. What a body is given and what it
 * results in are no items. [parse] */
TENON_API tenon_status_t tenon_network_walk_bodies(tenon_network_t* network,
                                                   tenon_visit_item_t visit, void* user);

/* ---- Timing cache ---------------------------------------------------------------------------- */

/* `path` NULL or absent: empty. A damaged or foreign file: a warning, and empty. [any] */
TENON_API tenon_status_t tenon_timing_cache_create(tenon_registry_t* registry, const char* path,
                                                   tenon_timing_cache_t** out_cache);
/* What the file holds already is kept: several processes may add to one file. */
TENON_API tenon_status_t tenon_timing_cache_save(tenon_timing_cache_t* cache, const char* path);
TENON_API uint32_t tenon_timing_cache_entry_count(const tenon_timing_cache_t* cache);
TENON_API void tenon_timing_cache_destroy(tenon_timing_cache_t* cache);

/* ---- Building -------------------------------------------------------------------------------- */

/* Range of one input in one profile. */
typedef struct tenon_profile_range_t {
  const char* input;
  uint32_t rank;
  const int64_t* min;
  const int64_t* optimum;
  const int64_t* max;
} tenon_profile_range_t;
typedef struct tenon_profile_t {
  const tenon_profile_range_t* ranges;
  uint32_t range_count;
} tenon_profile_t;

/* Returns non-zero to cancel: then tenon_build returns CANCELLED. `done` of `total` in `phase`
 * ("optimise", "choose", "pack weights", "write"). Called when they change and, so that a build can
 * be cancelled in the middle of long work, again with the same numbers. [build] */
typedef int32_t (*tenon_progress_t)(void* user, const char* phase, uint32_t done, uint32_t total);

typedef struct tenon_build_options_t {
  size_t size;
  /* At most one for the time being; inputs it leaves out: symbolic extents are 1. */
  const tenon_profile_t* profiles;
  uint32_t profile_count;
  uint32_t thread_count;          /* to tune for; 0: this process's processors */
  const char* device;             /* NULL: the host's own, whatever else is there */
  uint64_t workspace_limit_bytes; /* scratch of any step; 0: no limit */
  uint64_t memory_limit_bytes;    /* activations; 0: no limit; a build that needs more fails */
  double time_budget_seconds;     /* for measuring; 0: no limit; then the kernels' own estimates */
  tenon_timing_cache_t* timing_cache; /* read and extended; NULL: one for this build */
  tenon_progress_t progress;
  void* progress_user;
  /* "PLUGIN": its kernels and rewrites are not used; "PLUGIN:NAME": its kernel or rewrite of that
   * name. Its operators, converters and parsers are: they say what a network means.
   * NULL-terminated. INVALID_ARGUMENT for what there is not. */
  const char* const* exclude;
  uint32_t no_measuring;   /* 1: estimates alone */
  uint32_t no_fusion;      /* 1: one node a step (for comparing) */
  uint32_t reference_only; /* 1: only kernels that say they are the reference */
  uint32_t strict;         /* 1: rounds where the network stores, also inside fused steps */
  uint32_t tuned_only; /* 1: weights only as the chosen kernels packed them; no refit, no rebuild */
  uint32_t permit_reduced_precision; /* 1: tactics below fp32 accuracy are allowed */
  uint32_t optimizer_limit;          /* stop after that many patches; 0: none */
  uint32_t keep_refusals; /* 1 (default 0): the plan records why candidates were refused */
  /* 1: operators as they mean and nothing else: no rewrites, and no algebra that rests on what an
   * operator says of itself besides (linear, elementwise, pure). With reference_only: the truth to
   * compare another build with. */
  uint32_t meaning_only;
  uint32_t reserved;
} tenon_build_options_t;

TENON_API tenon_status_t tenon_build(tenon_network_t* network, const tenon_build_options_t* options,
                                     tenon_plan_t** out_plan);
/* The serialised bytes, and a file written whole or not at all. Where `path` is a symbolic link,
 * the file that it leads to is replaced; a device, a pipe or a folder is not: INVALID_ARGUMENT. */
TENON_API tenon_status_t tenon_plan_get_data(const tenon_plan_t* plan, const void** out_data,
                                             size_t* out_size_bytes);
TENON_API tenon_status_t tenon_plan_save(const tenon_plan_t* plan, const char* path);
TENON_API void tenon_plan_destroy(tenon_plan_t* plan);
/* 1 when the bytes begin as a plan does (8 are enough), whatever follows. [any] */
TENON_API int32_t tenon_plan_sniff(const void* data, size_t size_bytes);

/* ---- Engine: a plan loaded on a device ------------------------------------------------------- */

/* A plan says which files its plugins were, by their SHA-256. When one is another here, is missing
 * or lacks a kernel of the plan, or the machine is one on which the plan's kernels do not run: */
enum {
  /* What the plugins decided is made again from the network in the plan, with those that are here:
   * kernels, tactics, packed weights. Not measured, and each time the plan is loaded, with warnings
   * that name plugin, file and both digests; an operator whose own plugin is missing is computed as
   * it was declared, where that says enough. INVALID_DATA or NOT_FOUND when the plan was built with
   * tuned_only: build it again. */
  TENON_PLUGINS_REBUILD = 0,
  TENON_PLUGINS_REFUSE = 1, /* the plan is refused: INVALID_DATA or NOT_FOUND */
  /* Another file is used with a warning, if it has the plan's kernels in the same versions: for
   * plugins that were compiled anew and changed in nothing that matters. */
  TENON_PLUGINS_ACCEPT = 2
};

typedef struct tenon_engine_options_t {
  size_t size;
  uint32_t verify; /* 1: digests of all weights are checked, and plugins as by PLUGINS_REFUSE */
  uint32_t device_index;
  uint32_t plugins; /* TENON_PLUGINS_* */
  uint32_t reserved;
} tenon_engine_options_t;

/* From a file (mapped, weights used in place), from memory (must stay valid while the engine
 * lives), or from a plan just built (which may be destroyed afterwards: the engine keeps what it
 * needs). */
TENON_API tenon_status_t tenon_engine_create_from_file(tenon_registry_t* registry, const char* path,
                                                       const tenon_engine_options_t* options,
                                                       tenon_engine_t** out_engine);
TENON_API tenon_status_t tenon_engine_create_from_memory(tenon_registry_t* registry,
                                                         const void* data, size_t size_bytes,
                                                         const tenon_engine_options_t* options,
                                                         tenon_engine_t** out_engine);
TENON_API tenon_status_t tenon_engine_create_from_plan(tenon_registry_t* registry,
                                                       const tenon_plan_t* plan,
                                                       const tenon_engine_options_t* options,
                                                       tenon_engine_t** out_engine);
TENON_API void tenon_engine_retain(tenon_engine_t* engine);
TENON_API void tenon_engine_release(tenon_engine_t* engine);

TENON_API uint32_t tenon_engine_input_count(const tenon_engine_t* engine);
TENON_API uint32_t tenon_engine_output_count(const tenon_engine_t* engine);
TENON_API tenon_status_t tenon_engine_get_input(const tenon_engine_t* engine, uint32_t index,
                                                tenon_io_info_t* out_info);
TENON_API tenon_status_t tenon_engine_get_output(const tenon_engine_t* engine, uint32_t index,
                                                 tenon_io_info_t* out_info);
/* The index of the input or output called `name`; NOT_FOUND names those that there are. */
TENON_API tenon_status_t tenon_engine_find_input(const tenon_engine_t* engine, const char* name,
                                                 uint32_t* out_index);
TENON_API tenon_status_t tenon_engine_find_output(const tenon_engine_t* engine, const char* name,
                                                  uint32_t* out_index);
/* Minimum, optimum and maximum extents of an input. `which`: 0, 1, 2. */
TENON_API tenon_status_t tenon_engine_get_profile(const tenon_engine_t* engine, uint32_t input,
                                                  uint32_t which, const int64_t** out_dims);

/* One step of the plan. Strings live as long as the engine. */
typedef struct tenon_step_info_t {
  const char* name;   /* of its main node */
  const char* kind;   /* "kernel", "view", "contents", "choose", "repeat", "map", "copy" */
  const char* kernel; /* "" when the core does it itself */
  const char* plugin;
  const char* tactic;
  const char* nodes;      /* all nodes it computes: "conv1, bn1, relu1" */
  const char* expression; /* what is fused, as text */
  const char* inputs;     /* "x f32[1,3,224,224] row-major, ..." */
  const char* outputs;
  const char* layout;      /* of output 0 */
  double measured_seconds; /* when built; 0 where not measured */
  const char* refusals;    /* lines "plugin:kernel: reason"; "" unless kept. Of "choose": a line
                              "'branch' cannot run: reason" for each branch that cannot */
  uint32_t depth;          /* of bodies: 0 is the main graph */
} tenon_step_info_t;
TENON_API uint32_t tenon_engine_step_count(const tenon_engine_t* engine);
TENON_API tenon_status_t tenon_engine_get_step(const tenon_engine_t* engine, uint32_t index,
                                               tenon_step_info_t* out_info);
/* The earlier steps of the same graph whose results it reads. */
TENON_API tenon_status_t tenon_engine_get_step_sources(const tenon_engine_t* engine, uint32_t index,
                                                       const uint32_t** out_steps,
                                                       uint32_t* out_count);

/* One piece of the activations' memory of the main graph, at the profile's maximum: a tensor, or
 * what the bodies of a control step take while it runs. Pieces whose lives do not meet may share
 * bytes. Strings live as long as the engine. */
typedef struct tenon_block_info_t {
  const char* name;
  uint64_t offset_bytes;
  uint64_t size_bytes;
  uint32_t first_step; /* that writes it: an index as for tenon_engine_get_step */
  uint32_t last_step;  /* that reads it; the number of the main graph's steps: until the end */
} tenon_block_info_t;
TENON_API uint32_t tenon_engine_block_count(const tenon_engine_t* engine);
TENON_API tenon_status_t tenon_engine_get_block(const tenon_engine_t* engine, uint32_t index,
                                                tenon_block_info_t* out_info);

typedef struct tenon_engine_info_t {
  size_t size;
  const char* device;
  const char* fingerprint;
  const char* plugins; /* lines "name version sha256" that the plan names */
  const char* patches; /* lines "pass: node": what the optimiser did */
  uint64_t plan_bytes;
  uint64_t weights_bytes;
  uint64_t arena_bytes;      /* activations, at the profile's maximum */
  uint64_t scratch_bytes;    /* of a context with `thread_count` threads */
  uint64_t peak_alive_bytes; /* largest set of values alive at once: the arena's floor */
  uint32_t thread_count;     /* tuned for */
  uint32_t tuned_only;
  uint32_t rebuilt; /* 1: made again when it was loaded, since its plugins are others here */
  uint32_t reserved;
  uint64_t original_bytes; /* of weights_bytes: as the network has them; the rest kernels packed */
} tenon_engine_info_t;
TENON_API tenon_status_t tenon_engine_get_info(const tenon_engine_t* engine,
                                               tenon_engine_info_t* out_info);
/* Scratch that a context of so many threads takes; 0 threads: of as many as the plan was tuned for.
 * UINT64_MAX: more than there can be. [any] */
TENON_API uint64_t tenon_engine_scratch_bytes(const tenon_engine_t* engine, uint32_t thread_count);
/* The portable part, as text: the network that the plan computes. */
TENON_API void tenon_engine_print_network(const tenon_engine_t* engine, tenon_write_t write,
                                          void* user);
/* Digests of the weights and of the plugins; INVALID_DATA names what differs, and is what an engine
 * gives that was made again for other plugins. */
TENON_API tenon_status_t tenon_engine_verify(const tenon_engine_t* engine);

/* Refit: replaces the weights called `name` (dense, same dtype and shape). Takes effect for all
 * that was derived from them at the next tenon_engine_commit_weights; no context may be running. */
TENON_API uint32_t tenon_engine_weights_count(const tenon_engine_t* engine);
TENON_API const char* tenon_engine_get_weights_name(const tenon_engine_t* engine, uint32_t index);
TENON_API tenon_status_t tenon_engine_set_weights(tenon_engine_t* engine, const char* name,
                                                  const void* data, size_t size_bytes);
TENON_API tenon_status_t tenon_engine_commit_weights(tenon_engine_t* engine);

/* ---- Context: one execution of an engine ----------------------------------------------------- */

typedef struct tenon_context_options_t {
  size_t size;
  uint32_t thread_count; /* 0: what the plan was tuned for */
  uint32_t reserved;
  void* stream; /* native handle of the caller's stream, NULL: one of our own */
} tenon_context_options_t;

TENON_API tenon_status_t tenon_context_create(tenon_engine_t* engine,
                                              const tenon_context_options_t* options,
                                              tenon_context_t** out_context);
TENON_API void tenon_context_destroy(tenon_context_t* context);

/* The caller's memory: used in place where layout and alignment (16 bytes) allow, else copied. It
 * must stay valid until the next set or the end of the context. Any strides; extents within the
 * profile. */
TENON_API tenon_status_t tenon_context_set_input(tenon_context_t* context, uint32_t index,
                                                 const tenon_tensor_view_t* view);
/* Sequences and optionals. Copied. */
TENON_API tenon_status_t tenon_context_set_input_argument(tenon_context_t* context, uint32_t index,
                                                          const tenon_argument_t* argument);
/* The caller's memory for an output: dims are its capacity; strides as wanted. NULL view: ours
 * again. Memory that is too small for whatever is within the profile is refused here, other memory
 * by the run, before its first step where the extents follow from those of the inputs. */
TENON_API tenon_status_t tenon_context_set_output(tenon_context_t* context, uint32_t index,
                                                  const tenon_tensor_view_t* view);
/* The extents that an output, a tensor, will have for the inputs as they are set now: before the
 * run, so that memory can be made for it. dims[k] is -1 where the data decide (how many were
 * found): max_dims[k] is then the most that it can be, or -1 where nothing bounds it; elsewhere
 * both are the same. After the run tenon_context_get_output has what it was. As many as the
 * output's rank; borrowed until the next call for this output. INVALID_STATE while an input is not
 * set. */
TENON_API tenon_status_t tenon_context_get_output_extents(tenon_context_t* context, uint32_t index,
                                                          const int64_t** out_dims,
                                                          const int64_t** out_max_dims);
/* Runs and waits. Inputs that were set before and not changed are used again. */
TENON_API tenon_status_t tenon_context_run(tenon_context_t* context);
/* Enqueues on the context's stream; then wait. On a device with an inline stream the work is done
 * when enqueue returns. */
TENON_API tenon_status_t tenon_context_enqueue(tenon_context_t* context);
TENON_API tenon_status_t tenon_context_synchronize(tenon_context_t* context);
/* Ends the run in progress as soon as possible: it returns CANCELLED, has no outputs, leaves states
 * as they were, and the context can run again. Without a run in progress nothing happens, and a run
 * that has all but ended may succeed. A run is in progress a moment after its call began: who has
 * to be sure cancels again until it has returned. [any], and in signal handlers, while the context
 * lives. */
TENON_API void tenon_context_cancel(tenon_context_t* context);
/* After a run that succeeded: borrowed until the next run. */
TENON_API tenon_status_t tenon_context_get_output(const tenon_context_t* context, uint32_t index,
                                                  tenon_tensor_view_t* out_view);
TENON_API tenon_status_t tenon_context_get_output_argument(const tenon_context_t* context,
                                                           uint32_t index,
                                                           const tenon_argument_t** out_argument);

/* Profiler: called for each step of each run; costs time while set. NULL: off. */
typedef void (*tenon_profiler_t)(void* user, uint32_t step, double seconds);
TENON_API tenon_status_t tenon_context_set_profiler(tenon_context_t* context,
                                                    tenon_profiler_t profiler, void* user);
enum {
  TENON_STEP_IS_CONSTANT = 1u << 0,   /* computes the same in each run: it depends on no input */
  TENON_STEP_IS_COPY = 1u << 1,       /* changes a layout, and nothing else */
  TENON_STEP_IS_REFERENCE = 1u << 2,  /* by a kernel that is there to be right, not to be fast */
  TENON_STEP_IS_ELEMENTWISE = 1u << 3 /* a program of expressions without reductions, alone */
};

/* How much one step did at the extents of the last run (of its last iteration, in bodies). */
typedef struct tenon_step_work_t {
  size_t size;
  double operations; /* arithmetic, a multiply-add counts two; negative: not known */
  double bytes_read; /* each tensor once, weights included, at their size in the network */
  double bytes_written;
  uint32_t flags; /* TENON_STEP_IS_* */
  uint32_t reserved;
} tenon_step_work_t;

/* INVALID_STATE before the first run. `step` as for tenon_engine_get_step. */
TENON_API tenon_status_t tenon_context_get_step_work(const tenon_context_t* context, uint32_t step,
                                                     tenon_step_work_t* out_work);
/* States by name: dense, of the declared type and shape. */
TENON_API tenon_status_t tenon_context_read_state(tenon_context_t* context, const char* name,
                                                  void* out_data, size_t size_bytes);
TENON_API tenon_status_t tenon_context_write_state(tenon_context_t* context, const char* name,
                                                   const void* data, size_t size_bytes);
TENON_API tenon_status_t tenon_context_reset_states(tenon_context_t* context);
/* Copies all states of `source`, a context of the same engine. */
TENON_API tenon_status_t tenon_context_clone_states(tenon_context_t* context,
                                                    const tenon_context_t* source);

#ifdef __cplusplus
} /* extern "C" */

/* What the macros above are in C++, which has no compound literals. */
template <typename type_t>
inline type_t tenon_default_options() {
  type_t options = type_t();
  options.size = sizeof(type_t);
  return options;
}

inline tenon_attribute_t tenon_int_attribute(const char* name, uint32_t kind, int64_t value) {
  tenon_attribute_t attribute = tenon_attribute_t();
  attribute.name = name;
  attribute.kind = kind;
  attribute.integer = value;
  return attribute;
}

inline tenon_attribute_t tenon_float_attribute(const char* name, double value) {
  tenon_attribute_t attribute = tenon_int_attribute(name, TENON_ATTRIBUTE_FLOAT, 0);
  attribute.number = value;
  return attribute;
}

inline tenon_attribute_t tenon_text_attribute(const char* name, const char* value) {
  tenon_attribute_t attribute = tenon_int_attribute(name, TENON_ATTRIBUTE_STRING, 0);
  attribute.string = value;
  return attribute;
}

template <size_t count>
inline tenon_attribute_t tenon_ints_attribute(const char* name, const int64_t (&values)[count]) {
  tenon_attribute_t attribute = tenon_int_attribute(name, TENON_ATTRIBUTE_INTS, 0);
  attribute.integers = values;
  attribute.count = count;
  return attribute;
}
#endif

#endif /* TENON_TENON_H_ */
