/*
 * The rules that a shared object must keep before it is loaded, as far as a file can show them.
 * They make sure that opening a library runs nothing but its own constructors, of code that cannot
 * be changed, against the libraries that it names. Each function gives the first fault, in the
 * arena.
 */
#ifndef TENON_PLUGIN_REGISTRY_AUDIT_H_
#define TENON_PLUGIN_REGISTRY_AUDIT_H_

#include "plugin_registry/elf_file.h"
#include "plugin_registry/manifest.h"

/* What any library that we open must keep: not a program, no executable stack, no writable code, no
 * text relocations, no RPATH or RUNPATH, no library named by a path. */
tenon__finding_t tenon__audit_library(tenon__arena_t* arena, const tenon__elf_t* elf);

/* What a plugin must keep besides:
 *   - it exports tenon_plugin_query, a function, and nothing else; what linkers and sanitizers add
 * by themselves
 *     (_init, _fini, _edata, _end, __bss_start) is not counted;
 *   - it imports no symbol that begins with tenon_;
 *   - DT_NEEDED and the libraries that its manifest says are linked are the same set; the C library
 * and its parts (libm, libdl, libpthread, librt, libmvec, the loader) and libgcc_s need not be
 * named. In a build of ours with sanitizers, their run-time libraries need not be named either. */
tenon__finding_t tenon__audit_plugin(tenon__arena_t* arena, const tenon__elf_t* elf,
                                     const tenon__manifest_t* manifest);

/* Every instruction set that the manifest says is needed, and that a processor of this kind can
 * have, is there. */
tenon__finding_t tenon__audit_instruction_sets(tenon__arena_t* arena,
                                               const tenon__manifest_t* manifest);

/* The versions that a host serves: [min_minor, max_minor] of TENON_ABI_MAJOR. */
typedef struct tenon__abi_range_t {
  uint32_t min_minor;
  uint32_t max_minor;
} tenon__abi_range_t;
/* Another major is ABI_MAJOR; what needs more than the host's newest minor NEEDS_NEWER_HOST; what
 * was built for less than its oldest TOO_OLD. */
tenon__finding_t tenon__audit_versions(tenon__arena_t* arena, uint32_t built, uint32_t needed,
                                       tenon__abi_range_t range);

#endif
