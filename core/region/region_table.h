/* The contract's way to look at a region. */
#ifndef TENON_CORE_REGION_REGION_TABLE_H_
#define TENON_CORE_REGION_REGION_TABLE_H_

#include "tenon/plugin.h"

/* One static table. Every question is checked, as plugins ask: an index that is none gives NULL or
 * zeros. Any thread, while the region lives. */
const tenon_region_table_t* tenon__region_table(void);

#endif
