#include "http/discord_api.h"

#include <doctest/doctest.h>
#include <openssl/evp.h>

#include "tests/support/world.h"
#include "wire/digest.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// Signs as Discord does, with a key of its own.
class Signer {
 public:
  std::string public_key() const {
    std::string bytes(32, '\0');
    std::size_t size = bytes.size();
    EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size);
    return to_hex(bytes);
  }
  std::string sign(const std::string& text) const {
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                     EVP_MD_CTX_free);
    std::string bytes(64, '\0');
    std::size_t size = bytes.size();
    EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get());
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size,
                   reinterpret_cast<const unsigned char*>(text.data()), text.size());
    return to_hex(bytes);
  }

 private:
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_{
      EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free};
};

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Endpoint {
  World world;
  Signer discord;
  Clicks clicks{world.process().answers, world.process().control, world.process().views, {}};
  DiscordDesk desk{clicks, world.process().views, world.agents, "https://hold.example.org"};
  const std::string timestamp = std::to_string(
      std::chrono::floor<std::chrono::seconds>(world.now()).time_since_epoch().count());

  Response post(const std::string& body, const Headers& headers) {
    Request request;
    request.body = body;
    request.headers = &headers;
    return discord_interaction(desk, discord.public_key(), request, world.now());
  }
  Headers signed_headers(const std::string& body) {
    return {{"X-Signature-Ed25519", discord.sign(timestamp + body)},
            {"x-signature-timestamp", timestamp}};
  }
};

const std::string kPing = R"({"type":1})";

}  // namespace

TEST_CASE("an interaction that Discord signed is answered") {
  Endpoint e;
  const Response response = e.post(kPing, e.signed_headers(kPing));
  CHECK(response.status == 200);
  CHECK(response.content_type == "application/json");
  CHECK(response.body == R"({"type":1})");
}

TEST_CASE("an interaction without Discord's fresh signature is refused with 401") {
  Endpoint e;
  const auto good = e.signed_headers(kPing);
  const auto refused = [&](const std::string& body, const Headers& headers) {
    const Response response = e.post(body, headers);
    CHECK(Json::parse(response.body)["error"]["code"] == "bad_signature");
    return response.status == 401;
  };
  CHECK(refused(kPing, {}));
  CHECK(refused(kPing, {good[0]}));
  CHECK(refused(kPing, {good[1]}));
  CHECK(refused(kPing + " ", good));
  CHECK(refused(kPing, {{good[0].first, Signer().sign(e.timestamp + kPing)}, good[1]}));
  CHECK(refused(kPing, {good[0], good[0], good[1]}));
  CHECK(refused(kPing, {good[0], good[1], good[1]}));
  e.world.clock.advance(301s);
  CHECK(refused(kPing, good));
}
