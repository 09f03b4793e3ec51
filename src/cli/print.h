#pragma once

#include <string>

#include "wire/json.h"

// What the subcommands show to people: one fact a line, nothing that needs a wide screen.
namespace holdpoint::cli {

// What the server said: the same JSON, whatever reads it; see printable_json.
void print_json(const std::string& text);
// `holdpoint: …`, on standard error.
void complain(const std::string& what);
void print_questions(const Json& questions);
void print_session(const Json& session);
void print_events(const Json& events);
void print_deliveries(const Json& deliveries);
void print_keys(const Json& keys);
void print_users(const Json& users);
// What counts instead of the answer that came too late; on standard error.
void print_conflict(const Json& conflict);

}  // namespace holdpoint::cli
