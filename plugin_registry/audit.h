/*
 * Rules that are checked in a shared object's file before it is loaded. They ensure that opening a
 * library runs only its own constructors, with code that cannot be modified, and with the libraries
 * that it names. Each function returns the first violation, in the arena.
 */
#ifndef TENON_PLUGIN_REGISTRY_AUDIT_H_
#define TENON_PLUGIN_REGISTRY_AUDIT_H_

#include "plugin_registry/elf_file.h"
#include "plugin_registry/manifest.h"

/* Rules for all libraries: not a program, no executable stack, no writable code, no text
 * relocations, no RPATH or RUNPATH, no library named by a path. */
tenon__finding_t tenon__audit_library(tenon__arena_t* arena, const tenon__elf_t* elf);

/* Additional rules for plugins:
 *   - it exports only tenon_plugin_query, a function; symbols that linkers and sanitizers add
 *     (_init, _fini, _edata, _end, __bss_start) are ignored;
 *   - it imports no symbol that begins with tenon_;
 *   - DT_NEEDED equals the set of linked libraries in its manifest. The C library and its parts
 *     (libm, libdl, libpthread, librt, libmvec, the loader) and libgcc_s need not be named. In a
 *     build with sanitizers, their run-time libraries need not be named either. */
tenon__finding_t tenon__audit_plugin(tenon__arena_t* arena, const tenon__elf_t* elf,
                                     const tenon__manifest_t* manifest);

/* Checks that the processor has all instruction sets that the manifest requires, among those of its
 * architecture. */
tenon__finding_t tenon__audit_instruction_sets(tenon__arena_t* arena,
                                               const tenon__manifest_t* manifest);

/* The versions that a host supports: [min_minor, max_minor] of TENON_ABI_MAJOR. */
typedef struct tenon__abi_range_t {
  uint32_t min_minor;
  uint32_t max_minor;
} tenon__abi_range_t;
/* Returns ABI_MAJOR for another major version, NEEDS_NEWER_HOST if the plugin needs a newer minor
 * version than the host's newest, and TOO_OLD if it was built for an older one than the host's
 * oldest. */
tenon__finding_t tenon__audit_versions(tenon__arena_t* arena, uint32_t built, uint32_t needed,
                                       tenon__abi_range_t range);

#endif
