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
 * If one of them fails, tenon_last_message() returns the reason. To read a result:
 *
 *     tenon_tensor_view_t scores;                                   ours, until the next run
 *     tenon_context_get_output(context, 0, &scores);
 *     const float* first = scores.data;                             scores.dtype is FLOAT32
 *     for (int64_t k = 0; k < scores.dims[1]; ++k) sum += first[k * scores.strides[1]];
 *
 * A build takes seconds to minutes, because it measures. Loading a plan takes milliseconds. A
 * context takes memory for activations. A program that starts often therefore saves its plan once
 * (tenon_plan_save) and begins with tenon_engine_create_from_file. A server shares an engine and
 * gives each thread a context.
 *
 * Conventions. Every function that can fail returns a tenon_status_t (0 is success); on failure its
 * outputs are untouched, the registry's logger gets the message, and tenon_last_message returns it.
 * `create`/`destroy`: the caller owns the result alone. `retain`/`release`: shared and counted.
 * `get`: borrowed, valid while its owner lives and is not changed. Option structures begin with
 * `size` (TENON_OPTIONS(type) sets it); NULL means defaults, zero fields mean defaults. Arrays of
 * structures are lists with a stride: TENON_LIST(array) makes one. destroy and release take NULL.
 * Structures for results live in the caller's memory and begin with `size` too, which the caller
 * sets. The library fills in the members that fit. The strings and arrays in them are borrowed. An
 * argument that is NULL, or an index past its count, is INVALID_ARGUMENT with the function's name;
 * counts of NULL are 0.
 *
 * Statuses and remedies:
 *   INVALID_ARGUMENT, INVALID_STATE  A mistake of the program.
 *   INVALID_DATA, UNSUPPORTED        The model or the plan: use another file or another plugin.
 *   NOT_FOUND, DENIED                The installation: a path, a permission, a policy.
 *   OUT_OF_MEMORY, IO, DEVICE        The machine: try again.
 *   CANCELLED                        The program has cancelled the call.
 *   INTERNAL                         A defect of Tenon: report it with the message.
 *
 * Lifetimes. A registry lives until its last network, plan, engine and cache is released, and an
 * engine until its last context is destroyed. So release in any order. Only memory of the caller
 * (parse_memory, create_from_memory, set_input, set_output) must outlive its user.
 *
 * Threads. A registry, a plan and an engine may be used by several threads at once. A network and a
 * context belong to one thread at a time; one context has one execution in flight, which another
 * thread may cancel. A call that runs a context, or sets its inputs or outputs, returns
 * INVALID_STATE while another call does so. Threads that call Tenon need a stack of at least 256
 * KiB.
 *
 * Locale. Tenon does not change the program's locale and does not depend on it: numbers in its
 * files and messages have the form of the C locale. The program's own functions that it calls
 * (logger, progress, profiler, write, allocator) may find the C locale on their thread (uselocale).
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
#define TENON_VERSION_MINOR 2
#define TENON_VERSION_PATCH 0
#define TENON_VERSION                  \
  TENON_STRINGIZE(TENON_VERSION_MAJOR) \
  "." TENON_STRINGIZE(TENON_VERSION_MINOR) "." TENON_STRINGIZE(TENON_VERSION_PATCH)
/* Defaults of an option structure, to be changed before use:
 *
 *   tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
 *   options.thread_count = 4; */
#ifdef __cplusplus
#define TENON_OPTIONS(type) (tenon_default_options<type>())
#else
#define TENON_OPTIONS(type) ((type){.size = sizeof(type)})
#endif

/* [opaque] The plugins of this process, and the logger and allocator of all that is made with it.
 */
typedef struct tenon_registry_t tenon_registry_t;
/* [opaque] Operators and values as the model has them, still without kernels. Kept only to be
 * built. */
typedef struct tenon_network_t tenon_network_t;
/* [opaque] Measured times of kernels on this machine. With it, the next build is fast and gives the
 * same plan. */
typedef struct tenon_timing_cache_t tenon_timing_cache_t;
/* [opaque] A built network as bytes: kernels chosen, memory planned, weights packed. */
typedef struct tenon_plan_t tenon_plan_t;
/* [opaque] A plan loaded: shared by threads, changed by refit alone. */
typedef struct tenon_engine_t tenon_engine_t;
/* [opaque] Data of one execution: activations, states, threads. */
typedef struct tenon_context_t tenon_context_t;

/* Version of the library in use ("0.2.0"), and words for a status ("invalid data"). Never NULL.
 * [any] */
TENON_API const char* tenon_version(void);
TENON_API const char* tenon_status_text(tenon_status_t status);

/* The error messages of this thread's last call, one a line, with or without a logger. "" if there
 * were none; never NULL. Valid until the thread's next call of a function that returns a status.
 * Messages longer than 4 KiB are cut; a logger gets the whole text, and warnings too. [any] */
TENON_API const char* tenon_last_message(void);

/* The name of an element type ("f32") and the bits of one element. "undefined" and 0 for other
 * numbers. [any] */
TENON_API const char* tenon_dtype_name(tenon_dtype_t dtype);
TENON_API uint32_t tenon_dtype_bits(tenon_dtype_t dtype);

/* The plugin and the function in which the calling thread is. */
typedef struct tenon_call_info_t {
  size_t size;
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

/* Writes text for a person or a program, in pieces. `text` is valid for the call, ends with NUL,
 * and need not end with a line. It must not call the object that calls it. */
typedef void (*tenon_write_t)(void* user, const char* text);

/* ---- Registry: the plugins of this process --------------------------------------------------- */

/* Plugins that may be loaded; loading a plugin runs its code. With every policy, files and folders
 * that others may write to are refused. Programs with elevated privilege ignore the search path of
 * the environment. */
enum {
  /* Each one on the search path. */
  TENON_POLICY_ANY = 0,
  /* Only files whose SHA-256 is in `digests`: tenon_digest_file gives it. */
  TENON_POLICY_LISTED = 1
};

typedef struct tenon_registry_options_t {
  size_t size;
  /* Directories with plugins, absolute, NULL-terminated. NULL: TENON_PLUGIN_PATH, then the
   * installed directory beside this library. With paths given, these are searched first. */
  const char* const* paths;
  /* 1: `paths` and nothing else. */
  uint32_t only_paths;
  /* TENON_POLICY_* */
  uint32_t policy;
  /* Hexadecimal, NULL-terminated; of TENON_POLICY_LISTED. */
  const char* const* digests;
  /* Where messages go, copied; must be callable from several threads at once. Zeros: nowhere, and
   * tenon_last_message still has the errors. */
  tenon_sink_t logger;
  /* Copied. Used for all memory of Tenon; plugins get it as "allocator/1". NULL: the C library's.
   */
  const tenon_allocator_t* allocator;
  /* Absolute paths of plugin files that are refused, NULL-terminated. NULL: none. For a program
   * that knows which plugin ended an earlier process (tenon_current_call). Copied. */
  const char* const* set_aside;
  /* Names of plugins, NULL-terminated. NULL: none. If several plugins have a converter for a node, a
   * parser for a format or a device of one name, the plugin that is named first here is used, also
   * before Tenon's own. If several plugins define an operator, their order counts too, but the
   * plugin that the operator's domain belongs to still defines it. Kernels are chosen by time as
   * before. tenon_registry_get_plugin lists these plugins first. NOT_FOUND for a name that no usable
   * plugin has. Copied. */
  const char* const* prefer;
} tenon_registry_options_t;

/* Looks for plugins and reads their manifests; none is loaded before it is needed. A plugin that
 * cannot be used is no failure: tenon_registry_get_plugin tells why. NULL options: all defaults. */
TENON_API tenon_status_t tenon_registry_create(const tenon_registry_options_t* options,
                                               tenon_registry_t** out_registry);
/* One more owner, and one fewer: the last one's release destroys it. [any] */
TENON_API void tenon_registry_retain(tenon_registry_t* registry);
TENON_API void tenon_registry_release(tenon_registry_t* registry);

/* State of a file on the search path. */
enum {
  /* Its manifest was read, none of its code has run. */
  TENON_PLUGIN_AVAILABLE = 0,
  TENON_PLUGIN_LOADED = 1,
  /* Not to be used, now or later in this process: `reason`. */
  TENON_PLUGIN_REFUSED = 2
};

/* One file. Strings are never NULL and live as long as the registry. */
typedef struct tenon_plugin_info_t {
  size_t size;
  const char* path;
  /* "" when the manifest could not be read; so are the next three. */
  const char* name;
  const char* version;
  const char* vendor;
  const char* licence;
  /* REFUSED: the reason and a remedy; else "". */
  const char* reason;
  /* Lines of the manifest: "operator acme.swish/1\n...". */
  const char* offers;
  /* TENON_PLUGIN_* */
  uint32_t state;
  uint32_t reserved;
  /* Offers that are left out, one per line: "operator acme.swish/1: reason\n". Of the plugins loaded
   * so far. "" if there are none. */
  const char* left_out;
} tenon_plugin_info_t;

/* Every candidate found on the search path, used or not. If `size` includes left_out, the first call
 * of tenon_registry_get_plugin compares definitions of operators: it loads the plugins that offer
 * one operator, and those that offer an operator in the domain of another plugin. [any] */
TENON_API uint32_t tenon_registry_plugin_count(const tenon_registry_t* registry);
TENON_API tenon_status_t tenon_registry_get_plugin(const tenon_registry_t* registry, uint32_t index,
                                                   tenon_plugin_info_t* out_info);
/* The directories searched, and a line for each that was refused. [any] */
TENON_API void tenon_registry_print_paths(const tenon_registry_t* registry, tenon_write_t write,
                                          void* user);
/* All descriptors, one JSON object a line: {"kind": "operator", "name": ..., "plugin": ...}.
 * Operators have their "attributes", "inputs" and "outputs", as they declare them. A faulty
 * descriptor, or one with the name of another plugin's, has "disabled": the reason. Loads all
 * plugins. [any] */
TENON_API tenon_status_t tenon_registry_print_index(tenon_registry_t* registry, tenon_write_t write,
                                                    void* user);
/* Devices: fingerprints and health, one JSON object a line. [any] */
TENON_API tenon_status_t tenon_registry_print_devices(tenon_registry_t* registry,
                                                      tenon_write_t write, void* user);

/* ---- Network --------------------------------------------------------------------------------- */

/* An empty network: for one parse, or to be built by hand. */
TENON_API tenon_status_t tenon_network_create(tenon_registry_t* registry,
                                              tenon_network_t** out_network);
TENON_API void tenon_network_destroy(tenon_network_t* network);

/* Shape of one input, for models that leave it open. dims[k] -1: stays symbolic. */
typedef struct tenon_input_shape_t {
  const char* name;
  uint32_t rank;
  const int64_t* dims;
} tenon_input_shape_t;

/* Value of one input that the build must know, such as the axes of a reduction or a target shape.
 * The input becomes this constant and is no input of the network any more. */
typedef struct tenon_input_value_t {
  const char* name;
  const tenon_tensor_view_t* view; /* any strides; copied */
} tenon_input_value_t;

/* All of it is read during the parse and may go afterwards. */
typedef struct tenon_parse_options_t {
  size_t size;
  /* "onnx", "caffe", "uff", ...; NULL: sniffed from the first bytes. NOT_FOUND: no parser for it.
   */
  const char* format;
  /* Extents of inputs that the file leaves open. A rank above 64 is INVALID_ARGUMENT. */
  tenon_list_t shapes; /* of tenon_input_shape_t */
  /* More parts of one model (a caffemodel beside its prototxt), NULL-terminated. */
  const char* const* parts;
  /* INVALID_ARGUMENT when a value's type or extents are not its input's, or there is no such tensor
   * among the inputs. */
  tenon_list_t values; /* of tenon_input_value_t */
  /* Options of the format's parser, NULL-terminated: "name=value". INVALID_ARGUMENT if the parser
   * does not know one of them. Caffe: "weights=random" or "weights=random:SEED" (random weights for
   * layers without weights), "level=1", "stage=deploy,other" (the state for include rules). UFF and
   * TensorFlow: "outputs=NODE,NODE:1" (outputs of the network; default: those that the file marks,
   * or values without readers). */
  const char* const* settings;
} tenon_parse_options_t;

/* Parses into an empty network. The file is mapped until the network is destroyed. All nodes
 * without a converter are listed at once (UNSUPPORTED). After a failure the network is empty again
 * and has a new builder. Inputs, outputs and node types of the file are available as far as it
 * could be read. */
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
 * network lives. Each function of the table that returns a status is a call like those here:
 * tenon_last_message says why it failed. */
TENON_API tenon_builder_t* tenon_network_get_builder(tenon_network_t* network);
TENON_API const tenon_builder_table_t* tenon_builder_get_table(void);

/* One attribute of a node, for tenon_network_add: copied by it. The macros below fill it in:
 *   const tenon_attribute_t attributes[] = {TENON_INTS("pads", 1, 1, 1, 1),
 *                                           TENON_INT("groups", 4)};
 *   const tenon_list_t list = TENON_LIST(attributes); */
typedef struct tenon_attribute_t {
  const char* name;
  /* TENON_ATTRIBUTE_INT .. _DTYPE: says which of the members below counts. */
  uint32_t kind;
  uint32_t reserved;
  /* INT; DTYPE: a TENON_DTYPE_*. */
  int64_t integer;
  /* FLOAT */
  double number;
  /* STRING */
  const char* string;
  /* INTS, FLOATS, STRINGS: `count` of them. */
  const int64_t* integers;
  const double* numbers;
  const char* const* strings;
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

/* One layer in one call: begin, attributes, inputs, end. Inputs with id 0 are absent, and so are
 * those past input_count. `attributes` is a list of tenon_attribute_t, or NULL for none. Attributes
 * that are not given have their defaults. If `name` is NULL, it is made from the operator's name.
 * Types and extents are checked at once: INVALID_DATA with the node's name and the values,
 * UNSUPPORTED for an operator that no plugin offers, with near misses. On failure the network is
 * unchanged. `out_values` receives `output_count` ids. Further outputs of the operator are unused.
 *   tenon_network_add(network, "standard.relu/1", "relu", &x, 1, NULL, &y, 1); */
TENON_API tenon_status_t tenon_network_add(tenon_network_t* network, const char* op,
                                           const char* name, const tenon_value_t* inputs,
                                           uint32_t input_count, const tenon_list_t* attributes,
                                           tenon_value_t* out_values, uint32_t output_count);
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
/* Makes an input and an output a state of the context, such as the cache of a decoder. The state
 * has the name of the input and begins with zeros. Each run replaces it by the output. Neither is
 * an input or output then. INVALID_ARGUMENT if the input has dynamic dimensions, or the output has
 * another shape. NOT_FOUND names near misses. */
TENON_API tenon_status_t tenon_network_make_state(tenon_network_t* network, const char* input,
                                                  const char* output);

/* An input or output of a network or an engine. dims[k] is -1 if it is symbolic. symbols[k] is the
 * name of a dimension that the network leaves open ("batch"), also if an engine's profile gives it
 * a number, else "". */
typedef struct tenon_io_info_t {
  size_t size;
  const char* name;
  uint32_t kind; /* TENON_ARGUMENT_TENSOR, _SEQUENCE, _OPTIONAL or _OPTIONAL_SEQUENCE */
  tenon_dtype_t dtype;
  uint32_t rank; /* TENON_NONE: unknown */
  uint32_t reserved;
  const int64_t* dims;
  const char* const* symbols;
} tenon_io_info_t;
/* Of a network, or, after a failed parse, as the model file declares (with the shapes given for the
 * parse, and "?" for extents without a name). */
TENON_API uint32_t tenon_network_input_count(const tenon_network_t* network);
TENON_API uint32_t tenon_network_output_count(const tenon_network_t* network);
TENON_API tenon_status_t tenon_network_get_input(const tenon_network_t* network, uint32_t index,
                                                 tenon_io_info_t* out_info);
TENON_API tenon_status_t tenon_network_get_output(const tenon_network_t* network, uint32_t index,
                                                  tenon_io_info_t* out_info);
/* One kind of node in a model file, and the plugin that converts it. */
typedef struct tenon_node_type_t {
  size_t size;
  const char* domain; /* "" for the format's own */
  const char* type;
  int64_t version;
  uint32_t count;      /* nodes of this kind, in subgraphs too */
  uint32_t is_missing; /* 1: no plugin converts it */
  const char* node;    /* the first one's name */
  const char* plugin;  /* with the converter; "" if none has one */
  const char* message; /* missing: the requirement, and near misses; else "" */
} tenon_node_type_t;
/* The kinds of nodes that the last parse found, in order of appearance, also when it failed.
 * Strings live as long as the network. None for a network that was built by hand. */
TENON_API uint32_t tenon_network_node_type_count(const tenon_network_t* network);
TENON_API tenon_status_t tenon_network_get_node_type(const tenon_network_t* network, uint32_t index,
                                                     tenon_node_type_t* out_type);
/* Print the network as text, or the names of all values that nodes compute, one a line, in an order
 * in which they can be computed. For these `write` is called with each name, then with the line's
 * end. */
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
  const char* const* input_names; /* in that text, one for each input */
  const tenon_value_t* inputs;    /* id 0: absent. An output has one */
  const tenon_value_t* outputs;   /* id 0: unwanted. An input has one */
  tenon_list_t attributes;        /* of tenon_attribute_t: all that the operator declares, defaults
                                     applied; not tensors and bodies */
  uint32_t input_count;
  uint32_t output_count;
  uint32_t depth; /* of bodies: 0 is the main graph */
  uint32_t reserved;
  const uint32_t* bodies; /* of a control node: their numbers, for walk_body */
} tenon_network_item_t;
/* Returns TENON_OK to go on; another status ends the walk, and is its result. */
typedef int32_t (*tenon_visit_item_t)(void* user, const tenon_network_item_t* item);
/* Visits inputs, then outputs, so that the names of the application come first; then all nodes of
 * the main graph, each after its sources. `visit` may look at values, and must not change the
 * network. [parse] */
TENON_API tenon_status_t tenon_network_walk(tenon_network_t* network, tenon_visit_item_t visit,
                                            void* user);
/* The same; after each control node the nodes of its bodies follow. Parameters and results of
 * bodies are no items. [parse] */
TENON_API tenon_status_t tenon_network_walk_bodies(tenon_network_t* network,
                                                   tenon_visit_item_t visit, void* user);
/* One body, whose number the control node's item tells: its parameters as inputs, its results as
 * outputs, both under names of values, in the order of tenon_control_t; then its nodes, without
 * those of bodies inside. A branch that cannot run has no results. May be called from a visit.
 * INVALID_ARGUMENT where the number is none. [parse] */
TENON_API tenon_status_t tenon_network_walk_body(tenon_network_t* network, uint32_t body,
                                                 tenon_visit_item_t visit, void* user);

/* ---- Timing cache ---------------------------------------------------------------------------- */

/* `path` may be NULL, and the file need not exist: the cache is then empty. A damaged or foreign
 * file gives a warning and an empty cache. The file `path`.trial names the trial that is under way:
 * if a kernel ends the process, the next build with this cache does not try it again. [any] */
TENON_API tenon_status_t tenon_timing_cache_create(tenon_registry_t* registry, const char* path,
                                                   tenon_timing_cache_t** out_cache);
/* Adds to the entries of the file. Several processes may add to one file. */
TENON_API tenon_status_t tenon_timing_cache_save(tenon_timing_cache_t* cache, const char* path);
TENON_API uint32_t tenon_timing_cache_entry_count(const tenon_timing_cache_t* cache);
TENON_API void tenon_timing_cache_destroy(tenon_timing_cache_t* cache);

/* ---- Building -------------------------------------------------------------------------------- */

/* Range of one input in one profile: for each of its axes the least and the largest extent that a
 * run may have, and the one that is tuned for; min <= optimum <= max. INVALID_ARGUMENT for unknown
 * inputs, another rank, or a number that contradicts the network. Kernels are chosen at the
 * optimum, and memory is planned for the maximum, so a wide range costs memory and not time:
 *   const int64_t least[] = {1, 3, 224, 224}, usual[] = {8, 3, 224, 224};
 *   const int64_t most[] = {32, 3, 224, 224};
 *   const tenon_profile_range_t ranges[] = {{"image", 4, least, usual, most}};
 *   const tenon_profile_t profiles[] = {{TENON_LIST(ranges)}};
 *   options.profiles = (tenon_list_t)TENON_LIST(profiles); */
typedef struct tenon_profile_range_t {
  const char* input;
  uint32_t rank;
  const int64_t* min;
  const int64_t* optimum;
  const int64_t* max;
} tenon_profile_range_t;
/* All ranges together; inputs without open extents need none. */
typedef struct tenon_profile_t {
  tenon_list_t ranges; /* of tenon_profile_range_t */
} tenon_profile_t;

/* Returns non-zero to cancel: then tenon_build returns CANCELLED. `done` of `total` in `phase`
 * ("optimise", "choose", "pack weights", "write"). Called when they change and, so that a build can
 * be cancelled in the middle of long work, again with the same numbers. [build] */
typedef int32_t (*tenon_progress_t)(void* user, const char* phase, uint32_t done, uint32_t total);

/* Permitted losses of accuracy; see `permits` below. Products in one of the types are summed in
 * f32. Values of other types than f32 keep their types. */
enum {
  /* Products of f32 whose operands are rounded to tf32 (10 bits of fraction). */
  TENON_PERMIT_TF32 = 1u << 0,
  /* Values of f32 are kept as f16 between two steps, and multiplied so: 10 bits, at most 65504. */
  TENON_PERMIT_F16 = 1u << 1,
  /* Likewise as bf16: 7 bits, and the range of f32. */
  TENON_PERMIT_BF16 = 1u << 2,
  /* Kernels that add up in an order that changes from run to run. */
  TENON_PERMIT_NONDETERMINISTIC = 1u << 3,
  /* Alone: f32 is f32. */
  TENON_PERMIT_NOTHING = 1u << 4
};

/* One set of inputs, such as a run may have: a tensor for each of the network's, in order. */
typedef struct tenon_sample_t {
  const tenon_tensor_view_t* inputs;
  uint32_t input_count;
  uint32_t reserved;
} tenon_sample_t;

/* The most streams of one context on one device. */
enum { TENON_STREAM_LIMIT = 8 };

/* All of it is read during the build and may be freed afterwards. Zeros are good defaults. */
typedef struct tenon_build_options_t {
  size_t size;
  /* At most one for the time being (UNSUPPORTED); inputs it leaves out: symbolic extents are 1. */
  tenon_list_t profiles; /* of tenon_profile_t */
  /* To tune for; 0: this process's processors. A context may have another number: other kernels
   * might then have been quicker. */
  uint32_t thread_count;
  /* Maximum number of a device's streams on which a context's steps are recorded, at most
   * TENON_STREAM_LIMIT. 0: 4. 1: all steps run sequentially. Independent branches of the network
   * run at the same time if this makes a run faster, as measured, or else as estimated from the
   * times of the steps. Results are the same. Each stream has its own scratch, and values live
   * longer. */
  uint32_t stream_limit;
  /* Devices in order of preference: "cuda", "cuda:1", "cuda:0,cuda:1". The host computes the nodes
   * that none of them computes, and the plan copies tensors between them. NULL: the host only. */
  const char* device;
  /* Scratch of any step, in bytes; 0: no limit. Kernels that need more are passed over. */
  uint64_t workspace_limit_bytes;
  /* Activations and scratch, in bytes, at the profile's maximum; 0: no limit. A build that needs
   * more fails: OUT_OF_MEMORY, with both numbers. */
  uint64_t memory_limit_bytes;
  /* Seconds for measuring. 0: no limit. After this time, the kernels' own estimates decide, so two
   * builds may differ; a timing cache helps. */
  double time_budget_seconds;
  /* Read and extended. NULL: one for this build. If the cache knows all times, the same network
   * gives the same bytes. A time that other programs disturbed is measured again if a choice
   * depends on it. */
  tenon_timing_cache_t* timing_cache;
  /* NULL: no calls; the build cannot be cancelled. */
  tenon_progress_t progress;
  void* progress_user;
  /* "PLUGIN": its kernels and rewrites are not used; "PLUGIN:NAME": its kernel or rewrite of that
   * name. Operators, converters and parsers are never excluded. NULL-terminated. INVALID_ARGUMENT
   * for unknown names. */
  const char* const* exclude;
  /* 1: estimates alone: a quick build of a plan that may be slow. */
  uint32_t no_measuring;
  /* 1: one node a step (for comparing, and for looking at every value). */
  uint32_t no_fusion;
  /* 1: reference kernels only: slow, and the standard for all others. */
  uint32_t reference_only;
  /* 1: rounds after each node, also inside fused steps. Results are those of an engine that
   * computes node by node. 0: fused nodes keep the higher precision of their arithmetic. */
  uint32_t strict;
  /* 1: weights only as the chosen kernels packed them, so a smaller plan; no refit, no rebuild for
   * other plugins. */
  uint32_t tuned_only;
  /* TENON_PERMIT_*: permitted losses of accuracy, used if they are faster. 0: TF32, which only
   * kernels of GPUs use; with `strict`: nothing. */
  uint32_t permits;
  /* Stop after that many patches of the optimiser; 0: none. To find the one that changes a result:
   * the engine's info lists them in order. */
  uint32_t optimizer_limit;
  /* 1 (default 0): the plan records why candidates were refused, for tenon_step_info_t. */
  uint32_t keep_refusals;
  /* 1: operators by their definitions only: no rewrites, and no algebra that uses other declared
   * properties (linear). With reference_only: a standard to compare another build with. */
  uint32_t no_rewrites;
  uint32_t reserved;
  /* "NODE=DEVICE", NULL-terminated: this device, one of those above or "cpu", computes the node.
   * Nodes are those of the optimised network. NOT_FOUND for others, UNSUPPORTED if the device has
   * no kernel for it. Results do not depend on it. */
  const char* const* node_devices;
  /* Names of values (of the optimised network) that keep their own types. NULL-terminated.
   * NOT_FOUND for others. */
  const char* const* keep;
  /* Samples on which the build measures the error of `permits`. The plan and an exact plan on the
   * host run on them, and values that cause too much of the error keep their own types. The logger
   * gets these values, the reasons and the final difference (severity INFO); the refusals of steps
   * have them too. Takes several builds, and a run for each value of lower precision. 0: the error
   * is not measured. */
  tenon_list_t samples; /* of tenon_sample_t */
  /* By how much results may differ: the norm of the difference of an output of floats, as a part of
   * the output's; of others the part of the elements. 0: 0.01. */
  double accuracy_bound;
  /* A folder for code that kernels compile during a build (for GPUs, for example), for later
   * builds: up to 1 GiB, least recently used files are deleted first. It is made if its parent
   * exists. Damaged files are compiled again. Its writers decide which code runs. NULL: nothing is
   * kept. */
  const char* blob_folder;
} tenon_build_options_t;

/* Optimises, chooses kernels by measuring them, packs weights. The network is not changed and may
 * be built again with other options. UNSUPPORTED: a node that no kernel takes, with each kernel's
 * reason; INVALID_STATE: the network has no output; CANCELLED: by `progress`. [build] */
TENON_API tenon_status_t tenon_build(tenon_network_t* network, const tenon_build_options_t* options,
                                     tenon_plan_t** out_plan);
/* The serialised bytes (borrowed until the plan is destroyed), and a file that is written as a
 * whole or not at all. Concurrent readers see the old or the new file. If `path` is a symbolic
 * link, its target is replaced. A device, a pipe or a folder is INVALID_ARGUMENT. */
TENON_API tenon_status_t tenon_plan_get_data(const tenon_plan_t* plan, const void** out_data,
                                             size_t* out_size_bytes);
TENON_API tenon_status_t tenon_plan_save(const tenon_plan_t* plan, const char* path);
TENON_API void tenon_plan_destroy(tenon_plan_t* plan);
/* 1 if the bytes begin as a plan does (8 are enough). [any] */
TENON_API int32_t tenon_plan_sniff(const void* data, size_t size_bytes);

/* ---- Engine: a plan loaded on a device ------------------------------------------------------- */

/* A plan says which files its plugins were, by their SHA-256. When one is another here, is missing
 * or lacks a kernel of the plan, or the machine is one on which the plan's kernels do not run: */
enum {
  /* The kernels, tactics and packed weights are made again with the plugins of this machine, from
   * the network in the plan. This is done without measurements, each time the plan is loaded, with
   * warnings that name plugin, file and both digests. An operator without its plugin is computed by
   * its declaration, if this is sufficient. INVALID_DATA or NOT_FOUND if the plan was built with
   * tuned_only: build it again. */
  TENON_PLUGINS_REBUILD = 0,
  TENON_PLUGINS_REFUSE = 1, /* the plan is refused: INVALID_DATA or NOT_FOUND */
  /* Another file is used with a warning, if it has the plan's kernels in the same versions: for
   * plugins that were compiled anew and changed in nothing that matters. */
  TENON_PLUGINS_ACCEPT = 2
};

/* The parts of a plan that are checked against their digests when it is loaded, besides its
 * structure, which always is. Weights take about 1 ms per MiB if the processor has instructions for
 * SHA-256. */
enum {
  TENON_VERIFY_NONE = 0,
  /* All weights, and plugins as by PLUGINS_REFUSE. */
  TENON_VERIFY_ALL = 1,
  /* The weights that each run reads, so that a damaged file gives no wrong results. */
  TENON_VERIFY_READ = 2
};

typedef struct tenon_engine_options_t {
  size_t size;
  /* TENON_VERIFY_* */
  uint32_t verify;
  /* Which of the plan's devices, where the machine has several of that name. */
  uint32_t device_index;
  /* TENON_PLUGINS_* */
  uint32_t plugins;
  uint32_t reserved;
} tenon_engine_options_t;

/* From a file (mapped, weights used in place), from memory (must stay valid while the engine
 * lives), or from a new plan (which may be destroyed afterwards). */
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
/* One more owner, and one fewer; contexts are owners too. [any] */
TENON_API void tenon_engine_retain(tenon_engine_t* engine);
TENON_API void tenon_engine_release(tenon_engine_t* engine);

/* Inputs and outputs of the engine, in the network's order; borrowed from the engine. An extent of
 * -1 may have any value within the profile, or follows from the inputs. [any] */
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
/* Minimum, optimum and maximum extents of an input. `which`: 0, 1, 2. As many as its rank; borrowed
 * from the engine. [any] */
TENON_API tenon_status_t tenon_engine_get_profile(const tenon_engine_t* engine, uint32_t input,
                                                  uint32_t which, const int64_t** out_dims);
/* The range of the values that the plan's operators accept from an input, both ends included, for
 * programs that make data for a network.
 *
 * input    Index of the input, from 0.
 * out_min  Minimum. Default: -INFINITY.
 * out_max  Maximum. Default: INFINITY.
 *
 * Indices stay inside of the tensors that they index, and declared domains of operators hold, also
 * behind casts, moves and the addition of a constant. Other arithmetic is not searched: a run may
 * still reject values of the range.
 * Returns INVALID_ARGUMENT or OUT_OF_MEMORY. [any] */
TENON_API tenon_status_t tenon_engine_get_input_range(const tenon_engine_t* engine, uint32_t input,
                                                      double* out_min, double* out_max);

/* One step of the plan. Strings live as long as the engine. */
typedef struct tenon_step_info_t {
  size_t size;
  /* Of its main node. */
  const char* name;
  /* "kernel", "view", "contents", "choose", "repeat", "map", "copy": a view moves nothing, contents
   * are numbers that shapes are made of, a copy changes a layout, or the memory that a tensor lies
   * in: that has no kernel. */
  const char* kind;
  /* "" when the core does it itself; so are the next two. */
  const char* kernel;
  const char* plugin;
  const char* tactic;
  /* All nodes it computes: "conv1, bn1, relu1". */
  const char* nodes;
  /* Fused arithmetic, as text. */
  const char* expression;
  /* "x f32[1,3,224,224] row-major, ...". */
  const char* inputs;
  const char* outputs;
  /* Of output 0. */
  const char* layout;
  /* When built, at the optimum; 0 where not measured. */
  double measured_seconds;
  /* Lines "plugin:kernel: reason"; "" unless kept. Of "choose": a line "'branch' cannot run:
   * reason" for each branch that cannot. */
  const char* refusals;
  /* Of bodies: 0 is the main graph. */
  uint32_t depth;
  /* Which of the context's streams there, where runs are recorded on several: 0, and most steps. */
  uint32_t stream;
  /* "cpu", "cuda:1": the device that computes the step. For a copy between a device and the host,
   * the device. */
  const char* device;
} tenon_step_info_t;
TENON_API uint32_t tenon_engine_step_count(const tenon_engine_t* engine);
TENON_API tenon_status_t tenon_engine_get_step(const tenon_engine_t* engine, uint32_t index,
                                               tenon_step_info_t* out_info);
/* The earlier steps of the same graph whose results it reads. */
TENON_API tenon_status_t tenon_engine_get_step_sources(const tenon_engine_t* engine, uint32_t index,
                                                       const uint32_t** out_steps,
                                                       uint32_t* out_count);

/* One block of the activations' memory of the main graph, on the first device that the build named,
 * at the profile's maximum: a tensor, or the memory of a control step's bodies. Blocks with
 * disjoint lifetimes may share memory. Strings live as long as the engine. */
typedef struct tenon_block_info_t {
  size_t size;
  const char* name;
  uint64_t offset_bytes;
  uint64_t size_bytes;
  uint32_t first_step; /* that writes it: an index as for tenon_engine_get_step */
  uint32_t last_step;  /* that reads it; the number of the main graph's steps: until the end */
} tenon_block_info_t;
TENON_API uint32_t tenon_engine_block_count(const tenon_engine_t* engine);
TENON_API tenon_status_t tenon_engine_get_block(const tenon_engine_t* engine, uint32_t index,
                                                tenon_block_info_t* out_info);

/* Properties and requirements of a plan. The caller sets `size`; strings live as long as the
 * engine. */
typedef struct tenon_engine_info_t {
  size_t size;
  /* As the build's options name them, "cpu" for the host only; and the fingerprint of the first of
   * them at the time of the build. */
  const char* device;
  const char* fingerprint;
  /* Lines "name version sha256" that the plan names. */
  const char* plugins;
  /* Lines "pass: node": patches of the optimiser. */
  const char* patches;
  /* Of the file, and of the weights in it. */
  uint64_t plan_bytes;
  uint64_t weights_bytes;
  /* Activations of one context, at the profile's maximum, on the first device that the build named;
   * scratch and the arena's floor likewise. */
  uint64_t arena_bytes;
  /* Of a context with `thread_count` threads; tenon_engine_scratch_bytes for others. */
  uint64_t scratch_bytes;
  /* Largest set of values alive at once: the arena's floor. */
  uint64_t peak_alive_bytes;
  /* Tuned for. */
  uint32_t thread_count;
  /* As in the build's options. */
  uint32_t tuned_only;
  /* 1: made again when it was loaded, since its plugins are others here. */
  uint32_t rebuilt;
  uint32_t reserved;
  /* Of weights_bytes: as the network has them; the rest kernels packed. */
  uint64_t original_bytes;
  /* Bytes of weights that are now in the memory of the first device that the build named. Packed
   * weights are copied there when the first context that binds them is created. 0 on the host. */
  uint64_t uploaded_bytes;
  /* Bytes of the states of one context, on that device. States that are not written in place count
   * twice: they are double-buffered. */
  uint64_t state_bytes;
} tenon_engine_info_t;
TENON_API tenon_status_t tenon_engine_get_info(const tenon_engine_t* engine,
                                               tenon_engine_info_t* out_info);
/* Scratch that a context of so many threads takes; 0 threads: of as many as the plan was tuned for.
 * UINT64_MAX: more than there can be. [any] */
TENON_API uint64_t tenon_engine_scratch_bytes(const tenon_engine_t* engine, uint32_t thread_count);
/* Memory of the device that the plan was built for, the first that the build named: to lend inputs
 * and outputs there (tenon_context_set_input_on_device), for applications without an interface of
 * that device. Addresses are multiples of 256 bytes and are not the host's to read. INVALID_STATE
 * where the plan runs on the host alone; OUT_OF_MEMORY with the number of bytes. 0 bytes are an
 * address too. All of it is given back, with its size, before the engine's last owner lets go;
 * freeing NULL does nothing. [any], and done when they return. */
TENON_API tenon_status_t tenon_engine_allocate(tenon_engine_t* engine, size_t size_bytes,
                                               void** out_data);
TENON_API void tenon_engine_free(tenon_engine_t* engine, void* data, size_t size_bytes);
/* Copies between host and device, or within the device, by `direction`: TENON_COPY_TO_DEVICE,
 * TENON_COPY_TO_HOST, TENON_COPY_WITHIN. The copy is complete when the call returns. It is not
 * ordered with runs in progress: read results of a run after tenon_context_synchronize, and write
 * its inputs before tenon_context_enqueue. [any] */
TENON_API tenon_status_t tenon_engine_copy(tenon_engine_t* engine, int32_t direction, void* target,
                                           const void* source, size_t size_bytes);
/* Present state of that device: clocks, and memory that this process uses there and has used at
 * most. Unknown members are 0; on the host all are. The caller sets `size`. May take milliseconds.
 * [any] */
TENON_API tenon_status_t tenon_engine_read_device(const tenon_engine_t* engine,
                                                  tenon_device_reading_t* out_reading);
/* The portable part, as text: the network that the plan computes. */
TENON_API void tenon_engine_print_network(const tenon_engine_t* engine, tenon_write_t write,
                                          void* user);
/* Checks the digests of the weights and of the plugins. INVALID_DATA names the differences. An
 * engine that was rebuilt for other plugins returns INVALID_DATA too. */
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
  /* Threads that its kernels share, the caller's among them. 0: as many as the plan was tuned for.
   * Each context has its own: for many contexts at once, use one each. */
  uint32_t thread_count;
  uint32_t reserved;
  /* Native handle of the caller's stream, NULL: one of our own. Of devices with streams. */
  void* stream;
} tenon_context_options_t;

/* Takes all memory that runs within the profile need, but for extents that only data decide:
 * OUT_OF_MEMORY names how much. States begin with their initial values. */
TENON_API tenon_status_t tenon_context_create(tenon_engine_t* engine,
                                              const tenon_context_options_t* options,
                                              tenon_context_t** out_context);
TENON_API void tenon_context_destroy(tenon_context_t* context);

/* The caller's memory: used in place if it is row-major at a multiple of 16 bytes, else copied. It
 * must stay valid until the next set or the end of the context. Any strides, NULL: row-major;
 * extents within the profile. */
TENON_API tenon_status_t tenon_context_set_input(tenon_context_t* context, uint32_t index,
                                                 const tenon_tensor_view_t* view);
/* Sequences and optionals; a tensor goes to tenon_context_set_input. Copied. */
TENON_API tenon_status_t tenon_context_set_input_argument(tenon_context_t* context, uint32_t index,
                                                          const tenon_argument_t* argument);
/* The caller's memory for an output: dims are its capacity, with any strides. NULL view: memory of
 * the context again. Memory that is too small for all shapes of the profile is refused here. Other
 * memory is refused by the run, before its first step if the extents follow from those of the
 * inputs. */
TENON_API tenon_status_t tenon_context_set_output(tenon_context_t* context, uint32_t index,
                                                  const tenon_tensor_view_t* view);
/* The same with memory of the device that the plan was built for, without copies through the host.
 * `data` is an address on the device, row-major. A multiple of 64 bytes is used in place; otherwise
 * the device copies. Writes to it must be complete when the run is enqueued, or be enqueued on the
 * context's stream. Reads of an output wait for the run, or are enqueued on this stream. The output
 * is row-major for any capacity of `view`. tenon_context_get_output then returns the address on the
 * device. If the plan reads the input or makes the output on the host, it is copied. INVALID_STATE
 * if the plan runs on the host only. The setting holds until the input or output is set again. If
 * all inputs, outputs and steps are on the device, tenon_context_enqueue does not wait for the
 * previous run. */
TENON_API tenon_status_t tenon_context_set_input_on_device(tenon_context_t* context, uint32_t index,
                                                           const tenon_tensor_view_t* view);
TENON_API tenon_status_t tenon_context_set_output_on_device(tenon_context_t* context,
                                                            uint32_t index,
                                                            const tenon_tensor_view_t* view);
/* The native handle behind the context's stream on that device, by the name that the device gives
 * it ("cuda.stream/1": a CUstream). NULL where there is none of that name. */
TENON_API void* tenon_context_get_stream(const tenon_context_t* context, const char* name);
/* The extents that an output, a tensor, will have for the present inputs, before the run. dims[k]
 * is -1 if it depends on the data, such as a number of detections. max_dims[k] is then its upper
 * bound, or -1 without one; otherwise both are equal. After the run, tenon_context_get_output has
 * the actual extents. Both arrays have the output's rank and are borrowed until the next call for
 * this output. INVALID_STATE while an input is not set. */
TENON_API tenon_status_t tenon_context_get_output_extents(tenon_context_t* context, uint32_t index,
                                                          const int64_t** out_dims,
                                                          const int64_t** out_max_dims);
/* Runs and waits. Inputs that were set before are used again. INVALID_STATE while an input is not
 * set. INVALID_DATA, with the step's name, if extents break a rule of the network or a kernel finds
 * an error in the data. After a failure there are no outputs, and the context can run again. Only
 * states that steps write in place may have changed; a warning reports this. If a device was lost
 * (DEVICE, with its reason), later calls return INVALID_STATE: destroy the context. Contexts on
 * other devices are not affected. */
TENON_API tenon_status_t tenon_context_run(tenon_context_t* context);
/* Starts one run and returns. tenon_context_synchronize waits for its end; then the outputs are
 * available, and failures are reported. If the host computes a step, the call waits for its inputs.
 * If the plan runs on the host only, all work is complete when the call returns. Inputs that were
 * set, and outputs, must stay unchanged until the wait is over. Another enqueue waits first. */
TENON_API tenon_status_t tenon_context_enqueue(tenon_context_t* context);
TENON_API tenon_status_t tenon_context_synchronize(tenon_context_t* context);
/* Measures runs by the clock of the device that the plan was built for. `wanted` 1 records events
 * around each run, and around each copy between device and host, from the next run on. 2 is as 1,
 * but the end is recorded when the application waits. So no event of a run lies between runs that
 * are enqueued in sequence (copies keep theirs), and the time includes idle time of the device
 * before the wait. 0 (default) records none, at no cost. INVALID_ARGUMENT for other values.
 * INVALID_STATE if the plan runs on the host only. Waits for a run in progress. */
TENON_API tenon_status_t tenon_context_set_timing(tenon_context_t* context, uint32_t wanted);

/* All runs that were enqueued before the last wait, as one; `size` is set by the caller. */
typedef struct tenon_run_times_t {
  size_t size;
  /* Where tenon_context_enqueue does not wait for the run before these may be several. */
  uint32_t run_count;
  /* How often the host waited for a device in the middle of these runs: for a number that it reads,
   * for a step that it computes, for a result that is made there. */
  uint32_t wait_count;
  /* From the first to the last work of these runs on the device, including work of the host in
   * between. */
  double seconds;
  /* Of these: copies from the host's memory and to it, by steps of the main graph. */
  double transfer_in_seconds;
  double transfer_out_seconds;
  /* Of inputs and outputs in device memory: inputs that the host reads too, and outputs that the
   * host makes, or the extents of which it must know first. They are copied in each run. */
  uint32_t inputs_on_host;
  uint32_t outputs_on_host;
} tenon_run_times_t;

/* INVALID_STATE where no run has ended well since timing was set, or one is under way. */
TENON_API tenon_status_t tenon_context_get_times(tenon_context_t* context,
                                                 tenon_run_times_t* out_times);
/* Ends the run in progress as soon as possible. The run returns CANCELLED and has no outputs;
 * states are as after a failure; the context can run again. Without a run in progress the call has
 * no effect, and a run near its end may succeed. A run is in progress a moment after its call
 * began: to be sure, cancel again until it has returned. [any], and in signal handlers, while the
 * context lives. */
TENON_API void tenon_context_cancel(tenon_context_t* context);
/* After a run that succeeded: borrowed until the next run; the caller's own memory where that was
 * set. INVALID_STATE before, or after a run that failed; INVALID_ARGUMENT for a sequence or an
 * optional. The view says where the elements lie: its strides need not be dense. */
TENON_API tenon_status_t tenon_context_get_output(const tenon_context_t* context, uint32_t index,
                                                  tenon_tensor_view_t* out_view);
TENON_API tenon_status_t tenon_context_get_output_argument(const tenon_context_t* context,
                                                           uint32_t index,
                                                           const tenon_argument_t** out_argument);

/* Profiler: called for each step of each run; costs time while set. NULL: off. */
typedef void (*tenon_profiler_t)(void* user, uint32_t step, double seconds);
TENON_API tenon_status_t tenon_context_set_profiler(tenon_context_t* context,
                                                    tenon_profiler_t profiler, void* user);
/* Kinds of steps. */
enum {
  /* Computes the same in each run: it depends on no input. */
  TENON_STEP_IS_CONSTANT = 1u << 0,
  /* Changes a layout, and nothing else. */
  TENON_STEP_IS_COPY = 1u << 1,
  /* By a reference kernel, which is slow. In a slow network, look for these first. */
  TENON_STEP_IS_REFERENCE = 1u << 2,
  /* A program of expressions without reductions, alone: at the speed of memory. */
  TENON_STEP_IS_ELEMENTWISE = 1u << 3,
  /* Computes values of shapes only, always on the host. */
  TENON_STEP_IS_SHAPE = 1u << 4
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
/* States by name: row-major, of the declared type and shape. INVALID_ARGUMENT unless size_bytes is
 * the size of the state; NOT_FOUND for unknown names. Only between runs. Reset restores the initial
 * values.
 *
 * A state stays in the memory of the device whose step computes it: no run copies it. If that step
 * changes some elements (a scatter) and no later step reads the old ones, it writes in place. After
 * a failed run such a state may have new values in part. Writing, cloning or resetting it repairs
 * it, and so does the same run again, unless it adds to the old values. Other states are
 * double-buffered. */
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

/* The macros above for C++, which has no compound literals. */
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
