/*
 * The matrices of a product's batches, in front of product.cuh and integer.cuh. number: batches,
 * rows, inner extent, columns; then per batch axis its extent (4), and how far a step along it is in
 * a (12) and in b (20); batch axes (28).
 */
struct matrices_t {
  i64 a;
  i64 b;
};
/* The places of their first elements. */
INLINE matrices_t matrices_of(const parameters_t& p, i64 batch) {
  matrices_t places = {0, 0};
  for (int k = (int)p.number[28] - 1; k >= 0; --k) {
    const i64 at = batch % p.number[4 + k];
    places.a += at * p.number[12 + k];
    places.b += at * p.number[20 + k];
    batch /= p.number[4 + k];
  }
  return places;
}
