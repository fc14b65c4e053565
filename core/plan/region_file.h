/* Limits of regions in a plan, for its reader and writer. */
#ifndef TENON_CORE_PLAN_REGION_FILE_H_
#define TENON_CORE_PLAN_REGION_FILE_H_

/* Inputs of a region, and outputs. Numbering values looks at pairs of them. */
#define TENON_REGION_MOST_ARGUMENTS 16384u

#endif
