/*
 * Names and the values that they stand for. A name's literal is kept until something reads it, and
 * becomes a constant of the graph that reads it: unused initialisers cost nothing, and a body has
 * its own.
 */
#ifndef TENON_PARSER_ONNX_SCOPE_H_
#define TENON_PARSER_ONNX_SCOPE_H_

#include "program.h"

/* The value of `name` in the graph that is being built. A literal, of this scope or of one
 * around it, is built when first asked for, named as in the file behind the frame's prefix. A
 * value of a scope around is not found, unless it was captured and so bound here: INVALID_DATA,
 * "read before it has a value". Id 0 for an input that the caller of a function left out. */
tenon_status_t tenon__onnx_scope_find(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                      const char* name, tenon_value_t* out_value);
/* A name that was bound is bound anew: body parameters hide captured values so. */
tenon_status_t tenon__onnx_scope_bind(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                      const char* name, tenon_value_t value);
/* The literal is copied; what it points to is the model's. */
tenon_status_t tenon__onnx_scope_bind_literal(tenon__onnx_program_t* program,
                                              tenon__onnx_scope_t* scope, const char* name,
                                              const tenon__onnx_literal_t* literal);
/* The binding of `name` here or in an enclosing scope, innermost first; NULL if there is none,
 * and for a NULL scope. */
tenon__onnx_binding_t* tenon__onnx_scope_binding(const tenon__onnx_scope_t* scope,
                                                 const char* name);
/* The initialisers of the scope's graph, dense and sparse (whose name is that of their values).
 * The block must be a graph's, not a function's. */
tenon_status_t tenon__onnx_scope_bind_initialisers(tenon__onnx_program_t* program,
                                                   tenon__onnx_scope_t* scope);
/* The value has its name in the network: inputs and parameters, which get theirs when they are
 * made. */
tenon_status_t tenon__onnx_scope_mark_named(tenon__onnx_program_t* program,
                                            const tenon__onnx_scope_t* scope, tenon_value_t value);
/* Gives a value the file's name behind the frame's prefix, unless it has one: the first name
 * stays. */
tenon_status_t tenon__onnx_scope_name(tenon__onnx_program_t* program,
                                      const tenon__onnx_scope_t* scope, tenon_value_t value,
                                      const char* name);

#endif
