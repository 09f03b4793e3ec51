#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/throttle.h"
#include "store/user_store.h"

namespace holdpoint {

// Local users: added, removed, logged in, and recognised by their cookie or by a trusted proxy.
class People {
 public:
  struct Options {
    Duration login_lives = std::chrono::hours{12};
    // What somebody whom the proxy vouches for, but who is no user here, may do; nothing: no entry.
    // Their names keep the rules of users' names.
    std::optional<Role> proxied_role;
  };
  People(Database& db, Options options) : db_(db), options_(options) {}

  // Throws BadRequest for a name, role or password that breaks a rule, or a name that is taken. An
  // empty password: comes through the proxy only.
  void add(const std::string& name, Role role, const std::string& password, const Actor& by,
           Time now);
  std::vector<user_store::StoredUser> list();
  // False if there is no such user. All but set_role end the user's logins.
  bool remove(const std::string& name, const Actor& by, Time now);
  bool set_password(const std::string& name, const std::string& password, const Actor& by,
                    Time now);
  bool set_role(const std::string& name, Role role, const Actor& by, Time now);

  // The token for the cookie; nothing for a wrong name or password, which look alike. Checks one
  // password at a time, since each costs 64 MiB; `busy` when too many wait.
  struct Busy {};
  using LoggedIn = std::variant<std::string, std::nullopt_t, Busy>;
  LoggedIn log_in(const std::string& name, const std::string& password, const std::string& address,
                  Time now);
  void log_out(const std::string& token, const Actor& by, Time now);

  std::optional<Caller> authenticate(const std::string& token, Time now);
  std::optional<Caller> vouched_for(const std::string& name);

 private:
  Database& db_;
  const Options options_;
  std::mutex hashing_;
  std::atomic<int> waiting_{0};
};

}  // namespace holdpoint
