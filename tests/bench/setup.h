#pragma once

#include <string>

namespace holdpoint::bench {

enum class Engine { sqlite, postgres };

// What a figure was measured on.
struct Setup {
  Engine engine = Engine::sqlite;
  int nodes = 1;

  bool operator==(const Setup&) const = default;
};

// "SQLite", "PostgreSQL, 2 nodes".
inline std::string name_of(const Setup& setup) {
  if (setup.engine == Engine::sqlite) return "SQLite";
  return "PostgreSQL, " + std::to_string(setup.nodes) + (setup.nodes == 1 ? " node" : " nodes");
}

}  // namespace holdpoint::bench
