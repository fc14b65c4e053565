/* Element types as both formats number and name them: UFF by kind and bits (0x20020 is f32),
 * TensorFlow by types.proto. */
#ifndef TENON_PARSER_UFF_DTYPE_H_
#define TENON_PARSER_UFF_DTYPE_H_

#include "tree.h"

/* What an ENUM field says, by its word (text form) or its number; NULL is number 0.
 * TENON_DTYPE_UNDEFINED for what Tenon has not: quantised types, resources, TensorFlow's
 * reference types. */
tenon_dtype_t tenon__uff_dtype(const tenon__uff_field_t* field, bool is_tensorflow);
/* The contract's mnemonic, "f32"; that of UNDEFINED for what is no dtype. */
const char* tenon__uff_dtype_name(tenon_dtype_t dtype);
/* Bytes of one element; 0 for those without a fixed number: strings, UNDEFINED. */
size_t tenon__uff_dtype_size(tenon_dtype_t dtype);

#endif
