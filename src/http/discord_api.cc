#include "http/discord_api.h"

#include "wire/ed25519.h"

namespace holdpoint {
namespace {

constexpr const char* kSignature = "X-Signature-Ed25519";
constexpr const char* kTimestamp = "X-Signature-Timestamp";

// A header that is there twice is as good as none: who stands in front of us may have judged the
// other one.
std::string only(const Request& request, const char* name) {
  return request.header_count(name) == 1 ? request.header(name) : "";
}

Response bad_signature(std::string_view message) {
  return error_response(401, "bad_signature", message);
}

}  // namespace

Response discord_interaction(DiscordDesk& desk, const std::string& public_key_hex,
                             const Request& request, Time now) {
  switch (verify_discord(public_key_hex, only(request, kTimestamp), only(request, kSignature),
                         request.body, now)) {
    case Verdict::valid:
      break;
    case Verdict::missing:
      return bad_signature("interactions are signed by Discord, and headers for that are missing");
    case Verdict::stale:
      return bad_signature("the timestamp is more than 300 s off");
    case Verdict::wrong:
      return bad_signature("the signature does not fit the body and [discord] public_key");
  }
  Response response;
  response.body = desk.take(request.body, request.address, now);
  return response;
}

}  // namespace holdpoint
