#!/usr/bin/env bash
# Templates share text by the folders `common`, KIND and `parts`: no 8 lines in sequence are in two files, except in sources
# of two languages. Each part is used by a file.
#   templates.sh TEMPLATES
set -euo pipefail
cd "${1:?the templates}"
mapfile -t files < <(find . -type f ! -name LICENSE | sort)
((${#files[@]} > 20)) || { echo "FAILED: only ${#files[@]} files"; exit 1; }
failures=0

awk -v size=8 '
  FNR == 1 {
    kind = FILENAME
    sub(/.*\//, "", kind)
    kind = kind ~ /\./ ? substr(kind, index(kind, ".")) : ""
  }
  {
    lines[FNR] = $0
    if (FNR < size) next
    text = kind
    for (k = FNR - size + 1; k <= FNR; ++k) text = text "\n" lines[k]
    if (text in place && index(place[text], FILENAME ":") != 1) {
      printf "FAILED: %s:%d has the lines of %s\n", FILENAME, FNR - size + 1, place[text]
      bad = 1
    }
    place[text] = FILENAME ":" (FNR - size + 1)
  }
  END { exit bad }
' "${files[@]}" || failures=1

for part in $(find . -path '*/parts/*' -type f -printf '%f\n' | sort -u); do
  if ! grep -rqxF "<<$part>>" .; then
    echo "FAILED: no file uses the part $part"
    failures=1
  fi
done
((failures == 0)) && echo "templates: ${#files[@]} files, no text twice"
exit $failures
