#!/bin/sh
# Writes the picture of a recorded input, three planes of (sample - 127) / 128, as a text PPM.
#   recorded_picture.sh INPUT.pb WIDTH HEIGHT PICTURE.ppm
set -eu
export LC_ALL=C
pixels=$(($2 * $3))
# The numbers are the end of the file.
tail -c $((pixels * 12)) "$1" | od -An -v -tf4 -w4 | awk -v pixels="$pixels" -v width="$2" -v height="$3" '
  { sample[NR - 1] = int($1 * 128 + 127.5) }
  END {
    printf "P3\n%d %d\n255\n", width, height
    for (k = 0; k < pixels; k++) print sample[k], sample[k + pixels], sample[k + 2 * pixels]
  }' >"$4"
