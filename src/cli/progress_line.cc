#include "cli/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/terminal_text.h"

namespace holdpoint::cli {
namespace {

std::string two_units(std::int64_t large, const char* unit, std::int64_t small,
                      const char* small_unit) {
  return std::to_string(large) + unit + (small < 10 ? "0" : "") + std::to_string(small) +
         small_unit;
}

std::string places_of(const Json& question) {
  std::string text;
  for (const auto& channel : question.value("channels", Json::array())) {
    if (channel.is_string()) text += channel.get<std::string>() + " and ";
  }
  return "asked in " + printable(text) + "the inbox";
}

}  // namespace

std::string span_text(Duration span) {
  const std::int64_t s = std::max<std::int64_t>(span.count(), 0) / 1000;
  if (s < 60) return std::to_string(s) + "s";
  if (s < 3600) return two_units(s / 60, "m", s % 60, "s");
  if (s < 86400) return two_units(s / 3600, "h", s / 60 % 60, "m");
  return two_units(s / 86400, "d", s / 3600 % 24, "h");
}

std::string progress_text(const Waiting::Seen& seen, Duration waited, Time now,
                          std::size_t columns) {
  // By what is left out last.
  std::vector<std::string> parts{"waited " + span_text(waited)};
  std::vector<std::size_t> order{0};
  if (!seen.questions.empty()) {
    const Json* question = &seen.questions.front();
    for (const auto& other : seen.questions) {
      if (other.at("status") != "pending") continue;
      question = &other;
      break;
    }
    parts.push_back("id " + printable(question->at("id").get<std::string>()));
    const auto deadline = parse_iso(question->value("expires_at", ""));
    parts.push_back(deadline ? "times out in " + span_text(*deadline - now) : "");
    parts.push_back(places_of(*question));
    order = {0, 3, 1, 2};
  }
  parts.push_back(seen.away.empty() ? "" : "the server is away");
  order.push_back(parts.size() - 1);
  const auto line = [&](std::size_t count) {
    std::string text;
    for (const std::size_t i : order) {
      if (i >= count || parts[i].empty()) continue;
      text += (text.empty() ? "" : ", ") + parts[i];
    }
    return text;
  };
  std::size_t count = parts.size();
  while (count > 1 && columns_of(line(count)) >= columns) --count;
  return fit(line(count), columns > 0 ? columns - 1 : 0);
}

ProgressLine::ProgressLine() : on_terminal_(isatty(STDERR_FILENO) == 1) {}

std::size_t ProgressLine::columns() const {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const std::size_t all = known ? size.ws_col : 80;
  return all > 2 ? all - 2 : 1;
}

void ProgressLine::show(const std::string& text) {
  if (!on_terminal_ || text == shown_) return;
  // Written over with spaces, which every terminal knows. One that was made narrower meanwhile has
  // broken the old line already; nothing can be done about that.
  // Ctrl-C may have left its two characters behind it.
  const std::size_t before = columns_of(shown_) + 2, now = columns_of(text);
  const std::string rest(before > now ? before - now : 0, ' ');
  std::fprintf(stderr, "\r%s%s\r%s", text.c_str(), rest.c_str(), text.c_str());
  std::fflush(stderr);
  shown_ = text;
}

void ProgressLine::clear() { show(""); }

}  // namespace holdpoint::cli
