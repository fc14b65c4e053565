/*
 * Attention and its company. q, k, v are [batch, heads, length, features], or [batch, length, heads
 * features] with the numbers of heads as attributes.
 */
#include "families.h"

#define ATTENTION_EXTENTS                                      \
  "let apart = rank(q) == 4;"                                  \
  "let q_heads = apart ? dim(q, 1) : q_num_heads;"             \
  "let kv_heads = apart ? dim(k, 1) : kv_num_heads;"           \
  "let past = present(past_key) ? dim(past_key, 2) : 0;"       \
  "let total_length = past + (apart ? dim(k, 2) : dim(k, 1));" \
  "let k_size = apart ? dim(k, 3) : dim(k, 2) / kv_num_heads;" \
  "let v_size = apart ? dim(v, 3) : dim(v, 2) / kv_num_heads;"

FAMILY_TABLE(attention) = {
    {OPERATOR("attention", "softmax(q k^T scale + mask) v, by heads, with caches"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("V", FLOAT_TYPES), TYPE("M", FLOAT_TYPES " bool")),
     INPUTS(PORT("q", "T"), PORT("k", "T"), PORT("v", "V"), OPTIONAL("mask", "M"),
            OPTIONAL("past_key", "T"), OPTIONAL("past_value", "V"),
            OPTIONAL("nonpad_kv_seqlen", "i64")),
     OUTPUTS(PORT("y", "T"), OPTIONAL("present_key", "T"), OPTIONAL("present_value", "V"),
             OPTIONAL("qk", "T")),
     ATTRIBUTES(FLAG("is_causal", "0"), INT("q_num_heads", "0"), INT("kv_num_heads", "0"),
                FLOAT("scale", "0.0"), FLOAT("softcap", "0.0"), INT_IN("qk_mode", "0", "0..3"),
                DTYPE("softmax_precision", "f32"), INT("left_window", "-1"),
                INT("right_window", "-1")),
     CHECKS(CHECK("rank(q) == 4 || rank(q) == 3", "q has rank {rank(q)}, not 3 or 4"),
            CHECK("rank(k) == rank(q) && rank(v) == rank(q)",
                  "q, k, v have ranks {rank(q)}, {rank(k)}, {rank(v)}"),
            CHECK("rank(q) == 4 || (q_num_heads > 0 && kv_num_heads > 0)",
                  "rank 3 needs q_num_heads and kv_num_heads")),
     .shape = ATTENTION_EXTENTS
     "y.rank = rank(q);"
     "y[d] = d == rank(q) - 1 ? (apart ? v_size : v_size * q_heads) : dim(q, d);"
     "present_key.rank = 4;"
     "present_key[d] = d == 0 ? dim(k, 0) : d == 1 ? kv_heads : d == 2 ? total_length : k_size;"
     "present_value.rank = 4;"
     "present_value[d] = d == 0 ? dim(v, 0) : d == 1 ? kv_heads : d == 2 ? total_length : v_size;"
     "qk.rank = 4;"
     "qk[d] = d == 0 ? dim(q, 0) : d == 1 ? q_heads"
     " : d == 2 ? (apart ? dim(q, 2) : dim(q, 1)) : total_length",
     .traits = "pure"},
    {OPERATOR("linear_attention", "attention by a state that is carried from token to token"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("q", "T"), PORT("k", "T"), PORT("v", "T"), OPTIONAL("past", "T"),
            OPTIONAL("decay", "T"), OPTIONAL("beta", "T")),
     OUTPUTS(PORT("y", "T"), OPTIONAL("carried", "T")),
     ATTRIBUTES(REQUIRED_INT("q_num_heads"), REQUIRED_INT("kv_num_heads"), FLOAT("scale", "0.0"),
                CHOICE("update_rule", "'gated_delta'", "linear|gated|delta|gated_delta"),
                INT("chunk_size", "64")),
     .shape = "let k_size = dim(k, 2) / kv_num_heads; let v_size = dim(v, 2) / kv_num_heads;"
              "y.rank = 3; y[d] = d == 2 ? q_num_heads * v_size : dim(q, d);"
              "carried.rank = 4;"
              "carried[d] = d == 0 ? dim(q, 0) : d == 1 ? kv_num_heads"
              " : d == 2 ? k_size : v_size",
     .traits = "pure"},
    {OPERATOR("rotary_embedding", "pairs of features turned by angles that grow with position"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), PORT("cos", "T"), PORT("sin", "T"), OPTIONAL("position_ids", "i64")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(FLAG("interleaved", "0"), INT("num_heads", "0"), INT("rotary_dim", "0")),
     .shape = "y = x", .traits = "pure"},
};
