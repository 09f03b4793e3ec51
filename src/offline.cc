#include "offline.h"

#include <pwd.h>
#include <unistd.h>

#include "base/log.h"
#include "database.h"
#include "http/api.h"
#include "wire/form.h"

namespace holdpoint {
namespace {

std::string person() {
  const passwd* entry = getpwuid(getuid());
  return entry ? entry->pw_name : std::to_string(getuid());
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return parts;
}

// Puts the parts of `path` into the request's parameters where `pattern` has `:names`; false if it
// does not fit.
bool matches(const std::string& pattern, const std::string& path, Request& request) {
  const auto wanted = parts_of(pattern), given = parts_of(path);
  if (wanted.size() != given.size()) return false;
  std::map<std::string, std::string> parameters;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].starts_with(':')) {
      parameters[wanted[i].substr(1)] = unescape_url(given[i]);
    } else if (wanted[i] != given[i]) {
      return false;
    }
  }
  request.parameters = std::move(parameters);
  return true;
}

class Offline final : public cli::Server {
 public:
  explicit Offline(const Settings& settings) : db_(open_database(settings)) {
    // Nodes that run on the same database take notice at once.
    credentials_.on_changed = [this] {
      const std::string word = new_uuid(clock_.now()) + " c";
      try {
        if (auto* bulletin = db_->bulletin()) bulletin->post({&word, 1});
      } catch (const StoreError&) {
        // What was done is done; they find out by looking.
      }
    };
  }

  cli::Reply get(const std::string& path, Duration) override { return call("GET", path, ""); }
  cli::Reply post(const std::string& path, const std::string& body) override {
    return call("POST", path, body);
  }

 private:
  cli::Reply call(const std::string& method, const std::string& target, const std::string& body) {
    Request request;
    request.method = method;
    request.path = target.substr(0, target.find('?'));
    request.body = body;
    request.caller = {Caller::Kind::local, person(), "", {}};
    if (const auto mark = target.find('?'); mark != std::string::npos) {
      request.query = Form::parse(target.substr(mark + 1)).fields();
    }
    for (const auto& route : routes_) {
      if (route.method != method || !matches(route.pattern, request.path, request)) continue;
      Response response = answer_request(route, request);
      return cli::check_reply(response.status, std::move(response.body), target);
    }
    throw cli::CallFailed("there is no call " + target);
  }

  const std::unique_ptr<Database> db_;
  const Clock& clock_ = db_->clock();
  Keys keys_{*db_, clock_};
  People people_{*db_, {}};
  Credentials credentials_{*db_};
  Pages pages_;
  AccessApi api_{clock_, keys_, people_, credentials_, *db_, pages_};
  const Routes routes_ = access_routes(api_);
};

}  // namespace

std::unique_ptr<cli::Server> open_offline(const Settings& settings) {
  set_log_level(Level::warning);  // What was done is said by the command itself.
  return std::make_unique<Offline>(settings);
}

std::string address_of(const Settings& settings) {
  if (!settings.server.public_url.empty()) return settings.server.public_url;
  std::string listen = settings.server.listen;
  if (listen.starts_with("0.0.0.0:")) listen.replace(0, 7, "127.0.0.1");
  if (listen.starts_with("[::]:")) listen.replace(0, 4, "[::1]");
  return (settings.server.tls_cert.empty() ? "http://" : "https://") + listen;
}

}  // namespace holdpoint
