/* The shortest way from a model file to an answer: parse, build, load, run.
 *   classify MODEL PICTURE.pgm      a network with one input of 8 x 8 grey pixels, 0 to 1 */
#include "example.h"

enum { PIXELS = 64, CLASSES = 10 };

/* A binary PGM of 8 x 8 pixels. */
static int read_picture(const char* path, float* out_pixels) {
  unsigned char bytes[PIXELS];
  FILE* file = fopen(path, "rb");
  int width = 0;
  int height = 0;
  int maximum = 0;
  /* Three digits fit in an int. NOLINTNEXTLINE(cert-err34-c) */
  const int good = file != NULL && fscanf(file, "P5 %3d %3d %3d", &width, &height, &maximum) == 3 &&
                   width == 8 && height == 8 && maximum == 255 && fgetc(file) != EOF &&
                   fread(bytes, 1, PIXELS, file) == PIXELS;
  if (file != NULL) {
    (void)fclose(file);
  }
  for (int i = 0; good && i < PIXELS; ++i) {
    out_pixels[i] = (float)bytes[i] / 255;
  }
  return good;
}

int main(int argc, char** argv) {
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  float pixels[PIXELS];
  if (argc != 3 || !read_picture(argv[2], pixels)) {
    (void)fprintf(stderr, "usage: classify MODEL PICTURE.pgm (8 x 8 pixels)\n");
    return 2;
  }
  TRY(example_registry(&registry));
  TRY(tenon_network_create(registry, &network));
  TRY(tenon_network_parse_file(network, argv[1], NULL));
  TRY(tenon_build(network, NULL, &plan)); /* the batch, left open by the model, is taken to be 1 */
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  uint32_t input = 0;
  uint32_t output = 0;
  TRY(tenon_engine_find_input(engine, "image", &input));
  TRY(tenon_engine_find_output(engine, "probabilities", &output));

  const int64_t dims[] = {1, 1, 8, 8};
  const tenon_tensor_view_t image = example_floats(pixels, 4, dims);
  TRY(tenon_context_set_input(context, input, &image));
  TRY(tenon_context_run(context));
  tenon_tensor_view_t scores;
  TRY(tenon_context_get_output(context, output, &scores));

  const float* score = scores.data;
  int best = 0;
  for (int i = 1; i < CLASSES; ++i) {
    best = score[i] > score[best] ? i : best;
  }
  (void)printf("%d with probability %.4f\n", best, (double)score[best]);
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
