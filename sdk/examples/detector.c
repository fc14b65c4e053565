/* A detector with boxes: scores above a threshold, without boxes that overlap a better one.
 *   detector MODEL PICTURE.ppm      UltraFace as ONNX; a picture of 320 x 240 pixels (PPM, binary or text) */
#include "example.h"

#include <stdlib.h>

enum { WIDTH = 320, HEIGHT = 240, PIXELS = WIDTH * HEIGHT, MAX_BOXES = 4420 };
static const float threshold = 0.7F;
static const float most_overlap = 0.3F;

typedef struct box_t {
  float score;
  float sides[4]; /* left, top, right, bottom: parts of the width and height */
} box_t;

/* One sample of a text ("P3") or binary ("P6") picture; -1 at the end. */
static int read_sample(FILE* file, char format) {
  int sample = -1;
  if (format == '6') {
    return fgetc(file);
  }
  /* Three digits fit in an int. NOLINTNEXTLINE(cert-err34-c) */
  return fscanf(file, "%3d", &sample) == 1 ? sample : -1;
}

/* Interleaved bytes become planes of (sample - 127) / 128, as in the network's training. */
static int read_picture(const char* path, float* out_planes) {
  FILE* file = fopen(path, "rb");
  char format = 0;
  int width = 0;
  int height = 0;
  int maximum = 0;
  /* As above. NOLINTBEGIN(cert-err34-c) */
  int good = file != NULL &&
             fscanf(file, "P%c %4d %4d %3d", &format, &width, &height, &maximum) == 4 &&
             width == WIDTH && height == HEIGHT && maximum == 255 && fgetc(file) != EOF;
  /* NOLINTEND(cert-err34-c) */
  for (int i = 0; good && i < 3 * PIXELS; ++i) {
    const int sample = read_sample(file, format);
    good = sample >= 0;
    out_planes[i % 3 * PIXELS + i / 3] = ((float)sample - 127) / 128;
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return good;
}

static float smaller(float a, float b) {
  return a < b ? a : b;
}

static float larger(float a, float b) {
  return a > b ? a : b;
}

static float area(const float sides[4]) {
  return larger(sides[2] - sides[0], 0) * larger(sides[3] - sides[1], 0);
}

/* The intersection of two boxes, as a part of their union. */
static float overlap(const box_t* a, const box_t* b) {
  const float both[] = {larger(a->sides[0], b->sides[0]), larger(a->sides[1], b->sides[1]),
                        smaller(a->sides[2], b->sides[2]), smaller(a->sides[3], b->sides[3])};
  return area(both) / (area(a->sides) + area(b->sides) - area(both) + 1e-9F);
}

static int compare_boxes(const void* a, const void* b) {
  const float x = ((const box_t*)a)->score;
  const float y = ((const box_t*)b)->score;
  return x < y ? 1 : -(x > y);
}

static void print_boxes(const tenon_tensor_view_t* scores, const tenon_tensor_view_t* sides) {
  static box_t boxes[MAX_BOXES];
  size_t count = 0;
  size_t kept = 0;
  for (int64_t k = 0; k < scores->dims[1] && count < MAX_BOXES; ++k) {
    const float score = ((const float*)scores->data)[k * scores->strides[1] + scores->strides[2]];
    if (score > threshold) {
      boxes[count].score = score;
      for (int64_t side = 0; side < 4; ++side) {
        boxes[count].sides[side] =
            ((const float*)sides->data)[k * sides->strides[1] + side * sides->strides[2]];
      }
      ++count;
    }
  }
  qsort(boxes, count, sizeof(*boxes), compare_boxes);
  for (size_t k = 0; k < count; ++k) {
    int is_new = 1;
    for (size_t other = 0; other < kept; ++other) {
      is_new = is_new && overlap(&boxes[other], &boxes[k]) <= most_overlap;
    }
    if (is_new) {
      boxes[kept++] = boxes[k];
      (void)printf("%.3f at %.0f,%.0f to %.0f,%.0f\n", (double)boxes[k].score,
                   (double)(boxes[k].sides[0] * WIDTH), (double)(boxes[k].sides[1] * HEIGHT),
                   (double)(boxes[k].sides[2] * WIDTH), (double)(boxes[k].sides[3] * HEIGHT));
    }
  }
  (void)printf("%zu faces\n", kept);
}

int main(int argc, char** argv) {
  static float planes[3 * PIXELS];
  const int64_t dims[] = {1, 3, HEIGHT, WIDTH};
  const tenon_tensor_view_t picture = example_floats(planes, 4, dims);
  tenon_tensor_view_t scores;
  tenon_tensor_view_t sides;
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  if (argc != 3 || !read_picture(argv[2], planes)) {
    (void)fprintf(stderr, "usage: detector MODEL PICTURE.ppm (320 x 240 pixels)\n");
    return 2;
  }
  TRY(example_registry(&registry));
  TRY(tenon_network_create(registry, &network));
  TRY(tenon_network_parse_file(network, argv[1], NULL));
  TRY(tenon_build(network, NULL, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  TRY(tenon_context_set_input(context, 0, &picture));
  TRY(tenon_context_run(context));
  uint32_t index = 0;
  TRY(tenon_engine_find_output(engine, "scores", &index));
  TRY(tenon_context_get_output(context, index, &scores));
  TRY(tenon_engine_find_output(engine, "boxes", &index));
  TRY(tenon_context_get_output(context, index, &sides));
  print_boxes(&scores, &sides);
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
