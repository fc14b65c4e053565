/* Programs as readable text. */
#ifndef TENON_CORE_PROGRAM_PROGRAM_TEXT_H_
#define TENON_CORE_PROGRAM_PROGRAM_TEXT_H_

#include "core/base/arena.h"

/* A small integer cost: instructions weighted by kind, for estimates. */
uint32_t tenon__program_cost(const tenon_program_t* program);
/* Returns "max(in0 + in1, 0)", for reports. In the arena; long texts are truncated. Never NULL. */
const char* tenon__program_text(const tenon_program_t* program, uint32_t output,
                                tenon__arena_t* arena);

#endif
