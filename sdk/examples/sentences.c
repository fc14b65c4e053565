/* Classifies the bytes of a text: is this the end of a sentence? Prints a sentence on each line.
 *   sentences MODEL [TEXT]    a network with bytes of shape [batch, length], which gives two numbers for each
 * of them; the first is above 0 where a sentence ends. Without TEXT: the lines of standard input. */
#include "example.h"

#include <string.h>

/* The network expects some bytes of 0 around the text. */
enum { MARGIN = 5, MAX_BYTES = 4096, MARGINS = 2 * MARGIN, LENGTH = MAX_BYTES + MARGINS };

/* Kernels are measured for lines of usual length. Any length up to the maximum can run. */
static tenon_status_t build_engine(tenon_registry_t* registry, const char* model,
                                   tenon_engine_t** out_engine) {
  const int64_t least[] = {1, 1 + MARGINS};
  const int64_t usual[] = {1, 128};
  const int64_t most[] = {1, LENGTH};
  const tenon_profile_range_t ranges[] = {{"input", 2, least, usual, most}};
  return example_engine(registry, model, (tenon_list_t)TENON_LIST(ranges), out_engine);
}

/* A text is not empty, and at most MAX_BYTES long. */
static tenon_status_t print_sentences(tenon_context_t* context, const char* text) {
  static unsigned char bytes[LENGTH];
  const size_t length = strlen(text);
  const int64_t dims[] = {1, (int64_t)length + MARGINS};
  const tenon_tensor_view_t input = {
      .data = bytes, .dims = dims, .rank = 2, .dtype = TENON_DTYPE_UINT8, .layout = TENON_NONE};
  tenon_tensor_view_t output;
  tenon_status_t status = TENON_OK;
  memset(bytes, 0, sizeof(bytes));
  for (size_t i = 0; i < length; ++i) {
    bytes[MARGIN + i] = (unsigned char)text[i];
  }
  TRY(tenon_context_set_input(context, 0, &input));
  TRY(tenon_context_run(context));
  TRY(tenon_context_get_output(context, 0, &output));
  for (size_t i = 0; i < length; ++i) {
    const float ends = ((const float*)output.data)[(int64_t)(MARGIN + i) * output.strides[1]];
    (void)printf("%c%s", text[i], i + 1 == length || ends > 0 ? "\n" : "");
  }
done:
  return status;
}

static tenon_status_t print_lines(tenon_context_t* context) {
  static char line[MAX_BYTES + 1];
  tenon_status_t status = TENON_OK;
  while (status == TENON_OK && fgets(line, sizeof(line), stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    status = line[0] == '\0' ? TENON_OK : print_sentences(context, line);
  }
  return status;
}

int main(int argc, char** argv) {
  const size_t length = argc == 3 ? strlen(argv[2]) : 0;
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  if (argc < 2 || argc > 3 || length > MAX_BYTES) {
    (void)fprintf(stderr, "usage: sentences MODEL [TEXT]\n");
    return 2;
  }
  TRY(example_registry(&registry));
  TRY(build_engine(registry, argv[1], &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  TRY(length > 0 ? print_sentences(context, argv[2]) : print_lines(context));
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
