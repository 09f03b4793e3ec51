#pragma once

#include <algorithm>
#include <functional>
#include <semaphore>
#include <string>

#include "base/clock.h"
#include "domain/limits.h"
#include "domain/text.h"
#include "flow/answers.h"
#include "flow/control.h"
#include "flow/courier.h"
#include "flow/feed.h"
#include "flow/intake.h"
#include "flow/links.h"
#include "flow/metrics.h"
#include "flow/overview.h"
#include "flow/roll_call.h"
#include "flow/views.h"
#include "http/gate.h"
#include "http/router.h"

namespace holdpoint {

// Lists are made two at a time: each holds its rows and its text meanwhile, and one of the store's
// four readers, of which some must be left for others.
class Pages {
 public:
  class Place {
   public:
    explicit Place(Pages& pages) : pages_(pages) { pages_.places_.acquire(); }
    ~Place() { pages_.places_.release(); }
    Place(const Place&) = delete;

   private:
    Pages& pages_;
  };

 private:
  std::counting_semaphore<> places_{2};
};

// What the routes of keys, users and the audit log call; the command line has it without a server.
struct AccessApi {
  const Clock& clock;
  Keys& keys;
  People& people;
  Credentials& credentials;
  Database& db;  // For the audit log, which has no object of its own.
  Pages& pages;
};
Routes access_routes(AccessApi& api);

class McpDesk;
class SlackDesk;
class DiscordDesk;
class Replies;
class Unsubscribe;

// What takes people's answers from the platforms; null where one is not set up.
struct Desks {
  SlackDesk* slack = nullptr;
  std::vector<Secret> slack_signing;  // None: clicks come by Socket Mode alone.
  DiscordDesk* discord = nullptr;
  std::string discord_key;
  Replies* replies = nullptr;
  std::vector<Secret> inbound_secrets;  // None: replies come to a mailbox alone.
  Unsubscribe* unsubscribe = nullptr;
};

// All that the API's routes call. They parse, call one of these, and render.
struct Api {
  const Clock& clock;
  Notices& notices;
  Intake& intake;
  Answers& answers;
  Control& control;
  Courier& courier;
  Views& views;
  Overview& overview;
  RollCall& roll_call;
  Feed& feed;
  Metrics& metrics;
  Agents& agents;
  AccessApi& access;
  Links& links;
  Gate& gate;
  std::string public_url;
  std::string database;  // `sqlite` or `postgres`.
  Limits limits;
  std::function<bool()> ready;
  std::function<void(Metrics::Gauges&)> add_gauges;  // What only the process itself knows.
  Desks desks = {};
  McpDesk* mcp = nullptr;  // None: there is no /mcp.
};

Routes agent_routes(Api& api);
Routes intake_routes(Api& api);
Routes question_routes(Api& api);
Routes session_routes(Api& api);
Routes event_routes(Api& api);
Routes delivery_routes(Api& api);
Routes operation_routes(Api& api);
Routes page_routes(Api& api);
Routes app_routes(Api& api);
Routes login_routes(Api& api);
Routes channel_routes(Api& api);
Routes mcp_routes(Api& api);
Routes humanlayer_routes(Api& api);

Routes all_routes(Api& api);

// A form that an answer link's page sent.
Response answer_by_link(Api& api, const Request& request);

// In whose name an answer counts: people answer in their own; a key may say for whom it speaks.
void name_answerer(const Caller& caller, Answer& given);
// The refusal that an outcome is; nothing if the answer counts, or counted before.
std::optional<Response> refuse_answer(const AnswerOutcome& outcome);

// Whether this caller may start the agent by who they are. Else, and for everybody while the server
// is open, an agent that wants its webhooks signed has to get them so.
bool may_start(const Caller& caller, const AgentDefinition& agent);

// Shared by the routes.
// For pages with script: who they serve, and what a change must carry.
std::string me_json(Api& api, const Request& request);
void write_scopes(JsonWriter& out, const Scopes& scopes);
Response json_response(int status, std::string body);
// The id in the path, in lower case as ours are; one that no row can have is looked for in vain.
template <class IdType>
IdType path_id(const Request& request) {
  return IdType(lower_case(request.parameters.at("id")));
}
// `cursor`, `limit`: where a list goes on, and how long a page is.
std::string read_cursor(const Query& query);
std::int64_t read_limit(const Query& query);
// Writes `"<member>":[…],"next_cursor":…` and closes the object: `limit` rows, or as many as make a
// page of kPageBytes, read a few at a time, so that no list takes much memory however large its
// rows are. `fetch(cursor, count)` reads rows, `name(row)` is the cursor that goes on after one.
inline constexpr std::size_t kPageBytes = std::size_t{1} << 20;
template <class Fetch, class Write, class Name>
std::string write_page(Pages& pages, const char* member, std::string cursor, std::int64_t limit,
                       Fetch fetch, Write write, Name name) {
  constexpr std::int64_t kLot = 8;
  const Pages::Place place(pages);
  JsonWriter out;
  out.begin_object().key(member).begin_array();
  bool more = true;
  for (std::int64_t count = 0; more && count < limit && out.size() < kPageBytes;) {
    const auto lot = std::min(kLot, limit - count);
    const auto rows = fetch(cursor, lot + 1);
    more = static_cast<std::int64_t>(rows.size()) > lot;
    for (std::size_t i = 0; i < std::min(rows.size(), static_cast<std::size_t>(lot)); ++i) {
      if (out.size() >= kPageBytes) {
        more = true;
        break;
      }
      write(out, rows[i]);
      cursor = name(rows[i]);
      ++count;
    }
  }
  out.end_array().key("next_cursor");
  if (more) {
    out.value(cursor);
  } else {
    out.value(nullptr);
  }
  out.end_object();
  return out.take();
}
Duration read_wait(const Query& query);
// For calls that take no body, or an empty object.
void refuse_members(const Request& request);
Response unknown_session();

}  // namespace holdpoint
