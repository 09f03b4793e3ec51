#include "base/time.h"

#include <array>
#include <charconv>

namespace holdpoint {
namespace {

void put(char* at, int width, unsigned value) {
  for (int i = width - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

std::string to_iso(Time time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  std::string text = "0000-00-00T00:00:00.000Z";
  char* p = text.data();
  put(p, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  put(p + 5, 2, static_cast<unsigned>(date.month()));
  put(p + 8, 2, static_cast<unsigned>(date.day()));
  put(p + 11, 2, static_cast<unsigned>(clock.hours().count()));
  put(p + 14, 2, static_cast<unsigned>(clock.minutes().count()));
  put(p + 17, 2, static_cast<unsigned>(clock.seconds().count()));
  put(p + 20, 3, static_cast<unsigned>(clock.subseconds().count()));
  return text;
}

std::optional<Time> parse_iso(std::string_view text) {
  using namespace std::chrono;
  if (text.size() != 24 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || text[19] != '.' || text[23] != 'Z') {
    return std::nullopt;
  }
  const auto y = number(text.substr(0, 4)), mo = number(text.substr(5, 2)),
             d = number(text.substr(8, 2)), h = number(text.substr(11, 2)),
             mi = number(text.substr(14, 2)), s = number(text.substr(17, 2)),
             ms = number(text.substr(20, 3));
  if (!y || !mo || !d || !h || !mi || !s || !ms) return std::nullopt;
  const year_month_day date{year{*y}, month{static_cast<unsigned>(*mo)},
                            day{static_cast<unsigned>(*d)}};
  if (!date.ok() || *h > 23 || *mi > 59 || *s > 59) return std::nullopt;
  return Time{sys_days{date}.time_since_epoch() + hours{*h} + minutes{*mi} + seconds{*s} +
              milliseconds{*ms}};
}

}  // namespace holdpoint
