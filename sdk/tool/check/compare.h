/*
 * Comparison of a kernel's outputs with those of the reference. Numbers of floating point agree
 * as in data/difference.h, |a - b| <= relative * |b| + absolute,
 * with relative = 4 u + 64 v and absolute = m (16 u + 32 v (2 + sqrt(n))), where u is the unit
 * roundoff of the output's type, v that of f32 (of f64 for f64), m the largest magnitude of the
 * output, and n the number of terms that an output adds up, as the sizes of the tensors show it.
 * Other elements must be equal. If an input is a float and an output is not, 1 % of the elements may
 * differ, because a rounding changes a whole number.
 */
#ifndef TOOL_CHECK_COMPARE_H_
#define TOOL_CHECK_COMPARE_H_

#include "check/case.h"

/* False: they differ, and the text says where and by how much. */
bool check_compare(const check_case_t* c, const char* name, const tool_value_t* value,
                   const tool_value_t* reference, check_text_t* text);

#endif
