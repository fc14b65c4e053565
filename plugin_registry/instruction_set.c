/* Asks the compiler's run-time library, which asks the processor and the operating system. */
#include "plugin_registry/instruction_set.h"

#include <stddef.h>
#include <string.h>

/* NAME, and what must be there. The builtin takes literals alone. */
#if defined(__x86_64__) || defined(__i386__)
#define INSTRUCTION_SETS(X)                                                              \
  X("sse4.2", __builtin_cpu_supports("sse4.2"))                                          \
  X("avx", __builtin_cpu_supports("avx"))                                                \
  X("avx2", __builtin_cpu_supports("avx2"))                                              \
  X("fma", __builtin_cpu_supports("fma"))                                                \
  X("bmi2", __builtin_cpu_supports("bmi2"))                                              \
  X("avx512f", __builtin_cpu_supports("avx512f"))                                        \
  X("avx512bw", __builtin_cpu_supports("avx512bw"))                                      \
  X("avx512dq", __builtin_cpu_supports("avx512dq"))                                      \
  X("avx512vl", __builtin_cpu_supports("avx512vl"))                                      \
  X("avx512", __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && \
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#elif defined(__aarch64__)
#define INSTRUCTION_SETS(X) X("neon", 1)
#else
#define INSTRUCTION_SETS(X) X("baseline", 1)
#endif

tenon__presence_t tenon__instruction_set(const char* name) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
#endif
#define ANSWER(known, there)                                         \
  if (strcmp(name, known) == 0) {                                    \
    return (there) ? TENON_PRESENCE_PRESENT : TENON_PRESENCE_ABSENT; \
  }
  INSTRUCTION_SETS(ANSWER)
#undef ANSWER
  return TENON_PRESENCE_UNKNOWN;
}

const char* tenon__instruction_set_names(void) {
#define NAME(known, there) " " known
  static const char names[] = INSTRUCTION_SETS(NAME);
#undef NAME
  return names;
}
