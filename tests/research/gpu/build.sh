#!/bin/sh
# build.sh [FOLDER]: compiles the GPU experiments for sm_90a into FOLDER (default: the current one).
# NVCC names the compiler, LIBRARY_FOLDER where cuBLASLt, cuDNN and NVRTC are; those that miss are left out.
set -e
mkdir -p "${1:-.}"
out=$(realpath "${1:-.}")
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
libraries=${LIBRARY_FOLDER:-$(dirname "$(dirname "$(command -v "$nvcc")")")/lib64}

make_one() { # NAME LIBRARY...
  name=$1
  shift
  for library in "$@"; do
    if [ "$library" != -lcuda ] && [ ! -e "$libraries/lib${library#-l}.so" ]; then
      echo "$name: left out, no $library in $libraries"
      return
    fi
  done
  $nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -Xcompiler -Wall "$name.cu" -o "$out/$name" \
    -L"$libraries" -L"$libraries/stubs" "$@"
  echo "$out/$name"
}

make_one dependent_launch -lcublasLt -lcudnn -lcuda
make_one product128 -lcublasLt
make_one product_limits
make_one bert_chain
make_one inverted_residual
make_one cudnn_engines -lcudnn
make_one cudnn_fusion -lcudnn
make_one cudnn_without_gpu -lcudnn
make_one cudnn_attention -lcudnn
make_one failure -lcublasLt
make_one startup -lcublasLt -lcudnn
make_one cublaslt -lcublasLt
make_one runtime_compile -lnvrtc -lcuda
make_one host_costs
make_one graph_nodes
make_one single_launch
make_one early_release
make_one conditional_nodes
make_one conditional_bodies -lcublasLt -lnvrtc -lcuda
make_one device_errors
make_one cache_step
make_one branches
make_one recurrent
make_one row_reductions -lnvrtc -lcuda
make_one elementwise -lnvrtc -lcuda
make_one transpose -lnvrtc -lcuda
make_one library_operations -lcudnn
make_one cudnn_recurrent -lcudnn
make_one layouts -lcudnn
make_one versions -lcudnn -lcublasLt
make_one attention_products -lcublasLt
make_one two_gpus
make_one convolution_tiles -lcudnn
make_one convolution_halo -lcudnn
make_one top_k
make_one row_sort
make_one exchange_nodes -lcudnn
make_one depthwise -lcudnn -lnvrtc -lcuda
make_one single_precision -lcudnn -lcublasLt
make_one suppression
make_one compaction
make_one staging
make_one random_numbers
make_one moves -lnvrtc -lcuda
make_one eight_bits -lcublasLt
make_one strided_expressions -lnvrtc -lcuda
make_one expression_pieces -lnvrtc -lcuda
make_one strided_rows -lnvrtc -lcuda
make_one parallel_branches
make_one inception -lcudnn
make_one int8_convolutions -lcudnn
make_one spatial_strides -lcudnn
make_one indexed_moves
make_one scatter
make_one padding -lnvrtc -lcuda
make_one grouped_convolutions -lcudnn
make_one transposed_convolutions -lcudnn
make_one memory_pools
make_one few_rows -lcublasLt
make_one decode_attention -lcudnn
make_one open_extents
make_one interpreter -lnvrtc -lcuda
make_one many_regions -lnvrtc -lcuda
make_one decoder_step -lcublasLt
make_one encoder_layers -lcublasLt -lcudnn
