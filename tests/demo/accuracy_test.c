/* What the two small networks are good for, on what they were not trained on, through the engine;
 * and the README's picture is the one that they make. */
#include <stdlib.h>

#include "core/base/test.h"
#include "data/file.h"
#include "data/npy.h"
#include "data/picture.h"
#include "tenon/tenon.h"
#include "text/console.h"
#include "text/memory.h"

/* Training saw the photograph's columns 0 to 239; see sdk/demo/README.md. */
enum { CLASSES = 10, FIRST_UNSEEN_COLUMN = 256, OVERLAY_PANELS = 3 };

typedef struct network_t {
  tenon_registry_t* registry;
  tenon_engine_t* engine;
  tenon_context_t* context;
} network_t;

static void close_network(network_t* network) {
  tenon_context_destroy(network->context);
  tenon_engine_release(network->engine);
  tenon_registry_release(network->registry);
}

/* `parts`: other files of the model, NULL-terminated, or NULL. */
static tenon_status_t open_network(const char* path, const char* const* parts, const char* input,
                                   const int64_t* dims, network_t* out_network) {
  const tenon_input_shape_t shape = {.name = input, .rank = 4, .dims = dims};
  tenon_registry_options_t registry_options = TENON_OPTIONS(tenon_registry_options_t);
  tenon_parse_options_t parse_options = TENON_OPTIONS(tenon_parse_options_t);
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  *out_network = (network_t){0};
  registry_options.logger = tool_console_sink();
  parse_options.shapes = (tenon_list_t){&shape, 1, sizeof(shape)};
  parse_options.parts = parts;
  tenon_status_t status = tenon_registry_create(&registry_options, &out_network->registry);
  if (status == TENON_OK) {
    status = tenon_network_create(out_network->registry, &network);
  }
  if (status == TENON_OK) {
    status = tenon_network_parse_file(network, path, &parse_options);
  }
  if (status == TENON_OK) {
    status = tenon_build(network, NULL, &plan);
  }
  if (status == TENON_OK) {
    status = tenon_engine_create_from_plan(out_network->registry, plan, NULL, &out_network->engine);
  }
  if (status == TENON_OK) {
    status = tenon_context_create(out_network->engine, NULL, &out_network->context);
  }
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  return status;
}

/* `pixels`, 0 to 255, through the network; the output is the context's. NULL after an error. */
static const float* run_network(const network_t* network, const uint16_t* pixels, size_t count,
                                const int64_t* dims) {
  tenon_tensor_view_t result = {.data = NULL};
  float* image = tool_allocate(count, sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    image[i] = (float)pixels[i] / 255;
  }
  const tenon_tensor_view_t view = {
      .data = image, .dims = dims, .rank = 4, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  tenon_status_t status = tenon_context_set_input(network->context, 0, &view);
  if (status == TENON_OK) {
    status = tenon_context_run(network->context);
  }
  if (status == TENON_OK) {
    status = tenon_context_get_output(network->context, 0, &result);
  }
  tool_free(image);
  return status == TENON_OK ? result.data : NULL;
}

static void read_array(const char* path, tool_value_t* out_value) {
  uint8_t* bytes = NULL;
  size_t size = 0;
  EXPECT_STATUS(tool_file_read(path, &bytes, &size), TENON_OK);
  EXPECT_STATUS(tool_npy_parse(path, bytes, size, out_value), TENON_OK);
  tool_free(bytes);
}

static void read_picture(const char* path, tool_picture_t* out_picture) {
  uint8_t* bytes = NULL;
  size_t size = 0;
  EXPECT_STATUS(tool_file_read(path, &bytes, &size), TENON_OK);
  EXPECT_STATUS(tool_picture_parse(path, bytes, size, out_picture), TENON_OK);
  tool_free(bytes);
}

/* Pictures of digits that training did not see, what they are, and what a network says. */
typedef struct digits_t {
  tool_value_t images;
  tool_value_t labels;
  network_t network;
  const float* scores;
} digits_t;

static void read_digits(const char* path, const char* const* parts, digits_t* out_digits) {
  *out_digits = (digits_t){.scores = NULL};
  read_array(DEMO_FOLDER "/digits/test_images.npy", &out_digits->images);
  read_array(DEMO_FOLDER "/digits/test_labels.npy", &out_digits->labels);
  const tool_value_t* images = &out_digits->images;
  const tool_value_t* labels = &out_digits->labels;
  REQUIRE(images->dtype == TENON_DTYPE_UINT8 && images->rank == 4 && images->data != NULL);
  REQUIRE(labels->dtype == TENON_DTYPE_INT64 && labels->count == (uint64_t)images->dims[0]);
  REQUIRE(labels->count >= 500);
  REQUIRE(open_network(path, parts, "image", images->dims, &out_digits->network) == TENON_OK);
  uint16_t* pixels = tool_allocate(images->count, sizeof(uint16_t));
  for (uint64_t i = 0; i < images->count; ++i) {
    pixels[i] = ((const uint8_t*)images->data)[i];
  }
  out_digits->scores = run_network(&out_digits->network, pixels, images->count, images->dims);
  tool_free(pixels);
}

static void close_digits(digits_t* digits) {
  close_network(&digits->network);
  tool_value_free(&digits->images);
  tool_value_free(&digits->labels);
}

static uint64_t count_right(const digits_t* digits, const char* format) {
  uint64_t right = 0;
  for (uint64_t row = 0; row < digits->labels.count; ++row) {
    uint64_t best = 0;
    for (uint64_t i = 1; i < CLASSES; ++i) {
      best = digits->scores[row * CLASSES + i] > digits->scores[row * CLASSES + best] ? i : best;
    }
    right += ((const int64_t*)digits->labels.data)[row] == (int64_t)best ? 1 : 0;
  }
  (void)printf("digits from %s: %llu of %llu right\n", format, (unsigned long long)right,
               (unsigned long long)digits->labels.count);
  return right;
}

TENON_TEST(reads_97_of_100_digits_that_it_was_not_trained_on) {
  digits_t digits;
  read_digits(DEMO_FOLDER "/digits/model.onnx", NULL, &digits);
  REQUIRE(digits.scores != NULL);
  EXPECT((double)count_right(&digits, "ONNX") >= 0.97 * (double)digits.labels.count);
  close_digits(&digits);
}

/* Both files hold the same weights: what differs is the order of sums in kernels that were chosen
 * apart. */
TENON_TEST(reads_the_same_digits_from_caffe) {
  static const char* const parts[] = {DEMO_FOLDER "/digits/model.caffemodel", NULL};
  digits_t onnx;
  digits_t caffe;
  read_digits(DEMO_FOLDER "/digits/model.onnx", NULL, &onnx);
  read_digits(DEMO_FOLDER "/digits/model.prototxt", parts, &caffe);
  REQUIRE(onnx.scores != NULL && caffe.scores != NULL);
  EXPECT((double)count_right(&caffe, "Caffe") >= 0.97 * (double)caffe.labels.count);
  for (uint64_t i = 0; i < caffe.labels.count * CLASSES; ++i) {
    EXPECT(fabs((double)onnx.scores[i] - (double)caffe.scores[i]) <= 1e-5);
  }
  close_digits(&onnx);
  close_digits(&caffe);
}

/* The mask's overlap with the truth, from `first_column` on: intersection over union. */
static double find_overlap(const float* mask, const tool_picture_t* truth, uint32_t first_column) {
  uint64_t both = 0;
  uint64_t either = 0;
  for (uint32_t y = 0; y < truth->height; ++y) {
    for (uint32_t x = first_column; x < truth->width; ++x) {
      const size_t i = (size_t)y * truth->width + x;
      const bool ours = mask[i] >= 0.5F;
      const bool theirs = 2U * truth->samples[i] > truth->maximum;
      both += ours && theirs ? 1 : 0;
      either += ours || theirs ? 1 : 0;
    }
  }
  return either > 0 ? (double)both / (double)either : 0;
}

/* Pixels of the README's middle panel that are not the mask's. */
static uint64_t count_other_pixels(const float* mask, const tool_picture_t* photograph,
                                   const tool_picture_t* shown) {
  uint64_t others = 0;
  for (size_t i = 0; i < (size_t)photograph->width * photograph->height; ++i) {
    const size_t row = i / photograph->width;
    const size_t at = row * shown->width + photograph->width + i % photograph->width;
    others += fabs((double)mask[i] * 255 - shown->samples[at * 3]) > 1 ? 1 : 0;
  }
  return others;
}

TENON_TEST(finds_coins_that_it_was_not_trained_on) {
  tool_picture_t photograph = {0};
  tool_picture_t truth = {0};
  tool_picture_t shown = {0};
  network_t network;
  read_picture(DEMO_FOLDER "/coins/coins.pgm", &photograph);
  read_picture(DEMO_FOLDER "/coins/labels.pgm", &truth);
  REQUIRE(photograph.samples != NULL && photograph.channels == 1 && photograph.maximum == 255);
  REQUIRE(truth.width == photograph.width && truth.height == photograph.height);
  const int64_t dims[] = {1, 1, photograph.height, photograph.width};
  REQUIRE(open_network(DEMO_FOLDER "/coins/model.onnx", NULL, "image", dims, &network) == TENON_OK);
  const size_t count = (size_t)photograph.width * photograph.height;
  const float* mask = run_network(&network, photograph.samples, count, dims);
  REQUIRE(mask != NULL);
  const double overlap = find_overlap(mask, &truth, FIRST_UNSEEN_COLUMN);
  (void)printf("coins: overlap %.4f from column %d on\n", overlap, FIRST_UNSEEN_COLUMN);
  EXPECT(overlap >= 0.9);
  if (tool_png_library()[0] != '\0') {
    read_picture(DOCS_FOLDER "/coins.png", &shown);
    REQUIRE(shown.channels == 3 && shown.height == photograph.height &&
            shown.width == OVERLAY_PANELS * photograph.width);
    EXPECT_INT(count_other_pixels(mask, &photograph, &shown), 0);
    tool_picture_free(&shown);
  }
  close_network(&network);
  tool_picture_free(&photograph);
  tool_picture_free(&truth);
}
