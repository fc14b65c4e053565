/* See hints.h. A factor of an extent is a letter or a number; extents are products of factors. */
#include "check/hints.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A long hint is several literals. NOLINTBEGIN(bugprone-suspicious-missing-comma) */
static const char* const hints[] = {
    "standard.convolution/1: x[n,g*c,h,w] w[g*o,c,3,3] b?[g*o] groups=g",
    "standard.convolution/1: x[n,g*c,h,w] w[g*o,c,1,1] b?[g*o] groups=g",
    "standard.convolution/1: x[n,g,h,w] w[g,1,3,3] b?[g] groups=g",
    "standard.convolution/1: x[n,c,h] w[o,c,3] b?[o] groups=1",
    "standard.convolution/1: x[n,c,h,w] w[o,c,k,l] b?[o] groups=1",
    "standard.convolution_integer/1: x[n,g*c,h,w] w[g*o,c,3,3] x_zero_point?[] w_zero_point?[] "
    "groups=g",
    "standard.convolution_integer/1: x[n,c,h,w] w[o,c,k,l] x_zero_point?[] groups=1",
    "standard.deconvolution/1: x[n,g*c,h,w] w[g*c,o,3,3] b?[g*o] groups=g output_shape=[]",
    "standard.deconvolution/1: x[n,c,h,w] w[c,o,k,l] b?[o] groups=1 output_shape=[] "
    "output_padding=[]",
    "standard.deformable_convolution/1: x[n,g*c,h,w] w[g*o,c,3,3] offset[n,18,h,w] b?[g*o] "
    "mask?[n,9,h,w] "
    "groups=g offset_groups=1 pads=[1,1,1,1] strides=[1,1] dilations=[1,1]",
    "standard.lstm/1: x[s,b,i] w![1,4*h,i] r![1,4*h,h] b?[1,8*h] sequence_lens?[b] "
    "initial_h?[1,b,h] "
    "initial_c?[1,b,h] p?[1,3*h] layout=0 direction=forward",
    "standard.lstm/1: x[s,b,i] w![2,4*h,i] r![2,4*h,h] b?[2,8*h] layout=0 direction=bidirectional",
    "standard.lstm/1: x[b,s,i] w![1,4*h,i] r![1,4*h,h] b?[1,8*h] layout=1 direction=reverse",
    "standard.gru/1: x[s,b,i] w![1,3*h,i] r![1,3*h,h] b?[1,6*h] sequence_lens?[b] "
    "initial_h?[1,b,h] "
    "layout=0 direction=forward",
    "standard.gru/1: x[s,b,i] w![2,3*h,i] r![2,3*h,h] b?[2,6*h] layout=0 direction=bidirectional",
    "standard.rnn/1: x[s,b,i] w![1,h,i] r![1,h,h] b?[1,2*h] sequence_lens?[b] initial_h?[1,b,h] "
    "layout=0 "
    "direction=forward",
    "standard.rnn/1: x[s,b,i] w![2,h,i] r![2,h,h] b?[2,2*h] layout=0 direction=bidirectional",
    "standard.mat_mul/1: a[m,k] b[k,n]",
    "standard.mat_mul/1: a[p,m,k] b[k,n]",
    "standard.mat_mul/1: a[p,m,k] b[p,k,n]",
    "standard.mat_mul/1: a[k] b[k,n]",
    "standard.mat_mul_integer/1: a[m,k] b[k,n] a_zero_point?[] b_zero_point?[]",
    "standard.mat_mul_integer/1: a[m,k] b[k,n] a_zero_point?[m] b_zero_point?[n]",
    "standard.average_pool/1: x[n,c,h,w] kernel_shape=[3,3]",
    "standard.average_pool/1: x[n,c,h,w] kernel_shape=[k,l]",
    "standard.max_pool/1: x[n,c,h,w] kernel_shape=[3,3]",
    "standard.max_pool/1: x[n,c,h,w] kernel_shape=[k,l]",
    "standard.lp_pool/1: x[n,c,h,w] kernel_shape=[k,l]",
    "standard.lp_pool/1: x[n,c,h,w] kernel_shape=[2,3]",
    "standard.lrn/1: x[n,c,h,w] window=3",
    "standard.lrn/1: x[n,c,h,w] window=5",
    "standard.col2im/1: x[n,12*c,l] image_shape=[3,4] block_shape=[3,4]",
    "standard.col2im/1: x[n,4*c,20] image_shape=[5,6] block_shape=[2,2] strides=[1,1] "
    "pads=[0,0,0,0] "
    "dilations=[1,1]",
    "standard.affine_grid/1: theta[n,2,3] dims=[n,c,h,w]",
    "standard.affine_grid/1: theta[n,3,4] dims=[n,c,d,h,w]",
    "standard.grid_sample/1: x[n,c,h,w] grid[n,k,l,2]",
    "standard.grid_sample/1: x[n,c,d,h,w] grid[n,k,l,m,3]",
    "standard.compress/1: x[m,n] condition[m] axis=0 flat=0",
    "standard.compress/1: x[m,n,p] condition[n] axis=1 flat=0",
    "standard.cumulative_sum/1: x[m,n] axis=1",
    "standard.cumulative_sum/1: x[m,n,p] axis=0",
    "standard.cumulative_prod/1: x[m,n] axis=1",
    "standard.resize/1: x[n,c,h,w] sizes=[n,c,2*h,3*w]",
    "standard.resize/1: x[n,c,h,w] sizes=[n,c,k,l]",
    "standard.rotary_embedding/1: x[b,h,s,2*d] cos[m,d] sin[m,d] position_ids[b,s] rotary_dim=0 "
    "num_heads=0",
    "standard.rotary_embedding/1: x[b,h,s,2*d] cos[b,s,d] sin[b,s,d] rotary_dim=0 num_heads=0",
    "standard.roi_align/1: x[n,c,h,w] rois[r,4]~20 batch_indices[r] output_height=k output_width=l",
    "standard.scatter_elements/1: x[m,n] indices[k,n] updates[k,n] axis=0",
    "standard.scatter_elements/1: x[m,n] indices[m,k] updates[m,k] axis=1",
    "standard.scatter_elements/1: x[n,m,p] indices[n,m,k] updates[n,m,k] axis=2",
    "standard.scatter_elements/1: x[m,k,p] indices[l,k,p] updates[l,k,p] axis=0",
    "standard.scatter_elements/1: x[m,n] indices[k,n] updates[k,n] axis=0 reduction=add",
    "standard.scatter_elements/1: x[m,n] indices[k,n] updates[k,n] axis=0 reduction=mul",
    "standard.scatter_nd/1: x[k,n] indices[m,1] updates[m,n] reduction=max",
    "standard.scatter_nd/1: x[k,n] indices[m,1] updates[m,n] reduction=mul",
    "standard.top_k/1: x[n,m*h] k=[5] axis=-1",
    "standard.pad/1: x[m,n] pads=[1,2,3,0]",
    "standard.pad/1: x[m] pads=[0,1]",
    "standard.pad/1: x[n,c,h,w] pads=[0,0,1,2,0,0,2,1] value?[]",
    "standard.strided_slice/1: x[m+3,n+5] starts=[1,2] ends=[1000,1000] axes=[0,1] steps=[1,2]",
    "standard.strided_slice/1: x[m+3,n+5] starts=[-1,3] ends=[-1000,1000] axes=[0,1] steps=[-1,1]",
    "standard.scatter_nd/1: x[m,n] indices[k,1] updates[k,n]",
    "standard.scatter_nd/1: x[m,n] indices[k,2] updates[k]",
    "standard.dft/1: x[b,n,1] onesided=0 fixed_axis=-2",
    "standard.dft/1: x[b,n,2] onesided=0 fixed_axis=-2",
    "standard.dft/1: x[b,n,1] onesided=1 fixed_axis=-2 inverse=0",
    "standard.stft/1: signal[b,4*n,1] frame_step=k window?[n] frame_length=n",
    "standard.top_k/1: x[m,n] k=[3] axis=-1",
    "standard.top_k/1: x[n,m] k=[1] axis=0",
    "standard.top_k/1: x[h,m] k=[2] axis=0",
    "standard.non_max_suppression/1: boxes[b,n,4] scores[b,c,n] max_output=[5]",
    "standard.tensor_scatter/1: cache[b,h,s+8,d] update[b,h,s,d] write_indices?[b] axis=-2",
    "standard.batch_norm/1: x[n,c,h,w] scale[c] bias[c] mean[c] variance[c]",
    "standard.layer_norm/1: x[m,n] scale[n] bias?[n] axis=-1",
    "standard.gather/1: x[m,n] indices[k] axis=0",
    "standard.gather_elements/1: x[m,n] indices[k,n] axis=0",
    "standard.gather_nd/1: x[m,n] indices[k,1]",
};
/* NOLINTEND(bugprone-suspicious-missing-comma) */
enum { HINT_COUNT = sizeof(hints) / sizeof(hints[0]) };

void check_hint_pick(const char* op, check_random_t* random, check_hint_t* out_hint) {
  const size_t length = strlen(op);
  uint32_t count = 0;
  *out_hint = (check_hint_t){0};
  for (size_t i = 0; i < HINT_COUNT; ++i) {
    if (strncmp(hints[i], op, length) == 0 && hints[i][length] == ':' &&
        check_random_pick(random, ++count) == 0) {
      out_hint->text = hints[i] + length + 1;
    }
  }
}

static int64_t symbol_value(check_hint_t* hint, char letter, check_random_t* random) {
  static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 19, 31, 33, 40, 67};
  static const int64_t wide[] = {33, 64, 100, 129, 257, 500, 1000};
  static const int64_t few[] = {1, 1, 2, 3, 4};
  int64_t* value = &hint->symbols[letter - 'a'];
  if (hint->has_empty && letter == hint->empty) {
    return 0;
  }
  if (*value == 0) {
    const bool is_few = strchr("gbnpr", letter) != NULL;
    *value = hint->is_wide && check_random_chance(random, 50) ? wide[check_random_pick(random, 7)]
             : is_few ? few[check_random_pick(random, sizeof(few) / sizeof(few[0]))]
                      : extents[check_random_pick(random, sizeof(extents) / sizeof(extents[0]))];
    if (letter == 'k' || letter == 'l') {
      *value = 1 + check_random_pick(random, 5);
    }
  }
  return *value;
}

/* "g*c", "s+8", "-1". */
static int64_t read_number(check_hint_t* hint, const char** at, check_random_t* random) {
  int64_t value = 0;
  char operation = '+';
  for (;;) {
    int64_t factor = 0;
    if (islower((unsigned char)**at)) {
      factor = symbol_value(hint, *(*at)++, random);
    } else {
      char* end = NULL;
      factor = strtoll(*at, &end, 10);
      *at = end;
    }
    value = operation == '*' ? value * factor : value + factor;
    if (**at != '*' && **at != '+') {
      return value;
    }
    operation = *(*at)++;
  }
}

static uint32_t read_list(check_hint_t* hint, const char* at, check_random_t* random,
                          int64_t* numbers) {
  uint32_t count = 0;
  ++at;
  while (*at != ']' && count < CHECK_MOST_RANK) {
    numbers[count++] = read_number(hint, &at, random);
    at += *at == ',' ? 1 : 0;
  }
  return count;
}

/* Behind the name; NULL: the hint does not have it. */
static const char* find_word(const check_hint_t* hint, const char* name) {
  const size_t length = strlen(name);
  const char* at = hint->text;
  while (at != NULL && (at = strchr(at, ' ')) != NULL) {
    ++at;
    if (strncmp(at, name, length) == 0 && strchr("[?!=", at[length]) != NULL) {
      return at + length;
    }
  }
  return NULL;
}

bool check_hint_dims(check_hint_t* hint, const char* input, check_random_t* random, int64_t* dims,
                     uint32_t* out_rank, check_hint_traits_t* out_traits) {
  const char* at = find_word(hint, input);
  if (at == NULL || *at == '=') {
    return false;
  }
  const char* end = strchr(at, ']') + 1;
  *out_traits =
      (check_hint_traits_t){*at == '?', *at == '!', *end == '~' ? strtod(end + 1, NULL) : 1};
  *out_rank = read_list(hint, at + (*at == '[' ? 0 : 1), random, dims);
  return true;
}

bool check_hint_numbers(check_hint_t* hint, const char* name, check_random_t* random,
                        int64_t* numbers, uint32_t* out_count) {
  const char* at = find_word(hint, name);
  if (at == NULL || *at != '=' ||
      (islower((unsigned char)at[1]) && islower((unsigned char)at[2]))) {
    return false;
  }
  ++at;
  if (*at == '[') {
    *out_count = read_list(hint, at, random, numbers);
  } else {
    numbers[0] = read_number(hint, &at, random);
    *out_count = TENON_NONE; /* a scalar */
  }
  return true;
}

const char* check_hint_text(const check_hint_t* hint, const char* name) {
  const char* at = find_word(hint, name);
  return at != NULL && *at == '=' ? at + 1 : NULL;
}
