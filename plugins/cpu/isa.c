/* Finds the instruction sets of the processor. The list is in ascending order. Each processor has the
 * first one. */
#include <stdlib.h>
#include <string.h>

#include "cpu.h"

#define TABLES(name, set, integer_set)                                                    \
  {                                                                                       \
    name, &tenon__cpu_tiles_##set, &tenon__cpu_elements_##set, &tenon__cpu_windows_##set, \
        &tenon__cpu_integers_##integer_set                                                \
  }

static const tenon__cpu_state_t states[] = {
    {&(const tenon__cpu_isa_t)TABLES("baseline", baseline, baseline)},
#if defined(TENON_WITH_AVX2)
    {&(const tenon__cpu_isa_t)TABLES("avx2", avx2, avx2)},
#endif
#if defined(TENON_WITH_AVX512)
    {&(const tenon__cpu_isa_t)TABLES("avx512", avx512, avx512)},
#endif
#if defined(TENON_WITH_AVX512VNNI)
    {&(const tenon__cpu_isa_t)TABLES("avx512vnni", avx512, avx512vnni)},
#endif
#if defined(TENON_WITH_AMX)
    {&(const tenon__cpu_isa_t)TABLES("amx", avx512, amx)},
#endif
};
enum { STATES = sizeof(states) / sizeof(states[0]) };

#if defined(__x86_64__) || defined(__i386__)

static bool has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* Returns true if the processor has tile registers with 8-bit products (CPUID 7.0, EDX). Call this
 * only if the processor has AVX-512, so that this leaf exists. plugins/host has the same test, because
 * plugins share no sources. */
static bool has_tiles(void) {
  enum { AMX_TILE = 1 << 24, AMX_INT8 = 1 << 25 };
  unsigned eax = 7;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  return (edx & AMX_TILE) != 0 && (edx & AMX_INT8) != 0;
}

/* Requests the use of tile registers for all threads of the process. Linux saves them only for
 * processes with this permission. */
static bool may_use_tiles(void) {
#if defined(__linux__) && defined(__x86_64__)
  enum { ARCH_PRCTL = 158, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
  long result = ARCH_PRCTL;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"((long)REQUEST_PERMISSION), "S"((long)TILE_DATA)
                   : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;
#endif
}

static bool runs(const char* name) {
  __builtin_cpu_init();
  if (strcmp(name, "baseline") == 0) {
    return true;
  }
  if (strcmp(name, "avx2") == 0) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }
  if (strcmp(name, "avx512") == 0) {
    return has_avx512();
  }
  const bool has_vnni = has_avx512() && __builtin_cpu_supports("avx512vnni");
  return strcmp(name, "amx") == 0 ? has_vnni && has_tiles() && may_use_tiles() : has_vnni;
}

#else

static bool runs(const char* name) {
  return strcmp(name, "baseline") == 0;
}

#endif

const tenon__cpu_isa_t* tenon__cpu_isa_find(const char* name) {
  for (size_t k = 0; k < STATES; k++) {
    if (strcmp(states[k].isa->name, name) == 0) {
      return runs(name) ? states[k].isa : NULL;
    }
  }
  return NULL;
}

const tenon__cpu_isa_t* tenon__cpu_isa_choose(void) {
  const char* wanted = getenv("TENON_CPU");
  const tenon__cpu_isa_t* isa = wanted != NULL ? tenon__cpu_isa_find(wanted) : NULL;
  if (isa != NULL) {
    return isa;
  }
  size_t k = STATES - 1;
  while (!runs(states[k].isa->name)) {
    k--;
  }
  return states[k].isa;
}

const tenon__cpu_state_t* tenon__cpu_state_of(const tenon__cpu_isa_t* isa) {
  size_t k = STATES - 1;
  while (k > 0 && states[k].isa != isa) {
    k--;
  }
  return &states[k];
}
