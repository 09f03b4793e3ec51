#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/llm/provider.h"
#include "agents/runner.h"
#include "base/secret.h"
#include "base/time.h"
#include "net/http_client.h"

namespace holdpoint {

// US dollars for a million tokens.
struct ModelPrice {
  double input = 0;
  double output = 0;
  double cached = 0;
};

// A model of a provider, ready to be asked.
struct Model {
  const Provider* provider = nullptr;
  std::string url;
  std::map<std::string, Secret> headers;
  std::string name;   // As the provider knows it.
  std::string label;  // `anthropic/sonnet`: for history and people.
  std::int64_t max_tokens = 8192;
  Duration timeout{300'000};
  std::int64_t max_attempts = 8;
  std::optional<ModelPrice> price;
};

// Millionths of a dollar; nothing if the price is not known.
std::optional<std::int64_t> cost_micros(const Model& model, const ModelUsage& usage);

// The models that the settings know. Safe to share between threads.
class Models {
 public:
  // One `[llm.<name>]`.
  struct Service {
    std::string name;
    const Provider* provider = nullptr;
    std::string base_url;                   // Without a slash at the end.
    std::map<std::string, Secret> headers;  // Those of its credentials and version included.
    bool lacks_key = false;                 // It wants one, and the settings have none.
    std::map<std::string, std::string> aliases;
    std::map<std::string, ModelPrice> prices;  // By alias or by the provider's name.
    Duration timeout{300'000};
    std::int64_t max_attempts = 8;
    std::int64_t max_tokens = 8192;
  };
  explicit Models(std::vector<Service> services) : services_(std::move(services)) {}

  // `alias`, `service/alias` or `service/name`. Throws BadRequest that says what there is.
  Model find(const std::string& name) const;

 private:
  std::vector<Service> services_;
};

// Asks the model once. Throws TurnFailed; one that may pass says when to try again, and how often.
ModelReply ask_model(HttpClient& client, const Model& model, const ModelRequest& request,
                     const TurnContext& context);

}  // namespace holdpoint
