/* Names and the values that they stand for. */
#ifndef TENON_PARSER_ONNX_SCOPE_H_
#define TENON_PARSER_ONNX_SCOPE_H_

#include "program.h"

/* The value of `name` in the graph that is being built. Literals are built when first asked for.
 * Captured values must have been bound. */
tenon_status_t tenon__onnx_scope_find(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                      const char* name, tenon_value_t* out_value);
tenon_status_t tenon__onnx_scope_bind(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                      const char* name, tenon_value_t value);
tenon_status_t tenon__onnx_scope_bind_literal(tenon__onnx_program_t* program,
                                              tenon__onnx_scope_t* scope, const char* name,
                                              const tenon__onnx_literal_t* literal);
/* The binding of `name` here or in an enclosing scope, NULL if there is none. */
tenon__onnx_binding_t* tenon__onnx_scope_binding(const tenon__onnx_scope_t* scope,
                                                 const char* name);
/* The initialisers of the scope's graph. */
tenon_status_t tenon__onnx_scope_bind_initialisers(tenon__onnx_program_t* program,
                                                   tenon__onnx_scope_t* scope);
/* The value has its name. */
tenon_status_t tenon__onnx_scope_mark_named(tenon__onnx_program_t* program,
                                            const tenon__onnx_scope_t* scope, tenon_value_t value);
/* Gives a value the file's name, unless it has one. */
tenon_status_t tenon__onnx_scope_name(tenon__onnx_program_t* program,
                                      const tenon__onnx_scope_t* scope, tenon_value_t value,
                                      const char* name);

#endif
