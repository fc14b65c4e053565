/*
 * Which instruction sets this processor has, for plugins that need one to run at all. A plugin
 * whose code begins with such an instruction would end the process while it is loaded: so its
 * manifest says what it needs, and the file is not opened for running without.
 */
#ifndef TENON_PLUGIN_REGISTRY_INSTRUCTION_SET_H_
#define TENON_PLUGIN_REGISTRY_INSTRUCTION_SET_H_

typedef enum tenon__presence_t {
  TENON_PRESENCE_UNKNOWN, /* not a name of this kind of processor: another's, or a later one's */
  TENON_PRESENCE_ABSENT,
  TENON_PRESENCE_PRESENT,
} tenon__presence_t;

/* x86-64: sse4.2, avx, avx2, fma, bmi2, avx512 (F, BW, DQ and VL together), and those four;
 * aarch64: neon. What the operating system does not save between threads counts as absent. */
tenon__presence_t tenon__instruction_set(const char* name);
/* All that are known here, each after a blank. */
const char* tenon__instruction_set_names(void);

#endif
