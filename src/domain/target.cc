#include "domain/target.h"

#include <algorithm>

#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr std::string_view kAlnum =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool consists_of(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return kAlnum.find(c) != std::string_view::npos || more.find(c) != std::string_view::npos;
  });
}

bool is_digits(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

// `#name` or an id; people write names in any alphabet.
bool is_slack_channel(std::string_view text) {
  return count_chars(text) <= 81 && is_clean_utf8(text) &&
         text.find_first_of(" \t\r\n,<>&\"") == std::string_view::npos;
}

}  // namespace

bool is_mail_address(std::string_view text) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at > 64 || text.size() > 254) return false;
  const auto local = text.substr(0, at), domain = text.substr(at + 1);
  const auto dotted = [](std::string_view part) {
    return !part.empty() && part.front() != '.' && part.back() != '.' &&
           part.find("..") == std::string_view::npos;
  };
  return dotted(local) && dotted(domain) && consists_of(local, ".!#$%&'*+/=?^_`{|}~-") &&
         consists_of(domain, ".-");
}

Target parse_target(std::string_view text, const std::string& field) {
  const auto colon = text.find(':');
  Target target{std::string(text.substr(0, colon)),
                colon == std::string_view::npos ? "" : std::string(text.substr(colon + 1))};
  const bool named = colon != std::string_view::npos;
  if (named && target.to.empty()) {
    throw BadRequest(field, "has nothing after the colon: \"" + shorten(text, 60) + "\"");
  }
  if (target.channel == "slack") {
    if (named && !is_slack_channel(target.to)) {
      throw BadRequest(field, "slack: takes a channel, like slack:#ops or slack:C0123");
    }
  } else if (target.channel == "discord") {
    if (named && (!is_digits(target.to) || target.to.size() > 20)) {
      throw BadRequest(field, "discord: takes a channel's id, which is a number");
    }
  } else if (target.channel == "email") {
    if (named && !is_mail_address(target.to)) {
      throw BadRequest(field, "email: takes one address, like email:ana@example.org");
    }
  } else if (target.channel != "url" || named) {
    throw BadRequest(field, "has no channel \"" + shorten(text, 60) +
                                "\"; there are slack, slack:#channel, discord, discord:<id>, "
                                "email, email:<address> and url");
  }
  return target;
}

}  // namespace holdpoint
