/* The contract's way to look at a region. */
#ifndef TENON_CORE_REGION_REGION_TABLE_H_
#define TENON_CORE_REGION_REGION_TABLE_H_

#include "tenon/plugin.h"

const tenon_region_table_t* tenon__region_table(void);

#endif
