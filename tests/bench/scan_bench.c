/*
 * How long a scan takes. Makes a folder with copies of one plugin under different names, and prints
 * medians as one JSON object: a first scan (files in the page cache), scanning again when nothing
 * changed, and what loading the first of them costs.
 *
 *   scan_bench [plugins [repetitions]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/file.h"
#include "core/catalog/catalog.h"
#include "plugin_registry/registry.h"
#include "tests/support/plugin_folder.h"

#define REPETITION_LIMIT 1000

typedef struct times_t {
  double first[REPETITION_LIMIT];
  double again[REPETITION_LIMIT];
  double load[REPETITION_LIMIT];
} times_t;

static times_t times;

/* Every "good" in the manifest becomes a word of four other letters. */
static bool write_copies(const test_folder_t* folder, int count) {
  const test_bytes_t bytes = test_read_fixture("good");
  bool good = bytes.data != NULL;
  for (int i = 0; good && i < count; ++i) {
    char word[8];
    char name[16];
    (void)snprintf(word, sizeof(word), "%c%03x", 'a' + i / 4096 % 26, (unsigned)i % 4096u);
    (void)snprintf(name, sizeof(name), "%s.so", word);
    unsigned char* text = bytes.data + test_bytes_find(&bytes, "name: ", 6);
    const size_t length = strlen((const char*)text);
    test_bytes_t copy = {malloc(bytes.size), bytes.size};
    memcpy(copy.data, bytes.data, bytes.size);
    test_bytes_t manifest = {copy.data + (text - bytes.data), length};
    for (size_t place = test_bytes_find(&manifest, "good", 4); place < length;
         place = test_bytes_find(&manifest, "good", 4)) {
      memcpy(manifest.data + place, word, 4);
    }
    good = test_folder_write(folder, name, copy.data, copy.size);
    free(copy.data);
  }
  free(bytes.data);
  return good;
}

static bool measure(const test_folder_t* folder, int repetition, uint32_t* out_count) {
  const char* const paths[] = {folder->path, NULL};
  tenon__catalog_t* catalog = NULL;
  tenon__registry_t* registry = NULL;
  if (tenon__catalog_create(tenon__allocator_default(), &catalog) != TENON_OK) {
    return false;
  }
  const tenon__registry_options_t options = {.paths = paths,
                                             .only_paths = true,
                                             .allocator = tenon__allocator_default(),
                                             .catalog = catalog};
  const double begin = tenon__seconds();
  bool good = tenon__registry_create(&options, &registry) == TENON_OK &&
              tenon__registry_scan(registry, NULL) == TENON_OK;
  const double scanned = tenon__seconds();
  good = good && tenon__registry_scan(registry, NULL) == TENON_OK;
  const double again = tenon__seconds();
  /* The descriptor still says "good", so it is refused after dlopen and query: that is what we
   * time. */
  (void)(good && tenon__registry_load(registry, 0, NULL) == TENON_OK);
  const double loaded = tenon__seconds();
  *out_count = good ? tenon__registry_candidate_count(registry) : 0;
  times.first[repetition] = scanned - begin;
  times.again[repetition] = again - scanned;
  times.load[repetition] = loaded - again;
  tenon__catalog_destroy(catalog);
  tenon__registry_destroy(registry);
  return good;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median_us(double* values, int count) {
  qsort(values, (size_t)count, sizeof(*values), compare);
  return values[count / 2] * 1e6;
}

int main(int argc, char** argv) {
  const int plugins = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
  const int wanted = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 21;
  const int repetitions = wanted < 1 ? 1 : wanted > REPETITION_LIMIT ? REPETITION_LIMIT : wanted;
  test_folder_t folder;
  uint32_t found = 0;
  if (!test_folder_make(&folder)) {
    return 1;
  }
  bool good = plugins > 0 && write_copies(&folder, plugins);
  for (int i = 0; good && i < repetitions; ++i) {
    good = measure(&folder, i, &found);
  }
  test_folder_remove(&folder);
  if (!good || found != (uint32_t)plugins) {
    (void)fprintf(stderr, "found %u of %d plugins\n", found, plugins);
    return 1;
  }
  const double load = times.load[0] * 1e6; /* later ones find the image */
  const double first = median_us(times.first, repetitions);
  (void)printf(
      "{\"bench\": \"scan\", \"plugins\": %d, \"repetitions\": %d, \"scan_us\": %.1f, "
      "\"scan_min_us\": %.1f, \"again_us\": %.1f, \"load_first_us\": %.1f}\n",
      plugins, repetitions, first, times.first[0] * 1e6, median_us(times.again, repetitions), load);
  return 0;
}
