#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "domain/throttle.h"
#include "flow/credentials.h"
#include "flow/keys.h"
#include "flow/people.h"
#include "http/router.h"
#include "net/address_ranges.h"
#include "wire/token.h"

namespace holdpoint {

// Stands before every route: finds out who calls, and lets in who may. Safe to share between
// threads.
class Gate {
 public:
  struct Options {
    bool loopback = true;    // Bound to this machine alone: open while there is no credential.
    std::string public_url;  // Without a slash at the end.
    AddressRanges trusted_proxies;
    std::string proxy_user_header;        // Empty: proxies vouch for nobody.
    std::size_t requests_per_key = 1000;  // In a second.
    std::size_t wrong_credentials = 20;   // Of one address, in a minute.
    std::function<void(const char* reason)> on_refused;
  };
  Gate(const Clock& clock, Credentials& credentials, Keys& keys, People& people, FormNonce nonce,
       Options options);

  // The routes, each behind the gate.
  Routes guard(Routes routes);

  // What a route that checks by itself tells the gate: a wrong token or password came from there.
  // The answer to give instead of its own, once they are too many.
  std::optional<Response> note_wrong(const Request& request);
  // It was right after all: for what counts as wrong until it is checked, as a password does.
  void note_right(const Request& request);

  // For routes that check by themselves: 401 or 403 unless the caller has one of the scopes.
  std::optional<Response> refuse_unless(const Request& request,
                                        const std::vector<std::string>& any_of) const;

  // For forms: made for this caller, checked when they come back.
  std::string nonce_for(const std::string& subject) const;
  bool check_nonce(const std::string& nonce, const std::string& subject) const;
  // Whether the name that it calls us by is one that nobody else can lead here: an address, a name
  // of this machine's own, or that of public_url.
  bool is_known_host(const Request& request) const;
  // Whether the request comes from one of our own pages, as far as the browser says.
  bool from_our_page(const Request& request) const;

  static const char* cookie_name(const Request& request);
  static std::string cookie_of(const Request& request);
  static std::string cookie_of(const Request& request, const std::string& name);

 private:
  std::optional<Response> enter(Request& request);
  std::optional<Response> greet(Request& request);
  std::optional<Response> admit(const Route& route, Request& request);
  std::optional<Response> check_open(const Request& request) const;
  std::optional<Response> identify(Request& request);
  std::optional<Response> check_ambient(const Request& request) const;
  Response refuse(const char* reason, Response response) const;
  bool is_ours(const std::string& origin, const Request& request) const;
  void look_behind_proxy(Request& request) const;

  const Clock& clock_;
  Credentials& credentials_;
  Keys& keys_;
  People& people_;
  const FormNonce nonce_;
  const Options options_;
  Throttle per_key_;
  Throttle wrong_;
};

}  // namespace holdpoint
