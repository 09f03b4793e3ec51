#include <limits>

#include "domain/bad_request.h"
#include "flow/audit.h"
#include "http/api.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

constexpr std::int64_t kMaxDays = 3650;

// The body's members; only those named in `known` may be there.
Json read_body(const Request& request, std::initializer_list<std::string_view> known) {
  const Json body = parse_json(request.body, "body");
  check_members(body, "", known);
  return body;
}

std::string read_text(const Json& body, const char* name) {
  if (!body.contains(name)) throw BadRequest(name, "is required");
  if (!body[name].is_string()) throw BadRequest(name, "must be a string");
  return body[name].get<std::string>();
}

Role read_role(const Json& body) {
  const auto role = role_from(read_text(body, "role"));
  if (!role) throw BadRequest("role", "must be viewer, answerer or admin");
  return *role;
}

void write_key(JsonWriter& out, const key_store::StoredKey& key, Time now) {
  out.begin_object().member("id", key.id).member("name", key.name);
  write_scopes(out, key.scopes);
  out.member("status", key.revoked_at ? "revoked" : key.is_live(now) ? "live" : "expired");
  out.member("created_at", key.created_at).member("expires_at", key.expires_at);
  out.member("revoked_at", key.revoked_at).member("last_used_at", key.last_used_at);
  out.member("last_used_from", key.last_used_from).end_object();
}

void write_user(JsonWriter& out, const user_store::StoredUser& user) {
  out.begin_object().member("name", user.name).member("role", to_text(user.role));
  out.member("has_password", !user.password_hash.empty()).member("created_at", user.created_at);
  out.member("last_login_at", user.last_login_at).end_object();
}

Response create_key(AccessApi& api, const Request& request) {
  const Query query(request, {});
  const Json body = read_body(request, {"name", "scopes", "expires_in_days"});
  Keys::NewKey wanted;
  wanted.name = read_text(body, "name");
  if (!body.contains("scopes") || !body["scopes"].is_array()) {
    throw BadRequest("scopes", "must be a list of scopes");
  }
  for (const auto& scope : body["scopes"]) {
    if (!scope.is_string()) throw BadRequest("scopes", "must be a list of scopes");
    wanted.scopes.push_back(scope.get<std::string>());
  }
  if (body.contains("expires_in_days")) {
    const Json& days = body["expires_in_days"];
    if (!days.is_number_integer() || days.get<std::int64_t>() < 1 ||
        days.get<std::int64_t>() > kMaxDays) {
      throw BadRequest("expires_in_days", "must be a whole number from 1 to 3650");
    }
    wanted.lives = std::chrono::days{days.get<std::int64_t>()};
  }
  const Time now = api.clock.now();
  const auto made = api.keys.create(wanted, request.actor(), now);
  api.credentials.note_made();
  JsonWriter out;
  out.begin_object().member("ok", true).member("key", made.text).key("about");
  write_key(out, made.key, now);
  out.end_object();
  return json_response(201, out.take());
}

Response list_keys(AccessApi& api, const Request& request) {
  const Query query(request, {});
  JsonWriter out;
  out.begin_object().key("keys").begin_array();
  for (const auto& key : api.keys.list()) write_key(out, key, api.clock.now());
  out.end_array().end_object();
  return json_response(200, out.take());
}

Response done() { return json_response(200, R"({"ok":true})"); }

Response revoke_key(AccessApi& api, const Request& request) {
  const Query query(request, {});
  refuse_members(request);
  const auto outcome =
      api.keys.revoke(request.parameters.at("id"), request.actor(), api.clock.now());
  if (outcome == Keys::Revoked::unknown) {
    return error_response(404, "unknown_key", "there is no such key", "id");
  }
  api.credentials.note_changed();
  return done();  // To revoke twice is to be sure.
}

Response add_user(AccessApi& api, const Request& request) {
  const Query query(request, {});
  const Json body = read_body(request, {"name", "role", "password"});
  const std::string password = body.contains("password") ? read_text(body, "password") : "";
  if (body.contains("password") && password.empty()) {
    throw BadRequest("password", "is empty; leave it out for who comes through a proxy only");
  }
  api.people.add(read_text(body, "name"), read_role(body), password, request.actor(),
                 api.clock.now());
  api.credentials.note_made();
  return json_response(201, R"({"ok":true})");
}

Response list_users(AccessApi& api, const Request& request) {
  const Query query(request, {});
  JsonWriter out;
  out.begin_object().key("users").begin_array();
  for (const auto& user : api.people.list()) write_user(out, user);
  out.end_array().end_object();
  return json_response(200, out.take());
}

Response user_changed(AccessApi& api, bool found) {
  api.credentials.note_changed();
  return found ? done() : error_response(404, "unknown_user", "there is no such user", "name");
}

Response remove_user(AccessApi& api, const Request& request) {
  const Query query(request, {});
  refuse_members(request);
  return user_changed(
      api, api.people.remove(request.parameters.at("name"), request.actor(), api.clock.now()));
}

Response set_password(AccessApi& api, const Request& request) {
  const Query query(request, {});
  const Json body = read_body(request, {"password"});
  return user_changed(
      api, api.people.set_password(request.parameters.at("name"), read_text(body, "password"),
                                   request.actor(), api.clock.now()));
}

Response set_role(AccessApi& api, const Request& request) {
  const Query query(request, {});
  const Json body = read_body(request, {"role"});
  return user_changed(api, api.people.set_role(request.parameters.at("name"), read_role(body),
                                               request.actor(), api.clock.now()));
}

Response list_audit(AccessApi& api, const Request& request) {
  const Query query(request, {"after", "limit"});
  const std::int64_t after = query.number("after", 0, 0, std::numeric_limits<std::int64_t>::max());
  const std::int64_t limit = query.number("limit", 500, 1, 1000);
  using Entry = audit_store::Entry;
  const auto fetch = [&](const std::string& cursor, std::int64_t count) {
    return audit::list(api.db, std::stoll(cursor), count);
  };
  const auto write = [](JsonWriter& out, const Entry& e) {
    out.begin_object().member("seq", e.seq).member("at", e.at).member("actor", e.actor.name);
    out.member("credential", e.actor.credential).member("address", e.actor.address);
    out.member("action", e.action).member("subject", e.subject).member("detail", e.detail);
    out.member("hash", e.hash).end_object();
  };
  return json_response(200,
                       write_page(api.pages, "entries", std::to_string(after), limit, fetch, write,
                                  [](const Entry& e) { return std::to_string(e.seq); }));
}

Response verify_audit(AccessApi& api, const Request& request) {
  const Query query(request, {"expect"});
  const auto expected = query.text("expect");
  const bool is_hash = expected && expected->size() == 64 &&
                       expected->find_first_not_of("0123456789abcdef") == std::string::npos;
  if (request.query.count("expect") && !is_hash) {
    throw BadRequest("expect", "must be a hash that an earlier verify showed");
  }
  const auto verdict = audit::verify(api.db, expected.value_or(""));
  JsonWriter out;
  out.begin_object().member("ok", verdict.broken.empty()).member("rows", verdict.rows);
  out.member("head", verdict.head.hash).key("broken");
  if (verdict.broken.empty()) {
    out.value(nullptr);
  } else {
    out.value(verdict.broken);
  }
  out.end_object();
  return json_response(200, out.take());
}

}  // namespace

Routes access_routes(AccessApi& api) {
  const auto call = [&api](Response (*handle)(AccessApi&, const Request&)) {
    return [&api, handle](const Request& request) { return handle(api, request); };
  };
  return {
      {"GET", "/agent/keys", scope("admin"), call(list_keys)},
      {"POST", "/agent/keys", scope("admin"), call(create_key)},
      {"POST", "/agent/keys/:id/revoke", scope("admin"), call(revoke_key)},
      {"GET", "/agent/users", scope("admin"), call(list_users)},
      {"POST", "/agent/users", scope("admin"), call(add_user)},
      {"POST", "/agent/users/:name/remove", scope("admin"), call(remove_user)},
      {"POST", "/agent/users/:name/password", scope("admin"), call(set_password)},
      {"POST", "/agent/users/:name/role", scope("admin"), call(set_role)},
      {"GET", "/agent/audit", scope("admin"), call(list_audit)},
      {"GET", "/agent/audit/verify", scope("admin"), call(verify_audit)},
  };
}

}  // namespace holdpoint
