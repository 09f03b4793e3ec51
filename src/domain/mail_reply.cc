#include "domain/mail_reply.h"

#include <algorithm>
#include <optional>

#include "domain/quoted_text.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

using Places = std::vector<std::size_t>;  // Among the options, each once, in their order.

constexpr std::size_t kMostListBytes = 4000;
constexpr std::size_t kMostListLines = 100;
constexpr std::string_view kAround = " \t\"'*_.!?,;:`()[]<>-";

// Without what people and programs put around a word.
std::string_view bare(std::string_view text) {
  const auto begin = text.find_first_not_of(kAround);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kAround) - begin + 1);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<std::size_t> number_in(std::string_view text) {
  if (!is_number(text) || text.size() > 9) return std::nullopt;
  return static_cast<std::size_t>(std::stoul(std::string(text)));
}

// A question's options as replies name them.
class Options {
 public:
  explicit Options(const std::vector<Option>& options) {
    for (const auto& option : options) {
      labels_.push_back(folded(option.label));
      bare_.emplace_back(bare(labels_.back()));
      shown_.push_back(option.label);
      longest_ = std::max(longest_, labels_.back().size());
      numeric_ = numeric_ || is_number(bare_.back());
    }
  }
  std::size_t size() const { return labels_.size(); }
  const std::string& shown(std::size_t place) const { return shown_[place]; }
  const std::string& label(std::size_t place) const { return labels_[place]; }

  // The options that `text`, folded, can mean by itself.
  Places named(std::string_view text) const {
    Places found;
    for (std::size_t i = 0; i < size(); ++i) {
      if (labels_[i] == text) found.push_back(i);
    }
    if (!found.empty()) return with_number(std::move(found), text);
    const std::string_view inner = bare(text);
    if (inner.empty()) return {};
    for (std::size_t i = 0; i < size(); ++i) {
      if (bare_[i] == inner) found.push_back(i);
    }
    return with_number(std::move(found), text);
  }

  // The number that `text` gives, in range or not: `2`, `2.`, `#2`, `2)`, `option 2`.
  std::optional<std::size_t> number(std::string_view text) const {
    std::string_view inner = bare(text);
    bool marked = false;
    for (const std::string_view mark : {"#", "option ", "option #", "no. ", "nr. "}) {
      if (inner.starts_with(mark) && number_in(inner.substr(mark.size()))) {
        inner.remove_prefix(mark.size());
        marked = true;
        break;
      }
    }
    // Where labels are numbers, a number is a label.
    if (numeric_ && !marked) return std::nullopt;
    return number_in(inner);
  }
  bool has_numeric_labels() const { return numeric_; }
  // No name is longer, with what may stand around it.
  std::size_t longest() const { return longest_ + 40; }

 private:
  Places with_number(Places found, std::string_view text) const {
    const auto place = number(text);
    if (found.empty() && place && *place >= 1 && *place <= size()) found.push_back(*place - 1);
    return found;
  }

  std::vector<std::string> labels_, bare_, shown_;
  bool numeric_ = false;
  std::size_t longest_ = 9;
};

// How long the separator at the beginning of `text` is; 0: there is none.
std::size_t separator(std::string_view text) {
  constexpr std::string_view words[]{" and ", " & ", " und ", " et ", " y ", " och ", " en ", "&"};
  std::size_t size = 0;
  bool any = true;
  while (any && size < text.size()) {
    any = false;
    const auto rest = text.substr(size);
    if (rest.front() == ',' || rest.front() == ';') {
      ++size;
      any = true;
      continue;
    }
    for (const auto word : words) {
      // `, and `: the comma's space is the word's.
      if (rest.starts_with(word)) {
        size += word.size() - (word.back() == ' ' ? 1 : 0);
        any = true;
        break;
      }
    }
  }
  return size;
}

// The options that a line is a list of and nothing else; nothing if it is none. Longest names
// first, for labels may hold commas; `whole` is whether one name may be all of the line.
std::optional<Places> listed(const Options& options, std::string_view line, bool whole = true) {
  if (line.size() > kMostListBytes) return std::nullopt;
  Places found;
  std::string_view rest = line;
  while (true) {
    std::size_t best = 0;
    std::optional<std::size_t> place;
    for (auto size = std::min(rest.size(), options.longest()); size > 0 && !place; --size) {
      if (size < rest.size() && separator(rest.substr(size)) == 0) continue;
      if (size == line.size() && !whole) continue;
      const auto one = options.named(rest.substr(0, size));
      if (one.size() == 1) {
        place = one.front();
        best = size;
      }
    }
    if (!place) return std::nullopt;
    if (std::find(found.begin(), found.end(), *place) == found.end()) found.push_back(*place);
    rest.remove_prefix(best);
    if (bare(rest).empty()) break;
    rest.remove_prefix(separator(rest));
    const auto begin = rest.find_first_not_of(' ');
    rest.remove_prefix(std::min(begin, rest.size()));
    if (rest.empty()) break;
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || byte >= 0x80;
}

// Whether `line` begins with `word` and goes on with something else.
bool goes_on(std::string_view line, std::string_view word) {
  if (word.empty() || line.size() <= word.size() || !line.starts_with(word)) return false;
  const std::string_view rest = line.substr(word.size());
  // In scripts without spaces nothing says where a word ends.
  const bool open_end = static_cast<unsigned char>(word.back()) >= 0x80;
  const bool punctuation = rest.starts_with("\xe2\x80") || rest.starts_with("\xe3\x80") ||
                           rest.starts_with("\xef\xbc") || rest.starts_with("\xe2\x9c");
  return open_end || punctuation || !is_word_byte(rest.front());
}

std::string quoted(std::string_view text) { return "\"" + shorten(text, 60) + "\""; }

std::string names_of(const Options& options, const Places& places) {
  std::string out;
  for (const auto place : places) {
    out.append(out.empty() ? "" : place == places.back() ? " and " : ", ");
    out.append(quoted(options.shown(place)));
  }
  return out;
}

// What the first line only begins with; empty: nothing that is an option.
std::string false_start(const Options& options, std::string_view line, std::string_view shown) {
  const auto start = std::min(line.find_first_not_of(kAround), line.size());
  line.remove_prefix(start);
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (goes_on(line, options.label(i)) || goes_on(line, bare(options.label(i)))) {
      return quoted(shown) + " begins like the option " + quoted(options.shown(i)) +
             ", but goes on";
    }
  }
  if (line.starts_with('#')) line.remove_prefix(1);
  const auto end = std::min(line.find_first_not_of("0123456789"), line.size());
  const auto number = number_in(line.substr(0, end));
  if (number && *number >= 1 && *number <= options.size() && end < line.size() &&
      !is_word_byte(line[end])) {
    return quoted(shown) + " begins with the number of an option, but goes on";
  }
  return "";
}

// `Label: words`: an option with a remark. As own words it says both, and guesses nothing.
bool is_remark(const Options& options, std::string_view line) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string start = options.label(i) + ":";
    if (line.starts_with(start) && !bare(line.substr(start.size())).empty()) return true;
  }
  return false;
}

ReplyReading unclear(std::string why) { return {{}, std::move(why)}; }

ReplyReading own_text(std::string_view text, const Limits& limits) {
  if (count_chars(text) > limits.max_answer_chars) {
    return unclear("it has more than " + std::to_string(limits.max_answer_chars) + " characters");
  }
  return {{std::string(text)}, ""};
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

std::string newest_text(std::string_view text) {
  const auto lines = lines_of(text);
  std::string out;
  const auto keep = [&](const std::string& line) {
    // One blank line at most, and none at the top.
    if (line.empty() && (out.empty() || out.ends_with("\n\n"))) return;
    out.append(line).append("\n");
  };
  for (std::size_t at = 0; at < lines.size();) {
    const QuoteMark mark = quote_mark(lines, at);
    if (mark.kind == QuoteMark::Kind::rest) break;
    if (mark.kind == QuoteMark::Kind::none) keep(lines[at]);
    at += mark.lines;
    if (mark.kind != QuoteMark::Kind::attribution) continue;
    // Marked quotes end where they end; below one without marks everything is quoted.
    while (at < lines.size() && lines[at].empty()) ++at;
    if (at < lines.size() && quote_mark(lines, at).kind != QuoteMark::Kind::quoted) break;
  }
  return std::string(trimmed(out));
}

ReplyReading read_reply(const QuestionSpec& spec, std::string_view newest, const Limits& limits) {
  const std::string_view text = trimmed(newest);
  if (is_blank(text)) return unclear("it has no text of its own above what it quotes");
  if (spec.options.empty()) return own_text(text, limits);

  const Options options(spec.options);
  auto lines = lines_of(text);
  std::erase_if(lines, [](const std::string& line) { return folded(line).empty(); });
  if (lines.empty()) return unclear("it has no text of its own above what it quotes");
  const std::string first = folded(lines.front());

  const Places meant = options.named(first);
  if (meant.size() > 1) {
    return unclear(quoted(lines.front()) + " fits several options: " + names_of(options, meant));
  }
  const auto list = listed(options, first, meant.empty());
  if (!meant.empty() && list && list->size() > 1) {
    return unclear(quoted(lines.front()) + " is one option, or a list of others");
  }
  if (!meant.empty() || list) {
    Places chosen = meant.empty() ? *list : meant;
    // Options on lines of their own below the first are no remark.
    for (std::size_t i = 1; i < std::min(lines.size(), kMostListLines); ++i) {
      const auto more = listed(options, folded(lines[i]));
      if (!more) continue;
      chosen.insert(chosen.end(), more->begin(), more->end());
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    if (chosen.size() > 1 && !spec.multi_select) {
      return unclear("it names " + names_of(options, chosen) + ", and one can be chosen");
    }
    ReplyReading reading;
    for (const auto place : chosen) reading.values.push_back(options.shown(place));
    return reading;
  }
  const auto number = options.number(first);
  if (number || (options.has_numeric_labels() && is_number(bare(first)))) {
    return unclear("there is no option " + std::string(bare(first)));
  }
  if (spec.allow_other && is_remark(options, first)) return own_text(text, limits);
  if (auto why = false_start(options, first, lines.front()); !why.empty()) return unclear(why);
  if (!spec.allow_other) return unclear(quoted(lines.front()) + " is none of the options");
  return own_text(text, limits);
}

}  // namespace holdpoint
