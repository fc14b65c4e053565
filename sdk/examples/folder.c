/* Classifies all pictures of a folder in batches, and prints the best class of each.
 *   folder MODEL FOLDER      a network with one input of 8 x 8 grey pixels; FOLDER/NAME.pgm */
#include "example.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 64, CLASSES = 10, BATCH = 4, NAME_BYTES = 256, MAX_PICTURES = 1000 };

typedef struct list_t {
  char names[MAX_PICTURES][NAME_BYTES];
  size_t count;
} list_t;

static int compare_names(const void* a, const void* b) {
  return strcmp(a, b);
}

static int list_pictures(const char* folder, list_t* out_list) {
  const struct dirent* entry = NULL;
  DIR* directory = opendir(folder);
  if (directory == NULL) {
    return 0;
  }
  while ((entry = readdir(directory)) != NULL && out_list->count < MAX_PICTURES) {
    const size_t length = strlen(entry->d_name);
    if (length > 4 && length < NAME_BYTES && strcmp(entry->d_name + length - 4, ".pgm") == 0) {
      memcpy(out_list->names[out_list->count], entry->d_name, length + 1);
      ++out_list->count;
    }
  }
  (void)closedir(directory);
  qsort(out_list->names, out_list->count, NAME_BYTES, compare_names);
  return 1;
}

/* The last 64 bytes of the file are its pixels. */
static int read_picture(const char* folder, const char* name, float* out_pixels) {
  char path[4096];
  unsigned char bytes[PIXELS];
  (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE* file = fopen(path, "rb");
  const int good = file != NULL && fseek(file, -PIXELS, SEEK_END) == 0 &&
                   fread(bytes, 1, PIXELS, file) == PIXELS;
  if (file != NULL) {
    (void)fclose(file);
  }
  for (int i = 0; good && i < PIXELS; ++i) {
    out_pixels[i] = (float)bytes[i] / 255;
  }
  return good;
}

/* Kernels are measured for full batches. The last batch may be smaller. */
static tenon_status_t build_engine(tenon_registry_t* registry, const char* model,
                                   tenon_engine_t** out_engine) {
  const int64_t one[] = {1, 1, 8, 8};
  const int64_t full[] = {BATCH, 1, 8, 8};
  const tenon_profile_range_t ranges[] = {{"image", 4, one, full, full}};
  return example_engine(registry, model, (tenon_list_t)TENON_LIST(ranges), out_engine);
}

static tenon_status_t classify_batch(tenon_context_t* context, float* pixels, int64_t count,
                                     char (*names)[NAME_BYTES]) {
  const int64_t dims[] = {count, 1, 8, 8};
  const tenon_tensor_view_t images = example_floats(pixels, 4, dims);
  tenon_tensor_view_t scores;
  tenon_status_t status = TENON_OK;
  TRY(tenon_context_set_input(context, 0, &images));
  TRY(tenon_context_run(context));
  TRY(tenon_context_get_output(context, 0, &scores));
  for (int64_t row = 0; row < count; ++row) {
    const float* score = (const float*)scores.data + row * scores.strides[0];
    int best = 0;
    for (int k = 1; k < CLASSES; ++k) {
      best = score[k * scores.strides[1]] > score[best * scores.strides[1]] ? k : best;
    }
    (void)printf("%s: %d (%.3f)\n", names[row], best, (double)score[best * scores.strides[1]]);
  }
done:
  return status;
}

int main(int argc, char** argv) {
  static list_t list;
  static float pixels[BATCH * PIXELS];
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  if (argc != 3 || !list_pictures(argv[2], &list)) {
    (void)fprintf(stderr, "usage: folder MODEL FOLDER\n");
    return 2;
  }
  TRY(example_registry(&registry));
  TRY(build_engine(registry, argv[1], &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  for (size_t first = 0; first < list.count; first += BATCH) {
    const size_t count = list.count - first < BATCH ? list.count - first : BATCH;
    for (size_t i = 0; i < count; ++i) {
      if (!read_picture(argv[2], list.names[first + i], pixels + i * PIXELS)) {
        (void)fprintf(stderr, "%s: cannot be read\n", list.names[first + i]);
        status = TENON_ERROR_IO;
        goto done;
      }
    }
    TRY(classify_batch(context, pixels, (int64_t)count, &list.names[first]));
  }
  (void)printf("%zu pictures in batches of up to %d\n", list.count, BATCH);
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
