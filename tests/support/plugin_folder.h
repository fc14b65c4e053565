/* A temporary directory with plugins in it, for tests of what looks for plugins: copies of the
 * fixtures that tests/plugins builds, changed or not. Removed with everything in it at the end. */
#ifndef TENON_TESTS_SUPPORT_PLUGIN_FOLDER_H_
#define TENON_TESTS_SUPPORT_PLUGIN_FOLDER_H_

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct test_folder_t {
  char path[256];
} test_folder_t;

typedef struct test_bytes_t {
  unsigned char* data;
  size_t size;
} test_bytes_t;

/* The file `name` of `folder` in `out_path`. */
static inline const char* test_folder_path(const test_folder_t* folder, const char* name,
                                           char out_path[PATH_MAX]) {
  (void)snprintf(out_path, PATH_MAX, "%s/%s", folder->path, name);
  return out_path;
}

static inline bool test_folder_make(test_folder_t* out_folder) {
  const char* base = getenv("TMPDIR");
  char real[PATH_MAX];
  if (realpath(base == NULL || base[0] != '/' ? "/tmp" : base, real) == NULL) {
    return false;
  }
  (void)snprintf(out_folder->path, sizeof(out_folder->path), "%.200s/tenon_test_XXXXXX", real);
  return mkdtemp(out_folder->path) != NULL && chmod(out_folder->path, 0755) == 0;
}

static inline void test_folder_remove_path(const char* path) {
  DIR* stream = opendir(path);
  for (const struct dirent* entry = stream == NULL ? NULL : readdir(stream); entry != NULL;
       entry = readdir(stream)) {
    char inner[PATH_MAX];
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      (void)snprintf(inner, sizeof(inner), "%.2000s/%s", path, entry->d_name);
      struct stat status;
      if (lstat(inner, &status) == 0 && S_ISDIR(status.st_mode)) {
        test_folder_remove_path(inner);
      }
      (void)unlink(inner);
    }
  }
  if (stream != NULL) {
    (void)closedir(stream);
  }
  (void)rmdir(path);
}

static inline void test_folder_remove(const test_folder_t* folder) {
  test_folder_remove_path(folder->path);
}

/* A whole file; data NULL when it cannot be read. free() releases it. */
static inline test_bytes_t test_read_file(const char* path) {
  test_bytes_t bytes = {NULL, 0};
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    (void)fprintf(stderr, "cannot read %s\n", path);
    return bytes;
  }
  (void)fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  (void)fseek(file, 0, SEEK_SET);
  bytes.data = malloc(size > 0 ? (size_t)size : 1);
  if (bytes.data != NULL) {
    bytes.size = fread(bytes.data, 1, (size_t)size, file);
  }
  (void)fclose(file);
  return bytes;
}

/* A fixture by name ("good"), from the build that runs this test. */
static inline test_bytes_t test_read_fixture(const char* fixture) {
  char path[PATH_MAX];
  const char* build = getenv("TENON_BUILD_DIR");
  (void)snprintf(path, sizeof(path), "%s/tests/plugins/%s.so", build == NULL ? "." : build,
                 fixture);
  return test_read_file(path);
}

/* Writes a file of mode 0644 under a fresh inode, whatever the umask says. */
static inline bool test_folder_write(const test_folder_t* folder, const char* name,
                                     const void* data, size_t size) {
  char path[PATH_MAX];
  (void)unlink(test_folder_path(folder, name, path));
  FILE* file = fopen(path, "wb");
  if (file == NULL) {
    return false;
  }
  const bool good = size == 0 || fwrite(data, 1, size, file) == size;
  return fclose(file) == 0 && chmod(path, 0644) == 0 && good;
}

/* A copy of fixture `fixture` as `name`. */
static inline bool test_folder_copy(const test_folder_t* folder, const char* fixture,
                                    const char* name) {
  const test_bytes_t bytes = test_read_fixture(fixture);
  const bool good = bytes.data != NULL && test_folder_write(folder, name, bytes.data, bytes.size);
  free(bytes.data);
  return good;
}

/* Where `needle` first stands in the bytes; the size when it does not. */
static inline size_t test_bytes_find(const test_bytes_t* bytes, const void* needle, size_t size) {
  const unsigned char* found = memmem(bytes->data, bytes->size, needle, size);
  return found == NULL ? bytes->size : (size_t)(found - bytes->data);
}

#endif
