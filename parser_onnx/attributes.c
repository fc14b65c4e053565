/* See attributes.h. The table is from the definitions of ONNX 1.23.2; tests/suite/attributes.py
 * compares it with the installed ones. `consumed_inputs` of version 1 has no meaning and is left
 * out. */
#include "attributes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct row_t {
  const char* domain;
  const char* type;
  /* NAME, NAME:SINCE or NAME:SINCE-UNTIL, separated by spaces. Without SINCE: in all versions. */
  const char* attributes;
} row_t;

static const row_t rows[] = {
    {"", "Abs", ""},
    {"", "Acos", ""},
    {"", "Acosh", ""},
    {"", "Add", "axis:1-7 broadcast:1-7"},
    {"", "AffineGrid", "align_corners"},
    {"", "And", "axis:1-7 broadcast:1-7"},
    {"", "ArgMax", "axis keepdims select_last_index:12"},
    {"", "ArgMin", "axis keepdims select_last_index:12"},
    {"", "Asin", ""},
    {"", "Asinh", ""},
    {"", "Atan", ""},
    {"", "Atanh", ""},
    {"", "Attention",
     "is_causal kv_num_heads left_window_size:25 q_num_heads qk_matmul_output_mode "
     "right_window_size:25 scale softcap softmax_precision"},
    {"", "AveragePool",
     "auto_pad ceil_mode:10 count_include_pad:7 dilations:19 kernel_shape pads strides"},
    {"", "BatchNormalization", "epsilon is_test:1-7 momentum spatial:1-9 training_mode:14"},
    {"", "Bernoulli", "dtype seed"},
    {"", "BitCast", "to"},
    {"", "BitShift", "direction"},
    {"", "BitwiseAnd", ""},
    {"", "BitwiseNot", ""},
    {"", "BitwiseOr", ""},
    {"", "BitwiseXor", ""},
    {"", "BlackmanWindow", "output_datatype periodic"},
    {"", "Cast", "round_mode:24 saturate:19 to"},
    {"", "CastLike", "round_mode:24 saturate:19"},
    {"", "CausalConvWithState", "activation"},
    {"", "Ceil", ""},
    {"", "Celu", "alpha"},
    {"", "CenterCropPad", "axes"},
    {"", "Clip", "max:1-11 min:1-11"},
    {"", "Col2Im", "dilations pads strides"},
    {"", "Compress", "axis"},
    {"", "Concat", "axis"},
    {"", "ConcatFromSequence", "axis new_axis"},
    {"", "Constant",
     "sparse_value:11 value value_float:12 value_floats:12 value_int:12 value_ints:12 "
     "value_string:12 value_strings:12"},
    {"", "ConstantOfShape", "value"},
    {"", "Conv", "auto_pad dilations group kernel_shape pads strides"},
    {"", "ConvInteger", "auto_pad dilations group kernel_shape pads strides"},
    {"", "ConvTranspose",
     "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    {"", "Cos", ""},
    {"", "Cosh", ""},
    {"", "CumProd", "exclusive reverse"},
    {"", "CumSum", "exclusive reverse"},
    {"", "DFT", "axis:17-20 inverse onesided"},
    {"", "DeformConv", "dilations group kernel_shape offset_group pads strides"},
    {"", "DepthToSpace", "blocksize mode:11"},
    {"", "DequantizeLinear", "axis:13 block_size:21 output_dtype:23"},
    {"", "Det", ""},
    {"", "Div", "axis:1-7 broadcast:1-7"},
    {"", "Dropout", "is_test:1-7 ratio:1-12 seed:12"},
    {"", "DynamicQuantizeLinear", ""},
    {"", "Einsum", "equation"},
    {"", "Elu", "alpha"},
    {"", "Equal", "axis:1-7 broadcast:1-7"},
    {"", "Erf", ""},
    {"", "Exp", ""},
    {"", "Expand", ""},
    {"", "EyeLike", "dtype k"},
    {"", "Flatten", "axis"},
    {"", "Floor", ""},
    {"", "GRU",
     "activation_alpha activation_beta activations clip direction hidden_size layout:14 "
     "linear_before_reset:3 output_sequence:1-7"},
    {"", "Gather", "axis"},
    {"", "GatherElements", "axis"},
    {"", "GatherND", "batch_dims:12"},
    {"", "Gelu", "approximate"},
    {"", "Gemm", "alpha beta broadcast:1-7 transA transB"},
    {"", "GlobalAveragePool", ""},
    {"", "GlobalLpPool", "p"},
    {"", "GlobalMaxPool", ""},
    {"", "Greater", "axis:1-7 broadcast:1-7"},
    {"", "GreaterOrEqual", ""},
    {"", "GridSample", "align_corners mode padding_mode"},
    {"", "GroupNormalization", "epsilon:21 num_groups:21 stash_type:21"},
    {"", "HammingWindow", "output_datatype periodic"},
    {"", "HannWindow", "output_datatype periodic"},
    {"", "HardSigmoid", "alpha beta"},
    {"", "HardSwish", ""},
    {"", "Hardmax", "axis"},
    {"", "Identity", ""},
    {"", "If", "else_branch then_branch"},
    {"", "ImageDecoder", "pixel_format"},
    {"", "InstanceNormalization", "epsilon"},
    {"", "IsInf", "detect_negative detect_positive"},
    {"", "IsNaN", ""},
    {"", "LRN", "alpha beta bias size"},
    {"", "LSTM",
     "activation_alpha activation_beta activations clip direction hidden_size input_forget "
     "layout:14 output_sequence:1-7"},
    {"", "LayerNormalization", "axis epsilon stash_type"},
    {"", "LeakyRelu", "alpha"},
    {"", "Less", "axis:1-7 broadcast:1-7"},
    {"", "LessOrEqual", ""},
    {"", "LinearAttention", "chunk_size kv_num_heads q_num_heads scale update_rule"},
    {"", "Log", ""},
    {"", "LogSoftmax", "axis"},
    {"", "Loop", "body"},
    {"", "LpNormalization", "axis p"},
    {"", "LpPool", "auto_pad ceil_mode:18 dilations:18 kernel_shape p pads strides"},
    {"", "MatMul", ""},
    {"", "MatMulInteger", ""},
    {"", "Max", ""},
    {"", "MaxPool", "auto_pad ceil_mode:10 dilations:10 kernel_shape pads storage_order:8 strides"},
    {"", "MaxRoiPool", "pooled_shape spatial_scale"},
    {"", "MaxUnpool", "kernel_shape pads strides"},
    {"", "Mean", ""},
    {"", "MeanVarianceNormalization", "axes"},
    {"", "MelWeightMatrix", "output_datatype"},
    {"", "Min", ""},
    {"", "Mish", ""},
    {"", "Mod", "fmod"},
    {"", "Mul", "axis:1-7 broadcast:1-7"},
    {"", "Multinomial", "dtype sample_size seed"},
    {"", "Neg", ""},
    {"", "NegativeLogLikelihoodLoss", "ignore_index reduction"},
    {"", "NonMaxSuppression", "center_point_box"},
    {"", "NonZero", ""},
    {"", "Not", ""},
    {"", "OneHot", "axis"},
    {"", "Optional", "type"},
    {"", "OptionalGetElement", ""},
    {"", "OptionalHasElement", ""},
    {"", "Or", "axis:1-7 broadcast:1-7"},
    {"", "PRelu", ""},
    {"", "Pad", "mode paddings:1-2 pads:2-11 value:1-11"},
    {"", "Pow", "axis:1-7 broadcast:1-7"},
    {"", "QLinearConv", "auto_pad dilations group kernel_shape pads strides"},
    {"", "QLinearMatMul", ""},
    {"", "QuantizeLinear", "axis:13 block_size:21 output_dtype:21 precision:23 saturate:19"},
    {"", "RMSNormalization", "axis epsilon stash_type"},
    {"", "RNN",
     "activation_alpha activation_beta activations clip direction hidden_size layout:14 "
     "output_sequence:1-7"},
    {"", "RandomNormal", "dtype mean scale seed shape"},
    {"", "RandomNormalLike", "dtype mean scale seed"},
    {"", "RandomUniform", "dtype high low seed shape"},
    {"", "RandomUniformLike", "dtype high low seed"},
    {"", "Range", "stash_type:27"},
    {"", "Reciprocal", ""},
    {"", "ReduceL1", "axes:1-18 keepdims noop_with_empty_axes:18"},
    {"", "ReduceL2", "axes:1-18 keepdims noop_with_empty_axes:18"},
    {"", "ReduceLogSum", "axes:1-18 keepdims noop_with_empty_axes:18"},
    {"", "ReduceLogSumExp", "axes:1-18 keepdims noop_with_empty_axes:18"},
    {"", "ReduceMax", "axes:1-18 keepdims noop_with_empty_axes:18"},
    {"", "ReduceMean", "axes:1-18 keepdims noop_with_empty_axes:18"},
    {"", "ReduceMin", "axes:1-18 keepdims noop_with_empty_axes:18"},
    {"", "ReduceProd", "axes:1-18 keepdims noop_with_empty_axes:18"},
    {"", "ReduceSum", "axes:1-13 keepdims noop_with_empty_axes:13"},
    {"", "ReduceSumSquare", "axes:1-18 keepdims noop_with_empty_axes:18"},
    {"", "RegexFullMatch", "pattern"},
    {"", "Relu", ""},
    {"", "Reshape", "allowzero:14 shape:1-5"},
    {"", "Resize",
     "antialias:18 axes:18 coordinate_transformation_mode:11 cubic_coeff_a:11 exclude_outside:11 "
     "extrapolation_value:11 keep_aspect_ratio_policy:18 mode nearest_mode:11"},
    {"", "ReverseSequence", "batch_axis time_axis"},
    {"", "RoiAlign",
     "coordinate_transformation_mode:16 mode output_height output_width sampling_ratio "
     "spatial_scale"},
    {"", "RotaryEmbedding", "interleaved num_heads rotary_embedding_dim"},
    {"", "Round", ""},
    {"", "STFT", "onesided"},
    {"", "Scan",
     "body directions:8-9 num_scan_inputs scan_input_axes:9 scan_input_directions:9 "
     "scan_output_axes:9 scan_output_directions:9"},
    {"", "Scatter", "axis:9-11"},
    {"", "ScatterElements", "axis reduction:16"},
    {"", "ScatterND", "reduction:16"},
    {"", "Selu", "alpha gamma"},
    {"", "SequenceAt", ""},
    {"", "SequenceConstruct", ""},
    {"", "SequenceEmpty", "dtype"},
    {"", "SequenceErase", ""},
    {"", "SequenceInsert", ""},
    {"", "SequenceLength", ""},
    {"", "SequenceMap", "body"},
    {"", "Shape", "end:15 start:15"},
    {"", "Shrink", "bias lambd"},
    {"", "Sigmoid", ""},
    {"", "Sign", ""},
    {"", "Sin", ""},
    {"", "Sinh", ""},
    {"", "Size", ""},
    {"", "Slice", "axes:1-10 ends:1-10 starts:1-10"},
    {"", "Softmax", "axis"},
    {"", "SoftmaxCrossEntropyLoss", "ignore_index reduction"},
    {"", "Softplus", ""},
    {"", "Softsign", ""},
    {"", "SpaceToDepth", "blocksize mode:28"},
    {"", "Split", "axis num_outputs:18 split:1-13"},
    {"", "SplitToSequence", "axis keepdims"},
    {"", "Sqrt", ""},
    {"", "Squeeze", "axes:1-13"},
    {"", "StringConcat", ""},
    {"", "StringNormalizer", "case_change_action is_case_sensitive locale stopwords"},
    {"", "StringSplit", "delimiter maxsplit"},
    {"", "Sub", "axis:1-7 broadcast:1-7"},
    {"", "Sum", ""},
    {"", "SwiGLU", "alpha"},
    {"", "Swish", "alpha"},
    {"", "Tan", ""},
    {"", "Tanh", ""},
    {"", "TensorScatter", "axis mode"},
    {"", "TfIdfVectorizer",
     "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s "
     "pool_strings weights"},
    {"", "ThresholdedRelu", "alpha"},
    {"", "Tile", ""},
    {"", "TopK", "axis k:1-10 largest:11 sorted:11"},
    {"", "Transpose", "perm"},
    {"", "Trilu", "upper"},
    {"", "Unique", "axis sorted"},
    {"", "Unsqueeze", "axes:1-13"},
    {"", "Upsample", "height_scale:1-7 mode:1-10 scales:7-9 width_scale:1-7"},
    {"", "Where", ""},
    {"", "Xor", "axis:1-7 broadcast:1-7"},
    {"ai.onnx.ml", "ArrayFeatureExtractor", ""},
    {"ai.onnx.ml", "Binarizer", "threshold"},
    {"ai.onnx.ml", "CastMap", "cast_to map_form max_map"},
    {"ai.onnx.ml", "CategoryMapper", "cats_int64s cats_strings default_int64 default_string"},
    {"ai.onnx.ml", "DictVectorizer", "int64_vocabulary string_vocabulary"},
    {"ai.onnx.ml", "FeatureVectorizer", "inputdimensions"},
    {"ai.onnx.ml", "Imputer",
     "imputed_value_floats imputed_value_int64s replaced_value_float replaced_value_int64"},
    {"ai.onnx.ml", "LabelEncoder",
     "classes_strings:1-2 default_float:2 default_int64 default_string default_tensor:4 "
     "keys_floats:2 keys_int64s:2 keys_strings:2 keys_tensor:4 values_floats:2 values_int64s:2 "
     "values_strings:2 values_tensor:4"},
    {"ai.onnx.ml", "LinearClassifier",
     "classlabels_ints classlabels_strings coefficients intercepts multi_class post_transform"},
    {"ai.onnx.ml", "LinearRegressor", "coefficients intercepts post_transform targets"},
    {"ai.onnx.ml", "Normalizer", "norm"},
    {"ai.onnx.ml", "OneHotEncoder", "cats_int64s cats_strings zeros"},
    {"ai.onnx.ml", "SVMClassifier",
     "classlabels_ints classlabels_strings coefficients kernel_params kernel_type post_transform "
     "prob_a prob_b rho support_vectors vectors_per_class"},
    {"ai.onnx.ml", "SVMRegressor",
     "coefficients kernel_params kernel_type n_supports one_class post_transform rho "
     "support_vectors"},
    {"ai.onnx.ml", "Scaler", "offset scale"},
    {"ai.onnx.ml", "TreeEnsemble",
     "aggregate_function leaf_targetids leaf_weights membership_values n_targets nodes_falseleafs "
     "nodes_falsenodeids nodes_featureids nodes_hitrates nodes_missing_value_tracks_true "
     "nodes_modes nodes_splits nodes_trueleafs nodes_truenodeids post_transform tree_roots"},
    {"ai.onnx.ml", "TreeEnsembleClassifier",
     "base_values:1-5 base_values_as_tensor:3-5 class_ids:1-5 class_nodeids:1-5 class_treeids:1-5 "
     "class_weights:1-5 class_weights_as_tensor:3-5 classlabels_int64s:1-5 classlabels_strings:1-5 "
     "nodes_falsenodeids:1-5 nodes_featureids:1-5 nodes_hitrates:1-5 nodes_hitrates_as_tensor:3-5 "
     "nodes_missing_value_tracks_true:1-5 nodes_modes:1-5 nodes_nodeids:1-5 nodes_treeids:1-5 "
     "nodes_truenodeids:1-5 nodes_values:1-5 nodes_values_as_tensor:3-5 post_transform:1-5"},
    {"ai.onnx.ml", "TreeEnsembleRegressor",
     "aggregate_function:1-5 base_values:1-5 base_values_as_tensor:3-5 n_targets:1-5 "
     "nodes_falsenodeids:1-5 nodes_featureids:1-5 nodes_hitrates:1-5 nodes_hitrates_as_tensor:3-5 "
     "nodes_missing_value_tracks_true:1-5 nodes_modes:1-5 nodes_nodeids:1-5 nodes_treeids:1-5 "
     "nodes_truenodeids:1-5 nodes_values:1-5 nodes_values_as_tensor:3-5 post_transform:1-5 "
     "target_ids:1-5 target_nodeids:1-5 target_treeids:1-5 target_weights:1-5 "
     "target_weights_as_tensor:3-5"},
    {"ai.onnx.ml", "ZipMap", "classlabels_int64s classlabels_strings"},
};

static const row_t* find_row(const char* domain, const char* type) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (strcmp(rows[i].type, type) == 0 && strcmp(rows[i].domain, domain) == 0) {
      return &rows[i];
    }
  }
  return NULL;
}

/* Reads the versions behind a name in a row. */
static void read_versions(const char* text, int64_t* out_since, int64_t* out_until) {
  char* end = NULL;
  *out_since = 1;
  *out_until = 0;
  if (*text == ':') {
    *out_since = strtoll(text + 1, &end, 10);
    *out_until = *end == '-' ? strtoll(end + 1, NULL, 10) : 0;
  }
}

tenon__onnx_attribute_state_t tenon__onnx_attribute_find(const char* domain, const char* type,
                                                         int64_t version, const char* name,
                                                         int64_t* out_since, int64_t* out_until) {
  const row_t* row = find_row(domain, type);
  const size_t length = strlen(name);
  tenon__onnx_attribute_state_t state = TENON__ONNX_ATTRIBUTE_UNKNOWN;
  if (row == NULL) {
    return TENON__ONNX_ATTRIBUTE_KNOWN;
  }
  for (const char* at = row->attributes; *at != '\0'; at += strspn(at, " ")) {
    const size_t name_length = strcspn(at, ": ");
    if (name_length == length && strncmp(at, name, length) == 0) {
      int64_t since = 0;
      int64_t until = 0;
      read_versions(at + name_length, &since, &until);
      if (version >= since && (until == 0 || version < until)) {
        return TENON__ONNX_ATTRIBUTE_KNOWN;
      }
      state = TENON__ONNX_ATTRIBUTE_FOREIGN;
      *out_since = since;
      *out_until = until;
    }
    at += strcspn(at, " ");
  }
  return state;
}

static tenon_status_t warn(const tenon_source_t* source, const char* type, const char* name) {
  tenon_reader_t* reader = source->program->reader;
  const char* key = tenon_reader_format(reader, "%s.%s", type, name);
  if (key == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  if (tenon_reader_names_find(&source->program->warned, key) == NULL) {
    tenon_reader_say(reader, TENON_SEVERITY_WARNING,
                     "%s: the attribute '%s' is ignored: no version of %s has it",
                     tenon__onnx_node_text(reader, source->node), name, type);
    return tenon_reader_names_set(reader, &source->program->warned, key, tenon_reader_unconst(key));
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_attributes_check(const tenon_source_t* source) {
  const tenon_source_table_t* table = tenon__onnx_source_table();
  tenon_reader_t* reader = source->program->reader;
  const char* domain = table->domain(source);
  const char* type = table->type(source);
  const int64_t version = table->version(source);
  for (size_t i = 0; i < source->attribute_count; ++i) {
    const char* name = source->attribute_names[i];
    int64_t since = 0;
    int64_t until = 0;
    if (source->is_read[i] || strcmp(name, "consumed_inputs") == 0) {
      continue;
    }
    const tenon__onnx_attribute_state_t state =
        tenon__onnx_attribute_find(domain, type, version, name, &since, &until);
    if (state == TENON__ONNX_ATTRIBUTE_UNKNOWN) {
      TENON_READER_TRY(warn(source, type, name));
    } else if (state == TENON__ONNX_ATTRIBUTE_FOREIGN) {
      const char* text = tenon__onnx_node_text(reader, source->node);
      return until == 0 ? TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                                            "%s: %s has the attribute '%s' since operator set "
                                            "%" PRId64 ", the model uses %" PRId64,
                                            text, type, name, since, version)
                        : TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                                            "%s: %s has the attribute '%s' in operator sets "
                                            "%" PRId64 " to %" PRId64 ", the model uses %" PRId64,
                                            text, type, name, since, until - 1, version);
    }
  }
  return TENON_OK;
}
