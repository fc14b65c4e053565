/*
 * The catalogue: what is on offer. A passive table that the registry fills from shared objects, and
 * that a test fills from static descriptors. Descriptors are copied once into full-size structures
 * here; nothing else in the core looks at a size. Things that are only promised (by a manifest) are
 * made ready when they are first looked for. All functions may be called from several threads.
 *
 * If two owners offer one thing (an identity with two definitions, a device or parser of one name,
 * converters for one version of a node type), the order in which they are loaded does not matter:
 * the library's own plugins take precedence over all others, and among these the plugin that bears
 * the name (of the domain, device or format); then the first on the search path. The other one's
 * offer is left out, except that a converter is asked after the first one.
 *
 * A domain belongs to the plugin of that name, if it offers operators: its definitions count before
 * those of the search path, and no other plugin adds operators to the domain, except the library's
 * own. With a definition that is left out, kernels, patterns and rewrites of its plugin that name
 * the operator are left out. Equal definitions are one.
 *
 * A catalogue only grows: entries and their addresses hold for its life, also those that are left
 * out later, which no look-up gives any more. It owns copies of descriptors and nothing of what
 * they point at: plugins stay loaded while it lives.
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

/* Empty. OUT_OF_MEMORY only. */
tenon_status_t tenon__catalog_create(tenon_allocator_t allocator, tenon__catalog_t** out_catalog);
/* Owners are the registry's. Nobody may be looking anything up. */
void tenon__catalog_destroy(tenon__catalog_t* catalog);

/* A promise: `kind` "operator", "kernel", ...; `name`: the operator's identity, the operator of a
 * kernel ("*expressions", "*moves", "*": any), the name of a device or parser,
 * "format:domain:Type"; "*": any. Kinds that are not known are skipped. A promise costs nothing to
 * make: that is how a process starts without loading plugins which its model does not need. The
 * owner is kept by address; the name is copied. OUT_OF_MEMORY only. */
tenon_status_t tenon__catalog_promise(tenon__catalog_t* catalog, tenon__owner_t* owner,
                                      const char* kind, const char* name);
/* All items of an offering. Unknown kinds are skipped. What has a fault is left out and reported;
 * an operator with one is listed as disabled. Fails only when memory is out. An owner that promises
 * adds from its make_ready alone. */
tenon_status_t tenon__catalog_add(tenon__catalog_t* catalog, const tenon__owner_t* owner,
                                  const tenon_offering_t* offering, const tenon_sink_t* sink);

/* Makes one owner ready now, whatever it promised. What make_ready returned, now or before. At most
 * once; another thread that asks waits for it. */
tenon_status_t tenon__catalog_make_ready(tenon__catalog_t* catalog, tenon__owner_t* owner,
                                         const tenon_sink_t* sink);

/* Lookups make promises ready. NULL when absent (a failure to load was reported). A look-up by name
 * takes the lock and may load plugins, so it may be slow the first time; afterwards it is a hash.
 * Disabled operators are NULL too. */
const tenon__operator_t* tenon__catalog_operator(tenon__catalog_t* catalog, const char* name,
                                                 const tenon_sink_t* sink);
const tenon__device_entry_t* tenon__catalog_device(tenon__catalog_t* catalog, const char* name,
                                                   const tenon_sink_t* sink);
const tenon__parser_entry_t* tenon__catalog_parser(tenon__catalog_t* catalog, const char* format,
                                                   const tenon_sink_t* sink);
/* The converters for this version of a node type, one for each plugin that has some, in the order in
 * which they are asked. Returns the count; writes up to capacity. */
uint32_t tenon__catalog_converters(tenon__catalog_t* catalog, const tenon__node_key_t* key,
                                   const tenon_sink_t* sink,
                                   const tenon__converter_entry_t** out_entries, uint32_t capacity);
/* Compares the definitions of each operator that several plugins have promised, or one in the domain of
 * another. Loads these plugins; an operator that is looked up is compared without this function. */
void tenon__catalog_settle(tenon__catalog_t* catalog, const tenon_sink_t* sink);
/* Kernels of one sort. `op`: an identity, for the kernels whose `operators` list it; "*" for those
 * that look for themselves (pattern, propose); NULL with flags for the expression (or move)
 * kernels, without for all. Ordered by plugin name, then kernel name; reference kernels last.
 * Returns the count; writes up to capacity. The order is that in which candidates are found, and so
 * part of what a build decides where times say nothing. */
uint32_t tenon__catalog_kernels(tenon__catalog_t* catalog, const char* op, uint32_t flags,
                                const tenon_sink_t* sink, const tenon__kernel_entry_t** out_entries,
                                uint32_t capacity);
/* A kernel by plugin and name, for plans. */
const tenon__kernel_entry_t* tenon__catalog_kernel(tenon__catalog_t* catalog, const char* plugin,
                                                   const char* name, const tenon_sink_t* sink);
/* Everything of a kind, in order of plugin and name; makes all promises of that kind ready. Each
 * returns how many there are, and writes up to `capacity`; `out_entries` is an array of pointers to
 * entries of the kind (for operators the second function). Parsers come in the order of the search
 * path. */
uint32_t tenon__catalog_all(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                            const tenon_sink_t* sink, void* out_entries, uint32_t capacity);
uint32_t tenon__catalog_operators(tenon__catalog_t* catalog, const tenon_sink_t* sink,
                                  const tenon__operator_t** out_entries, uint32_t capacity);
/* Operators whose identities are like one that nobody offers. Loads all who promised some. */
void tenon__catalog_nearest_operators(tenon__catalog_t* catalog, const char* name,
                                      const tenon_sink_t* sink, tenon__nearest_t* inout_nearest);
/* The owner of that plugin name which was added first. NULL if there is none. Valid for the
 * catalogue's life. */
tenon__owner_t* tenon__catalog_owner(tenon__catalog_t* catalog, const char* plugin);

/* Why an operator is disabled, NULL if it is not. Of what is loaded by now. Valid for the
 * catalogue's life. */
const char* tenon__catalog_disabled(tenon__catalog_t* catalog, const char* name);

/* Identities of all that are disabled, among the plugins loaded so far. */
uint32_t tenon__catalog_disabled_operators(tenon__catalog_t* catalog, const char** out_names,
                                           uint32_t capacity);

#endif
