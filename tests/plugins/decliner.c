/* One of several plugins that convert a node type, each for one width: it multiplies by the width,
 * and declines the others. It also declines after it has built something, as the attribute `built`
 * says. DECLINER_NAME and DECLINER_BITS are given when it is compiled. */
#include "tenon/maker.h"

TENON_PLUGIN_MANIFEST(DECLINER_NAME, "1.0.0", "offers: converter onnx:shared:Blocks\n");

/* A node, or a body, under the names that the next converter uses. */
static void build_in_vain(tenon_make_t* make, const char* built) {
  const tenon_value_t x = tenon_make_input(make, 0);
  if (strcmp(built, "node") == 0) {
    tenon_make_output(make, 0, tenon_make_1(make, "neg", x));
  } else if (strcmp(built, "open") == 0) {
    tenon_make_begin(make, "neg");
  } else if (strcmp(built, "body") == 0) {
    uint32_t body = 0;
    (void)make->build->begin_body(make->builder, "unused");
    (void)make->build->end_body(make->builder, &body);
  }
}

static void blocks(tenon_make_t* make) {
  const int64_t bits = tenon_make_get_int(make, "bits", 0);
  const tenon_value_t x = tenon_make_input(make, 0);
  if (bits == DECLINER_BITS) {
    tenon_make_say(make, TENON_SEVERITY_WARNING, "%d bits by " DECLINER_NAME, DECLINER_BITS);
    tenon_make_output(
        make, 0,
        tenon_make_2(make, "mul", x,
                     tenon_make_number(make, tenon_make_dtype(make, x), (double)DECLINER_BITS)));
    return;
  }
  build_in_vain(make, tenon_make_get_string(make, "built", ""));
  tenon_make_say(make, TENON_SEVERITY_WARNING, "no use of it");
  tenon_make_fail(make, bits == 0 ? TENON_ERROR_INVALID_DATA : TENON_ERROR_UNSUPPORTED,
                  "%d bits are not %d", (int)bits, DECLINER_BITS);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON_MAKE_ROW(convert, "onnx", "shared", "Blocks", 1, 0, blocks, NULL, NULL)};
static TENON_MAKE_CONVERT(convert) {
  return TENON_MAKE_BY(rows);
}

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("converter/1", rows)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = DECLINER_NAME,
                                      .version = "1.0.0",
                                      /* One offering. NOLINTNEXTLINE(bugprone-sizeof-expression) */
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
