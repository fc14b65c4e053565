/* Conversions that no expression says: bits taken as another type, float8 without saturation, the
 * rounding modes of f8e8m0, quantisation to them. A thread writes whole bytes. */
enum { EACH_OF_BYTE = OUT0_BITS < 8 ? 8 / OUT0_BITS : 1 };
#define EACH_WHOLE(i)                                          \
  EACH(byte, (p.out[0].count + EACH_OF_BYTE - 1) / EACH_OF_BYTE) \
    for (i64 i = byte * EACH_OF_BYTE;                          \
         i < least_of(p.out[0].count, (byte + 1) * EACH_OF_BYTE); ++i)

#if OP_bit_cast
KERNEL convert(const __grid_constant__ parameters_t p) {
  begin(p);
#if OUT0_BITS < 8
  EACH_WHOLE(i) { put_bits(p.out[0], i, OUT0_BITS, bits_at(p.in[0], i, OUT0_BITS)); }
#else
  const int bytes = OUT0_BITS / 8;
  EACH(i, p.out[0].count) {
    for (int k = 0; k < bytes; ++k) {
      p.out[0].data[i * bytes + k] = p.in[0].data[i * bytes + k];
    }
  }
#endif
}
#else

/* Beyond the largest number: infinity where there is one, else NaN. */
#if OUT0_f8e4m3fn
#define PAST(x) (u8)((x) < 0 ? 255 : 127)
#define LARGEST 448.0
#define HALF_PAST 464.0
#define TIE_STAYS 1
#elif OUT0_f8e4m3fnuz
#define PAST(x) (u8)128
#define LARGEST 240.0
#define HALF_PAST 248.0
#elif OUT0_f8e5m2
#define PAST(x) (u8)((x) < 0 ? 252 : 124)
#define LARGEST 57344.0
#define HALF_PAST 61440.0
#elif OUT0_f8e5m2fnuz
#define PAST(x) (u8)128
#define LARGEST 57344.0
#define HALF_PAST 61440.0
#endif
#ifndef TIE_STAYS
#define TIE_STAYS 0
#endif
/* Of a double, rounded once where that is no f32: what lies between two floats is no tie. */
INLINE float rounded_to_odd(double x) {
  const float near = (float)x;
  const unsigned bits = __float_as_uint(near);
  const bool is_inexact = x == x && (double)near != x && (bits & 1) == 0;
  const bool is_away = fabs((double)near) > fabs(x);
  return is_inexact ? __uint_as_float(is_away ? bits - 1 : bits + 1) : near;
}
INLINE void put_float(const parameters_t& p, i64 i, double x) {
#if OUT0_f8e8m0
  const double magnitude = fabs((double)(float)x);
  const u64 bits = (u64)__double_as_longlong(magnitude);
  const u64 fraction = bits & 0xFFFFFFFFFFFFFull;
#if A_round_mode_up
  const int step = fraction != 0 ? 1 : 0;
#elif A_round_mode_down
  const int step = 0;
#else
  const int step = fraction >> 51 != 0 ? 1 : 0;
#endif
  const int power = (int)(bits >> 52) - 1023 + step;
  const bool is_infinite = op_is_inf(x);
  const int least = A_saturate ? 0 : 255;
  ((u8*)p.out[0].data)[i] =
      (u8)(x != x || (is_infinite && !A_saturate)  ? 255
           : is_infinite                           ? 254
           : magnitude == 0.0 || power < -127      ? least
           : power <= 127                          ? power + 127
           : A_saturate                            ? 254
                                                   : 255);
#elif defined(PAST)
  const double magnitude = fabs(x);
  /* Halfway beyond the largest: to the even neighbour, which of f8e4m3fn is the largest itself. */
  const bool is_past = TIE_STAYS ? magnitude > HALF_PAST : magnitude >= HALF_PAST;
  if (!A_saturate && is_past) {
    ((u8*)p.out[0].data)[i] = PAST(x);
  } else {
    OUT0(i, rounded_to_odd(x));
  }
#else
  OUT0(i, x);
#endif
}

#if OP_cast
KERNEL convert(const __grid_constant__ parameters_t p) {
  begin(p);
#if OUT0_CLASS_f && OUT0_BITS < 16
  EACH_WHOLE(i) { put_float(p, i, (double)IN0(i)); }
#else
  EACH_WHOLE(i) { OUT0(i, IN0(i)); }
#endif
}
#else
/* One number for all, one along the axis, one for each block along it, or one for each element. */
INLINE i64 parameter_place(const parameters_t& p, const tensor_t& t, i64 place) {
  int axis = (int)wrapped(A_axis, IN0_RANK);
  axis = axis >= IN0_RANK || axis < 0 ? (IN0_RANK == 0 ? 0 : IN0_RANK - 1) : axis;
  if (t.count == 1) {
    return 0;
  }
  const i64 inner = product(p.in[0], axis + 1, IN0_RANK);
  const i64 at = place / inner % p.in[0].dims[axis];
  return t.rank == 1 ? at
         : A_block_size > 0
             ? (place / inner / p.in[0].dims[axis] * t.dims[axis] + at / A_block_size) * inner + place % inner
             : place;
}
KERNEL convert(const __grid_constant__ parameters_t p) {
  begin(p);
  EACH_WHOLE(i) {
    const float ratio = (float)IN0(i) / (float)IN1(parameter_place(p, p.in[1], i));
    const float zero = HAS_IN2 ? (float)IN2(parameter_place(p, p.in[2], i)) : 0.0f;
#if OUT0_CLASS_f
    put_float(p, i, (double)(ratio + zero));
#else
    OUT0(i, rint((double)ratio) + (double)zero);
#endif
  }
}
#endif
#endif
