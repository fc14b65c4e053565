/*
 * What attention is given beside its scores' operands: the member `shape` of the parameters
 * (frame.cuh). In front of frame.cuh; shape.h has the same for the host. `outer` of the parameters
 * counts the blocks: outer axes, then tiles of queries; its strides are the operands' on the scores.
 */
#define SHAPE 1

struct lines_t {
  i64 outer[8];
  i64 row;
  i64 feature;
};
struct shape_t {
  const char* q;
  const char* k;
  const char* v;
  char* y;
  lines_t lines[4]; /* of q, k, v, y */
  int queries;
  int keys;
  int wide_y; /* 1: y is written in words of 16 bytes */
  int releases_early; /* 1: before the wait, because each block has a multiprocessor to itself */
};
