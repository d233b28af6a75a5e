# artel_library(NAME DEPS...): a static library of all sources in the current folder, include root src/.
# artel_program(NAME DEPS...): an executable of all sources in the current folder.
# artel_tests(NAME DEPS...):   a Catch2 executable of all *_test.cc in the current folder, each case registered as one ctest entry per file tag.
function(artel_common target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${target} PRIVATE ${ARTEL_WARNINGS})
endfunction()

function(artel_library name)
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  add_library(${name} STATIC ${sources})
  artel_common(${name})
  target_link_libraries(${name} PUBLIC ${ARGN})
endfunction()

function(artel_program name)
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  add_executable(${name} ${sources})
  artel_common(${name})
  target_link_libraries(${name} PRIVATE ${ARGN})
endfunction()

function(artel_tests name)
  file(GLOB sources CONFIGURE_DEPENDS *_test.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  artel_common(${name})
  target_link_libraries(${name} PRIVATE artel_catch_main ${ARGN})
  # Catch2's macros compile slowly, most of all optimised or with UBSan; what is tested keeps both.
  target_compile_options(${name} PRIVATE -O0)
  if(ARTEL_SANITIZE)
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined)
  endif()
  add_test(NAME ${name} COMMAND ${name})
endfunction()
