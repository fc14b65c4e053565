/* Operators that nodes of a model find by their names. */
#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("named", "1.0.0",
                      "offers: operator com.named.scale/1\noffers: operator com.named.scale/3\n"
                      "offers: operator com.named.Scale/2\noffers: operator com.named.all/1\n"
                      "offers: operator com.named.halves/1\n");

static const tenon_type_variable_t types[] = {{sizeof(*types), .name = "T", .allowed = "float"}};
static const tenon_port_t x[] = {
    {sizeof(*x), .name = "x", .type = "T", .summary = "what is scaled"},
    {sizeof(*x), .name = "shift", .type = "T", .flags = TENON_PORT_OPTIONAL}};
static const tenon_port_t y[] = {{sizeof(*y), .name = "y", .type = "T"}};
static const tenon_attribute_descriptor_t factor[] = {
    {sizeof(*factor), .name = "factor", .kind = TENON_ATTRIBUTE_FLOAT, .default_text = "2.0",
     .summary = "how much more"}};
/* Which one was found shows in the numbers. */
static const tenon_case_t scale_1[] = {
    {sizeof(*scale_1), .when = "present(shift)", .text = "y = x * factor + shift"},
    {sizeof(*scale_1), .text = "y = x * factor"}};
static const tenon_case_t scale_3[] = {{sizeof(*scale_3), .text = "y = x * factor + 300"}};
static const tenon_case_t exact[] = {{sizeof(*exact), .text = "y = x * factor + 20"}};

/* One attribute of every kind; the result tells that each arrived. */
static const tenon_attribute_descriptor_t kinds[] = {
    {sizeof(*kinds), .name = "i", .kind = TENON_ATTRIBUTE_INT, .flags = TENON_ATTRIBUTE_REQUIRED},
    {sizeof(*kinds), .name = "f", .kind = TENON_ATTRIBUTE_FLOAT, .flags = TENON_ATTRIBUTE_REQUIRED},
    {sizeof(*kinds), .name = "s", .kind = TENON_ATTRIBUTE_STRING,
     .flags = TENON_ATTRIBUTE_REQUIRED},
    {sizeof(*kinds), .name = "is", .kind = TENON_ATTRIBUTE_INTS, .flags = TENON_ATTRIBUTE_REQUIRED},
    {sizeof(*kinds), .name = "fs", .kind = TENON_ATTRIBUTE_FLOATS,
     .flags = TENON_ATTRIBUTE_REQUIRED},
    {sizeof(*kinds), .name = "ss", .kind = TENON_ATTRIBUTE_STRINGS,
     .flags = TENON_ATTRIBUTE_REQUIRED},
    {sizeof(*kinds), .name = "to", .kind = TENON_ATTRIBUTE_DTYPE,
     .flags = TENON_ATTRIBUTE_REQUIRED}};
static const tenon_case_t all[] = {{sizeof(*all),
                                    .when = "i == 3 && s == 'yes' && len(is) == 2 && to == 'i32'",
                                    .text = "y = x * f"}};

static const tenon_port_t halves[] = {
    {sizeof(*halves), .name = "low", .type = "T"},
    {sizeof(*halves), .name = "high", .type = "T", .flags = TENON_PORT_OPTIONAL}};
static const tenon_case_t half[] = {{sizeof(*half), .text = "low = x * 0.5; high = x * 1.5"}};

static const tenon_operator_t operators[] = {
    {sizeof(*operators), .name = "com.named.scale/1", .attributes = TENON_LIST(factor),
     .types = TENON_LIST(types), .inputs = {x, 2, sizeof(*x)}, .outputs = TENON_LIST(y),
     .cases = TENON_LIST(scale_1)},
    {sizeof(*operators), .name = "com.named.scale/3", .attributes = TENON_LIST(factor),
     .types = TENON_LIST(types), .inputs = {x, 1, sizeof(*x)}, .outputs = TENON_LIST(y),
     .cases = TENON_LIST(scale_3)},
    {sizeof(*operators), .name = "com.named.Scale/2", .attributes = TENON_LIST(factor),
     .types = TENON_LIST(types), .inputs = {x, 1, sizeof(*x)}, .outputs = TENON_LIST(y),
     .cases = TENON_LIST(exact)},
    {sizeof(*operators), .name = "com.named.all/1", .attributes = TENON_LIST(kinds),
     .types = TENON_LIST(types), .inputs = {x, 1, sizeof(*x)}, .outputs = TENON_LIST(y),
     .cases = TENON_LIST(all)},
    {sizeof(*operators), .name = "com.named.halves/1", .types = TENON_LIST(types),
     .inputs = {x, 1, sizeof(*x)}, .outputs = TENON_LIST(halves), .cases = TENON_LIST(half)},
};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "named", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
