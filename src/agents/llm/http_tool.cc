#include "agents/llm/http_tool.h"

#include <set>

#include "agents/llm/tool_text.h"
#include "agents/llm/url_template.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/form.h"

namespace holdpoint {
namespace {

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The value of a placeholder. In a path, nothing and dots would lead to another place than the one
// the URL was written for.
std::string placeholder_text(const Json& input, const std::string& name, bool in_path) {
  const auto it = input.find(name);
  if (it == input.end()) throw BadRequest(name, "is missing: it is a part of the URL");
  if (!it->is_string() && !it->is_number() && !it->is_boolean()) {
    throw BadRequest(name, "must be a string, a number or a boolean: it is a part of the URL");
  }
  const std::string text = plain_text(*it);
  if (in_path && text.find_first_not_of('.') == std::string::npos) {
    throw BadRequest(name, "must not be empty or dots alone: it is a part of the URL's path");
  }
  return escape_url(text);
}

std::string filled_url(const HttpTool& tool, const Json& input, std::set<std::string>& used) {
  const auto parts = parse_url_template(tool.url);
  if (!parts) throw BadRequest("the tool's URL", "is none");
  const auto query = tool.url.find('?');
  const auto is_in_path = [&](const std::string& name) {
    return tool.url.substr(0, query).find("{" + name + "}") != std::string::npos;
  };
  return parts->fill([&](const std::string& name) {
    used.insert(name);
    return placeholder_text(input, name, is_in_path(name));
  });
}

// A call's id is the provider's text: nothing in it may end a header.
std::string header_text(const std::string& key) {
  std::string out;
  for (const char c : key) {
    const bool plain = c > 0x20 && c < 0x7f && c != '%';
    out += plain ? std::string(1, c) : escape_url(std::string_view(&c, 1));
  }
  return out;
}

// What the URL has no place for goes into its query.
void add_query(std::string& url, const Json& input, const std::set<std::string>& used) {
  const auto hash = url.find('#');
  if (hash != std::string::npos) url.resize(hash);
  for (const auto& [name, value] : input.items()) {
    if (used.count(name)) continue;
    const char last = url.back();
    if (url.find('?') == std::string::npos) {
      url += '?';
    } else if (last != '?' && last != '&') {
      url += '&';
    }
    url += escape_url(name) + "=" + escape_url(plain_text(value));
  }
}

}  // namespace

std::map<std::string, std::string> with_headers(std::map<std::string, std::string> ours,
                                                const std::map<std::string, Secret>& agents) {
  for (const auto& [name, value] : agents) {
    const std::string lower = lower_case(name);
    std::erase_if(ours, [&](const auto& own) { return lower_case(own.first) == lower; });
    ours[name] = value.reveal();
  }
  return ours;
}

ToolResult run_http_tool(HttpClient& client, const HttpTool& tool, Duration timeout,
                         const Json& input, const std::string& key, const TurnContext& context) {
  HttpRequest request;
  request.method = tool.method;
  std::map<std::string, std::string> headers{
      {"Accept", "application/json, text/*;q=0.9, */*;q=0.1"},
      {"Idempotency-Key", header_text(key)}};
  try {
    std::set<std::string> used;
    request.url = filled_url(tool, input, used);
    if (tool.method == "GET" || tool.method == "DELETE") {
      add_query(request.url, input, used);
    } else {
      request.body = input.dump();
      headers["Content-Type"] = "application/json";
    }
  } catch (const BadRequest& e) {
    return {"", e.field() + " " + e.what(), true};
  }
  request.headers = with_headers(std::move(headers), tool.headers);
  request.total_timeout = timeout;
  request.max_response_bytes = kMaxToolBytes;
  request.cancelled = context.cancelled;
  const HttpResponse response = client.send(request);
  if (context.cancelled()) throw TurnFailed("the turn was stopped", true);
  if (response.status == 0) {
    return {"", tool_text("the tool could not be reached: " + response.error), true};
  }
  // A body past our bound has a status and an error; what there is of it is enough.
  const std::string status = "HTTP " + std::to_string(response.status);
  const bool is_cut = !response.error.empty();
  const bool ok = response.status >= 200 && response.status <= 299;
  if (ok) return {"", is_blank(response.body) ? status : tool_text(response.body, is_cut), false};
  return {"", tool_text(is_blank(response.body) ? status : status + ": " + response.body, is_cut),
          true};
}

}  // namespace holdpoint
