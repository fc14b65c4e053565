/* Speech activity on a stream: windows of 512 samples at 16 kHz, with the network's memory as a state of the context.
 *   speech MODEL [WAVE]      Silero VAD as ONNX with inputs input, sr, state; WAVE: 16 bits, mono, 16 kHz.
 * Without WAVE: half a second of silence, then half a second of a vowel that the program makes. */
#include "example.h"

#include <math.h>
#include <string.h>

enum { RATE = 16000, WINDOW = 512, CONTEXT = 64, HEADER_BYTES = 44 };

/* Sums harmonics of 120 Hz with two formants. */
static float vowel(size_t sample) {
  const double pi = 3.14159265358979;
  const double time = (double)sample / RATE;
  double sum = 0;
  for (int k = 1; k <= 30; ++k) {
    const double frequency = 120.0 * k;
    const double first = exp(-pow((frequency - 700) / 150, 2));
    const double second = exp(-pow((frequency - 1200) / 200, 2));
    sum += (0.05 / k + first + 0.6 * second) * sin(2 * pi * frequency * time);
  }
  return (float)(0.1 * sum * (1 + 0.3 * sin(2 * pi * 5 * time)));
}

/* The next window: 1 if there is one. */
static int read_window(FILE* wave, size_t window, float* out_samples) {
  if (wave == NULL) {
    for (size_t i = 0; i < WINDOW; ++i) {
      const size_t sample = window * WINDOW + i;
      out_samples[i] = sample < RATE / 2 ? 0 : vowel(sample);
    }
    return window < RATE / WINDOW;
  }
  unsigned char bytes[2 * WINDOW];
  const int good = fread(bytes, 1, sizeof(bytes), wave) == sizeof(bytes);
  for (size_t i = 0; good && i < WINDOW; ++i) {
    out_samples[i] = (float)(int16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8) / 32768;
  }
  return good;
}

/* The sample rate becomes a constant, the network's memory a state. */
static tenon_status_t build_engine(tenon_registry_t* registry, const char* model,
                                   tenon_engine_t** out_engine) {
  const int64_t input_dims[] = {1, CONTEXT + WINDOW};
  const int64_t state_dims[] = {2, 1, 128};
  const tenon_input_shape_t shapes[] = {{"input", 2, input_dims}, {"state", 3, state_dims}};
  int64_t rate = RATE;
  const tenon_tensor_view_t rate_view = {
      .data = &rate, .dtype = TENON_DTYPE_INT64, .layout = TENON_NONE};
  const tenon_input_value_t values[] = {{"sr", &rate_view}};
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  tenon_status_t status = TENON_OK;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  options.shapes = (tenon_list_t)TENON_LIST(shapes);
  options.values = (tenon_list_t)TENON_LIST(values);
  TRY(tenon_network_create(registry, &network));
  TRY(tenon_network_parse_file(network, model, &options));
  TRY(tenon_network_make_state(network, "state", "stateN"));
  TRY(tenon_build(network, NULL, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, out_engine));
done:
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  return status;
}

int main(int argc, char** argv) {
  static float samples[CONTEXT + WINDOW]; /* the end of the window before, then this one */
  const int64_t dims[] = {1, CONTEXT + WINDOW};
  const tenon_tensor_view_t view = example_floats(samples, 2, dims);
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  FILE* wave = argc == 3 ? fopen(argv[2], "rb") : NULL;
  int speaks = 0;
  float highest = 0;
  size_t highest_at = 0;
  if (argc < 2 || (argc == 3 && (wave == NULL || fseek(wave, HEADER_BYTES, SEEK_SET) != 0))) {
    (void)fprintf(stderr, "usage: speech MODEL [WAVE]\n");
    return 2;
  }
  TRY(example_registry(&registry));
  TRY(build_engine(registry, argv[1], &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  TRY(tenon_context_set_input(context, 0, &view)); /* the memory stays, its contents change */
  for (size_t window = 0; read_window(wave, window, samples + CONTEXT); ++window) {
    tenon_tensor_view_t output;
    TRY(tenon_context_run(context));
    TRY(tenon_context_get_output(context, 0, &output));
    const float probability = ((const float*)output.data)[0];
    if (probability > highest) {
      highest = probability;
      highest_at = window;
    }
    if ((probability > 0.5F) != speaks) {
      speaks = !speaks;
      (void)printf("%.2f s: %s (%.3f)\n", (double)window * WINDOW / RATE,
                   speaks ? "speech" : "silence", (double)probability);
    }
    memcpy(samples, samples + WINDOW, CONTEXT * sizeof(*samples));
  }
  (void)printf("highest probability %.2f at %.2f s; the stream ends in %s\n", (double)highest,
               (double)highest_at * WINDOW / RATE, speaks ? "speech" : "silence");
done:
  if (wave != NULL) {
    (void)fclose(wave);
  }
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
