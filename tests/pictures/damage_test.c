/* Pictures of every format, cut off and spoilt in every byte: decoded or refused with words, and
 * nothing read or written that is not theirs, which the sanitizers see. */
#include <dirent.h>

#include "core/base/test.h"
#include "plugins/image/fake_host.h"

enum { FILE_MAX = 1 << 16, PIXELS_MAX = 1 << 16 };

static uint8_t file[FILE_MAX];

static tenon_status_t decode(size_t size) {
  uint8_t* copy = malloc(size + 1); /* of exactly its size, so that what lies behind is seen */
  fake_host_t host = {0};
  if (copy == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memcpy(copy, file, size);
  copy = realloc(copy, size > 0 ? size : 1);
  const tenon__picture_t picture = fake_decode(&host, copy, size, TENON__PICTURE_RGB, PIXELS_MAX);
  EXPECT((picture.status != TENON_OK) == (picture.message[0] != '\0'));
  free(host.pixels);
  free(copy);
  return picture.status;
}

static void damage(size_t size) {
  size_t refused = 0;
  for (size_t cut = 0; cut < size; ++cut) {
    refused += decode(cut) != TENON_OK ? 1 : 0;
  }
  EXPECT(refused > size / 2); /* but for what follows the pixels */
  for (size_t at = 0; at < size; ++at) {
    const uint8_t was = file[at];
    static const uint8_t changes[] = {0xFF, 0x80, 0x01};
    for (size_t k = 0; k < sizeof(changes); ++k) {
      file[at] = was ^ changes[k];
      (void)decode(size);
    }
    file[at] = was;
  }
}

#define U32(n) (n) >> 24 & 255, (n) >> 16 & 255, (n) >> 8 & 255, (n)&255

/* openjpeg would allocate 23 GiB for these 51 bytes while it reads the header. */
TENON_TEST(many_tiles_and_components_are_refused_before_there_is_memory_for_them) {
  static const uint8_t many[] = {
      0xFF,   0x4F,   0xFF,   0x51, 0, 41, 0, 0, U32(255), U32(257), U32(0), U32(0), U32(1),
      U32(1), U32(0), U32(0), 0x40, 0, 7,  1, 1, 0xFF,     0x90,     0,      0};
  fake_host_t host = {0};
  const tenon__picture_t picture =
      fake_decode(&host, many, sizeof(many), TENON__PICTURE_RGB, PIXELS_MAX);
  EXPECT_STATUS(picture.status, TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(picture.message, "16384 components and 65535 tiles");
}

TENON_TEST(damaged_files_are_decoded_or_refused) {
  DIR* folder = opendir(TENON_ROOT "/tests/fuzz/corpus/image_decode");
  size_t count = 0;
  REQUIRE(folder != NULL);
  for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/image_decode/%s", TENON_ROOT,
                   entry->d_name);
    FILE* stream = strncmp(entry->d_name, "good_", 5) == 0 ? fopen(path, "rb") : NULL;
    if (stream != NULL) {
      const size_t size = fread(file, 1, sizeof(file), stream);
      (void)fclose(stream);
      EXPECT_STATUS(decode(size), TENON_OK);
      damage(size);
      ++count;
    }
  }
  (void)closedir(folder);
  EXPECT(count >= 12);
}
