#include "cli/access_commands.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/password_prompt.h"
#include "cli/print.h"
#include "store/database.h"
#include "wire/form.h"
#include "wire/json_writer.h"

namespace holdpoint::cli {

struct AccessCommands::Parsed {
  std::optional<std::filesystem::path> settings;
  std::string server_url, key;
  bool json = false, password_stdin = false, no_password = false;
  std::string name, role, id, expected;
  std::vector<std::string> scopes;
  std::int64_t days = 0;
  CLI::App *keys_create = nullptr, *keys_list = nullptr, *keys_revoke = nullptr;
  CLI::App *users_add = nullptr, *users_list = nullptr, *users_remove = nullptr;
  CLI::App *users_password = nullptr, *users_role = nullptr;
  CLI::App *audit_verify = nullptr, *audit_export = nullptr;

  std::vector<CLI::App*> all() const {
    return {keys_create,  keys_list,      keys_revoke, users_add,    users_list,
            users_remove, users_password, users_role,  audit_verify, audit_export};
  }
  std::string user_path(const char* what) const {
    return "/agent/users/" + escape_url(name) + "/" + what;
  }
  void say(const Reply& reply, const std::string& text) const {
    std::printf("%s\n", json ? reply.text.c_str() : text.c_str());
  }

  void create_key(Server& server) const;
  void list_keys(Server& server) const;
  void add_user(Server& server) const;
  void list_users(Server& server) const;
  void set_password(Server& server) const;
  int verify(Server& server) const;
  void export_all(Server& server) const;
  int run(Server& server) const;
};

void AccessCommands::Parsed::create_key(Server& server) const {
  JsonWriter out;
  out.begin_object().member("name", name).key("scopes").begin_array();
  for (const auto& scope : scopes) out.value(scope);
  out.end_array();
  if (days > 0) out.member("expires_in_days", days);
  out.end_object();
  const Reply reply = server.post("/agent/keys", out.take());
  // The key alone on standard output, so that `KEY=$(holdpoint keys create …)` works.
  say(reply, reply.body.at("key").get<std::string>());
  if (!json) {
    std::fprintf(stderr,
                 "This is the only time the key is shown. From the first key or user on, the "
                 "server lets nobody in without one.\n");
  }
}

void AccessCommands::Parsed::list_keys(Server& server) const {
  const Reply reply = server.get("/agent/keys");
  if (json) {
    print_json(reply.text);
  } else {
    print_keys(reply.body.at("keys"));
  }
}

void AccessCommands::Parsed::add_user(Server& server) const {
  JsonWriter out;
  out.begin_object().member("name", name).member("role", role);
  if (!no_password) out.member("password", read_new_password(password_stdin));
  out.end_object();
  say(server.post("/agent/users", out.take()), "added " + name + " as " + role);
}

void AccessCommands::Parsed::list_users(Server& server) const {
  const Reply reply = server.get("/agent/users");
  if (json) {
    print_json(reply.text);
  } else {
    print_users(reply.body.at("users"));
  }
}

void AccessCommands::Parsed::set_password(Server& server) const {
  JsonWriter out;
  out.begin_object().member("password", read_new_password(password_stdin)).end_object();
  say(server.post(user_path("password"), out.take()),
      "the password is changed, and " + name + " is logged out everywhere");
}

int AccessCommands::Parsed::verify(Server& server) const {
  const Reply reply = server.get("/agent/audit/verify" +
                                 (expected.empty() ? "" : "?expect=" + escape_url(expected)));
  const bool whole = reply.body.at("ok").get<bool>();
  const std::string rows = reply.body.at("rows").dump();
  if (json) {
    print_json(reply.text);
  } else if (whole) {
    std::printf("the audit log is whole: %s rows, the last with hash %s\n", rows.c_str(),
                reply.body.at("head").get<std::string>().c_str());
  } else {
    std::fprintf(stderr, "the audit log is broken after %s good rows: %s\n", rows.c_str(),
                 reply.body.at("broken").get<std::string>().c_str());
  }
  return whole ? 0 : 1;
}

void AccessCommands::Parsed::export_all(Server& server) const {
  std::string after = "0";
  while (true) {
    const Reply reply = server.get("/agent/audit?limit=1000&after=" + after);
    for (const auto& entry : reply.body.at("entries")) print_json(entry.dump());
    if (reply.body.at("next_cursor").is_null()) return;
    after = reply.body.at("next_cursor").get<std::string>();
  }
}

int AccessCommands::Parsed::run(Server& server) const {
  if (*keys_create) create_key(server);
  if (*keys_list) list_keys(server);
  if (*keys_revoke) {
    say(server.post("/agent/keys/" + escape_url(id) + "/revoke", "{}"), "revoked " + id);
  }
  if (*users_add) add_user(server);
  if (*users_list) list_users(server);
  if (*users_remove) {
    say(server.post(user_path("remove"), "{}"), "removed " + name + ", and logged out");
  }
  if (*users_password) set_password(server);
  if (*users_role) {
    JsonWriter out;
    out.begin_object().member("role", role).end_object();
    say(server.post(user_path("role"), out.take()), name + " is " + role + " now");
  }
  if (*audit_export) export_all(server);
  return *audit_verify ? verify(server) : 0;
}

AccessCommands::AccessCommands(CLI::App& app) : parsed_(std::make_unique<Parsed>()) {
  Parsed& p = *parsed_;
  const Whereabouts given = whereabouts();
  p.server_url = given.server;
  p.key = given.key;
  const auto group = [&](const char* name, const char* what) {
    auto* command = app.add_subcommand(name, what);
    command->require_subcommand(1);
    return command;
  };
  const auto add = [&](CLI::App* in, const char* name, const char* what) {
    auto* command = in->add_subcommand(name, what);
    command->add_option("--settings", p.settings, "TOML file that says where the database is")
        ->check(CLI::ExistingFile);
    command->add_option("--server", p.server_url,
                        "Ask this running server instead, with the key in HOLDPOINT_KEY");
    command->add_flag("--json", p.json, "Print JSON");
    return command;
  };
  const auto add_password = [&](CLI::App* command) {
    return command->add_flag("--password-stdin", p.password_stdin,
                             "Read the password from standard input");
  };

  auto* keys = group("keys", "API keys: create, list, revoke");
  p.keys_create = add(keys, "create", "Make a key and print it, this once");
  p.keys_create->add_option("--name", p.name, "What it is for")->required();
  p.keys_create
      ->add_option("--scope", p.scopes,
                   "sessions:create, sessions:read, questions:ask, questions:read, "
                   "questions:answer, webhook:<agent>, admin; several by repeating it")
      ->required();
  p.keys_create->add_option("--expires-days", p.days, "How long it is good for")
      ->check(CLI::Range(1, 3650));
  p.keys_list = add(keys, "list", "Show all keys, without their secrets");
  p.keys_revoke = add(keys, "revoke", "End a key");
  p.keys_revoke->add_option("id", p.id, "As `keys list` shows it")->required();

  auto* users = group("users", "People who log in: add, list, remove, password, role");
  const auto add_name = [&](CLI::App* command) {
    command->add_option("name", p.name, "The user's name")->required();
  };
  const auto roles = CLI::IsMember({"viewer", "answerer", "admin"});
  p.users_add = add(users, "add", "Add a user");
  add_name(p.users_add);
  p.users_add->add_option("--role", p.role, "viewer, answerer or admin")->required()->check(roles);
  add_password(p.users_add)
      ->excludes(p.users_add->add_flag("--no-password", p.no_password,
                                       "Comes through a trusted proxy only"));
  p.users_list = add(users, "list", "Show all users");
  p.users_remove = add(users, "remove", "Remove a user and end their logins");
  add_name(p.users_remove);
  p.users_password = add(users, "password", "Change a password and end the user's logins");
  add_name(p.users_password);
  add_password(p.users_password);
  p.users_role = add(users, "role", "Change a role");
  add_name(p.users_role);
  p.users_role->add_option("role", p.role, "viewer, answerer or admin")->required()->check(roles);

  auto* audit = group("audit", "Who did what: verify the log, or export it");
  p.audit_verify = add(audit, "verify", "Check that no row was edited, removed or moved");
  p.audit_verify
      ->add_option("--expect", p.expected,
                   "A hash that an earlier verify printed: it must still be there")
      ->check([](const std::string& text) {
        return text.size() == 64 ? "" : "must be a hash of 64 hex digits";
      });
  p.audit_export = add(audit, "export", "Print all rows, a JSON object a line");
}

AccessCommands::~AccessCommands() = default;

bool AccessCommands::chosen() const {
  for (const auto* command : parsed_->all()) {
    if (*command) return true;
  }
  return false;
}

const std::optional<std::filesystem::path>& AccessCommands::settings() const {
  return parsed_->settings;
}

int AccessCommands::run(const OpenDatabase& open, const std::string& running) {
  const Parsed& p = *parsed_;
  std::unique_ptr<Server> server;
  if (p.server_url.empty()) {
    try {
      server = open();
    } catch (const DatabaseInUse&) {
      std::fprintf(stderr, "holdpoint: a server has the database; asking it at %s\n",
                   running.c_str());
      server = std::make_unique<Client>(running, p.key);
    }
  } else {
    server = std::make_unique<Client>(p.server_url, p.key);
  }
  try {
    return p.run(*server);
  } catch (const CallFailed& e) {
    complain(e.what());
    if (p.json && !e.text.empty()) print_json(e.text);
  }
  return 1;
}

}  // namespace holdpoint::cli
