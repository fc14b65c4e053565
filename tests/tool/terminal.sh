# shellcheck shell=bash disable=SC2154,SC2034
# On a terminal long work shows a bar; in a pipe nothing but words is written.
command -v script >/dev/null || {
  echo "skipped: there is no script(1)"
  exit 0
}

# on_terminal COLUMNS ARGUMENTS...: what the command writes to a terminal of that width.
on_terminal() {
  local columns=$1 line
  shift
  command="$*, on a terminal of $columns columns"
  printf -v line '%q ' "$tenon" "$@"
  script -qec "stty cols $columns rows 40; $line" /dev/null >out 2>err </dev/null ||
    complain "its exit status is $?"
}
shows() {
  local text
  for text in "$@"; do
    grep -qE "\[[#.]+\] [0-9]+/[0-9]+ $text" out || complain "no bar says: $text"
  done
}
# Nothing of a bar, neither its cells nor what erases it.
shows_no_bar() {
  ! grep -qE $'\r|\033|\\[[#.]+\\]' out err || complain "there is a bar in a pipe"
}

on_terminal 100 bench "$digits/model.onnx" --seconds 0.5 --warm-up 0.5
shows "warming up" "measuring"
on_terminal 100 compare "$coins/model.onnx" --outputs-only
shows "running the reference"
on_terminal 100 inspect "$coins/model.onnx"
shows "timing the steps"
mkdir cases
cp -r "$coins" cases
on_terminal 100 suite cases
shows "coins"

try 0 bench "$digits/model.onnx" --seconds 0.3
shows_no_bar
try 0 compare "$digits/model.onnx"
shows_no_bar
try 0 inspect "$digits/model.onnx"
shows_no_bar
try 0 suite cases
shows_no_bar

# Tables fit the terminal, and names keep their tails; in a pipe they are whole.
try 0 build "$coins/model.onnx" -o coins.plan
for columns in 60 80 100; do
  for arguments in "inspect coins.plan --no-run" "run coins.plan --profile-steps"; do
    # shellcheck disable=SC2086
    on_terminal "$columns" $arguments
    sed $'s/\r$//; s/.*\r//; s/\033\\[K//g' out | sed -n '/^step /,$p' >table
    (($(wc -l <table) > 20)) || complain "there is no table"
    awk -v columns="$columns" 'length($0) > columns { exit 1 }' table ||
      complain "a row is wider than the terminal"
    grep -q 'first.conv1' table || complain "a name is not there"
  done
done
