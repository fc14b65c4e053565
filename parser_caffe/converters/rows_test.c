#include "testing/under_test.h"
#include "tests/support/row_tables.h"
