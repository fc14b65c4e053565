/* Attention and its company. */
#include "families.h"

static void attention(tenon__make_t* make) {
  const tenon_dtype_t dtype = tenon__make_dtype(make, tenon__make_input(make, 0));
  tenon__make_begin(make, "attention");
  tenon__make_pass_all(make,
                       "is_causal q_num_heads kv_num_heads scale softcap "
                       "qk_matmul_output_mode>qk_mode left_window_size>left_window "
                       "right_window_size>right_window");
  tenon__make_set_dtype(make, "softmax_precision",
                        tenon__make_get_dtype(make, "softmax_precision", dtype));
  tenon__make_add_inputs(make, 0);
  tenon__make_end_outputs(make);
}

#define ROW(type, function, op, attributes) \
  TENON__MAKE_ROW("", type, 1, 0, function, op, attributes)

TENON__ONNX_FAMILY(attention) = {
    ROW("Attention", attention, NULL, NULL),
    ROW("LinearAttention", tenon__make_same, "linear_attention",
        "q_num_heads kv_num_heads scale update_rule chunk_size"),
    ROW("RotaryEmbedding", tenon__make_same, "rotary_embedding",
        "interleaved num_heads rotary_embedding_dim>rotary_dim"),
};
