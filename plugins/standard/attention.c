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

/* The plain forms decompose: those without padded caches. First q, k and v apart by
 * heads; then k and v after their past; then, where several query heads share a key head, axis 2
 * for those that share. */
#define PLAIN "!present(nonpad_kv_seqlen)"
#define HAS_PAST "present(past_key) && present(past_value)"
#define NO_PAST "!present(past_key) && !present(past_value)"
#define SHARED "dim(q, 1) != dim(k, 1)"

#define SPLIT                                           \
  "q3 = standard.split_heads/1(q){heads=q_num_heads};"  \
  "k3 = standard.split_heads/1(k){heads=kv_num_heads};" \
  "v3 = standard.split_heads/1(v){heads=kv_num_heads};"
#define ATTEND(past_k, past_v)                                                                     \
  "a, present_key, present_value, qk = standard.attention/1(q3, k3, v3, mask, " past_k ", " past_v \
  ", _){is_causal=is_causal, scale=scale, softcap=softcap, qk_mode=qk_mode,"                       \
  " left_window=left_window, right_window=right_window};"                                          \
  "y = standard.join_heads/1(a)"

#define SCORES(offset)                                    \
  "m = standard.masked_scores/1(s, mask, " offset         \
  "){is_causal=is_causal, softcap=softcap,"               \
  " left_window=left_window, right_window=right_window};" \
  "p = standard.masked_softmax/1(m);"                     \
  "qk = standard.shown_scores/1(s, m, p){mode=qk_mode, softcap=softcap};"
#define KEYS_AND_VALUES                                            \
  "present_key = standard.concatenate/1(past_key, k){axis=2};"     \
  "present_value = standard.concatenate/1(past_value, v){axis=2};" \
  "o = standard.shape_of/1(past_key){start=2, end=3};"             \
  "z = standard.squeeze/1(o){fixed_axes=[0]};"
#define KEYS_AND_VALUES_ALONE                 \
  "present_key = standard.pass_through/1(k);" \
  "present_value = standard.pass_through/1(v);"
#define PRODUCTS(offset)                                    \
  "h = standard.scaled_query/1(q){scale=scale};"            \
  "t = standard.permute/1(present_key){perm=[0, 1, 3, 2]};" \
  "s = standard.mat_mul/1(h, t);" SCORES(offset) "y = standard.mat_mul/1(p, present_value)"
#define SHARED_PRODUCTS(offset) \
  "h = standard.scaled_query/1(q){scale=scale};"                        \
  "g = standard.share_heads/1(h, k);"                                   \
  "t = standard.permute/1(present_key){perm=[0, 1, 3, 2]};"             \
  "u = standard.unsqueeze/1(t){fixed_axes=[2]};"                        \
  "r = standard.mat_mul/1(g, u);"                                       \
  "s = standard.flatten_heads/1(r);" SCORES(offset)                     \
  "b = standard.share_heads/1(p, k);"                                   \
  "w = standard.unsqueeze/1(present_value){fixed_axes=[2]};"            \
  "e = standard.mat_mul/1(b, w);"                                       \
  "y = standard.flatten_heads/1(e)"

/* Scores with their cap; how far a key is ahead of its query; which keys are hidden. */
#define CAPPED "let c = softcap == 0 ? x : softcap * tanh(x / softcap);"
#define AHEAD                                 \
  "let start = present(offset) ? offset : 0;" \
  "let ahead = index(-1) - index(-2) - start;"
#define HIDDEN                                                                  \
  "(is_causal == 1 && ahead > 0 || left_window >= 0 && -ahead > left_window ||" \
  " right_window >= 0 && ahead > right_window)"

/* What kernels rely on: extents in the two ways in which heads are laid out. */
#define APART "rank(q) == 4"
#define Q_HEADS "(" APART " ? dim(q, 1) : q_num_heads)"
#define KV_HEADS "(" APART " ? dim(k, 1) : kv_num_heads)"
#define LENGTH(x) "dim(" x ", rank(q) == 4 ? 2 : 1)"
#define PAST_CHECK(past, now)                                                            \
  CHECK("!present(" past ") || rank(" past                                               \
        ") == 4 &&"                                                                      \
        " elements(" past ") * " LENGTH(now) " == elements(" now ") * dim(" past ", 2)", \
        past " has {elements(" past ")} elements, " now " has {elements(" now ")}")
#define ATTENTION_CHECKS \
  CHECK("dim(k, 0) == dim(q, 0) && dim(v, 0) == dim(q, 0)",                                    \
        "batches of q, k, v are {dim(q, 0)}, {dim(k, 0)}, {dim(v, 0)}"),                       \
      CHECK(LENGTH("k") " == " LENGTH("v"), "{" LENGTH("k") "} keys, {" LENGTH("v") "} values"), \
      CHECK(KV_HEADS " >= 1 && " Q_HEADS " % " KV_HEADS " == 0"                                \
            " && (rank(q) == 3 || dim(v, 1) == dim(k, 1))",                                    \
            "{" Q_HEADS "} query heads share {" KV_HEADS "} key heads"),                       \
      CHECK("dim(q, -1) * (" APART " ? 1 : kv_num_heads) =="                                   \
            " dim(k, -1) * (" APART " ? 1 : q_num_heads)",                                     \
            "heads of q and k differ in size: {dim(q, -1)}, {dim(k, -1)} features"),           \
      PAST_CHECK("past_key", "k"), PAST_CHECK("past_value", "v"),                              \
      CHECK("present(past_key) == present(past_value)"                                         \
            " && (!present(past_key) || dim(past_key, 2) == dim(past_value, 2))",              \
            "past keys and values differ in number"),                                          \
      CHECK("!present(mask) || rank(mask) <= 4"                                                \
            " && (rank(mask) < 2 || dim(mask, -2) == 1 || dim(mask, -2) == " LENGTH("q") ")"   \
            " && (rank(mask) < 3 || dim(mask, -3) == 1 || dim(mask, -3) == " Q_HEADS ")"       \
            " && (rank(mask) < 4 || dim(mask, 0) == 1 || dim(mask, 0) == dim(q, 0))",          \
            "the mask, of rank {rank(mask)}, does not broadcast with the scores"),             \
      CHECK("!present(nonpad_kv_seqlen) || elements(nonpad_kv_seqlen) == dim(q, 0)",           \
            "{elements(nonpad_kv_seqlen)} lengths for {dim(q, 0)} sequences")

#define TURNED "(rotary_dim > 0 ? rotary_dim : rank(x) == 4 ? dim(x, 3) : dim(x, 2) / num_heads)"

static const tenon_operator_t operators[] = {
    {OPERATOR("attention", "softmax(q k^T scale + mask) v, by heads, with caches"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("V", FLOAT_TYPES), TYPE("M", NUMBER_TYPES " bool")),
     INPUTS(PORT("q", "T"), PORT("k", "T"), PORT("v", "V"), OPTIONAL("mask", "M"),
            OPTIONAL("past_key", "T"), OPTIONAL("past_value", "V"),
            OPTIONAL_IN("nonpad_kv_seqlen", "i64", "index(k, -2)")),
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
                  "rank 3 needs q_num_heads and kv_num_heads"),
            ATTENTION_CHECKS),
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
     DECOMPOSITIONS(
         WHEN(PLAIN " && rank(q) == 3 && " HAS_PAST, SPLIT ATTEND("past_key", "past_value")),
         WHEN(PLAIN " && rank(q) == 3 && " NO_PAST, SPLIT ATTEND("_", "_")),
         WHEN(PLAIN " && " HAS_PAST " && " SHARED, KEYS_AND_VALUES SHARED_PRODUCTS("z")),
         WHEN(PLAIN " && " NO_PAST " && " SHARED, KEYS_AND_VALUES_ALONE SHARED_PRODUCTS("_")),
         WHEN(PLAIN " && " HAS_PAST, KEYS_AND_VALUES PRODUCTS("z")),
         WHEN(PLAIN " && " NO_PAST, KEYS_AND_VALUES_ALONE PRODUCTS("_"))),
     .traits = "pure"},
    {OPERATOR("linear_attention", "attention by a state that is carried from token to token"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("q", "T"), PORT("k", "T"), PORT("v", "T"), OPTIONAL("past", "T"),
            OPTIONAL("decay", "T"), OPTIONAL("beta", "T")),
     OUTPUTS(PORT("y", "T"), OPTIONAL("carried", "T")),
     ATTRIBUTES(REQUIRED_INT("q_num_heads"), REQUIRED_INT("kv_num_heads"), FLOAT("scale", "0.0"),
                CHOICE("update_rule", "'gated_delta'", "linear|gated|delta|gated_delta"),
                INT("chunk_size", "64")),
     CHECKS(CHECK("rank(q) == 3 && rank(k) == 3 && rank(v) == 3",
                  "q, k, v have ranks {rank(q)}, {rank(k)}, {rank(v)}, not 3"),
            CHECK("kv_num_heads >= 1 && q_num_heads >= 1 && q_num_heads % kv_num_heads == 0",
                  "{q_num_heads} query heads share {kv_num_heads} key heads"),
            CHECK("dim(k, 0) == dim(q, 0) && dim(v, 0) == dim(q, 0) && dim(k, 1) == dim(q, 1)"
                  " && dim(v, 1) == dim(q, 1)",
                  "q, k, v are of {dim(q, 1)}, {dim(k, 1)}, {dim(v, 1)} tokens"),
            CHECK("dim(q, 2) * kv_num_heads == dim(k, 2) * q_num_heads",
                  "heads of q and k differ in size: {dim(q, 2)}, {dim(k, 2)} features"),
            CHECK("!present(past) || elements(past) * kv_num_heads =="
                  " dim(q, 0) * dim(k, 2) * dim(v, 2)",
                  "the past state has {elements(past)} elements")),
     .shape = "let k_size = dim(k, 2) / kv_num_heads; let v_size = dim(v, 2) / kv_num_heads;"
              "y.rank = 3; y[d] = d == 2 ? q_num_heads * v_size : dim(q, d);"
              "carried.rank = 4;"
              "carried[d] = d == 0 ? dim(q, 0) : d == 1 ? kv_num_heads"
              " : d == 2 ? k_size : v_size",
     .traits = "pure"},
    {OPERATOR("rotary_embedding", "pairs of features turned by angles that grow with position"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), PORT("cos", "T"), PORT("sin", "T"),
            OPTIONAL_IN("position_ids", "i64", "index(cos, 0)")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(FLAG("interleaved", "0"), INT("num_heads", "0"), INT("rotary_dim", "0")),
     CHECKS(
         CHECK("rank(x) == 4 || rank(x) == 3 && num_heads >= 1 && dim(x, 2) % num_heads == 0",
               "x has rank {rank(x)}, not parts for {num_heads} heads"),
         CHECK("elements(cos) == elements(sin)", "{elements(cos)} cosines, {elements(sin)} sines"),
         CHECK("rotary_dim >= 0 && rotary_dim <="
               " (rank(x) == 4 ? dim(x, 3) : dim(x, 2) / num_heads)",
               "{rotary_dim} features to turn of {dim(x, -1)}"),
         CHECK(TURNED " % 2 == 0", "{" TURNED "} features to turn are not pairs"),
         CHECK("2 * dim(cos, -1) >= " TURNED, "{dim(cos, -1)} cosines for {" TURNED "} features"),
         CHECK("!present(position_ids) || elements(position_ids) =="
               " dim(x, 0) * dim(x, rank(x) == 4 ? 2 : 1)",
               "{elements(position_ids)} positions for x")),
     .shape = "y = x", .traits = "pure"},
    /* What attention decomposes into, besides products of matrices. */
    {OPERATOR("split_heads", "[batch, length, heads size] as [batch, heads, length, size]"),
     TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(REQUIRED_INT("heads")),
     .shape = "y = [dim(x, 0), heads, dim(x, 1), dim(x, 2) / heads]",
     MOVE("x[d] = d == 0 ? o(0) : d == 1 ? o(2) : o(1) * (dim(x, 2) / heads) + o(3)"),
     .traits = "pure; transparent"},
    {OPERATOR("join_heads", "[batch, heads, length, size] as [batch, length, heads size]"),
     TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "T")),
     .shape = "y = [dim(x, 0), dim(x, 2), dim(x, 1) * dim(x, 3)]",
     MOVE("x[d] = d == 0 ? o(0) : d == 1 ? o(2) / dim(x, 3) : d == 2 ? o(1) : o(2) % dim(x, 3)"),
     .traits = "pure; transparent"},
    {OPERATOR("share_heads", "[batch, heads of like, heads that share one, length, size]"),
     TYPES(TYPE("T", "any"), TYPE("U", "any")), INPUTS(PORT("x", "T"), PORT("like", "U")),
     OUTPUTS(PORT("y", "T")),
     .shape = "y = [dim(x, 0), dim(like, 1), dim(x, 1) / dim(like, 1), dim(x, 2), dim(x, 3)]",
     MOVE("x = linear"), .traits = "pure; transparent"},
    {OPERATOR("flatten_heads", "its inverse"), TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T")),
     OUTPUTS(PORT("y", "T")),
     .shape = "y = [dim(x, 0), dim(x, 1) * dim(x, 2), dim(x, 3), dim(x, 4)]", MOVE("x = linear"),
     .traits = "pure; transparent"},
    {OPERATOR("scaled_query", "x scale; scale 0: divided by the root of its last extent"),
     UNARY(FLOAT_TYPES), ATTRIBUTES(FLOAT("scale", "0.0")),
     CASES(WHEN("scale == 0", "y = x * cast(rsqrt(cast(size(-1), f64)), T)"),
           ALWAYS("y = x * scale")),
     .traits = "pure"},
    {OPERATOR("masked_scores", "capped, plus the mask; -inf where a key is not to be seen"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("M", NUMBER_TYPES " bool")),
     INPUTS(PORT("x", "T"), OPTIONAL("mask", "M"), OPTIONAL("offset", "i64")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(FLAG("is_causal", "0"), FLOAT("softcap", "0.0"), INT("left_window", "-1"),
                INT("right_window", "-1")),
     .shape = "y = x",
     CASES(WHEN("present(mask) && dtype(mask) == 'bool'",
                CAPPED AHEAD "y = mask && !(" HIDDEN ") ? c : -inf"),
           WHEN("present(mask)", CAPPED AHEAD "y = " HIDDEN " ? -inf : c + cast(mask, T)"),
           ALWAYS(CAPPED AHEAD "y = " HIDDEN " ? -inf : c")),
     .traits = "pure"},
    {OPERATOR("shown_scores", "scores, capped scores, masked scores or probabilities"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), PORT("masked", "T"), PORT("probabilities", "T")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(INT_IN("mode", "0", "0..3"), FLOAT("softcap", "0.0")),
     .shape = "y = x",
     CASES(WHEN("mode == 1", CAPPED "y = c"), WHEN("mode == 2", "y = masked"),
           WHEN("mode == 3", "y = probabilities"), ALWAYS("y = x")),
     .traits = "pure"},
    {OPERATOR("masked_softmax", "softmax along the last axis; zeros where all are -inf"),
     UNARY(FLOAT_TYPES),
     CASE("let m = max(x, [-1]); let e = m == -inf ? 0 : exp(x - m); let s = sum(e, [-1]);"
          "y = s == 0 ? 0 : e / s"),
     .traits = "pure"},
};
FAMILY(attention);
