#include "wire/tame_mail.h"

#include <algorithm>
#include <array>

#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostAddressBytes = 16384;
constexpr std::size_t kMostBoundaries = 2000;

constexpr std::array<std::string_view, 6> kAddressFields{"to",   "cc",     "bcc",
                                                         "from", "sender", "reply-to"};

// Whether the line begins a field of addresses, wherever in the text it stands.
bool begins_addresses(std::string_view line) {
  const auto colon = line.substr(0, 40).find(':');
  if (colon == std::string_view::npos) return false;
  std::string name = lower_case(std::string(line.substr(0, colon)));
  while (name.ends_with(' ') || name.ends_with('\t')) name.pop_back();
  return std::find(kAddressFields.begin(), kAddressFields.end(), name) != kAddressFields.end();
}

}  // namespace

std::string tame_mail(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  std::size_t boundaries = 0;
  std::size_t room = 0;  // Left in the field of addresses that goes on.
  bool in_addresses = false;
  while (!raw.empty()) {
    const auto end = std::min(raw.find('\n'), raw.size() - 1) + 1;
    const std::string_view line = raw.substr(0, end);
    raw.remove_prefix(end);
    if (line.starts_with("--") && ++boundaries > kMostBoundaries) break;
    const bool goes_on = line.starts_with(' ') || line.starts_with('\t');
    if (!goes_on) {
      in_addresses = begins_addresses(line);
      room = kMostAddressBytes;
    }
    if (!in_addresses || line.size() <= room) {
      out.append(line);
    } else if (room > 0) {
      out.append(line.substr(0, room)).append("\r\n");
    }
    room -= std::min(room, line.size());
  }
  return out;
}

}  // namespace holdpoint
