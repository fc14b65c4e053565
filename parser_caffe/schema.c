/* Rows follow the caffe.proto of BVLC, of SSD, of NVIDIA's fork, and of layers in common use. */
#include "schema.h"

#include <string.h>

#define FIELD(name, type_, values_, repeated)                                \
  {                                                                          \
    .field = (name), .values = (values_), .type = TENON__CAFFE_TYPE_##type_, \
    .is_repeated = (repeated)                                                \
  }
#define INT(name) FIELD(name, INT, NULL, false)
#define INTS(name) FIELD(name, INT, NULL, true)
#define BOOL(name) FIELD(name, BOOL, NULL, false)
#define FLOAT(name) FIELD(name, FLOAT, NULL, false)
#define FLOATS(name) FIELD(name, FLOAT, NULL, true)
#define STRING(name) FIELD(name, STRING, NULL, false)
#define STRINGS(name) FIELD(name, STRING, NULL, true)
#define ENUM(name, values) FIELD(name, ENUM, values, false)
#define ONE(name) FIELD(name, MESSAGE, NULL, false)
#define MANY(name) FIELD(name, MESSAGE, NULL, true)
#define IGNORED(name) FIELD(name, IGNORED, NULL, true)

typedef struct message_t {
  const char* name;
  const tenon__caffe_entry_t* entries;
  size_t count;
} message_t;

#define MESSAGE(name_, ...)                                                                     \
  {                                                                                             \
    .name = (name_), .entries = (const tenon__caffe_entry_t[]){__VA_ARGS__},                    \
    .count = sizeof((const tenon__caffe_entry_t[]){__VA_ARGS__}) / sizeof(tenon__caffe_entry_t) \
  }

#define PHASE ENUM("phase", "TRAIN TEST")
#define RULE PHASE, INT("min_level"), INT("max_level"), STRINGS("stage"), STRINGS("not_stage")
#define POOL ENUM("pool", "MAX AVE STOCHASTIC")
#define EXPONENT FLOAT("base"), FLOAT("scale"), FLOAT("shift")

static const message_t messages[] = {
    MESSAGE("net", STRING("name"), STRINGS("input"), INTS("input_dim"), MANY("input_shape"),
            ONE("state"), MANY("layer"), MANY("layers"), IGNORED("force_backward"),
            IGNORED("debug_info")),
    MESSAGE("state", PHASE, INT("level"), STRINGS("stage")),
    MESSAGE("include", RULE),
    MESSAGE("exclude", RULE),
    MESSAGE("layer", STRING("name"), STRINGS("bottom"), STRINGS("top"), MANY("blobs"),
            MANY("include"), MANY("exclude"), IGNORED("phase"), IGNORED("loss_weight"),
            IGNORED("param"), IGNORED("propagate_down"), IGNORED("blobs_lr"),
            IGNORED("weight_decay"), IGNORED("blob_share_mode"), IGNORED("loss_param"),
            IGNORED("transform_param")),
    MESSAGE("shape", INTS("dim")),
    MESSAGE("input_shape", INTS("dim")),
    MESSAGE("blobs", FLOATS("data"), FLOATS("double_data"), ONE("shape"), INT("num"),
            INT("channels"), INT("height"), INT("width"), IGNORED("diff"), IGNORED("double_diff")),
    MESSAGE("argmax_param", BOOL("out_max_val"), INT("top_k"), INT("axis")),
    MESSAGE("batch_norm_param", BOOL("use_global_stats"), FLOAT("eps"),
            IGNORED("moving_average_fraction")),
    MESSAGE("bias_param", INT("axis"), INT("num_axes")),
    MESSAGE("clip_param", FLOAT("min"), FLOAT("max")),
    MESSAGE("concat_param", INT("axis"), INT("concat_dim")),
    MESSAGE("convolution_param", INT("num_output"), BOOL("bias_term"), INTS("pad"),
            INTS("kernel_size"), INTS("stride"), INTS("dilation"), INT("pad_h"), INT("pad_w"),
            INT("kernel_h"), INT("kernel_w"), INT("stride_h"), INT("stride_w"), INT("group"),
            INT("axis"), IGNORED("force_nd_im2col")),
    MESSAGE("crop_param", INT("axis"), INTS("offset")),
    MESSAGE("detection_output_param", INT("num_classes"), BOOL("share_location"),
            INT("background_label_id"), ONE("nms_param"),
            ENUM("code_type", "- CORNER CENTER_SIZE CORNER_SIZE"),
            BOOL("variance_encoded_in_target"), INT("keep_top_k"), FLOAT("confidence_threshold"),
            IGNORED("save_output_param"), IGNORED("visualize"), IGNORED("visualize_threshold"),
            IGNORED("save_file")),
    MESSAGE("nms_param", FLOAT("nms_threshold"), INT("top_k"), FLOAT("eta")),
    MESSAGE("dropout_param", IGNORED("dropout_ratio"), IGNORED("scale_train")),
    MESSAGE("dummy_data_param", MANY("shape"), INTS("num"), INTS("channels"), INTS("height"),
            INTS("width")),
    MESSAGE("eltwise_param", ENUM("operation", "PROD SUM MAX"), FLOATS("coeff"),
            IGNORED("stable_prod_grad")),
    MESSAGE("elu_param", FLOAT("alpha")),
    MESSAGE("embed_param", INT("num_output"), INT("input_dim"), BOOL("bias_term")),
    MESSAGE("exp_param", EXPONENT),
    MESSAGE("flatten_param", INT("axis"), INT("end_axis")),
    MESSAGE("inner_product_param", INT("num_output"), BOOL("bias_term"), INT("axis"),
            BOOL("transpose")),
    MESSAGE("input_param", MANY("shape")),
    MESSAGE("interp_param", INT("height"), INT("width"), INT("zoom_factor"), INT("shrink_factor"),
            INT("pad_beg"), INT("pad_end")),
    MESSAGE("log_param", EXPONENT),
    MESSAGE("lrn_param", INT("local_size"), FLOAT("alpha"), FLOAT("beta"), FLOAT("k"),
            ENUM("norm_region", "ACROSS_CHANNELS WITHIN_CHANNEL")),
    MESSAGE("memory_data_param", INT("batch_size"), INT("channels"), INT("height"), INT("width")),
    MESSAGE("mvn_param", BOOL("normalize_variance"), BOOL("across_channels"), FLOAT("eps")),
    MESSAGE("norm_param", BOOL("across_spatial"), BOOL("channel_shared"), FLOAT("eps")),
    MESSAGE("parameter_param", ONE("shape")),
    MESSAGE("permute_param", INTS("order")),
    MESSAGE("pooling_param", POOL, INT("pad"), INT("pad_h"), INT("pad_w"), INT("kernel_size"),
            INT("kernel_h"), INT("kernel_w"), INT("stride"), INT("stride_h"), INT("stride_w"),
            BOOL("global_pooling"), BOOL("torch_pooling"), BOOL("ceil_mode"),
            ENUM("round_mode", "CEIL FLOOR")),
    MESSAGE("power_param", FLOAT("power"), FLOAT("scale"), FLOAT("shift")),
    MESSAGE("prelu_param", BOOL("channel_shared")),
    MESSAGE("prior_box_param", FLOATS("min_size"), FLOATS("max_size"), FLOATS("aspect_ratio"),
            BOOL("flip"), BOOL("clip"), FLOATS("variance"), INT("img_size"), INT("img_h"),
            INT("img_w"), FLOAT("step"), FLOAT("step_h"), FLOAT("step_w"), FLOAT("offset")),
    MESSAGE("proposal_param", INT("feat_stride"), INT("base_size"), INT("min_size"),
            FLOATS("ratio"), FLOATS("scale"), INT("pre_nms_topn"), INT("post_nms_topn"),
            FLOAT("nms_thresh")),
    MESSAGE("recurrent_param", INT("num_output"), BOOL("expose_hidden"), IGNORED("debug_info")),
    MESSAGE("reduction_param", ENUM("operation", "- SUM ASUM SUMSQ MEAN"), INT("axis"),
            FLOAT("coeff")),
    MESSAGE("region_proposal_param", INT("prenms_top"), INT("nms_max_out"), FLOAT("iou_threshold"),
            FLOAT("min_box_size"), INT("feature_stride"), INT("anchor_ratio_count"),
            INT("anchor_scale_count"), FLOATS("anchor_ratio"), FLOATS("anchor_scale")),
    MESSAGE("relu_param", FLOAT("negative_slope")),
    MESSAGE("reshape_param", ONE("shape"), INT("axis"), INT("num_axes")),
    MESSAGE("roi_pooling_param", INT("pooled_h"), INT("pooled_w"), FLOAT("spatial_scale")),
    MESSAGE("scale_param", INT("axis"), INT("num_axes"), BOOL("bias_term")),
    MESSAGE("shuffle_channel_param", INT("group")),
    MESSAGE("slice_param", INT("axis"), INTS("slice_point"), INT("slice_dim")),
    MESSAGE("softmax_param", INT("axis")),
    MESSAGE("spp_param", INT("pyramid_height"), POOL),
    MESSAGE("swish_param", FLOAT("beta")),
    MESSAGE("threshold_param", FLOAT("threshold")),
    MESSAGE("tile_param", INT("axis"), INT("tiles")),
    MESSAGE("upsample_param", INT("scale"), INT("scale_h"), INT("scale_w"), BOOL("pad_out_h"),
            BOOL("pad_out_w"), INT("upsample_h"), INT("upsample_w")),
};

/* In whatever message they stand. */
static const message_t anywhere =
    MESSAGE("", IGNORED("engine"), IGNORED("weight_filler"), IGNORED("bias_filler"),
            IGNORED("filler"), IGNORED("scale_filler"), IGNORED("data_filler"));

static const tenon__caffe_entry_t* find(const message_t* message, const char* field) {
  for (size_t i = 0; i < message->count; ++i) {
    if (strcmp(message->entries[i].field, field) == 0) {
      return &message->entries[i];
    }
  }
  return NULL;
}

const tenon__caffe_entry_t* tenon__caffe_schema_find(const char* message, const char* field) {
  const tenon__caffe_entry_t* entry = find(&anywhere, field);
  if (entry == NULL) {
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); ++i) {
      if (strcmp(messages[i].name, message) == 0) {
        return find(&messages[i], field);
      }
    }
  }
  return entry;
}

const char* tenon__caffe_enum_name(const tenon__caffe_entry_t* entry, int64_t number,
                                   size_t* out_length) {
  const char* name = entry->values;
  for (int64_t i = 0; i <= number; ++i) {
    const size_t length = strcspn(name, " ");
    if (i == number && name[0] != '-') {
      *out_length = length;
      return name;
    }
    if (name[length] == '\0') {
      break;
    }
    name += length + 1;
  }
  return NULL;
}
