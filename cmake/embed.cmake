# Compiles a text file into `target` as `std::string_view holdpoint::embedded::<name>` with <name> its file name, dots as
# underscores. Declared in base/embedded.h.
function(holdpoint_embed target file)
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} identifier)
  set(output ${CMAKE_BINARY_DIR}/embedded/${identifier}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_SOURCE_DIR}/${file} -DOUTPUT=${output} -DIDENTIFIER=${identifier}
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${CMAKE_SOURCE_DIR}/${file} ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake)
  target_sources(${target} PRIVATE ${output})
endfunction()
