#pragma once

#include <atomic>
#include <string>

#include "store/postgres_pool.h"

namespace holdpoint {

// LISTEN on a connection of its own, NOTIFY on the pool's.
class PostgresBulletin final : public Bulletin {
 public:
  PostgresBulletin(std::string url, PostgresPool& pool, DatabaseClock& clock);
  ~PostgresBulletin() override;
  PostgresBulletin(const PostgresBulletin&) = delete;

  void post(std::span<const std::string> texts) override;
  void listen(const std::function<void(std::string_view)>& on_text) override;
  void stop() override;
  bool is_open() const override { return open_; }

 private:
  void listen_once(const std::function<void(std::string_view)>& on_text);
  void set_open(bool open, const std::string& why);

  const std::string url_;
  PostgresPool& pool_;
  DatabaseClock& clock_;
  const std::string probe_;  // What it sends to itself, to see whether texts come through.
  std::atomic<bool> open_{false};
  std::atomic<bool> stopping_{false};
  bool told_ = false;
  int stop_fd_;
};

}  // namespace holdpoint
