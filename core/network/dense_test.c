/* Weights where they lie: borrowed from a file at any address, aligned where they are copied. */
#include "core/network/dense.h"

#include "core/network/copy.h"
#include "core/network/test_operators.h"

enum { COUNT = 32 * 1024 }; /* 128 KiB */

/* Floats that lie one byte off. */
static uint8_t bytes[COUNT * sizeof(float) + 8];

static const uint8_t* shifted(void) {
  const uintptr_t place = (uintptr_t)bytes;
  return bytes + (4 - place % 4) % 4 + 1;
}

static uint32_t borrow(test_fixture_t* fixture, const uint8_t* data, int64_t count) {
  uint32_t index = TENON_NONE;
  tenon_tensor_view_t view = {
      .dims = &count, .rank = 1, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  memcpy(&view.data, &data, sizeof(data));
  EXPECT_STATUS(tenon__weights_from_view(fixture->network, "w", &view, true, NULL, &index),
                TENON_OK);
  return index;
}

static bool is_aligned(const void* data) {
  return (uintptr_t)data % sizeof(float) == 0;
}

TENON_TEST(large_weights_stay_where_they_are) {
  test_fixture_t fixture;
  REQUIRE(test_fixture_open(&fixture, tenon__allocator_default()));
  const uint32_t index = borrow(&fixture, shifted(), COUNT);
  REQUIRE(index != TENON_NONE);
  EXPECT(fixture.network->weights[index].data == shifted());
  EXPECT(!fixture.network->weights[index].owned);
  test_fixture_close(&fixture);
}

/* Small ones are looked at while the network is made. */
TENON_TEST(small_weights_are_aligned_at_once) {
  test_fixture_t fixture;
  REQUIRE(test_fixture_open(&fixture, tenon__allocator_default()));
  const uint32_t index = borrow(&fixture, shifted(), 3);
  REQUIRE(index != TENON_NONE);
  EXPECT(is_aligned(fixture.network->weights[index].data));
  EXPECT(fixture.network->weights[index].owned);
  test_fixture_close(&fixture);
}

/* What is built is a copy: there kernels and folding read elements. */
TENON_TEST(a_copy_of_the_network_has_them_aligned) {
  test_fixture_t fixture;
  tenon__network_t* copy = NULL;
  REQUIRE(test_fixture_open(&fixture, tenon__allocator_default()));
  for (size_t i = 0; i < sizeof(bytes); ++i) {
    bytes[i] = (uint8_t)(i * 7);
  }
  const uint32_t off = borrow(&fixture, shifted(), COUNT);
  const uint32_t fine = borrow(&fixture, shifted() + 3, COUNT);
  EXPECT_STATUS(tenon__network_copy(fixture.network, &copy), TENON_OK);
  REQUIRE(copy != NULL);
  EXPECT(is_aligned(copy->weights[off].data));
  EXPECT(memcmp(copy->weights[off].data, shifted(), COUNT * sizeof(float)) == 0);
  EXPECT(copy->weights[fine].data == shifted() + 3);
  tenon__network_destroy(copy);
  test_fixture_close(&fixture);
}

static bool copies(const tenon_allocator_t allocator, void* user) {
  (void)user;
  test_fixture_t fixture;
  tenon__network_t* copy = NULL;
  if (!test_fixture_open(&fixture, allocator)) {
    return false;
  }
  const uint8_t* data = shifted();
  int64_t count = COUNT;
  uint32_t index = 0;
  tenon_tensor_view_t view = {
      .dims = &count, .rank = 1, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  memcpy(&view.data, &data, sizeof(data));
  const bool good =
      tenon__weights_from_view(fixture.network, "w", &view, true, NULL, &index) == TENON_OK &&
      tenon__network_copy(fixture.network, &copy) == TENON_OK;
  tenon__network_destroy(copy);
  test_fixture_close(&fixture);
  return good;
}

TENON_TEST(a_copy_that_has_no_memory_leaks_nothing) {
  tenon__test_each_allocation(copies, NULL);
}
