# shellcheck shell=bash
# Models and arrays of a few bytes, written by hand.

# Bytes are hexadecimal digits until the file is written.
write_bytes() { # FILE DIGITS
  # shellcheck disable=SC2059
  printf "$(sed 's/../\\x&/g' <<<"$2")" >"$1"
}
digits_of() {
  printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n'
}
# A varint below 16384.
number() {
  if (($1 < 128)); then
    printf '%02x' "$1"
  else
    printf '%02x%02x' $(($1 % 128 + 128)) $(($1 / 128))
  fi
}
# A field of a protobuf message: NUMBER DIGITS, or with a varint.
part_of() {
  printf '%s%s%s' "$(number $(($1 * 8 + 2)))" "$(number $((${#2} / 2)))" "$2"
}
varint_of() {
  printf '%s%s' "$(number $(($1 * 8)))" "$(number "$2")"
}
# A tensor's name, element type and extents: a number, or a name where it is open; "any" for a tensor
# without a shape.
value_info() {
  local name=$1 type=$2 shape='' extent tensor
  shift 2
  for extent in "$@"; do
    if [[ $extent == [0-9]* ]]; then
      shape+=$(part_of 1 "$(varint_of 1 "$extent")")
    else
      shape+=$(part_of 1 "$(part_of 2 "$(digits_of "$extent")")")
    fi
  done
  tensor=$(varint_of 1 "$type")
  [[ ${1:-} == any ]] || tensor+=$(part_of 2 "$shape")
  printf '%s%s' "$(part_of 1 "$(digits_of "$name")")" "$(part_of 2 "$(part_of 1 "$tensor")")"
}
# make_model FILE OPERATOR TYPE EXTENT...: y = OPERATOR(x). Types as ONNX counts them: 1 f32, 7 i64,
# 10 f16. Before it may stand `tripled`: y = OPERATOR(x, x, x) along the last axis; `node_name`,
# `input_name`.
make_model() {
  local file=$1 operator=$2 type=$3 node graph inputs=1 input=${input_name:-x}
  shift 3
  node=''
  [[ -z ${tripled:-} ]] || inputs=3
  for _ in $(seq "$inputs"); do
    node+=$(part_of 1 "$(digits_of "$input")")
  done
  node+=$(part_of 2 "$(digits_of y)")$(part_of 4 "$(digits_of "$operator")")
  node+=$(part_of 3 "$(digits_of "${node_name:-node}")")
  if ((inputs == 3)); then
    node+=$(part_of 5 "$(part_of 1 "$(digits_of axis)")$(varint_of 3 $(($# - 1)))$(varint_of 20 2)")
  fi
  graph=$(part_of 1 "$node")$(part_of 2 "$(digits_of g)")
  graph+=$(part_of 11 "$(value_info "$input" "$type" "$@")")
  graph+=$(part_of 12 "$(value_info y "$type" any)")
  write_bytes "$file" "$(varint_of 1 8)$(part_of 7 "$graph")$(part_of 8 "$(varint_of 2 13)")"
}
# make_endless FILE: y = |x|, n times over; and beside it FILE.n.npy, an n that no run gets to.
make_endless() {
  local body node graph name header
  node=$(part_of 1 "$(digits_of v)")$(part_of 2 "$(digits_of u)")$(part_of 4 "$(digits_of Abs)")
  body=$(part_of 1 "$node")
  node=$(part_of 1 "$(digits_of condition)")$(part_of 2 "$(digits_of again)")
  node+=$(part_of 4 "$(digits_of Identity)")
  body+=$(part_of 1 "$node")$(part_of 2 "$(digits_of body)")
  body+=$(part_of 11 "$(value_info iteration 7)")$(part_of 11 "$(value_info condition 9)")
  body+=$(part_of 11 "$(value_info v 1 2)")
  body+=$(part_of 12 "$(value_info again 9)")$(part_of 12 "$(value_info u 1 2)")
  node=''
  for name in n '' x; do
    node+=$(part_of 1 "$(digits_of "$name")")
  done
  node+=$(part_of 2 "$(digits_of y)")$(part_of 4 "$(digits_of Loop)")
  node+=$(part_of 5 "$(part_of 1 "$(digits_of body)")$(part_of 6 "$body")$(varint_of 20 5)")
  graph=$(part_of 1 "$node")$(part_of 2 "$(digits_of g)")
  graph+=$(part_of 11 "$(value_info n 7)")$(part_of 11 "$(value_info x 1 2)")
  graph+=$(part_of 12 "$(value_info y 1 2)")
  write_bytes "$1" "$(varint_of 1 8)$(part_of 7 "$graph")$(part_of 8 "$(varint_of 2 13)")"
  printf -v header '%-117s\n' "{'descr': '<i8', 'fortran_order': False, 'shape': (), }"
  write_bytes "$1.n.npy" "934e554d505901007600$(digits_of "$header")0000000000000040"
}
# make_array FILE TYPE SHAPE DIGITS: an .npy; TYPE as NumPy writes it ('<f8'), SHAPE '2, 3'.
make_array() {
  local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3,), }"
  printf -v header '%-117s\n' "$header"
  write_bytes "$1" "934e554d50590100$(printf '%02x' ${#header})00$(digits_of "$header")$4"
}
