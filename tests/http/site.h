#pragma once

#include "http/api.h"
#include "tests/http/call.h"
#include "tests/support/world.h"

namespace holdpoint::test {

// All routes of a server behind its gate, without sockets or threads.
class Site {
 public:
  explicit Site(Gate::Options options = {})
      : gate(world.clock, credentials, keys, people, FormNonce("secret"), std::move(options)),
        routes(gate.guard(all_routes(api))) {}

  Response send(Call call) {
    if (!request_of(call).header_count("Host")) call.with("Host", "localhost:8080");
    return answer_call(routes, call);
  }
  std::string key(std::vector<std::string> scopes) {
    auto made = keys.create({"ci", std::move(scopes), {}}, kAdmin, world.now());
    credentials.note_made();
    return "Bearer " + made.text;
  }
  void add_user(const std::string& name, Role role, const std::string& password) {
    people.add(name, role, password, kAdmin, world.now());
    credentials.note_made();
  }
  void change_poet(const std::function<void(AgentDefinition&)>& change) {
    AgentDefinition poet = *world.agents.find("poet");
    change(poet);
    world.agents.replace({{"poet", poet}});
  }
  std::int64_t count(const std::string& from) {
    std::int64_t rows = 0;
    world.db().read([&](Transaction& tx) {
      tx.query("SELECT COUNT(*) FROM " + from, [&](const Row& row) { rows = row.integer(0); });
    });
    return rows;
  }

  World world;
  Credentials credentials{world.db()};
  Keys keys{world.db(), world.clock};
  People people{world.db(), {}};
  Feed feed{world.db(), world.clock};
  Overview overview{world.db(), world.process().notices,
                    [this](std::string_view platform) { return connected(platform); }};
  RollCall roll_call{world.db(),
                     {"self", "here", "127.0.0.1:8080", "1.2.3", world.now(), world.now()},
                     world.clock};
  std::function<std::optional<bool>(std::string_view)> connected = [](auto) {
    return std::nullopt;
  };
  Pages pages;
  Gate gate;
  AccessApi access{world.clock, keys, people, credentials, world.db(), pages};
  Api api{world.clock,
          world.process().notices,
          world.process().intake,
          world.process().answers,
          world.process().control,
          world.process().courier,
          world.process().views,
          overview,
          roll_call,
          feed,
          world.process().metrics,
          world.agents,
          access,
          world.process().links,
          gate,
          "https://hold.example",
          "sqlite",
          {},
          [] { return true; },
          [](Metrics::Gauges&) {}};
  Routes routes;
};

// The value of a page's hidden field.
inline std::string hidden_field(const Response& page, const std::string& name) {
  const std::string start = "<input type=\"hidden\" name=\"" + name + "\" value=\"";
  const auto at = page.body.find(start);
  if (at == std::string::npos) return "(none)";
  const auto from = at + start.size();
  return page.body.substr(from, page.body.find('"', from) - from);
}

}  // namespace holdpoint::test
