# shellcheck shell=bash disable=SC2154
# Our own kernels pass. Cases are few here; check.own draws more.
passes "$build/plugins/cpu.so" --cases 6 --only '(convolution|lstm|scatter|top_k|softmax|permute)'
says "ok       values cpu:convolution standard.convolution/1: 6 cases" \
  "ok       threads cpu:lstm standard.lstm/1"
# Absent inputs in front of others; scales of blocks with other extents than x.
passes "$build/plugins/cpu.so" --cases 24 --only 'values .*(convolution_integer|quantize_linear)/1'
