file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
file(WRITE ${OUTPUT} "#include \"base/embedded.h\"\nnamespace holdpoint::embedded {\nstatic constexpr char k_bytes[] = {${bytes}'\\0'};\nextern const std::string_view ${IDENTIFIER};\nconst std::string_view ${IDENTIFIER}{k_bytes, sizeof k_bytes - 1};\n}  // namespace holdpoint::embedded\n")
