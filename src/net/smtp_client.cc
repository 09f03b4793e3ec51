#include "net/smtp_client.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "net/smtp_line.h"

namespace holdpoint {
namespace {

using Steady = std::chrono::steady_clock;

// libcurl passes on whatever it is given: a line break in here would be a command of its own.
bool is_safe_address(std::string_view address) {
  return address.find('@') != std::string_view::npos &&
         std::all_of(address.begin(), address.end(),
                     [](char c) { return c > 0x20 && c < 0x7f && c != '<' && c != '>'; });
}

class CurlSmtp final : public MailSender {
 public:
  explicit CurlSmtp(SmtpOptions options) : options_(std::move(options)) {}

  SmtpResult send(const std::string& from, const std::string& to, const std::string& message,
                  const std::function<bool()>& cancelled) override {
    if (!is_safe_address(from)) {
      return {SmtpResult::Kind::failed, 0, "the sender is no mail address; check [email] from"};
    }
    if (!is_safe_address(to)) {
      return {SmtpResult::Kind::refused, 0, "the recipient is no mail address"};
    }
    const auto started = Steady::now();
    auto line = take();
    SmtpResult result = line->send(from, to, message, cancelled, options_.total_timeout);
    if (result.kind == SmtpResult::Kind::failed && line->was_stale()) {
      line = std::make_unique<SmtpLine>(options_);
      const auto left =
          options_.total_timeout - std::chrono::duration_cast<Duration>(Steady::now() - started);
      result = line->send(from, to, message, cancelled, std::max(left, Duration{1000}));
    }
    // A line in an unclear state is not worth keeping.
    if (result.kind == SmtpResult::Kind::sent) give_back(std::move(line));
    return result;
  }

  SmtpResult check() override { return SmtpLine(options_).check(); }

 private:
  static constexpr std::size_t kIdle = 4;
  using Idle = std::vector<std::unique_ptr<SmtpLine>>;

  std::unique_ptr<SmtpLine> take() {
    auto line = idle_.with([](Idle& idle) -> std::unique_ptr<SmtpLine> {
      if (idle.empty()) return nullptr;
      auto taken = std::move(idle.back());
      idle.pop_back();
      return taken;
    });
    return line ? std::move(line) : std::make_unique<SmtpLine>(options_);
  }

  void give_back(std::unique_ptr<SmtpLine> line) {
    idle_.with([&](Idle& idle) {
      if (idle.size() < kIdle) idle.push_back(std::move(line));
    });
  }

  const SmtpOptions options_;
  Guarded<Idle> idle_;
};

}  // namespace

std::unique_ptr<MailSender> make_smtp_client(SmtpOptions options) {
  return std::make_unique<CurlSmtp>(std::move(options));
}

}  // namespace holdpoint
