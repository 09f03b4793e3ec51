#include "wire/target_json.h"

#include "domain/bad_request.h"

namespace holdpoint {

std::vector<Target> read_channels(const Json& object, const Limits& limits) {
  std::vector<Target> channels;
  const auto list = object.find("channels");
  if (list == object.end()) return channels;
  if (!list->is_array()) throw BadRequest("channels", "must be a list");
  if (list->size() > limits.max_channels) {
    throw BadRequest("channels", "has at most " + std::to_string(limits.max_channels));
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string at = "channels[" + std::to_string(i) + "]";
    const Json& target = (*list)[i];
    if (!target.is_string()) throw BadRequest(at, "must be a string");
    channels.push_back(parse_target(target.get<std::string>(), at));
  }
  return channels;
}

}  // namespace holdpoint
