/* Checks of the file as a whole, as check_kind_t.run. */
#ifndef TOOL_CHECK_FILE_CHECKS_H_
#define TOOL_CHECK_FILE_CHECKS_H_

#include "check/check.h"

/* ELF file, manifest, versions and trust, without running any code: the registry's reason. */
char check_admission(check_t* check, check_text_t* text);
/* All descriptors: the offers of the manifest, faults in texts, wrong rewrites, names of others. */
char check_load(check_t* check, check_text_t* text);
/* query for older and newer hosts, start for a host that grants no table. */
char check_hosts(check_t* check, check_text_t* text);

#endif
