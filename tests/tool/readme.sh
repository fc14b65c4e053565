# shellcheck shell=bash disable=SC2154
# The plugin in the README is a whole one.
sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '/^```/d' >squareplus.c
lines=$(wc -l <squareplus.c)
((lines >= 10 && lines <= 40)) || complain "the README's plugin has $lines lines"
mkdir plugins
command="(the README's plugin)"
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -Wno-missing-field-initializers -shared -fPIC \
  -fvisibility=hidden "-I$root/sdk/include" squareplus.c -Wl,-z,relro -Wl,-z,now \
  "-Wl,--version-script=$root/sdk/cmake/plugin.map" -o plugins/squareplus.so >out 2>err ||
  complain "it does not build"
chmod 755 plugins plugins/squareplus.so
try 0 plugins --plugins plugins --only-plugins --index
says '"name": "example.squareplus/1"'
try 0 plugins --plugins plugins --only-plugins
says "squareplus" "0 refused"
