#include <algorithm>

#include "http/api.h"
#include "http/html.h"
#include "wire/form.h"
#include "wire/json_writer.h"
#include "wire/token.h"

namespace holdpoint {
namespace {

// Ties the login's form to the browser that fetched it: with somebody else's form, a foreign page
// could log people in under a name that is not theirs.
constexpr const char* kFormCookie = "holdpoint-login";

std::string form_subject(const std::string& cookie) {
  return cookie.empty() ? "" : "login-form:" + cookie;
}

// Only paths of this server: else a link to our login could send people anywhere.
std::string safe_next(const std::string& next) {
  const bool local =
      next.starts_with('/') && !next.starts_with("//") && next.find('\\') == std::string::npos &&
      next.size() < 500 &&
      std::all_of(next.begin(), next.end(), [](char c) { return c > ' ' && c < 0x7f; });
  return local ? next : "/";
}

Response login_form(Api& api, const Request& request, int status, const std::string& next,
                    const std::string& name, const std::string& complaint) {
  std::string cookie = Gate::cookie_of(request, kFormCookie);
  const bool fresh = !is_token(cookie);
  if (fresh) cookie = new_token();
  std::string body = "<h1>Log in</h1>\n";
  if (!complaint.empty()) {
    body += "<p class=\"complaint\" role=\"alert\">" + escape_html(complaint) + "</p>\n";
  }
  const auto hidden = [](const char* field, const std::string& value) {
    return std::string("<input type=\"hidden\" name=\"") + field + "\" value=\"" +
           escape_html(value) + "\">\n";
  };
  body += "<form method=\"post\" action=\"/login\">\n" +
          hidden("nonce", api.gate.nonce_for(form_subject(cookie))) + hidden("next", next) +
          "<label>Name<input name=\"name\" autocomplete=\"username\" required value=\"" +
          escape_html(name) +
          "\"></label>\n<label>Password<input name=\"password\" type=\"password\" "
          "autocomplete=\"current-password\" required></label>\n"
          "<p class=\"buttons\"><button>Log in</button></p>\n</form>\n";
  Response page = html_page(status, "Log in", body);
  if (fresh) {
    page.headers.emplace_back("Set-Cookie", std::string(kFormCookie) + "=" + cookie +
                                                "; Path=/login; HttpOnly; SameSite=Strict" +
                                                (request.secure ? "; Secure" : ""));
  }
  return page;
}

std::string cookie(const Request& request, const std::string& value, const char* age) {
  return std::string(Gate::cookie_name(request)) + "=" + value +
         "; Path=/; HttpOnly; SameSite=Lax" + (request.secure ? "; Secure" : "") + age;
}

Response show_login(Api& api, const Request& request) {
  const Query query(request, {"next"});
  const std::string next = safe_next(query.text("next").value_or("/"));
  if (request.caller.kind == Caller::Kind::user) return redirect_to(next);
  return login_form(api, request, 200, next, "", "");
}

Response log_in(Api& api, const Request& request) {
  const Query query(request, {});
  const Form form = Form::parse(request.body);
  const std::string next = safe_next(form.text("next"));
  const std::string name = form.text("name");
  if (!api.gate.from_our_page(request) ||
      !api.gate.check_nonce(form.text("nonce"),
                            form_subject(Gate::cookie_of(request, kFormCookie)))) {
    return login_form(api, request, 403, next, name,
                      "This page was open for too long. Please try again.");
  }
  // Counted before the password is looked at: else those who try many at once all get in first.
  if (const auto refusal = api.gate.note_wrong(request)) {
    Response page = login_form(api, request, 429, next, name, "Too many attempts. Wait a minute.");
    page.headers.insert(page.headers.end(), refusal->headers.begin(), refusal->headers.end());
    return page;
  }
  const auto outcome =
      api.access.people.log_in(name, form.text("password"), request.address, api.clock.now());
  if (const auto* token = std::get_if<std::string>(&outcome)) {
    api.gate.note_right(request);
    Response response = redirect_to(next);
    response.headers.emplace_back("Set-Cookie", cookie(request, *token, ""));
    return response;
  }
  if (std::holds_alternative<People::Busy>(outcome)) {
    api.gate.note_right(request);
    Response page =
        login_form(api, request, 503, next, name, "Many log in right now. Please try again.");
    page.headers.emplace_back("Retry-After", "2");
    return page;
  }
  api.metrics.refused("wrong_login");
  return login_form(api, request, 401, next, name, "That name and password do not go together.");
}

Response log_out(Api& api, const Request& request) {
  const Query query(request, {});
  const std::string token = Gate::cookie_of(request);
  if (!token.empty()) api.access.people.log_out(token, request.actor(), api.clock.now());
  api.access.credentials.note_changed();
  Response response = redirect_to("/login");
  response.headers.emplace_back("Set-Cookie", cookie(request, "", "; Max-Age=0"));
  return response;
}

Response me(Api& api, const Request& request) {
  const Query query(request, {});
  if (request.caller.kind == Caller::Kind::nobody) return *api.gate.refuse_unless(request, {});
  return json_response(200, me_json(api, request));
}

}  // namespace

std::string me_json(Api& api, const Request& request) {
  const Caller& caller = request.caller;
  JsonWriter out;
  out.begin_object().member("kind", caller.kind == Caller::Kind::open  ? "open"
                                    : caller.kind == Caller::Kind::key ? "key"
                                                                       : "user");
  out.member("name", caller.name);
  write_scopes(out, caller.scopes);
  out.key("csrf");
  if (request.nonce_subject.empty()) {
    out.value(nullptr);
  } else {
    out.value(api.gate.nonce_for(request.nonce_subject));
  }
  out.end_object();
  return out.take();
}

Routes login_routes(Api& api) {
  const auto call = [&api](Response (*handle)(Api&, const Request&)) {
    return [&api, handle](const Request& request) { return handle(api, request); };
  };
  return {
      {"GET", "/agent/me", own_check(), call(me)},
      {"GET", "/login", nothing(), call(show_login), true},
      {"POST", "/login", nothing(), call(log_in), true, true},
      {"POST", "/logout", scope("questions:read"), call(log_out), true, true},
  };
}

}  // namespace holdpoint
