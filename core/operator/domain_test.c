/* Domains of ports: each word is understood, and rubbish is pointed at. */
#include "core/operator/domain.h"

#include "core/base/test.h"

static const tenon_port_t inputs[] = {{.size = sizeof(tenon_port_t), .name = "data"},
                                      {.size = sizeof(tenon_port_t), .name = "indices"}};
static const tenon_attribute_descriptor_t attributes[] = {
    {.size = sizeof(tenon_attribute_descriptor_t), .name = "axis", .kind = TENON_ATTRIBUTE_INT},
    {.size = sizeof(tenon_attribute_descriptor_t), .name = "mode", .kind = TENON_ATTRIBUTE_STRING}};
static const tenon__descriptor_t op = {
    .inputs = inputs, .input_count = 2, .attributes = attributes, .attribute_count = 2};

static tenon__domain_t parse(const char* text) {
  tenon__domain_t domain = {.min = 99};
  const char* fault = NULL;
  if (!tenon__domain_parse(&op, text, &domain, &fault)) {
    tenon__test_fail(__FILE__, __LINE__, "'%s': fault at '%s'", text, fault);
  }
  return domain;
}

TENON_TEST(words_that_ask_for_nothing) {
  static const char* const texts[] = {NULL, "", "  ", "any", "finite", "any finite"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
    const tenon__domain_t domain = parse(texts[k]);
    EXPECT(!domain.is_positive && !domain.is_nonzero && !domain.is_sorted && !domain.is_distinct);
    EXPECT(!domain.has_range && domain.min == 0 && domain.max == 0);
    EXPECT(domain.places == TENON_DOMAIN_NO_PLACES && domain.input == 0 && domain.axis == 0 &&
           domain.axis_attribute == NULL);
  }
}

TENON_TEST(ranges_and_properties) {
  tenon__domain_t domain = parse("[-1,0.5]");
  EXPECT(domain.has_range);
  EXPECT_NEAR(domain.min, -1, 0);
  EXPECT_NEAR(domain.max, 0.5, 0);
  domain = parse("[ 3 , 3 ] sorted");
  EXPECT(domain.has_range && domain.is_sorted && !domain.is_positive);
  domain = parse("[-inf,inf]");
  EXPECT(domain.min < -1e300 && domain.max > 1e300);
  domain = parse("positive nonzero");
  EXPECT(domain.is_positive && domain.is_nonzero && !domain.has_range);
}

TENON_TEST(places_within_an_input) {
  tenon__domain_t domain = parse("index(data, axis)");
  EXPECT_INT(domain.places, TENON_DOMAIN_INDEX);
  EXPECT_INT(domain.input, 0);
  EXPECT_TEXT(domain.axis_attribute, "axis");
  domain = parse("coordinates(indices,-2) distinct");
  EXPECT_INT(domain.places, TENON_DOMAIN_COORDINATES);
  EXPECT_INT(domain.input, 1);
  EXPECT_INT(domain.axis, -2);
  EXPECT(domain.axis_attribute == NULL);
  EXPECT(domain.is_distinct);
}

TENON_TEST(rubbish_is_pointed_at) {
  static const struct {
    const char* text;
    const char* fault; /* what is left of the text from there on */
  } rows[] = {
      {"rubbish", "rubbish"},
      {"positive rubbish sorted", "rubbish sorted"},
      {"positive, sorted", "positive, sorted"},
      {"[0,1", "[0,1"},
      {"[0 1]", "[0 1]"},
      {"[1,0]", "[1,0]"},
      {"[0,nan]", "[0,nan]"},
      {"[inf,inf]", "[inf,inf]"},
      {"[0,1] [0,1]", "[0,1]"},
      {"sorted sorted", "sorted"},
      {"index", "index"},
      {"index(nobody, 0)", "index(nobody, 0)"},
      {"index(data, nothing)", "index(data, nothing)"},
      {"index(data, mode)", "index(data, mode)"},
      {"index(data, 64)", "index(data, 64)"},
      {"index(data, 0", "index(data, 0"},
      {"index(data, 0) index(data, 1)", "index(data, 1)"},
      {"distinct", "distinct"},
      {"[0,1]sorted", "[0,1]sorted"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    tenon__domain_t domain;
    const char* fault = "";
    EXPECT(!tenon__domain_parse(&op, rows[k].text, &domain, &fault));
    EXPECT_TEXT(fault, rows[k].fault);
  }
}
