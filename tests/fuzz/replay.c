/* Runs a fuzz target over every file of the folders given, where libFuzzer is not at hand. The
 * empty input is always tried. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static int replay_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    (void)fprintf(stderr, "%s: cannot open\n", path);
    return 1;
  }
  uint8_t* data = NULL;
  size_t size = 0;
  size_t got = 0;
  do {
    uint8_t* more = realloc(data, size + 65536);
    if (more == NULL) {
      abort();
    }
    data = more;
    got = fread(data + size, 1, 65536, file);
    size += got;
  } while (got > 0);
  (void)fclose(file);
  (void)LLVMFuzzerTestOneInput(data, size);
  free(data);
  return 0;
}

static int replay_folder(const char* path, size_t* inout_count) {
  DIR* folder = opendir(path);
  if (folder == NULL) {
    return 0; /* no corpus yet */
  }
  int failed = 0;
  const struct dirent* entry = NULL;
  while ((entry = readdir(folder)) != NULL) {
    char file[4096];
    if (entry->d_name[0] == '.') {
      continue;
    }
    (void)snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
    failed |= replay_file(file);
    ++*inout_count;
  }
  (void)closedir(folder);
  return failed;
}

int main(int argc, char** argv) {
  int failed = 0;
  size_t count = 0;
  (void)LLVMFuzzerTestOneInput((const uint8_t*)"", 0);
  for (int i = 1; i < argc; ++i) {
    failed |= replay_folder(argv[i], &count);
  }
  (void)printf("%zu inputs replayed\n", count);
  return failed;
}
