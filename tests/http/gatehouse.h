#pragma once

#include "http/gate.h"
#include "tests/http/call.h"
#include "tests/support/failing_database.h"
#include "tests/support/world.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace holdpoint::test {

// A gate with a route of each kind behind it. Each tells whom the gate took the caller for.
class Gatehouse {
 public:
  explicit Gatehouse(Gate::Options options = {}, People::Options people_options = {})
      : people(*db, people_options),
        gate(clock, credentials, keys, people, FormNonce("secret"), counted(std::move(options))) {
    const auto tell = [](Request& request) {
      const auto& caller = request.caller;
      JsonWriter out;
      out.begin_object().member("kind", static_cast<std::int64_t>(caller.kind));
      out.member("name", caller.name).member("address", request.address);
      out.member("secure", request.secure).member("subject", request.nonce_subject).end_object();
      Response response;
      response.body = out.take();
      return response;
    };
    routes = gate.guard({
        {"GET", "/public", nothing(), tell},
        {"POST", "/public", nothing(), tell},
        {"GET", "/read", scope("sessions:read"), tell},
        {"GET", "/either", any_of({"questions:ask", "questions:answer"}), tell},
        {"POST", "/change", scope("sessions:create"), tell},
        {"POST", "/form", scope("questions:read"), tell, false, true},
        {"GET", "/own", own_check(), tell},
        {"POST", "/own", own_check(), tell, false, true},  // Takes forms, and checks them.
        {"POST", "/hook", own_check(), tell},              // Takes none.
        {"GET", "/page", scope("questions:read"), tell, true},
        {"POST", "/page", scope("questions:answer"), tell, true, true},
    });
  }

  // With the Host that a local program sends, unless the call names one.
  Response send(Call call) {
    if (!request_of(call).header_count("Host")) call.with("Host", "localhost:8080");
    return answer_call(routes, call);
  }
  // The status, and why: an error's code, or for a page the reason that was counted: "403 csrf".
  std::string outcome(const Call& call) {
    const auto before = refused.size();
    const Response response = send(call);
    const Json body = Json::parse(response.body, nullptr, false);
    std::string reason = refused.size() > before ? " " + refused.back() : "";
    if (body.is_object() && body.contains("error")) {
      reason = " " + body["error"]["code"].get<std::string>();
    }
    return std::to_string(response.status) + reason;
  }
  // Whom the gate took the caller for.
  Json seen(const Call& call) {
    const Response response = send(call);
    REQUIRE(response.status == 200);
    return Json::parse(response.body);
  }

  std::string key(std::vector<std::string> scopes, std::optional<Duration> lives = std::nullopt) {
    auto made = keys.create({"ci", std::move(scopes), lives}, kAdmin, clock.now());
    credentials.note_made();
    return made.text;
  }
  // A user's cookie, as the browser sends it in the clear.
  std::string log_in(const std::string& name, Role role) {
    people.add(name, role, "correct horse battery", kAdmin, clock.now());
    credentials.note_made();
    return "holdpoint=" + std::get<std::string>(people.log_in(name, "correct horse battery",
                                                              "127.0.0.1", clock.now()));
  }
  // What a form or a script of this caller's has to send.
  std::string nonce(const std::string& cookie) {
    return gate.nonce_for(seen(get("/own").with("Cookie", cookie))["subject"]);
  }

  TempDir dir;
  ManualClock clock;
  std::unique_ptr<Database> db = open_test_database(dir.path() / "gate.db", clock.now());
  Credentials credentials{*db};
  Keys keys{*db, clock};
  People people;
  std::vector<std::string> refused;  // The reasons that metrics count.
  Gate gate;
  Routes routes;

 private:
  Gate::Options counted(Gate::Options options) {
    options.on_refused = [this](const char* reason) { refused.push_back(reason); };
    return options;
  }
};

inline constexpr int kNobody = static_cast<int>(Caller::Kind::nobody);
inline constexpr int kOpen = static_cast<int>(Caller::Kind::open);
inline constexpr int kKey = static_cast<int>(Caller::Kind::key);
inline constexpr int kUser = static_cast<int>(Caller::Kind::user);

}  // namespace holdpoint::test
