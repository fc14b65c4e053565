/*
 * Reasons for not using a candidate, as a closed list. Each comes with a detail that has values and
 * a remedy. The list is closed, so that a program can act on a reason and a test can name it. The
 * texts are for people. A new reason needs one line here.
 */
#ifndef TENON_PLUGIN_REGISTRY_REASON_H_
#define TENON_PLUGIN_REGISTRY_REASON_H_

#include <stddef.h>

/* NAME, text. */
#define TENON_PLUGIN_REASONS(X)                                                         \
  X(NONE, "nothing is wrong")                                                           \
  X(UNREADABLE, "cannot be opened or read")                                             \
  X(NOT_A_FILE, "is not a regular file")                                                \
  X(WRITABLE_BY_OTHERS, "can be changed by other users")                                \
  X(NOT_ELF, "is not an ELF file")                                                      \
  X(DAMAGED, "is damaged")                                                              \
  X(MACHINE, "is for another kind of machine")                                          \
  X(NO_MANIFEST, "has no Tenon manifest, so it is not a plugin")                        \
  X(MANIFEST, "has a manifest with a fault")                                            \
  X(ABI_MAJOR, "is built for another major version of the plugin contract")             \
  X(NEEDS_NEWER_HOST, "needs a newer Tenon")                                            \
  X(TOO_OLD, "is built for a version of the plugin contract that is no longer served")  \
  X(INSTRUCTION_SET, "needs an instruction set that this processor lacks")              \
  X(NOT_A_LIBRARY, "is a program, not a shared object")                                 \
  X(EXECUTABLE_STACK, "wants an executable stack, or memory that is writable and code") \
  X(TEXT_RELOCATIONS, "rewrites its own code while it is loaded")                       \
  X(RUN_PATH, "brings a search path for libraries (RPATH or RUNPATH)")                  \
  X(NO_QUERY, "does not export the function tenon_plugin_query")                        \
  X(EXTRA_EXPORTS, "exports more than tenon_plugin_query")                              \
  X(IMPORTS_TENON, "imports a symbol of Tenon; tables are the only way in")             \
  X(LIBRARIES, "needs other libraries than its manifest says")                          \
  X(SHADOWED, "has the name of another plugin, which is used")                          \
  X(REQUIRES, "requires another plugin")                                                \
  X(NOT_LISTED, "is not on the list of digests that the policy permits")                \
  X(SET_ASIDE, "is set aside, because it ended an earlier process")                     \
  X(CHANGED, "has changed since it was looked at")                                      \
  X(GONE, "is no longer there")                                                         \
  X(NO_PROC, "cannot be loaded through the descriptor that was checked: no /proc")      \
  X(LOAD_FAILED, "cannot be loaded")                                                    \
  X(DECLINED, "declines to serve this host")                                            \
  X(DESCRIPTOR, "describes itself wrongly")                                             \
  X(PROMISE, "offers something else than its manifest says")                            \
  X(START_FAILED, "failed to start")                                                    \
  X(MEMORY, "needs memory that is not there")

#define TENON_PLUGIN_REASON_ENTRY(name, text) TENON_PLUGIN_REASON_##name,
/* Roughly in the order of the checks: an earlier reason hides later ones. */
typedef enum tenon__plugin_reason_t {
  TENON_PLUGIN_REASONS(TENON_PLUGIN_REASON_ENTRY) TENON_PLUGIN_REASON_COUNT
} tenon__plugin_reason_t;

/* The result of a check: NONE, or a reason with its detail, which is "" or text in the caller's
 * arena. Passed by value. `detail` is never NULL. */
typedef struct tenon__finding_t {
  tenon__plugin_reason_t reason;
  const char* detail;
} tenon__finding_t;

/* Makes a finding. A NULL detail means that the arena is out of memory. */
static inline tenon__finding_t tenon__finding(tenon__plugin_reason_t reason, const char* detail) {
  return detail == NULL ? (tenon__finding_t){TENON_PLUGIN_REASON_MEMORY, ""}
                        : (tenon__finding_t){reason, detail};
}

/* Returns a text such as "is not an ELF file". Never NULL. */
const char* tenon__plugin_reason_text(tenon__plugin_reason_t reason);

#define TENON_FINDING_NONE ((tenon__finding_t){TENON_PLUGIN_REASON_NONE, ""})
#define TENON_FINDING_MEMORY ((tenon__finding_t){TENON_PLUGIN_REASON_MEMORY, ""})

#endif
