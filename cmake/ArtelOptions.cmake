# Compiler, warnings, linker, cache: what every target shares.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(ARTEL_CCACHE ccache)
if(ARTEL_CCACHE)
  # Relative paths, so that several binary folders share one cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${ARTEL_CCACHE})
endif()

find_program(ARTEL_MOLD mold)
if(ARTEL_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(ARTEL_SANITIZE "" CACHE STRING "Sanitizers for all targets, e.g. address,undefined")
if(ARTEL_SANITIZE)
  add_compile_options(-fsanitize=${ARTEL_SANITIZE} -fno-omit-frame-pointer)
  if(ARTEL_SANITIZE MATCHES undefined)
    # They look at every access, double the time to compile, and find what the address sanitizer
    # finds, too, or what this processor allows.
    add_compile_options(-fno-sanitize=null,vptr,object-size,alignment)
  endif()
  add_link_options(-fsanitize=${ARTEL_SANITIZE})
endif()

set(ARTEL_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Reports std::string appends that are inlined as overlapping copies (GCC bug 105651).
  list(APPEND ARTEL_WARNINGS -Wno-restrict)
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
