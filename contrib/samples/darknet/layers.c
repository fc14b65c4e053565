/* Converters of Darknet's layers, as standard operators and expressions. An option that changes a
 * result and is not implemented is refused, with its name. */
#include <stdio.h>
#include <string.h>

#include "darknet.h"
#include "tenon/maker.h"

static int get_line(tenon_make_t* make, const char* name) {
  char key[64];
  (void)snprintf(key, sizeof(key), "@%s", name);
  return (int)tenon_make_get_int(make, key, 0);
}

/* Refuses options that are neither absent nor 0 nor none. `names` ends with NULL. */
static void refuse(tenon_make_t* make, const char* const* names) {
  for (; *names != NULL; ++names) {
    const char* value = tenon_make_get_string(make, *names, "0");
    if (strcmp(value, "0") != 0 && strcmp(value, "none") != 0) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                      "line %d: the option %s=%s is not supported: remove it, or use a network "
                      "without it",
                      get_line(make, *names), *names, value);
    }
  }
}

/* A whole number from `min` to DARKNET_MAX_NUMBER. */
static int64_t get_count(tenon_make_t* make, const char* name, int64_t otherwise, int64_t min) {
  const int64_t value = tenon_make_get_int(make, name, otherwise);
  if (value < min || value > DARKNET_MAX_NUMBER) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "line %d: %s=%lld: write a number from %lld to %d", get_line(make, name), name,
                    (long long)value, (long long)min, DARKNET_MAX_NUMBER);
    return min;
  }
  return value;
}

/* A number above 0. */
static double get_scale(tenon_make_t* make, const char* name) {
  const double value = tenon_make_get_float(make, name, 1);
  if (!(value > 0)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "line %d: %s=%g: write a number above 0",
                    get_line(make, name), name, value);
  }
  return value;
}

static tenon_value_t activate(tenon_make_t* make, tenon_value_t x, const char* otherwise) {
  static const char* const known[][2] = {
      {"leaky", "y = max(a, 0) + 0.1 * min(a, 0)"},
      {"relu", "y = max(a, 0)"},
      {"relu6", "y = clamp(a, 0, 6)"},
      {"logistic", "y = sigmoid(a)"},
      {"mish", "y = a * tanh(softplus(a))"},
      {"swish", "y = a * sigmoid(a)"},
      {"tanh", "y = tanh(a)"},
      {"elu", "y = a >= 0 ? a : expm1(a)"},
  };
  const char* name = tenon_make_get_string(make, "activation", otherwise);
  if (strcmp(name, "linear") == 0) {
    return x;
  }
  for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); ++k) {
    if (strcmp(name, known[k][0]) == 0) {
      return tenon_make_math_1(make, known[k][1], x);
    }
  }
  tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                  "line %d: the activation '%s' is not supported: use linear, leaky, relu, relu6, "
                  "logistic, mish, swish, tanh or elu",
                  get_line(make, "activation"), name);
  return x;
}

/* An image: batch x channels x height x width, all but the batch known. */
typedef struct image_t {
  tenon_value_t value;
  int64_t channels;
  int64_t height;
  int64_t width;
} image_t;

static image_t get_image(tenon_make_t* make, uint32_t index) {
  image_t image = {.value = tenon_make_input(make, index)};
  if (tenon_make_rank(make, image.value) != 4) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "line %d: input %u has %d axes: it takes an image, which has 4",
                    get_line(make, ""), index, (int)tenon_make_rank(make, image.value));
    return image;
  }
  image.channels = tenon_make_dim(make, image.value, 1);
  image.height = tenon_make_dim(make, image.value, 2);
  image.width = tenon_make_dim(make, image.value, 3);
  return image;
}

static tenon_value_t normalize(tenon_make_t* make, tenon_value_t x) {
  tenon_make_begin(make, "batch_norm");
  tenon_make_set_float(make, "epsilon", 1e-6);
  tenon_make_add(make, x);
  tenon_make_add(make, tenon_make_blob(make, 1, 0, NULL)); /* scales */
  tenon_make_add(make, tenon_make_blob(make, 0, 0, NULL)); /* biases */
  tenon_make_add(make, tenon_make_blob(make, 2, 0, NULL)); /* means */
  tenon_make_add(make, tenon_make_blob(make, 3, 0, NULL)); /* variances */
  return tenon_make_end(make);
}

static void convolutional(tenon_make_t* make) {
  static const char* const refused[] = {"xnor",         "binary",  "stride_x",    "stride_y",
                                        "antialiasing", "flipped", "share_index", NULL};
  refuse(make, refused);
  const bool is_normalized = get_count(make, "batch_normalize", 0, 0) != 0;
  const int64_t size = get_count(make, "size", 1, 1);
  const int64_t stride = get_count(make, "stride", 1, 1);
  const int64_t dilation = get_count(make, "dilation", 1, 1);
  const int64_t pad =
      get_count(make, "pad", 0, 0) != 0 ? size / 2 * dilation : get_count(make, "padding", 0, 0);
  const int64_t pads[] = {pad, pad, pad, pad};
  const int64_t strides[] = {stride, stride};
  const int64_t dilations[] = {dilation, dilation};
  tenon_make_begin(make, "convolution");
  tenon_make_set_ints(make, "pads", pads, 4);
  tenon_make_set_ints(make, "strides", strides, 2);
  tenon_make_set_ints(make, "dilations", dilations, 2);
  tenon_make_set_int(make, "groups", get_count(make, "groups", 1, 1));
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, tenon_make_blob(make, is_normalized ? 4 : 1, 0, NULL));
  if (!is_normalized) {
    tenon_make_add(make, tenon_make_blob(make, 0, 0, NULL));
  }
  const tenon_value_t y = tenon_make_end(make);
  tenon_make_output(make, 0, activate(make, is_normalized ? normalize(make, y) : y, "logistic"));
}

/* The padding is one number for both sides. Its larger half is at the end. */
static void maxpool(tenon_make_t* make) {
  static const char* const refused[] = {"stride_x", "stride_y", "maxpool_depth", "antialiasing",
                                        NULL};
  refuse(make, refused);
  const int64_t stride = get_count(make, "stride", 1, 1);
  const int64_t size = get_count(make, "size", stride, 1);
  const int64_t padding = get_count(make, "padding", size - 1, 0);
  const int64_t pads[] = {padding / 2, padding / 2, padding - padding / 2, padding - padding / 2};
  const int64_t strides[] = {stride, stride};
  const int64_t sizes[] = {size, size};
  tenon_make_begin(make, "max_pool");
  tenon_make_set_ints(make, "kernel_shape", sizes, 2);
  tenon_make_set_ints(make, "strides", strides, 2);
  tenon_make_set_ints(make, "pads", pads, 4);
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void avgpool(tenon_make_t* make) {
  const int64_t axes[] = {2, 3};
  const image_t x = get_image(make, 0);
  tenon_make_output(make, 0, tenon_make_reduce(make, "reduce_mean", x.value, axes, 2, 1));
}

static void fail_unlike(tenon_make_t* make, const char* key, const image_t* a, const image_t* b) {
  tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                  "line %d: the layers have unlike extents, %lld x %lld x %lld and %lld x %lld x "
                  "%lld: name others, or change width and height in [net]",
                  get_line(make, key), (long long)a->channels, (long long)a->height,
                  (long long)a->width, (long long)b->channels, (long long)b->height,
                  (long long)b->width);
}

/* The channels of several layers, or of each the part number group_id of so many groups. */
static void route(tenon_make_t* make) {
  tenon_value_t parts[DARKNET_MAX_INPUTS];
  const int64_t groups = get_count(make, "groups", 1, 1);
  const int64_t group = get_count(make, "group_id", 0, 0);
  image_t first = {{0}, 0, 0, 0};
  for (uint32_t k = 0; k < make->input_count && tenon_make_ok(make); ++k) {
    const image_t x = get_image(make, k);
    first = k == 0 ? x : first;
    parts[k] = x.value;
    if (x.height != first.height || x.width != first.width) {
      fail_unlike(make, "layers", &first, &x);
    } else if (x.channels % groups != 0 || group >= groups) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "line %d: %lld channels have no group %lld of %lld: use groups that divide "
                      "the channels, and a group_id below groups",
                      get_line(make, "groups"), (long long)x.channels, (long long)group,
                      (long long)groups);
    } else if (groups > 1) {
      const int64_t width = x.channels / groups;
      parts[k] = tenon_make_slice(make, x.value, 1, width * group, width * (group + 1));
    }
  }
  if (tenon_make_ok(make)) {
    tenon_make_output(make, 0, tenon_make_concat(make, 1, make->input_count, parts));
  }
}

/* Darknet adds images of unlike extents in part. Such networks are refused. */
static void shortcut(tenon_make_t* make) {
  static const char* const refused[] = {"weights_type", "weights_normalization", NULL};
  refuse(make, refused);
  const image_t x = get_image(make, 0);
  tenon_value_t sum = x.value;
  for (uint32_t k = 1; k < make->input_count && tenon_make_ok(make); ++k) {
    const image_t other = get_image(make, k);
    if (other.channels != x.channels || other.height != x.height || other.width != x.width) {
      fail_unlike(make, "from", &x, &other);
    }
    sum = tenon_make_2(make, "add", sum, other.value);
  }
  tenon_make_output(make, 0, activate(make, sum, "linear"));
}

/* Each pixel becomes stride x stride pixels: two axes of extent 1, which are broadcast. */
static void upsample(tenon_make_t* make) {
  const image_t x = get_image(make, 0);
  const int64_t stride = get_count(make, "stride", 2, 1);
  const double scale = get_scale(make, "scale");
  const int64_t axes[] = {3, 5};
  const int64_t repeated[] = {1, 1, 1, stride, 1, stride};
  const int64_t dims[] = {-1, x.channels, x.height * stride, x.width * stride};
  const tenon_value_t apart = tenon_make_unsqueeze(make, x.value, axes, 2);
  const tenon_value_t broadcast =
      tenon_make_2(make, "broadcast_to", apart, tenon_make_int64s(make, repeated, 6));
  tenon_value_t y = tenon_make_reshape(make, broadcast, dims, 4);
  if (scale != 1) {
    y = tenon_make_2(make, "mul", y, tenon_make_number(make, TENON_DTYPE_FLOAT32, scale));
  }
  tenon_make_output(make, 0, y);
}

/* Not space_to_depth: the bytes of the image are read as a larger image of fewer channels, whose
 * blocks become channels. */
static void reorg(tenon_make_t* make) {
  static const char* const refused[] = {"reverse", "flatten", "extra", NULL};
  refuse(make, refused);
  const image_t x = get_image(make, 0);
  const int64_t stride = get_count(make, "stride", 1, 1);
  if (stride > 256 || x.channels % (stride * stride) != 0 || x.height % stride != 0 ||
      x.width % stride != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "line %d: an input of %lld x %lld x %lld has no blocks of %lld x %lld: use a "
                    "stride whose square divides the channels, and that divides the extents",
                    get_line(make, "stride"), (long long)x.channels, (long long)x.height,
                    (long long)x.width, (long long)stride, (long long)stride);
    return;
  }
  const int64_t apart[] = {-1, x.channels / (stride * stride), x.height, stride, x.width, stride};
  const int64_t order[] = {0, 3, 5, 1, 2, 4};
  const int64_t dims[] = {-1, x.channels * stride * stride, x.height / stride, x.width / stride};
  const tenon_value_t blocks =
      tenon_make_permute(make, tenon_make_reshape(make, x.value, apart, 6), order, 6);
  tenon_make_output(make, 0, tenon_make_reshape(make, blocks, dims, 4));
}

/* A detector's image as batch x boxes x (x, y, width, height, objectness, classes) x height x
 * width. */
static tenon_value_t split_boxes(tenon_make_t* make, const image_t* x, int64_t boxes,
                                 int64_t classes) {
  const int64_t dims[] = {-1, boxes, classes + 5, x->height, x->width};
  const int64_t channels = boxes * (classes + 5);
  if (boxes < 1 || x->channels != channels) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "line %d: its input has %lld channels, but %lld boxes of %lld classes need "
                    "%lld: change the filters of the layer before it, or classes",
                    get_line(make, "classes"), (long long)x->channels, (long long)boxes,
                    (long long)classes, (long long)channels);
    return x->value;
  }
  return tenon_make_reshape(make, x->value, dims, 5);
}

static void set_boxes(tenon_make_t* make, const image_t* x, tenon_value_t boxes) {
  const int64_t dims[] = {-1, x->channels, x->height, x->width};
  tenon_make_output(make, 0, tenon_make_reshape(make, boxes, dims, 4));
}

/* The numbers that Darknet's layer has: a sigmoid of all but width and height. Boxes in pixels are
 * made of them with the anchors, by the application. */
static void yolo(tenon_make_t* make) {
  static const char* const refused[] = {"new_coords", NULL};
  refuse(make, refused);
  const image_t x = get_image(make, 0);
  const int64_t* mask = NULL;
  size_t masked = 0;
  const double scale = get_scale(make, "scale_x_y");
  const int64_t all = get_count(make, "num", 1, 1);
  const bool has_mask = tenon_make_get_ints(make, "mask", &mask, &masked);
  for (size_t k = 0; k < masked && has_mask; ++k) {
    if (mask[k] < 0 || mask[k] >= all) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "line %d: mask has %lld, and num is %lld: write numbers from 0 below num",
                      get_line(make, "mask"), (long long)mask[k], (long long)all);
    }
  }
  tenon_value_t y =
      split_boxes(make, &x, has_mask ? (int64_t)masked : all, get_count(make, "classes", 20, 0));
  y = tenon_make_math_1(make, "y = index(2) == 2 || index(2) == 3 ? a : sigmoid(a)", y);
  if (scale != 1) {
    y = tenon_make_math_2(make, "y = index(2) < 2 ? a * b - (b - 1) / 2 : a", y,
                          tenon_make_number(make, TENON_DTYPE_FLOAT32, scale));
  }
  set_boxes(make, &x, y);
}

/* The detector of YOLOv2: its classes are a softmax, or sigmoids. */
static void region(tenon_make_t* make) {
  static const char* const refused[] = {"background", "map", "tree", NULL};
  refuse(make, refused);
  const image_t x = get_image(make, 0);
  const int64_t classes = get_count(make, "classes", 20, 0);
  if (get_count(make, "coords", 4, 0) != 4) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "line %d: only coords=4 is supported",
                    get_line(make, "coords"));
  }
  const tenon_value_t y = split_boxes(make, &x, get_count(make, "num", 1, 1), classes);
  tenon_value_t parts[] = {tenon_make_slice(make, y, 2, 0, 5), {0}};
  parts[0] =
      tenon_make_math_1(make, "y = index(2) == 2 || index(2) == 3 ? a : sigmoid(a)", parts[0]);
  if (classes == 0) {
    set_boxes(make, &x, parts[0]);
    return;
  }
  parts[1] = tenon_make_slice(make, y, 2, 5, classes + 5);
  if (get_count(make, "softmax", 0, 0) != 0) {
    tenon_make_begin(make, "softmax");
    tenon_make_set_int(make, "axis", 2);
    tenon_make_add(make, parts[1]);
    parts[1] = tenon_make_end(make);
  } else {
    parts[1] = tenon_make_math_1(make, "y = sigmoid(a)", parts[1]);
  }
  set_boxes(make, &x, tenon_make_concat(make, 2, 2, parts));
}

static void softmax(tenon_make_t* make) {
  static const char* const refused[] = {"tree", NULL};
  const image_t x = get_image(make, 0);
  refuse(make, refused);
  if (tenon_make_get_float(make, "groups", 1) != 1 || x.height != 1 || x.width != 1 ||
      tenon_make_get_float(make, "temperature", 1) != 1) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "line %d: an input of %lld x %lld pixels: only 1 x 1 pixels, groups=1 and "
                    "temperature=1 are supported",
                    get_line(make, ""), (long long)x.height, (long long)x.width);
  }
  tenon_make_begin(make, "softmax");
  tenon_make_set_int(make, "axis", 1);
  tenon_make_add(make, x.value);
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* Layers of the training. */
static void pass(tenon_make_t* make) {
  tenon_make_output(make, 0, tenon_make_input(make, 0));
}

static TENON_MAKE_CONVERT(convert);
#define ROW(type, function) TENON_MAKE_ROW(convert, "darknet", "", type, 1, 0, function, NULL, NULL)
static const tenon_make_row_t rows[] = {
    ROW("convolutional", convolutional),
    ROW("maxpool", maxpool),
    ROW("avgpool", avgpool),
    ROW("route", route),
    ROW("shortcut", shortcut),
    ROW("upsample", upsample),
    ROW("reorg", reorg),
    ROW("yolo", yolo),
    ROW("region", region),
    ROW("softmax", softmax),
    ROW("dropout", pass),
    ROW("cost", pass),
};
static TENON_MAKE_CONVERT(convert) {
  return TENON_MAKE_BY(rows);
}

const tenon_offering_t darknet_layers = TENON_OFFERING_OF("converter/1", rows);
