#!/bin/sh
# Writes sdk/docs/operators.md from the plugins of a build: which operators of model files there are converters for.
# Usage: update.sh BUILD_FOLDER [--check]
# --check writes nothing, and fails when the page is not what would be written.
set -eu
export LC_ALL=C # the order of sort, and binary files
folder=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$folder/../.." && pwd)
build=$(cd "${1:?the build folder}" && pwd)
page=$root/sdk/docs/operators.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

# What tests there are, with tabs between: FORMAT DOMAIN TYPE COUNT, DOMAIN "*" for any; and FORMAT "-" "-" WORDS.

# A network's prototxt begins with its name; a Python layer is the class that it names.
count_caffe() {
  expected=$root/tests/layers/expected.bin
  by_opencv=$(grep -a -o -P '\x06\x00\x00\x00opencv' "$expected" | wc -l)
  grep -a -o -E "name: 'case'|type: '[A-Za-z0-9_]+'|layer: '[A-Za-z0-9_]+'" "$expected" |
    awk -F"'" -v by_opencv="$by_opencv" '
      /^name/ { ++cases; next }
      last[$2] != cases { ++count[$2]; last[$2] = cases }
      END {
        for (type in count)
          printf "caffe\t*\t%s\t%d\n", type, count[type]
        printf "caffe\t-\t-\t%d networks test them, %d against OpenCV, %d against NumPy\n", cases, by_opencv, cases - by_opencv
      }'
}

count_uff() {
  sed -nE 's/^\{"kind": "converter", "name": "([^"]*)".*"format": "uff", "domain": "([^"]*)".*/\2\t\1/p' "$work/index" |
    "$build/tests/case_count" "$root/tests/tensorflow/expected.bin" |
    awk -F'\t' '
      $1 != "-" { printf "uff\t%s\n", $0 }
      $1 == "-" { total[$2] = $3 }
      END { printf "uff\t-\t-\t%d UFF files and %d graphs test them against TensorFlow\n", total["-"], total["tensorflow"] }'
}

"$build/bin/tenon" plugins --index --only-plugins --plugins "$build/plugins" >"$work/index"
# Plugins of contrib/ list their operators themselves.
for contributed in "$root"/contrib/*/; do
  sed -i "/\"plugin\": \"$(basename "$contributed")\"/d" "$work/index"
done
sed -nE 's/^\{"kind": "converter", .*"plugin": "([^"]*)".*/\1/p' "$work/index" | sort -u |
  sed "s|.*|$build/plugins/&.so|" | xargs "$build/tests/rows_dump" >"$work/rows"
count_caffe >"$work/counts"
count_uff >>"$work/counts"
awk -f "$folder/page.awk" list=rows "$work/rows" list=counts "$work/counts" list=notes "$folder/notes.txt" \
  list=index "$work/index" >"$work/page"
if [ "${2:-}" != --check ]; then
  cp "$work/page" "$page"
  echo "wrote ${page#"$root"/}"
elif ! diff -u "$page" "$work/page"; then
  echo "sdk/docs/operators.md is not what the plugins are: tests/operators/update.sh writes it anew"
  exit 1
fi
