#!/usr/bin/env bash
# What `tenon plugin new` refuses, and what it prints.
#   names.sh TENON
set -uo pipefail
tenon=${1:?the command}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

complain() {
  echo "FAILED: tenon plugin new $command"
  echo "  $1"
  sed 's/^/  | /' out
  failures=$((failures + 1))
}
# try STATUS TEXT ARGUMENTS...
try() {
  local wanted=$1 text=$2 status
  shift 2
  command=$*
  "$tenon" plugin new "$@" >out 2>&1
  status=$?
  ((status == wanted)) || complain "its exit status is $status, not $wanted"
  grep -qF -- "$text" out || complain "it does not print: $text"
}

try 2 "NAME is missing"
try 2 "no kind is given" nova
try 2 "more than one kind" nova --operator --kernel
for name in Nova 1nova _nova nova-one 'no va' ../nova .nova 'novä' "$(printf 'a%.0s' {1..65})"; do
  try 2 "invalid name '$name'" "$name" --operator
done
for name in standard cpu onnx; do
  try 2 "is a plugin called '$name'" "$name" --operator
done
try 2 "--language wants c, c++ or rust" nova --operator --language ada
try 2 "no template for --operator in rust" nova --operator --language rust
try 2 "no template for --cuda-kernel in c" nova --cuda-kernel
try 2 "no template for --device in c" nova --device
touch taken
try 2 "taken exists" taken --operator
ln -s nowhere dangling
try 2 "dangling exists" dangling --operator
[[ $(ls -A) == $'dangling\nout\ntaken' ]] || complain "a refused project leaves files: $(ls -A)"

try 0 "ctest --test-dir nova/build" nova --operator
[[ -s nova/nova.c && -s nova/.github/workflows/test.yml && -s nova/LICENSE ]] || complain "files are missing"
try 2 "nova exists" nova --operator
try 0 '"project": "star"' star --parser --json
grep -q '"star/tests/network.star"' out || complain "the list of files is incomplete"
# All templates are complete.
while read -r kind language; do
  name=${kind}_${language//+/p}
  try 0 "wrote these files" "$name" "--$kind" --language "$language"
  for file in CMakeLists.txt README.md LICENSE tests/network.py; do
    [[ -s $name/$file ]] || complain "$file is missing"
  done
  grep -qF "| \`$(cd "$name" && echo "$name".*)\` |" "$name/README.md" || complain "the page does not name the source"
  left=$(grep -rnE '^<<|acme' "$name")
  [[ -z $left && ! -e $name/parts ]] || complain "the project has parts of the template: $left"
done <<'END'
operator c
kernel c
kernel c++
kernel rust
converter c
rewrite c
parser c
END
# A folder in which nothing can be written.
if ((EUID != 0)); then
  mkdir closed
  chmod 555 closed
  (cd closed && "$tenon" plugin new nova --operator) >out 2>&1 && complain "it writes into a closed folder"
fi
# An unfinished installation.
mkdir -p bare/bin
cp "$tenon" bare/bin/tenon
LD_LIBRARY_PATH=$(dirname "$tenon")/../lib bare/bin/tenon plugin new comet --operator >out 2>&1
command="comet, without templates"
grep -q "there are no templates" out || complain "it does not report missing templates"
# An installation without a part.
mkdir -p bare/share/tenon
cp -rL "$(dirname "$tenon")/../share/tenon/templates" bare/share/tenon
rm bare/share/tenon/templates/common/parts/run
LD_LIBRARY_PATH=$(dirname "$tenon")/../lib bare/bin/tenon plugin new comet --operator >out 2>&1
status=$?
command="comet, without a part"
((status == 3)) || complain "its exit status is $status, not 3"
grep -q "there is no part 'run'" out || complain "it does not report a missing part"

((failures == 0)) && echo "names: all as expected"
exit $((failures > 0))
