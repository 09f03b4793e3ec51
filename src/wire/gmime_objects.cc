#include "wire/gmime_objects.h"

namespace holdpoint {

std::string gmime_content(GMimePart* part) {
  GMimeDataWrapper* content = g_mime_part_get_content(part);
  if (!content) return "";
  const auto stream = gmime_own(g_mime_stream_mem_new());
  g_mime_data_wrapper_write_to_stream(content, stream.get());
  const GByteArray* bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream.get()));
  if (!bytes || !bytes->data) return "";
  return std::string(reinterpret_cast<const char*>(bytes->data), bytes->len);
}

}  // namespace holdpoint
