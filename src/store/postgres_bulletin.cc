#include "store/postgres_bulletin.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "store/postgres_start.h"

namespace holdpoint {

using namespace std::chrono_literals;

namespace {

// Deployments in schemas of one database do not hear each other.
constexpr const char* kPost = "SELECT pg_notify('holdpoint_' || current_schema(), $1)";
constexpr auto kBetweenProbes = 30s;
constexpr auto kProbePatience = 3s;

}  // namespace

PostgresBulletin::PostgresBulletin(std::string url, PostgresPool& pool, DatabaseClock& clock)
    : url_(std::move(url)),
      pool_(pool),
      clock_(clock),
      probe_("probe " + new_uuid(clock.now())),
      stop_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

PostgresBulletin::~PostgresBulletin() { close(stop_fd_); }

void PostgresBulletin::post(std::span<const std::string> texts) {
  auto taken = pool_.take(std::chrono::steady_clock::now() + 1s);
  try {
    for (const auto& text : texts) {
      // By itself: in a transaction with others it would have to wait for the disk.
      taken.connection().begin_single();
      taken.connection().query(
          kPost, [](const Row&) {}, text);
    }
  } catch (const PostgresError& e) {
    taken.note_failure(e);
    throw;
  }
}

void PostgresBulletin::stop() {
  stopping_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(stop_fd_, &one, sizeof one);
}

void PostgresBulletin::listen(const std::function<void(std::string_view)>& on_text) {
  while (!stopping_) {
    try {
      listen_once(on_text);
    } catch (const StoreError& e) {
      set_open(false, e.what());
      pollfd fd{stop_fd_, POLLIN, 0};
      poll(&fd, 1, 500);
    }
  }
}

void PostgresBulletin::listen_once(const std::function<void(std::string_view)>& on_text) {
  using Steady = std::chrono::steady_clock;
  PostgresConnection::Options options;
  options.url = url_;
  options.application = "holdpoint notices";
  options.prepare = false;
  PostgresConnection connection(options);
  std::string channel;
  connection.query("SELECT 'holdpoint_' || current_schema()",
                   [&](const Row& row) { channel = row.string(0); });
  connection.execute_plainly("LISTEN " + connection.escape_name(channel));
  Steady::time_point probed{};
  bool answered = false;
  while (!stopping_) {
    const auto now = Steady::now();
    if (now - probed >= kBetweenProbes) {
      // A pooler may let LISTEN pass and keep what comes of it.
      greet_postgres(connection, clock_);
      post({&probe_, 1});
      probed = Steady::now();
      answered = false;
    }
    if (!answered && now - probed >= kProbePatience) {
      set_open(false, "what is sent by NOTIFY does not come back");
    }
    connection.hear(stop_fd_, answered ? kBetweenProbes : 500ms, [&](std::string_view text) {
      if (text == probe_) {
        answered = true;
        set_open(true, "");
      } else if (!text.starts_with("probe ")) {
        on_text(text);
      }
    });
  }
}

void PostgresBulletin::set_open(bool open, const std::string& why) {
  const bool was = open_.exchange(open);
  if (was == open && told_) return;
  told_ = true;
  if (open) {
    log(Level::info, "notices_heard");
  } else {
    log(Level::warning, "notices_by_polling",
        {{"reason", why}, {"what_now", "looking for what other nodes did, four times a second"}});
  }
}

}  // namespace holdpoint
