/*
 * Instruction sets of this processor, for plugins that require one. Loading a plugin whose code
 * begins with an unsupported instruction would end the process. So its manifest lists the required
 * sets, and the file is not loaded without them.
 */
#ifndef TENON_PLUGIN_REGISTRY_INSTRUCTION_SET_H_
#define TENON_PLUGIN_REGISTRY_INSTRUCTION_SET_H_

typedef enum tenon__presence_t {
  TENON_PRESENCE_UNKNOWN, /* unknown for this architecture: another's, or a newer one */
  TENON_PRESENCE_ABSENT,
  TENON_PRESENCE_PRESENT,
} tenon__presence_t;

/* x86-64: sse4.2, avx, avx2, fma, bmi2, avx512 (F, BW, DQ and VL together), and those four;
 * aarch64: neon. A set whose registers the operating system does not save counts as absent. */
tenon__presence_t tenon__instruction_set(const char* name);
/* Returns all known names, each after a blank. */
const char* tenon__instruction_set_names(void);

#endif
