#include "base/ids.h"

#include <sys/random.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "base/guarded.h"

namespace holdpoint {
namespace {

void fill_random(void* out, std::size_t size) {
  auto* p = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t got = getrandom(p, size, 0);
    if (got < 0) throw std::runtime_error("getrandom failed");
    p += got;
    size -= static_cast<std::size_t>(got);
  }
}

// The last id's time and counter: within one millisecond the counter keeps ids in order.
struct Last {
  std::int64_t millis = 0;
  std::uint32_t counter = 0;
};

Last next(std::int64_t millis) {
  static Guarded<Last> last;
  return last.with([&](Last& l) {
    if (millis > l.millis) {
      l.millis = millis;
      fill_random(&l.counter, sizeof l.counter);
      l.counter &= 0x1ffffff;  // Room to count up within 26 bits.
    } else if (++l.counter > 0x3ffffff) {
      ++l.millis;
      l.counter = 0;
    }
    return l;
  });
}

}  // namespace

std::string new_uuid(Time now) {
  const Last stamp = next(now.time_since_epoch().count());
  std::array<unsigned char, 16> b{};
  const auto millis = static_cast<std::uint64_t>(stamp.millis);
  for (std::size_t i = 0; i < 6; ++i) b[i] = static_cast<unsigned char>(millis >> (40 - 8 * i));
  fill_random(b.data() + 9, 7);
  // 12 + 14 bits of the counter follow the time, split around the version and the variant.
  b[6] = static_cast<unsigned char>(0x70 | (stamp.counter >> 22 & 0x0f));
  b[7] = static_cast<unsigned char>(stamp.counter >> 14);
  b[8] = static_cast<unsigned char>(0x80 | (stamp.counter >> 8 & 0x3f));
  b[9] = static_cast<unsigned char>(stamp.counter);
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += "0123456789abcdef"[b[i] >> 4];
    text += "0123456789abcdef"[b[i] & 15];
  }
  return text;
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

double random_fraction() {
  std::uint64_t bits = 0;
  fill_random(&bits, sizeof bits);
  return static_cast<double>(bits >> 11) / 9007199254740992.0;
}

}  // namespace holdpoint
