/* A library that fixtures are linked to, or open: not a plugin. */
__attribute__((visibility("default"))) int fixture_neighbour(void);
int fixture_neighbour(void) {
  return 1;
}
