#pragma once

#include <filesystem>
#include <string>

#include "child.h"
#include "socket.h"

namespace holdpoint::bench {

// A durable PostgreSQL server of the bench's own, made by `tools/postgres`. It is stopped when this
// object goes, and also when the bench is killed: a keeper process waits for that.
class PrivatePostgres {
 public:
  // Throws std::runtime_error when it does not start; why is on standard error then.
  explicit PrivatePostgres(const std::filesystem::path& dir);

  const std::string& url() const { return url_; }

 private:
  class Keeper {
   public:
    explicit Keeper(const std::filesystem::path& dir);
    ~Keeper();

   private:
    Fd lifeline_;  // the process acts when nobody holds this end of its input any more
    Child process_;
  };

  Keeper keeper_;  // from before the start, so that one that fails halfway leaves nothing either
  std::string url_;
};

}  // namespace holdpoint::bench
