#include "cli/inbox_view.h"

#include <algorithm>

#include "cli/progress_line.h"
#include "cli/terminal_text.h"
#include "domain/text.h"

namespace holdpoint::cli {
namespace {

using Look = ScreenLine::Look;
using Lines = std::vector<ScreenLine>;
using Row = InboxDesk::Row;

constexpr std::size_t kContextLines = 4;  // Of one member.

std::string age_of(const Row& row, Time now) {
  const auto asked = parse_iso(row.text("created_at"));
  return asked ? span_text(now - *asked) : "?";
}

std::string left_of(const Row& row, Time now) {
  const auto deadline = parse_iso(row.text("expires_at"));
  return deadline ? span_text(*deadline - now) : "?";
}

void add_wrapped(Lines& out, const std::string& text, std::size_t columns, Look look,
                 const std::string& first = "", std::size_t most = 1000) {
  const std::size_t indent = columns_of(first);
  const std::size_t room = columns > indent + 10 ? columns - indent : columns;
  auto parts = wrap(text, room);
  if (parts.size() > most) {
    parts.resize(most);
    parts.back() = fit(parts.back(), room > 2 ? room - 2 : 0) + " …";
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out.push_back({(i == 0 ? first : std::string(indent, ' ')) + parts[i], look});
  }
}

void add_options(Lines& out, const Row& row, std::size_t columns) {
  const Json& choices = row.question.at("choices");
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Json& choice = choices[i];
    const std::string mark = !row.multi() ? "" : row.picks.at(i) ? "[x] " : "[ ] ";
    std::string text = choice.at("label").get<std::string>();
    if (choice.value("recommended", false)) text += " (recommended)";
    const Json why = choice.value("description", Json());
    if (why.is_string()) text += " — " + why.get<std::string>();
    add_wrapped(out, text, columns, Look::plain, "  " + std::to_string(i + 1) + " " + mark);
  }
  if (row.takes_own_words()) {
    out.push_back(
        {choices.empty() ? "  t type the answer" : "  t type an answer of your own", Look::plain});
  }
  if (row.multi()) out.push_back({"  Numbers choose, Enter sends.", Look::dim});
}

void add_context(Lines& out, const Row& row, std::size_t columns) {
  for (const auto& [name, value] : row.question.at("context").items()) {
    if (name == "asked_at") continue;
    add_wrapped(out, value.is_string() ? value.get<std::string>() : value.dump(), columns,
                Look::dim, fit(printable(name), columns / 3) + ": ", kContextLines);
  }
}

Lines detail_of(const Row& row, Time now, std::size_t columns) {
  Lines out;
  const std::string header = row.text("header");
  add_wrapped(out, (header.empty() ? "" : "[" + header + "] ") + row.text("question"), columns,
              Look::bold);
  if (row.state == Row::State::open) {
    add_options(out, row, columns);
  } else {
    add_wrapped(out, row.outcome, columns, Look::bold, "  ");
  }
  std::string places;
  for (const auto& channel : row.question.at("channels")) {
    places += channel.get<std::string>() + " and ";
  }
  add_wrapped(out,
              row.text("agent_name") + " asked " + age_of(row, now) + " ago, in " + places +
                  "the inbox" +
                  (row.state == Row::State::over ? "" : "; times out in " + left_of(row, now)),
              columns, Look::dim);
  add_context(out, row, columns);
  return out;
}

// As much of it as there is room for, from where the person has scrolled to.
Lines scrolled(Lines lines, std::size_t scroll, std::size_t room) {
  if (lines.size() <= room || room == 0) {
    lines.resize(room);
    return lines;
  }
  const std::size_t step = std::max<std::size_t>(room / 2, 1);
  const std::size_t start = std::min(scroll * step, lines.size() - room);
  const std::size_t below = lines.size() - start - room;
  Lines out(lines.begin() + static_cast<std::ptrdiff_t>(start),
            lines.begin() + static_cast<std::ptrdiff_t>(start + room));
  if (below > 0) {
    out.back() = {"… " + std::to_string(below + 1) + " more lines: space", Look::chosen};
  }
  return out;
}

ScreenLine list_line(const Row& row, bool chosen, Time now, std::size_t columns) {
  const char* mark = row.state == Row::State::over      ? "✓ "
                     : row.state == Row::State::sending ? "… "
                                                        : "  ";
  const std::string left = row.state == Row::State::open ? left_of(row, now) : "";
  const std::string agent = columns >= 50 ? fit(printable(row.text("agent_name")), 16) : "";
  std::string text = (chosen ? "> " : mark) + agent + (agent.empty() ? "" : "  ") +
                     printable(row.text("question"));
  const std::size_t room = columns > left.size() + 1 ? columns - left.size() - 1 : columns;
  text = fit(text, room);
  if (room < columns) text += std::string(room - columns_of(text) + 1, ' ') + left;
  return {text, chosen ? Look::chosen : Look::plain};
}

Lines list_of(const InboxDesk& desk, Time now, std::size_t columns, std::size_t room) {
  const std::size_t count = desk.rows().size();
  const std::size_t half = room / 2;
  std::size_t start = desk.selected() > half ? desk.selected() - half : 0;
  start = count > room ? std::min(start, count - room) : 0;
  Lines out;
  for (std::size_t i = start; i < std::min(count, start + room); ++i) {
    out.push_back(list_line(desk.rows()[i], i == desk.selected(), now, columns));
  }
  return out;
}

std::string title_of(const InboxDesk& desk, const std::string& server, bool away) {
  if (away) return "Holdpoint: the server is away: " + printable(server);
  const std::size_t open = desk.count_open();
  const std::string count =
      !desk.is_known() ? "looking …"
      : open == 0      ? "nothing waits"
      : open == 1      ? "1 question waits"
                  : std::to_string(open) + (desk.has_more() ? " and more" : "") + " questions wait";
  return "Holdpoint: " + count + " at " + printable(server);
}

std::string keys_of(const InboxDesk& desk) {
  switch (desk.mode()) {
    case InboxDesk::Mode::typing:
      return "Enter sends, Esc leaves";
    case InboxDesk::Mode::numbering:
      return "Enter picks, Esc leaves";
    case InboxDesk::Mode::confirming:
      return "y cancels the question for all, any other key does not";
    case InboxDesk::Mode::reading:
      break;
  }
  return "↑↓ move  1-9 answer  t type  c cancel  space more  r refresh  q quit";
}

// The last lines: what is being typed, or what there is to say.
ScreenLine status_of(const InboxDesk& desk, const std::string& away, std::size_t columns) {
  if (!desk.notice().empty()) return {printable(desk.notice()), Look::bold};
  if (desk.mode() == InboxDesk::Mode::confirming) return {"Cancel this question?", Look::bold};
  if (desk.mode() != InboxDesk::Mode::reading) {
    const std::string prompt = desk.mode() == InboxDesk::Mode::typing ? "answer: " : "number: ";
    // The end of it is what is being typed.
    std::string draft = printable(desk.draft());
    while (columns_of(prompt) + columns_of(draft) + 1 > columns && !draft.empty()) {
      std::size_t bytes = 1;
      while (bytes < draft.size() && (static_cast<unsigned char>(draft[bytes]) & 0xc0) == 0x80)
        ++bytes;
      draft.erase(0, bytes);
    }
    return {prompt + draft + "_", Look::bold};
  }
  if (!away.empty()) return {"Trying again: " + printable(away), Look::bold};
  return {};
}

}  // namespace

Lines draw_inbox(const InboxDesk& desk, const std::string& server, const std::string& away,
                 Time now, ScreenSize size) {
  const std::size_t columns = std::max<std::size_t>(size.columns, 1);
  const std::size_t lines = std::max<std::size_t>(size.lines, 1);
  // What is small shows the question first.
  const bool roomy = lines >= 10;
  const std::size_t below = lines >= 4 ? 2 : lines - 1;
  const std::size_t above = roomy ? 2 : 0;
  Lines out;
  if (roomy) out = {{title_of(desk, server, !away.empty()), Look::bold}, {}};
  const std::size_t room = lines - above - below;
  if (const Row* row = desk.current()) {
    Lines list = roomy ? list_of(desk, now, columns, std::max<std::size_t>(room / 3, 1)) : Lines{};
    out.insert(out.end(), list.begin(), list.end());
    if (roomy) out.push_back({});
    const std::size_t left = above + room - std::min(out.size(), above + room);
    const Lines detail = scrolled(detail_of(*row, now, columns), desk.scroll(), left);
    out.insert(out.end(), detail.begin(), detail.end());
  } else if (desk.is_known()) {
    add_wrapped(out, "Nothing waits for an answer. New questions show up here by themselves.",
                columns, Look::plain);
  }
  out.resize(above + room);
  if (below > 0) out.push_back(status_of(desk, away, columns));
  if (below > 1) out.push_back({keys_of(desk), Look::dim});
  out.resize(lines);
  for (auto& line : out) line.text = fit(line.text, columns);
  return out;
}

}  // namespace holdpoint::cli
