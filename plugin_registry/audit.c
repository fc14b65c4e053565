/* Compares what an ELF file is with what a plugin may be and with what its manifest says. */
#include "plugin_registry/audit.h"

#include <string.h>

#include "plugin_registry/instruction_set.h"

#if defined(__has_feature)
#define HAS_FEATURE(feature) __has_feature(feature)
#else
#define HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||              \
    HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer) ||            \
    HAS_FEATURE(memory_sanitizer) || HAS_FEATURE(undefined_behavior_sanitizer) || \
    defined(TENON_SANITIZED)
#define WITH_SANITIZERS 1
#else
#define WITH_SANITIZERS 0
#endif

static bool begins_with(const char* text, const char* beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_one_of(const char* text, const char* const* beginnings) {
  for (; *beginnings != NULL; ++beginnings) {
    if (begins_with(text, *beginnings)) {
      return true;
    }
  }
  return false;
}

/* ---- Any library ---- */

tenon__finding_t tenon__audit_library(tenon__arena_t* arena, const tenon__elf_t* elf) {
  if (elf->is_program) {
    return tenon__finding(TENON_PLUGIN_REASON_NOT_A_LIBRARY, "");
  }
  if (elf->executable_stack || elf->writable_code) {
    return tenon__finding(TENON_PLUGIN_REASON_EXECUTABLE_STACK,
                          elf->executable_stack ? "link it with -Wl,-z,noexecstack" : "");
  }
  if (elf->text_relocations) {
    return tenon__finding(TENON_PLUGIN_REASON_TEXT_RELOCATIONS, "compile it with -fPIC");
  }
  if (elf->run_path != NULL) {
    return tenon__finding(
        TENON_PLUGIN_REASON_RUN_PATH,
        tenon__arena_format(arena, "'%.200s'; open other libraries through library/1",
                            elf->run_path));
  }
  for (size_t i = 0; i < elf->library_count; ++i) {
    if (strchr(elf->libraries[i], '/') != NULL) {
      return tenon__finding(
          TENON_PLUGIN_REASON_LIBRARIES,
          tenon__arena_format(arena, "it names one by a path: '%.200s'", elf->libraries[i]));
    }
  }
  return TENON_FINDING_NONE;
}

/* ---- Libraries of a plugin ---- */

static bool is_implied(const char* soname) {
  static const char* const implied[] = {"libc.so",  "libm.so",    "libdl.so",    "libpthread.so",
                                        "librt.so", "libmvec.so", "libgcc_s.so", "ld-linux",
                                        "ld-musl",  "libc.musl",  "ld64.so",     NULL};
  static const char* const sanitizers[] = {"libasan.so", "libubsan.so",  "libtsan.so",
                                           "liblsan.so", "libclang_rt.", NULL};
  return is_one_of(soname, implied) || (WITH_SANITIZERS && is_one_of(soname, sanitizers));
}

static bool is_linked(const tenon__elf_t* elf, const char* soname) {
  for (size_t i = 0; i < elf->library_count; ++i) {
    if (strcmp(elf->libraries[i], soname) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_declared(const tenon__manifest_t* manifest, const char* soname) {
  for (size_t i = 0; i < manifest->library_count; ++i) {
    if (!manifest->libraries[i].opened && strcmp(manifest->libraries[i].soname, soname) == 0) {
      return true;
    }
  }
  return false;
}

static tenon__finding_t audit_libraries(tenon__arena_t* arena, const tenon__elf_t* elf,
                                        const tenon__manifest_t* manifest) {
  if (elf->other_library != NULL) {
    return tenon__finding(TENON_PLUGIN_REASON_LIBRARIES,
                          tenon__arena_format(arena, "it has the loader bring '%.200s' as a filter",
                                              elf->other_library));
  }
  for (size_t i = 0; i < elf->library_count; ++i) {
    const char* soname = elf->libraries[i];
    if (!is_implied(soname) && !is_declared(manifest, soname)) {
      return tenon__finding(
          TENON_PLUGIN_REASON_LIBRARIES,
          tenon__arena_format(arena,
                              "it is linked to %.200s; its manifest lacks the line "
                              "'needs-library: %.200s linked'",
                              soname, soname));
    }
  }
  for (size_t i = 0; i < manifest->library_count; ++i) {
    const tenon__manifest_library_t* library = &manifest->libraries[i];
    if (!library->opened && !is_implied(library->soname) && !is_linked(elf, library->soname)) {
      return tenon__finding(
          TENON_PLUGIN_REASON_LIBRARIES,
          tenon__arena_format(arena, "its manifest says %.200s is linked, and it is not",
                              library->soname));
    }
  }
  return TENON_FINDING_NONE;
}

/* ---- Symbols of a plugin ---- */

static bool is_linkers_own(const char* name) {
  static const char* const own[] = {"_init", "_fini", "_edata", "_end", "__bss_start", NULL};
  static const char* const sanitizers[] = {"__asan_",  "__odr_asan",   "__ubsan_",
                                           "__tsan_",  "__sanitizer_", "__lsan_",
                                           "__start_", "__stop_",      NULL};
  for (const char* const* symbol = own; *symbol != NULL; ++symbol) {
    if (strcmp(name, *symbol) == 0) {
      return true;
    }
  }
  return WITH_SANITIZERS && is_one_of(name, sanitizers);
}

static tenon__finding_t audit_symbols(tenon__arena_t* arena, const tenon__elf_t* elf) {
  if (!elf->has_query) {
    return tenon__finding(TENON_PLUGIN_REASON_NO_QUERY, "");
  }
  for (size_t i = 0; i < elf->export_count; ++i) {
    if (!is_linkers_own(elf->exports[i])) {
      return tenon__finding(
          TENON_PLUGIN_REASON_EXTRA_EXPORTS,
          tenon__arena_format(arena, "'%.200s'; compile it with -fvisibility=hidden",
                              elf->exports[i]));
    }
  }
  if (elf->tenon_import != NULL) {
    return tenon__finding(TENON_PLUGIN_REASON_IMPORTS_TENON,
                          tenon__arena_format(arena, "'%.200s'", elf->tenon_import));
  }
  return TENON_FINDING_NONE;
}

tenon__finding_t tenon__audit_plugin(tenon__arena_t* arena, const tenon__elf_t* elf,
                                     const tenon__manifest_t* manifest) {
  tenon__finding_t result = tenon__audit_library(arena, elf);
  if (result.reason == TENON_PLUGIN_REASON_NONE) {
    result = audit_symbols(arena, elf);
  }
  if (result.reason == TENON_PLUGIN_REASON_NONE) {
    result = audit_libraries(arena, elf, manifest);
  }
  return result;
}

/* ---- Processor and versions ---- */

tenon__finding_t tenon__audit_instruction_sets(tenon__arena_t* arena,
                                               const tenon__manifest_t* manifest) {
  for (size_t i = 0; i < manifest->isa_count; ++i) {
    const tenon__presence_t presence = tenon__instruction_set(manifest->isas[i]);
    if (presence == TENON_PRESENCE_ABSENT) {
      return tenon__finding(TENON_PLUGIN_REASON_INSTRUCTION_SET,
                            tenon__arena_copy_string(arena, manifest->isas[i]));
    }
    if (presence == TENON_PRESENCE_UNKNOWN) {
      return tenon__finding(
          TENON_PLUGIN_REASON_INSTRUCTION_SET,
          tenon__arena_format(arena, "%s, which is none of those of this kind of processor:%s",
                              manifest->isas[i], tenon__instruction_set_names()));
    }
  }
  return TENON_FINDING_NONE;
}

tenon__finding_t tenon__audit_versions(tenon__arena_t* arena, uint32_t built, uint32_t needed,
                                       tenon__abi_range_t range) {
  const uint32_t min = TENON_ABI_VERSION(TENON_ABI_MAJOR, range.min_minor);
  const uint32_t max = TENON_ABI_VERSION(TENON_ABI_MAJOR, range.max_minor);
  tenon__plugin_reason_t reason = TENON_PLUGIN_REASON_NONE;
  if (built >> 16 != TENON_ABI_MAJOR || needed >> 16 != TENON_ABI_MAJOR) {
    reason = TENON_PLUGIN_REASON_ABI_MAJOR;
  } else if (needed > max) {
    reason = TENON_PLUGIN_REASON_NEEDS_NEWER_HOST;
  } else if (built < min) {
    reason = TENON_PLUGIN_REASON_TOO_OLD;
  } else {
    return TENON_FINDING_NONE;
  }
  const char* message = tenon__arena_format(arena, "built with %u.%u, needs %u.%u; this is %u.%u",
                                            built >> 16, built & 0xffffu, needed >> 16,
                                            needed & 0xffffu, min >> 16, min & 0xffffu);
  if (message != NULL && max > min) {
    message = tenon__arena_format(arena, "%s to %u.%u", message, max >> 16, max & 0xffffu);
  }
  return tenon__finding(reason, message);
}
