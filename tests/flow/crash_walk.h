#pragma once

#include <doctest/doctest.h>

#include "tests/support/failing_database.h"
#include "tests/support/world.h"

namespace holdpoint::test {

// Clients have a session, or are held by a pointer.
template <class Client>
SessionId session_of(const Client& client) {
  if constexpr (requires { client->session; }) {
    return client->session.value();
  } else {
    return client.session.value();
  }
}

// Lets the store die at its first point, its second … until `act` gets through without; each time
// `act` goes on in a new process until idle, and `check` looks at what is there. Returns the
// points.
template <class Prepare, class Act, class Check>
std::int64_t walk(Prepare prepare, Act act, Check check, bool with_seats = false) {
  for (std::int64_t point = 1;; ++point) {
    CAPTURE(point);
    World world(1000);
    world.with_seats = with_seats;
    auto client = prepare(world);
    bool crashed = false;
    try {
      world.restart_failing_at(point);
      act(client);
    } catch (const Crash&) {
      crashed = true;
    }
    if (!crashed && !static_cast<FailingDatabase&>(world.db()).crashed()) return point;
    world.restart();
    // A lease or a claimed delivery that the dead process held may have to run out first.
    for (int i = 0; i < 4; ++i) {
      act(client);
      world.clock.advance(61s);
    }
    check(world, session_of(client));
  }
}

}  // namespace holdpoint::test
