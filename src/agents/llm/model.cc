#include "agents/llm/model.h"

#include <algorithm>
#include <cmath>

#include "agents/llm/model_retry.h"
#include "base/ids.h"
#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

using Service = Models::Service;

std::string section(const std::string& service) { return "[llm." + service + "]"; }

std::optional<ModelPrice> price_of(const Service& service, const std::string& said,
                                   const std::string& name) {
  for (const auto& key : {said, name}) {
    const auto it = service.prices.find(key);
    if (it != service.prices.end()) return it->second;
  }
  for (const auto& [alias, meant] : service.aliases) {
    const auto it = service.prices.find(alias);
    if (meant == name && it != service.prices.end()) return it->second;
  }
  return std::nullopt;
}

// `said` is an alias, or the provider's own name.
Model make(const Service& service, const std::string& said) {
  if (service.lacks_key) {
    throw BadRequest("model", "needs " + section(service.name) +
                                  " key, e.g. \"env:NAME\"; or auth = \"none\" if it takes none");
  }
  const auto alias = service.aliases.find(said);
  Model model;
  model.provider = service.provider;
  model.url = service.base_url + std::string(service.provider->path());
  model.headers = service.headers;
  model.name = alias == service.aliases.end() ? said : alias->second;
  model.label = service.name + "/" + said;
  model.max_tokens = service.max_tokens;
  model.timeout = service.timeout;
  model.max_attempts = service.max_attempts;
  model.price = price_of(service, said, model.name);
  return model;
}

// What a model may be called, for whoever used another name.
std::string known_names(const std::vector<Service>& services) {
  std::string aliases, names;
  for (const auto& service : services) {
    names += (names.empty() ? "" : ", ") + service.name;
    for (const auto& entry : service.aliases) {
      aliases += (aliases.empty() ? "" : ", ") + service.name + "/" + entry.first;
    }
  }
  if (names.empty()) return "the settings have no [llm.*]";
  return (aliases.empty() ? "no [llm.*] has models yet" : "there are: " + aliases) +
         "; or say <service>/<its name there>, with one of the services " + names;
}

std::string without_secrets(std::string text, const Model& model) {
  for (const auto& entry : model.headers) {
    std::string secret = entry.second.reveal();
    if (secret.starts_with("Bearer ")) secret.erase(0, 7);
    if (secret.size() < 8) continue;  // A version, a flag: no secret is that short.
    for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3)) {
      text.replace(at, secret.size(), "***");
    }
  }
  return text;
}

// Why there is no reply, for people.
std::string fault_of(const Model& model, const HttpResponse& response) {
  const std::string at = model.label + " at " + model.url;
  if (response.status == 0) return at + " could not be reached: " + response.error;
  if (!response.error.empty()) {
    return at + ": " + response.error + "; [limits] max_reply_bytes says how many it may have";
  }
  // Before it is shortened: a part of a key is too much already.
  const std::string said = model.provider->error_text(without_secrets(response.body, model));
  const std::string why =
      " answered with HTTP " + std::to_string(response.status) + (said.empty() ? "" : ": " + said);
  const std::string service = section(model.label.substr(0, model.label.find('/')));
  switch (response.status) {
    case 401:
    case 403:
      return at + why + "; " + service + " key holds the key, and auth says how it is sent";
    case 404:
      return at + why + "; " + service + " base_url and models say where and what is asked";
    default:
      if (response.status < 400) {
        return at + why + "; it must answer itself, as redirects are not followed: see " + service +
               " base_url";
      }
      return at + why;
  }
}

}  // namespace

std::optional<std::int64_t> cost_micros(const Model& model, const ModelUsage& usage) {
  if (!model.price) return std::nullopt;
  const auto& price = *model.price;
  // A dollar for a million tokens is a millionth of a dollar for each.
  const double micros =
      static_cast<double>(usage.input_tokens - usage.cached_tokens) * price.input +
      static_cast<double>(usage.cached_tokens) * price.cached +
      static_cast<double>(usage.output_tokens) * price.output;
  return std::llround(micros);
}

Model Models::find(const std::string& name) const {
  std::vector<const Service*> having;
  for (const auto& service : services_) {
    if (service.aliases.count(name)) having.push_back(&service);
  }
  // Services that are off do not make a name ambiguous.
  const auto ready = std::stable_partition(having.begin(), having.end(),
                                           [](const Service* s) { return !s->lacks_key; });
  if (ready - having.begin() > 1) {
    throw BadRequest("model", "\"" + name + "\" is in " + section(having[0]->name) + " and in " +
                                  section(having[1]->name) + ": say " + having[0]->name + "/" +
                                  name + " or " + having[1]->name + "/" + name);
  }
  if (!having.empty()) return make(*having[0], name);
  const auto slash = name.find('/');
  if (slash != std::string::npos && slash + 1 < name.size()) {
    for (const auto& service : services_) {
      if (service.name == name.substr(0, slash)) return make(service, name.substr(slash + 1));
    }
  }
  throw BadRequest("model", "\"" + shorten(name, 100) + "\" is none: " + known_names(services_));
}

ModelReply ask_model(HttpClient& client, const Model& model, const ModelRequest& request,
                     const TurnContext& context) {
  HttpRequest http;
  http.url = model.url;
  for (const auto& [name, value] : model.headers) http.headers[name] = value.reveal();
  http.headers["Content-Type"] = http.headers["Accept"] = "application/json";
  http.body = model.provider->body(request);
  http.total_timeout = model.timeout;
  http.max_response_bytes = context.max_reply_bytes;
  http.cancelled = context.cancelled;
  const HttpResponse response = client.send(http);
  if (context.cancelled && context.cancelled()) throw TurnFailed("the turn was stopped", true);
  const TurnFailed::Again again{model_backoff(response, context.attempt, random_fraction()),
                                model.max_attempts};
  if (response.error.empty() && response.status >= 200 && response.status <= 299) {
    try {
      return model.provider->read(response.body);
    } catch (const BadRequest& e) {
      throw TurnFailed(model.label + " at " + model.url + " sent what is no reply: the " +
                           e.field() + " " + e.what(),
                       again);
    }
  }
  const std::string fault = fault_of(model, response);
  if (model.provider->is_context_full(response.status, response.body)) {
    throw TurnFailed("the conversation is too long for the model: " + fault, false);
  }
  if (may_pass(response)) throw TurnFailed(fault, again);
  throw TurnFailed(fault, false);
}

}  // namespace holdpoint
