/* Control forms: the core executes them. */
#include "families.h"

#define VALUES(name) \
  PORT_OF(name, "V", NULL, TENON_PORT_OPTIONAL | TENON_PORT_VARIADIC | TENON_PORT_HETEROGENEOUS)

static const tenon_control_t branch_form = {
    .size = sizeof(tenon_control_t),
    .form = TENON_CONTROL_CHOOSE,
};

static const tenon_control_t repetition_form = {
    .size = sizeof(tenon_control_t),
    .form = TENON_CONTROL_REPEAT,
    .passes_iteration = 1,
    .carried_attribute = "carried_count",
    .scanned_attribute = "scanned_count",
    .axes_attribute = "axes",
    .directions_attribute = "directions",
};

static const tenon_control_t mapping_form = {
    .size = sizeof(tenon_control_t),
    .form = TENON_CONTROL_MAP,
    .scanned_attribute = "scanned_count",
    .axes_attribute = "axes",
};

static const tenon_operator_t operators[] = {
    {OPERATOR("branch", "body 0 where the condition is true, else body 1"), TYPES(TYPE("V", "any")),
     INPUTS(PORT("condition", "bool"), VALUES("captured")), OUTPUTS(VALUES("ys")),
     .control = &branch_form},
    {OPERATOR("repetition", "body 0 again and again, with carried values"), TYPES(TYPE("V", "any")),
     INPUTS(OPTIONAL("trip_count", "i64"), OPTIONAL("condition", "bool"), VALUES("values")),
     OUTPUTS(VALUES("ys")),
     ATTRIBUTES(INT("carried_count", "0"), INT("scanned_count", "0"), INTS("axes", "[]"),
                INTS("directions", "[]")),
     .control = &repetition_form},
    {OPERATOR("mapping", "body 0 over slices, collected"), TYPES(TYPE("V", "any")),
     INPUTS(VALUES("values")), OUTPUTS(VALUES("ys")),
     ATTRIBUTES(INT("scanned_count", "1"), INTS("axes", "[]")), .control = &mapping_form},
};
FAMILY(control);
