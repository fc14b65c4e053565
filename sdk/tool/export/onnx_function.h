/* The functions of the language of expressions, by what ONNX has for each. */
#ifndef TOOL_EXPORT_ONNX_FUNCTION_H_
#define TOOL_EXPORT_ONNX_FUNCTION_H_

#include "export/onnx_steps.h"

typedef struct tool_onnx_meaning_t {
  const char* type; /* ONNX's, or a text over a, b, c, which stand for the operands */
  bool is_text;
  tenon_dtype_t dtype; /* of the result; UNDEFINED: that of the operands */
} tool_onnx_meaning_t;

/* False: ONNX has nothing for it with so many operands. */
bool tool_onnx_find_function(const char* name, const tool_onnx_term_t* operands, uint32_t count,
                             tool_onnx_meaning_t* out_meaning);
/* Numbers alone are computed at once; false: these are not, or the function is none for that. */
bool tool_onnx_fold(const char* name, const tool_onnx_term_t* operands, uint32_t count,
                    tool_onnx_term_t* out_term);

#endif
