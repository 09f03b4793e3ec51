#include "domain/quoted_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "domain/text.h"

namespace holdpoint {
namespace {

// Reads the character at `at` and moves past it; a byte that begins none stands for itself.
char32_t next_char(std::string_view text, std::size_t& at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const std::size_t size = byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
  if (size == 1 || at + size > text.size()) {
    ++at;
    return byte;
  }
  char32_t code = byte & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3f);
  }
  at += size;
  return code;
}

void append(std::string& out, char32_t code) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

bool is_invisible(char32_t c) {
  return (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || c == 0x2060 ||
         c == 0xfeff || c == 0xfe0f || c == 0xad;
}

bool is_space(char32_t c) {
  return c == ' ' || (c >= 9 && c <= 13) || c == 0xa0 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x202f || c == 0x3000;
}

char32_t fold(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c >= 0xc0 && c <= 0xde && c != 0xd7) return c + 32;
  // Pairs, the large one first: even here, odd there.
  if ((c >= 0x100 && c <= 0x137 && c != 0x130) || (c >= 0x14a && c <= 0x177)) return c | 1;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e)) return c % 2 == 1 ? c + 1 : c;
  if (c >= 0x391 && c <= 0x3a9) return c + 32;
  if (c >= 0x410 && c <= 0x42f) return c + 32;
  if (c >= 0x400 && c <= 0x40f) return c + 80;
  if (c == 0x2018 || c == 0x2019 || c == 0x201a || c == 0x2b9 || c == 0x2bc) return '\'';
  if (c == 0x201c || c == 0x201d || c == 0x201e || c == 0xab || c == 0xbb) return '"';
  if (c >= 0x2010 && c <= 0x2015) return '-';
  return c;
}

// How the line ends that introduces quoted text, folded.
constexpr std::array<std::string_view, 24> kWrote{
    "wrote:",      "schrieb:", "geschrieben:", "a écrit :",  "a écrit:", "escribió:",
    "ha scritto:", "scritto:", "escreveu:",    "schreef:",   "skrev:",   "kirjoitti:",
    "napisał(a):", "napisał:", "napisała:",    "napsal(a):", "написал:", "написал(а):",
    "написала:",   "пишет:",   "yazdı:",       "写道：",     "写道:",    "작성:"};
// Some put the name behind it: `schrieb Holdpoint <…>:`.
constexpr std::array<std::string_view, 10> kWroteBefore{
    " wrote ",    " schrieb ", " a écrit ", " escribió ",  " ha scritto ",
    " escreveu ", " schreef ", " skrev ",   " kirjoitti ", " написал "};

// How mail programs begin the line that they put under everything, and a word that is in it: people
// begin sentences so, too.
constexpr std::array<std::string_view, 24> kSentFrom{
    "sent from ", "sent with ",  "sent via ",      "get outlook ",    "von meinem ",
    "gesendet ",  "envoyé de ",  "envoyé depuis ", "enviado ",        "inviato ",
    "verstuurd ", "verzonden ",  "skickat ",       "sendt fra ",      "lähetetty ",
    "wysłane z ", "отправлено ", "发自",           "iphone",          "나의 ",
    "odesláno ",  "poslano ",    "trimis ",        "obtener outlook "};
constexpr std::array<std::string_view, 22> kPrograms{
    "iphone", "ipad",   "android", "samsung", "galaxy",     "outlook",    "windows", "yahoo",
    "proton", "gmail",  "gmx",     "web.de",  "handy",      "blackberry", "pixel",   "huawei",
    "xiaomi", "mobile", "mobil ",  "telefon", "smartphone", "thunderbird"};

// The names of header fields as mail programs write them above what they quote, folded.
constexpr std::array<std::string_view, 17> kFrom{
    "from:",   "von:",     "de :",       "de:",        "da:",   "van:",
    "från:",   "fra:",     "lähettäjä:", "od:",        "от:",   "kimden:",
    "发件人:", "发件人：", "差出人:",    "보낸 사람:", "from :"};
constexpr std::array<std::string_view, 46> kOtherFields{
    "sent:",      "date:",    "to:",        "cc:",      "subject:",    "reply-to:",   "gesendet:",
    "datum:",     "an:",      "betreff:",   "envoyé :", "envoyé:",     "date :",      "à :",
    "à:",         "objet :",  "objet:",     "enviado:", "enviado el:", "fecha:",      "para:",
    "asunto:",    "inviato:", "data:",      "a:",       "oggetto:",    "enviada em:", "assunto:",
    "verzonden:", "aan:",     "onderwerp:", "skickat:", "till:",       "ämne:",       "sendt:",
    "til:",       "emne:",    "lähetetty:", "wysłano:", "do:",         "temat:",      "отправлено:",
    "кому:",      "тема:",    "发送时间:",  "收件人:"};

template <std::size_t N>
bool begins_with_one(const std::string& text, const std::array<std::string_view, N>& all) {
  return std::any_of(all.begin(), all.end(),
                     [&](std::string_view begin) { return text.starts_with(begin); });
}

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

bool has_address(std::string_view text) {
  const auto at = text.find('@');
  return at != std::string_view::npos && at > 0 && at + 1 < text.size() && text[at - 1] != ' ' &&
         text[at + 1] != ' ';
}

template <std::size_t N>
bool holds_one(const std::string& text, const std::array<std::string_view, N>& all) {
  return std::any_of(all.begin(), all.end(),
                     [&](std::string_view one) { return text.find(one) != std::string::npos; });
}

// Whether these words introduce quoted text; if marked quotes follow, less will do.
bool is_attribution(const std::string& text, bool quote_follows) {
  const bool colon = text.ends_with(':') || text.ends_with("：");
  if (!colon || text.size() > 500) return false;
  const bool wrote = std::any_of(kWrote.begin(), kWrote.end(),
                                 [&](std::string_view end) { return text.ends_with(end); });
  const bool addressed = has_address(text);
  if (quote_follows && (wrote || addressed || (has_digit(text) && holds_one(text, kWroteBefore)))) {
    return true;
  }
  // A time or an address is in all of them; "On second thought I wrote:" has neither.
  if (wrote) return addressed || has_digit(text);
  if (!addressed) return false;
  if (holds_one(text, kWroteBefore)) return true;
  // `2026-11-16 13:00 GMT+01:00 Holdpoint <reply@example.org>:`, in any language.
  return has_digit(text) &&
         (text.ends_with(">:") || text.ends_with(">：") || text.ends_with("> :"));
}

// The end of one that was wrapped: `reply@example.org> wrote:`.
bool is_tail(const std::string& text) {
  const auto open = text.find('<'), close = text.find('>');
  return open == 0 || (close != std::string::npos && close < open);
}

// How many lines from `at` on introduce quoted text; programs wrap them.
std::size_t attribution_lines(const std::vector<std::string>& lines, std::size_t at) {
  std::string joined;
  for (std::size_t i = at; i < std::min(lines.size(), at + 4) && !lines[i].empty(); ++i) {
    if (lines[i].starts_with('>')) break;
    auto next = i + 1;
    while (next < lines.size() && lines[next].empty()) ++next;
    const bool quote_follows = next < lines.size() && lines[next].starts_with('>');
    const std::string line = folded(lines[i]);
    // An own sentence above it is none of it.
    if (i > at && is_attribution(line, false) && !is_tail(line)) return 0;
    joined = folded(joined + " " + line);
    if (is_attribution(joined, quote_follows && i == at) || is_attribution(joined, false)) {
      return i - at + 1;
    }
  }
  return 0;
}

// Yahoo goes on with the quoted text in the same line.
bool is_run_on_attribution(const std::string& line) {
  const std::string text = folded(line);
  return text.starts_with("on ") && has_digit(text) && text.find("> wrote: ") != std::string::npos;
}

// `-----Original Message-----`, in any language.
bool is_divider(const std::string& line) {
  const auto begin = line.find_first_not_of('-'), end = line.find_last_not_of('-');
  if (begin == std::string::npos || begin < 4 || line.size() - 1 - end < 4) return false;
  return line.size() <= 100;
}

bool is_rule(const std::string& line) {
  return line.size() >= 10 && line.find_first_not_of('_') == std::string::npos;
}

std::string field_text(const std::string& line) {
  std::string text = folded(line);
  // Bold, as some programs write it in plain text.
  std::erase(text, '*');
  return text;
}

bool is_header_block(const std::vector<std::string>& lines, std::size_t at) {
  if (!begins_with_one(field_text(lines[at]), kFrom)) return false;
  int others = 0;
  for (std::size_t i = at + 1; i < std::min(lines.size(), at + 7); ++i) {
    if (begins_with_one(field_text(lines[i]), kOtherFields)) ++others;
  }
  return others >= 2;
}

bool is_sent_from(const std::string& line) {
  const std::string text = folded(line);
  return line.size() <= 150 && begins_with_one(text, kSentFrom) && holds_one(text, kPrograms);
}

}  // namespace

std::string folded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_char(text, at);
    if (is_invisible(c)) continue;
    if (is_space(c)) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      append(out, fold(c));
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto last = line.find_last_not_of(" \t\r");
    lines.emplace_back(line.substr(0, last == std::string_view::npos ? 0 : last + 1));
  }
  return lines;
}

QuoteMark quote_mark(const std::vector<std::string>& lines, std::size_t at) {
  using Kind = QuoteMark::Kind;
  const auto begin = lines[at].find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  const std::string line = lines[at].substr(begin);
  if (line.starts_with('>')) return {Kind::quoted, 1};
  // `-- ` has lost its space above, as it does on the way.
  if (line == "--" || line == "—" || is_rule(line) || is_divider(line)) return {Kind::rest, 1};
  if (is_header_block(lines, at) || is_run_on_attribution(line)) return {Kind::rest, 1};
  if (const auto count = attribution_lines(lines, at)) return {Kind::attribution, count};
  if (is_sent_from(line)) return {Kind::signature, 1};
  return {};
}

}  // namespace holdpoint
