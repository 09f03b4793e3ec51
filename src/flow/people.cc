#include "flow/people.h"

#include <algorithm>

#include "base/log.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "flow/audit.h"
#include "wire/digest.h"
#include "wire/password.h"
#include "wire/token.h"

namespace holdpoint {
namespace {

constexpr int kMostWaiting = 16;
constexpr std::size_t kMaxPassword = 1024;

bool is_name(const std::string& name) {
  const bool clean = std::all_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) || c == '.' || c == '-' || c == '_' || c == '@' || c == '+';
  });
  return clean && !name.empty() && name.size() <= 128;
}

void check_name(const std::string& name) {
  if (!is_name(name)) throw BadRequest("name", "has 1 to 128 letters, digits and . - _ @ +");
}

void check_new_password(const std::string& password) {
  if (count_chars(password) < 10 || password.size() > kMaxPassword) {
    throw BadRequest("password", "must have 10 to 1024 characters");
  }
}

Caller caller_of(const user_store::StoredUser& user) {
  return {Caller::Kind::user, user.name, user.name, scopes_of(user.role)};
}

}  // namespace

void People::add(const std::string& name, Role role, const std::string& password, const Actor& by,
                 Time now) {
  check_name(name);
  user_store::StoredUser user{lower_case(name), role, "", now, {}, {}};
  if (!password.empty()) {
    check_new_password(password);
    std::lock_guard lock(hashing_);
    user.password_hash = hash_password(password);
  }
  db_.write([&](Transaction& tx) {
    if (!user_store::insert(tx, user)) throw BadRequest("name", "is taken: " + user.name);
    audit::record(tx, by, "user_added", "user:" + user.name, to_text(role), now);
  });
  log(Level::info, "user_added", {{"user", user.name}, {"role", to_text(role)}});
}

std::vector<user_store::StoredUser> People::list() {
  return db_.read([](Transaction& tx) { return user_store::list(tx); });
}

bool People::remove(const std::string& name, const Actor& by, Time now) {
  const std::string user = lower_case(name);
  return db_.write([&](Transaction& tx) {
    if (!user_store::remove(tx, user, now)) return false;
    audit::record(tx, by, "user_removed", "user:" + user, "", now);
    return true;
  });
}

bool People::set_password(const std::string& name, const std::string& password, const Actor& by,
                          Time now) {
  check_new_password(password);
  const std::string user = lower_case(name);
  std::string hash;
  {
    std::lock_guard lock(hashing_);
    hash = hash_password(password);
  }
  return db_.write([&](Transaction& tx) {
    if (!user_store::set_password(tx, user, hash)) return false;
    audit::record(tx, by, "password_changed", "user:" + user, "", now);
    return true;
  });
}

bool People::set_role(const std::string& name, Role role, const Actor& by, Time now) {
  const std::string user = lower_case(name);
  return db_.write([&](Transaction& tx) {
    if (!user_store::set_role(tx, user, role)) return false;
    audit::record(tx, by, "role_changed", "user:" + user, to_text(role), now);
    return true;
  });
}

People::LoggedIn People::log_in(const std::string& name, const std::string& password,
                                const std::string& address, Time now) {
  if (password.size() > kMaxPassword) return std::nullopt;
  // What can be nobody's name is checked against nothing all the same: it takes as long.
  const std::string user_name = is_name(name) ? lower_case(name) : "";
  const auto user = db_.read([&](Transaction& tx) { return user_store::find(tx, user_name); });
  struct Place {
    std::atomic<int>& count;
    const bool taken = ++count <= kMostWaiting;
    ~Place() { --count; }
  } place{waiting_};
  if (!place.taken) return Busy{};
  bool right = false;
  {
    std::lock_guard lock(hashing_);
    right = check_password(user ? user->password_hash : "", password);
  }
  if (!right) return std::nullopt;
  const std::string token = new_token();
  const bool still = db_.write([&](Transaction& tx) {
    // Checking took a while: the password may be another by now, or the user gone.
    user_store::lock(tx, user->name);
    const auto current = user_store::find(tx, user->name);
    if (!current || current->password_hash != user->password_hash) return false;
    user_store::remove_expired_logins(tx, now);
    user_store::insert_login(tx, sha256_hex(token), user->name, now, now + options_.login_lives);
    audit::record(tx, {user->name, "user:" + user->name, address}, "logged_in",
                  "user:" + user->name, "", now);
    return true;
  });
  if (!still) return std::nullopt;
  return token;
}

void People::log_out(const std::string& token, const Actor& by, Time now) {
  db_.write([&](Transaction& tx) {
    if (!user_store::remove_login(tx, sha256_hex(token))) return;
    audit::record(tx, by, "logged_out", by.credential, "", now);
  });
}

std::optional<Caller> People::authenticate(const std::string& token, Time now) {
  if (!is_token(token)) return std::nullopt;
  const auto user = db_.read(
      [&](Transaction& tx) { return user_store::find_by_login(tx, sha256_hex(token), now); });
  if (!user) return std::nullopt;
  return caller_of(*user);
}

std::optional<Caller> People::vouched_for(const std::string& name) {
  if (!is_name(name)) return std::nullopt;
  const std::string user_name = lower_case(name);
  const auto user = db_.read([&](Transaction& tx) { return user_store::find(tx, user_name); });
  if (user) return caller_of(*user);
  if (!options_.proxied_role) return std::nullopt;
  return Caller{Caller::Kind::user, user_name, user_name, scopes_of(*options_.proxied_role)};
}

}  // namespace holdpoint
