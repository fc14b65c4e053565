/* Versions of plugins: numbers with dots between them, such as "1.2.0", and semantic versioning's
 * suffixes, such as "1.2.0-rc.1" and "1.2.0+debug". */
#ifndef TENON_PLUGIN_REGISTRY_VERSION_H_
#define TENON_PLUGIN_REGISTRY_VERSION_H_

/* Returns a value below 0 if `a` is older than `b`, 0 if neither is newer, else a value above 0.
 * Numbers that are absent are 0. A text behind '-' makes a version older than the same version
 * without it; two such texts are compared in the same way, with digits as numbers and all other
 * characters by their code. A text behind '+' is ignored. Every text is a version: characters that
 * are neither digits nor dots are compared by their code. */
int tenon__version_compare(const char* a, const char* b);

#endif
