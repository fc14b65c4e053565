/*
 * The catalogue of all descriptors that plugins offer. It is a passive table. The registry fills it
 * from shared objects, and tests fill it from static descriptors. Descriptors are copied once into
 * full-size structures here; no other code of the core reads their sizes. Items that a manifest
 * only declares are loaded at the first look-up. All functions may be called from several threads.
 *
 * Two owners may offer the same thing: an identity with two definitions, a device or parser of one
 * name, converters for one version of a node type. The order of loading does not matter then: the
 * library's own plugins take precedence over all others, then the plugin with the same name as the
 * domain, device or format, then the first on the search path. The other offer is rejected, except
 * that a second converter stays and is asked after the first. The devices, parsers and converters of
 * plugins that the application prefers take precedence over all others.
 *
 * A domain belongs to the plugin of that name, if it offers operators: its definitions take
 * precedence over those of the search path, and no other plugin adds operators to the domain,
 * except the library's own. If a definition is rejected, so are kernels, patterns and rewrites of
 * its plugin that name the operator. Equal definitions count as one.
 *
 * A catalogue only grows. Entries keep their addresses for its life, also those that are rejected
 * later, which look-ups then skip. It owns copies of descriptors, but not the data that they point
 * to: plugins must stay loaded while it lives.
 */
#ifndef TENON_CORE_CATALOG_CATALOG_H_
#define TENON_CORE_CATALOG_CATALOG_H_

#include "core/base/nearest.h"
#include "core/catalog/entry.h"
#include "core/catalog/kinds.h"
#include "core/operator/operator.h"
#include "tenon/plugin.h"

/* A node type of a format. The domain is "" for the format's own. */
typedef struct tenon__node_key_t {
  const char* format;
  const char* domain;
  const char* type;
  int64_t version; /* of the operator set that the file imports */
} tenon__node_key_t;

/* Creates an empty catalogue. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__catalog_create(tenon_allocator_t allocator, tenon__catalog_t** out_catalog);
/* The registry owns the owners. No other thread may use the catalogue. */
void tenon__catalog_destroy(tenon__catalog_t* catalog);

/* Declares items that an owner will add when it is loaded. `kind` is "operator", "kernel", ...
 * `name` is an operator's identity, the operator of a kernel ("*expressions", "*moves", "*": any),
 * the name of a device or parser, or "format:domain:Type"; "*": any. Unknown kinds are skipped. A
 * declaration loads nothing, so a process does not load plugins that its model does not need. The
 * owner is kept by address; the name is copied. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__catalog_promise(tenon__catalog_t* catalog, tenon__owner_t* owner,
                                      const char* kind, const char* name);
/* Adds all items of an offering. Unknown kinds are skipped. Items with errors are rejected and
 * reported; an operator with an error is listed as disabled. Returns OUT_OF_MEMORY only. An owner
 * that has declared items calls this only from its make_ready. */
tenon_status_t tenon__catalog_add(tenon__catalog_t* catalog, const tenon__owner_t* owner,
                                  const tenon_offering_t* offering, const tenon_sink_t* sink);

/* Loads one owner now, for any declared item. Returns the status of make_ready, which is called at
 * most once. Another thread that requests the same owner waits. */
tenon_status_t tenon__catalog_make_ready(tenon__catalog_t* catalog, tenon__owner_t* owner,
                                         const tenon_sink_t* sink);

/* Look-ups load owners that have declared the item. They return NULL if it is absent or disabled; a
 * failure to load has been reported. A look-up by name takes the lock and may load plugins, so the
 * first one may be slow. Later ones use a hash table. */
const tenon__operator_t* tenon__catalog_operator(tenon__catalog_t* catalog, const char* name,
                                                 const tenon_sink_t* sink);
const tenon__device_entry_t* tenon__catalog_device(tenon__catalog_t* catalog, const char* name,
                                                   const tenon_sink_t* sink);
const tenon__parser_entry_t* tenon__catalog_parser(tenon__catalog_t* catalog, const char* format,
                                                   const tenon_sink_t* sink);
/* Lists the converters for this version of a node type, one for each plugin that has some, in the
 * order of their calls. Returns the count; writes up to capacity. */
uint32_t tenon__catalog_converters(tenon__catalog_t* catalog, const tenon__node_key_t* key,
                                   const tenon_sink_t* sink,
                                   const tenon__converter_entry_t** out_entries, uint32_t capacity);
/* Compares the definitions of each operator that several plugins declare, or that one plugin
 * declares in the domain of another. Loads these plugins. Operators that are looked up are compared
 * without this function. */
void tenon__catalog_settle(tenon__catalog_t* catalog, const tenon_sink_t* sink);
/* Lists kernels of one sort. `op` is an identity, for kernels whose `operators` list it; "*", for
 * kernels that find regions themselves (pattern, propose); or NULL, with flags for the expression
 * (or move) kernels, without flags for all. They are ordered by plugin name, then kernel name;
 * reference kernels are last. Returns the count; writes up to capacity. Candidates are found in
 * this order, so it affects a build's decisions if times are equal or unknown. */
uint32_t tenon__catalog_kernels(tenon__catalog_t* catalog, const char* op, uint32_t flags,
                                const tenon_sink_t* sink, const tenon__kernel_entry_t** out_entries,
                                uint32_t capacity);
/* Finds a kernel by plugin and name, for plans. */
const tenon__kernel_entry_t* tenon__catalog_kernel(tenon__catalog_t* catalog, const char* plugin,
                                                   const char* name, const tenon_sink_t* sink);
/* List all entries of a kind, in order of plugin and name, and load all owners that have declared
 * some. Each returns the count and writes up to `capacity`. `out_entries` is an array of pointers
 * to entries of the kind (for operators use the second function). Parsers are in the order of the
 * search path. */
uint32_t tenon__catalog_all(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                            const tenon_sink_t* sink, void* out_entries, uint32_t capacity);
uint32_t tenon__catalog_operators(tenon__catalog_t* catalog, const tenon_sink_t* sink,
                                  const tenon__operator_t** out_entries, uint32_t capacity);
/* Finds operators with identities similar to an unknown one. Loads all owners that have declared
 * operators. */
void tenon__catalog_nearest_operators(tenon__catalog_t* catalog, const char* name,
                                      const tenon_sink_t* sink, tenon__nearest_t* inout_nearest);
/* Returns the first added owner of that plugin name, or NULL. Valid for the catalogue's life. */
tenon__owner_t* tenon__catalog_owner(tenon__catalog_t* catalog, const char* plugin);

/* Returns the reason why an operator is disabled, or NULL if it is not, among the plugins loaded so
 * far. Valid for the catalogue's life. */
const char* tenon__catalog_disabled(tenon__catalog_t* catalog, const char* name);

/* Lists the identities of all disabled operators, among the plugins loaded so far. */
uint32_t tenon__catalog_disabled_operators(tenon__catalog_t* catalog, const char** out_names,
                                           uint32_t capacity);

#endif
