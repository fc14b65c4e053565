#include "core/base/nearest.h"

#include "core/base/test.h"

TENON_TEST(counts_letters_from_both_ends) {
  EXPECT_INT(tenon__likeness("pads", "padz"), 3);
  EXPECT_INT(tenon__likeness("conv", "convolution"), 4);
  EXPECT_INT(tenon__likeness("aa", "aaa"), 2);
  EXPECT_INT(tenon__likeness("", "x"), 0);
}

TENON_TEST(keeps_the_likest_in_order) {
  static const char* const names[] = {"kernel_shape", "pads", "padding", "paths", "group"};
  char message[TENON_NEAREST_BYTES];
  tenon__nearest_t nearest = {0};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    tenon__nearest_offer_word(&nearest, "padz", names[i]);
  }
  EXPECT_TEXT(tenon__nearest_text(&nearest, message), "; near it: 'pads', 'padding', 'paths'");
}

TENON_TEST(says_nothing_where_nothing_is_like_it) {
  char message[TENON_NEAREST_BYTES];
  tenon__nearest_t nearest = {0};
  tenon__nearest_offer_word(&nearest, "axis", "group");
  tenon__nearest_offer(&nearest, "none", 0);
  EXPECT_TEXT(tenon__nearest_text(&nearest, message), "");
}

TENON_TEST(cuts_long_names) {
  char message[TENON_NEAREST_BYTES];
  char name[2000];
  tenon__nearest_t nearest = {0};
  memset(name, 'n', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  for (int i = 0; i < 4; ++i) {
    tenon__nearest_offer_word(&nearest, name, name);
  }
  EXPECT_INT(strlen(tenon__nearest_text(&nearest, message)) < sizeof(message), 1);
  EXPECT_CONTAINS(message, "'nnn");
}
