/* Element types as both formats number and name them. */
#ifndef TENON_PARSER_UFF_DTYPE_H_
#define TENON_PARSER_UFF_DTYPE_H_

#include "tree.h"

/* What an ENUM field says; TENON_DTYPE_UNDEFINED for what Tenon has not. */
tenon_dtype_t tenon__uff_dtype(const tenon__uff_field_t* field, bool is_tensorflow);
const char* tenon__uff_dtype_name(tenon_dtype_t dtype);
/* Bytes of one element; 0 for those without a fixed number. */
size_t tenon__uff_dtype_size(tenon_dtype_t dtype);

#endif
