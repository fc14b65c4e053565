/* The contract's access to a region. */
#ifndef TENON_CORE_REGION_REGION_TABLE_H_
#define TENON_CORE_REGION_REGION_TABLE_H_

#include "tenon/plugin.h"

/* Returns one static table. Arguments of plugins are checked: an invalid index gives NULL or zeros.
 * Any thread, while the region lives. */
const tenon_region_table_t* tenon__region_table(void);

#endif
