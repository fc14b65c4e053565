# A text as an array in C, with the layout library in place of its mark if there is one.
#   cmake -DINPUT=page.html -DLIBRARY=dagre.min.js -DOUTPUT=page_source.c -P embed.cmake
file(READ "${INPUT}" text)
set(library "")
if(LIBRARY)
  file(READ "${LIBRARY}" library)
  # Licence: see NOTICE. A script must not end within its text.
  string(REPLACE "</script" "<\\/script" library "${library}")
  string(PREPEND library "/* dagre, https://github.com/dagrejs/dagre, (c) 2012-2014 Chris Pettitt, MIT licence */\n")
endif()
string(REPLACE "@LAYOUT@" "${library}" text "${text}")
file(WRITE "${OUTPUT}.html" "${text}")
file(READ "${OUTPUT}.html" hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${hex}")
file(WRITE "${OUTPUT}" "#include \"page/page_source.h\"\n\nconst unsigned char tool_page_source[] = {\n${bytes}0};\n")
