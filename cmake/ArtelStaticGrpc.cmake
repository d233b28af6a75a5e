# artel_static_variant(NAME SHARED PACKAGE): an interface target NAME that is the target SHARED, or for executables
# with the property ARTEL_STATIC_GRPC the static libraries of the pkg-config PACKAGE and of all that it needs.
function(artel_static_variant name shared package)
  execute_process(COMMAND ${PKG_CONFIG_EXECUTABLE} --static --libs ${package}
                  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags)
  set(archives "")
  set(others "")
  foreach(flag IN LISTS flags)
    if(NOT flag MATCHES "^-l(.+)$")
      continue()
    endif()
    set(library ${CMAKE_MATCH_1})
    find_library(ARTEL_STATIC_${library} NAMES lib${library}.a)
    mark_as_advanced(ARTEL_STATIC_${library})
    # The C library's parts stay shared: name service and threads live there.
    if(ARTEL_STATIC_${library} AND NOT library MATCHES "^(dl|pthread|rt|m|atomic)$")
      list(APPEND archives ${ARTEL_STATIC_${library}})
    else()
      list(APPEND others ${library})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES archives)
  list(REMOVE_DUPLICATES others)
  list(REMOVE_ITEM others atomic)
  # A group, since the archives of Abseil need one another in circles.
  list(JOIN archives "," group)
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE
    "$<IF:$<BOOL:$<TARGET_PROPERTY:ARTEL_STATIC_GRPC>>,$<LINK_GROUP:RESCAN,${group}>;${others},${shared}>")
endfunction()
