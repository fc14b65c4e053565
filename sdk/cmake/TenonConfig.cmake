# find_package(Tenon): the headers as Tenon::headers, the engine as Tenon::tenon, the command as Tenon::command, and
# tenon_plugin().
# Moves with the folder that it was installed into.
include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.25)
cmake_path(SET tenon_prefix NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../..)

add_library(Tenon::headers INTERFACE IMPORTED)
target_include_directories(Tenon::headers INTERFACE ${tenon_prefix}/include)

# A wheel of Python has the second name alone, for it cannot contain links.
foreach(name libtenon.so libtenon.so.0)
  if(EXISTS ${tenon_prefix}/lib/${name} AND NOT TARGET Tenon::tenon)
    add_library(Tenon::tenon SHARED IMPORTED)
    set_target_properties(Tenon::tenon PROPERTIES IMPORTED_LOCATION ${tenon_prefix}/lib/${name})
    target_link_libraries(Tenon::tenon INTERFACE Tenon::headers)
  endif()
endforeach()

if(EXISTS ${tenon_prefix}/bin/tenon AND NOT TARGET Tenon::command)
  add_executable(Tenon::command IMPORTED)
  set_target_properties(Tenon::command PROPERTIES IMPORTED_LOCATION ${tenon_prefix}/bin/tenon)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/tenon_plugin.cmake)
cmake_policy(POP)
