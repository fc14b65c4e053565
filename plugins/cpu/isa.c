/* Which instruction set to use. */
#include <stdlib.h>
#include <string.h>

#include "cpu.h"

static const tenon__cpu_isa_t isa_baseline = {"baseline", &tenon__cpu_tiles_baseline,
                                              &tenon__cpu_elements_baseline,
                                              &tenon__cpu_windows_baseline};
#if defined(TENON_WITH_AVX2)
static const tenon__cpu_isa_t isa_avx2 = {"avx2", &tenon__cpu_tiles_avx2, &tenon__cpu_elements_avx2,
                                          &tenon__cpu_windows_avx2};
#endif
#if defined(TENON_WITH_AVX512)
static const tenon__cpu_isa_t isa_avx512 = {
    "avx512", &tenon__cpu_tiles_avx512, &tenon__cpu_elements_avx512, &tenon__cpu_windows_avx512};
#endif

static const tenon__cpu_isa_t* find_avx2(void) {
#if defined(TENON_WITH_AVX2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return &isa_avx2;
  }
#endif
  return NULL;
}

static const tenon__cpu_isa_t* find_avx512(void) {
#if defined(TENON_WITH_AVX512)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return &isa_avx512;
  }
#endif
  return NULL;
}

const tenon__cpu_isa_t* tenon__cpu_isa_find(const char* name) {
  if (strcmp(name, "avx512") == 0) {
    return find_avx512();
  }
  if (strcmp(name, "avx2") == 0) {
    return find_avx2();
  }
  return strcmp(name, "baseline") == 0 ? &isa_baseline : NULL;
}

const tenon__cpu_isa_t* tenon__cpu_isa_choose(void) {
  const char* const names[] = {getenv("TENON_CPU"), "avx512", "avx2", "baseline"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    const tenon__cpu_isa_t* isa = names[i] != NULL ? tenon__cpu_isa_find(names[i]) : NULL;
    if (isa != NULL) {
      return isa;
    }
  }
  return &isa_baseline;
}

const tenon__cpu_state_t* tenon__cpu_state_of(const tenon__cpu_isa_t* isa) {
  static const tenon__cpu_state_t states[] = {
    {&isa_baseline},
#if defined(TENON_WITH_AVX2)
    {&isa_avx2},
#endif
#if defined(TENON_WITH_AVX512)
    {&isa_avx512},
#endif
  };
  size_t k = sizeof(states) / sizeof(states[0]) - 1;
  while (k > 0 && states[k].isa != isa) {
    k--;
  }
  return &states[k];
}
