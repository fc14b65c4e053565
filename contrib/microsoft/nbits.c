/*
 * Operators for weights of 2, 4 or 8 bits in blocks, packed into bytes along the last axis, lowest
 * bits first. Each operator has a definition by others, so a plan with it runs everywhere.
 */
#include "nbits.h"

#define OPERATOR(text, description) \
  .size = sizeof(tenon_operator_t), .name = "microsoft." text "/1", .summary = (description)
#define LIST_OF(type, ...) TENON_LIST(((const type[]){__VA_ARGS__}))
#define PORT(name_, type_) \
  { .size = sizeof(tenon_port_t), .name = (name_), .type = (type_) }
#define OPTIONAL(name_, type_) \
  { .size = sizeof(tenon_port_t), .name = (name_), .type = (type_), .flags = TENON_PORT_OPTIONAL }
#define TYPE(name_, allowed_) \
  { .size = sizeof(tenon_type_variable_t), .name = (name_), .allowed = (allowed_) }
#define INT(name_)                                                                              \
  {                                                                                             \
    .size = sizeof(tenon_attribute_descriptor_t), .name = (name_), .kind = TENON_ATTRIBUTE_INT, \
    .flags = TENON_ATTRIBUTE_REQUIRED                                                           \
  }
#define INT_FROM(name_, value)                                                              \
  {                                                                                         \
    .size = sizeof(tenon_attribute_descriptor_t), .name = (name_), .default_text = (value), \
    .kind = TENON_ATTRIBUTE_INT                                                             \
  }
#define CHECK(condition_, message_) \
  { .size = sizeof(tenon_check_t), .condition = (condition_), .message = (message_) }
#define WHEN(condition_, text_) \
  { .size = sizeof(tenon_case_t), .when = (condition_), .text = (text_) }

#define SCALES "f32 f16 bf16"
#define ZEROS "u8 f32 f16 bf16"
#define BITS_CHECKS                                                           \
  CHECK("bits == 2 || bits == 4 || bits == 8", "{bits} bits, not 2, 4 or 8"), \
      CHECK("block_size >= 16 && block_size % 16 == 0",                       \
            "blocks of {block_size}, not a multiple of 16")

/* Numbers and scales of each element. */
#define NUMBERS                                                     \
  "p = microsoft.packed_bytes/1(data){bits=bits, columns=columns};" \
  "q = microsoft.unpacked_bits/1(p){bits=bits};"                    \
  "s = standard.repeat_blocks/1(scales, q){axis=-1, block_size=block_size};"

#define WEIGHTS                                                          \
  "f = standard.flatten/1(b){axis=1};"                                   \
  "w = microsoft.dequantize_nbits/1(f, scales, zero_points){bits=bits, " \
  "block_size=block_size, columns=K}; t = standard.permute/1(w){perm=[1, 0]};"

static const tenon_operator_t operators[] = {
    {OPERATOR("packed_bytes", "the byte of each number along the last axis"),
     .inputs = LIST_OF(tenon_port_t, PORT("x", "u8")),
     .outputs = LIST_OF(tenon_port_t, PORT("y", "u8")),
     .attributes = LIST_OF(tenon_attribute_descriptor_t, INT("bits"), INT("columns"),
                           INT_FROM("block_size", "1")),
     .shape = "y.rank = rank(x);"
              "y[d] = d == rank(x) - 1 ? (columns + block_size - 1) / block_size : dim(x, d)",
     .moves = LIST_OF(tenon_case_t, WHEN(NULL, "x[d] = d == rank(x) - 1 ? o(d) * bits / 8 : o(d)")),
     .traits = "pure"},
    {OPERATOR("unpacked_bits", "number i along the last axis of the byte that it is in"),
     .inputs = LIST_OF(tenon_port_t, PORT("x", "u8")),
     .outputs = LIST_OF(tenon_port_t, PORT("y", "u8")),
     .attributes = LIST_OF(tenon_attribute_descriptor_t, INT("bits")), .shape = "y = x",
     .cases = LIST_OF(tenon_case_t, WHEN("bits == 8", "y = x"),
                      WHEN("bits == 4", "y = shr(x, cast(index(-1) % 2 * 4, u8)) & 15"),
                      WHEN(NULL, "y = shr(x, cast(index(-1) % 4 * 2, u8)) & 3")),
     .traits = "pure"},
    {OPERATOR("scaled_numbers", "(q - zero) scale; zero is 2^(bits - 1) if it is absent"),
     .types = LIST_OF(tenon_type_variable_t, TYPE("T", SCALES), TYPE("Z", ZEROS)),
     .inputs = LIST_OF(tenon_port_t, PORT("q", "u8"), PORT("scale", "T"), OPTIONAL("zero", "Z")),
     .outputs = LIST_OF(tenon_port_t, PORT("y", "T")),
     .attributes = LIST_OF(tenon_attribute_descriptor_t, INT("bits")), .shape = "y = q",
     .cases = LIST_OF(tenon_case_t, WHEN(NULL,
                                         "let z = present(zero) ? cast(zero, f32)"
                                         " : bits == 2 ? 2.0 : bits == 4 ? 8.0 : 128.0;"
                                         "y = (cast(q, f32) - z) * cast(scale, f32)")),
     .traits = "pure"},
    {OPERATOR("dequantize_nbits", "numbers of 2, 4 or 8 bits in blocks along the last axis"),
     .types = LIST_OF(tenon_type_variable_t, TYPE("T", SCALES), TYPE("Z", ZEROS)),
     .inputs = LIST_OF(tenon_port_t, PORT("data", "u8"), PORT("scales", "T"),
                       OPTIONAL("zero_points", "Z")),
     .outputs = LIST_OF(tenon_port_t, PORT("y", "T")),
     .attributes =
         LIST_OF(tenon_attribute_descriptor_t, INT("bits"), INT("block_size"), INT("columns")),
     .checks =
         LIST_OF(tenon_check_t, BITS_CHECKS,
                 CHECK("rank(scales) == rank(data)",
                       "scales have rank {rank(scales)}, data has {rank(data)}"),
                 CHECK("dim(data, -1) * 8 / bits >= columns",
                       "{dim(data, -1)} bytes have less than {columns} numbers"),
                 CHECK("dim(scales, -1) == ceil_div(columns, block_size)",
                       "{dim(scales, -1)} scales for {columns} numbers in blocks of {block_size}")),
     .shape = "y.rank = rank(data); y[d] = d == rank(data) - 1 ? columns : dim(data, d)",
     .decompositions = LIST_OF(
         tenon_case_t,
         WHEN("!present(zero_points)",
              NUMBERS "y = microsoft.scaled_numbers/1(q, s, _){bits=bits}"),
         WHEN("dtype(zero_points) == 'u8'",
              NUMBERS "zp = microsoft.packed_bytes/1(zero_points)"
                      "{bits=bits, columns=columns, block_size=block_size};"
                      "zq = microsoft.unpacked_bits/1(zp){bits=bits};"
                      "z = standard.repeat_blocks/1(zq, q){axis=-1, block_size=block_size};"
                      "y = microsoft.scaled_numbers/1(q, s, z){bits=bits}"),
         WHEN(NULL, NUMBERS
              "z = standard.repeat_blocks/1(zero_points, q){axis=-1, block_size=block_size};"
              "y = microsoft.scaled_numbers/1(q, s, z){bits=bits}")),
     .traits = "pure"},
    {OPERATOR("mat_mul_nbits", "a times the transpose of weights of 2, 4 or 8 bits in blocks"),
     .types = LIST_OF(tenon_type_variable_t, TYPE("T", SCALES), TYPE("Z", ZEROS)),
     .inputs = LIST_OF(tenon_port_t, PORT("a", "T"), PORT("b", "u8"), PORT("scales", "T"),
                       OPTIONAL("zero_points", "Z"), OPTIONAL("bias", "T")),
     .outputs = LIST_OF(tenon_port_t, PORT("y", "T")),
     .attributes =
         LIST_OF(tenon_attribute_descriptor_t, INT("bits"), INT("block_size"), INT("K"), INT("N")),
     .checks =
         LIST_OF(tenon_check_t, BITS_CHECKS, CHECK("rank(a) >= 1", "a is a scalar"),
                 CHECK("K >= 1", "K is {K}, not at least 1"),
                 CHECK("dim(a, -1) == K", "a has {dim(a, -1)} columns, not K = {K}"),
                 CHECK("rank(b) == 3 && dim(b, 0) == N && dim(b, 1) == ceil_div(K, block_size)"
                       " && dim(b, 2) == block_size * bits / 8",
                       "weights are not N = {N} by {ceil_div(K, block_size)} blocks by"
                       " {block_size * bits / 8} bytes"),
                 CHECK("rank(scales) == 2 && dim(scales, 0) == N && dim(scales, 1) == ceil_div(K, "
                       "block_size)",
                       "scales are not N = {N} by {ceil_div(K, block_size)} blocks"),
                 CHECK("!present(zero_points) || rank(zero_points) == 2 && dim(zero_points, 0) == N"
                       " && dim(zero_points, 1) == (dtype(zero_points) == 'u8'"
                       " ? ceil_div(ceil_div(K, block_size) * bits, 8) : ceil_div(K, block_size))",
                       "zero points are not N = {N} by {ceil_div(K, block_size)} blocks"),
                 CHECK("!present(bias) || rank(bias) == 1 && dim(bias, 0) == N",
                       "the bias does not have N = {N} elements")),
     .shape = "y.rank = rank(a); y[d] = d == rank(a) - 1 ? N : dim(a, d)",
     .decompositions = LIST_OF(
         tenon_case_t,
         WHEN("present(bias)", WEIGHTS "m = standard.mat_mul/1(a, t); y = standard.add/1(m, bias)"),
         WHEN(NULL, WEIGHTS "y = standard.mat_mul/1(a, t)")),
     .operations = "2 * elements(y) * K", .traits = "pure"},
};

const tenon_offering_t microsoft_nbits_operators = TENON_OFFERING_OF("operator/1", operators);
