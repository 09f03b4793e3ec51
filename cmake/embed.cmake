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

# Compiles all files of a folder into `target`, as `holdpoint::embedded::files_of_<folder>()`.
function(holdpoint_embed_folder target folder)
  get_filename_component(folder_name ${folder} NAME)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${folder}/*)
  set(declared "")
  set(listed "")
  foreach(file ${files})
    holdpoint_embed(${target} ${file})
    get_filename_component(name ${file} NAME)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    string(APPEND declared "extern const std::string_view ${identifier};\n")
    string(APPEND listed "      {\"${name}\", ${identifier}},\n")
  endforeach()
  set(output ${CMAKE_BINARY_DIR}/embedded/files_of_${folder_name}.cc)
  file(CONFIGURE OUTPUT ${output} CONTENT
    "#include \"base/embedded.h\"\nnamespace holdpoint::embedded {\n${declared}std::vector<File> files_of_${folder_name}() {\n  return {\n${listed}  };\n}\n}  // namespace holdpoint::embedded\n" @ONLY)
  target_sources(${target} PRIVATE ${output})
endfunction()
