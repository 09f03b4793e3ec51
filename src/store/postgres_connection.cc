#include "store/postgres_connection.h"

#include <endian.h>
#include <poll.h>

#include <array>
#include <charconv>
#include <memory>

#include "store/commit_marks.h"

namespace holdpoint {
namespace {

constexpr Oid kText = 25, kBigint = 20, kAny = 0;
constexpr std::size_t kMostUnread = 200;  // More would fill the server's side of the socket.

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

class PostgresRow final : public Row {
 public:
  PostgresRow(const PGresult* result, int row) : result_(result), row_(row) {}
  bool is_null(int column) const override { return PQgetisnull(result_, row_, column) == 1; }
  std::int64_t integer(int column) const override {
    const std::string_view digits = text(column);
    if (digits == "t") return 1;  // A boolean.
    std::int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }
  std::string_view text(int column) const override {
    return {PQgetvalue(result_, row_, column),
            static_cast<std::size_t>(PQgetlength(result_, row_, column))};
  }

 private:
  const PGresult* result_;
  int row_;
};

// The values of a statement as libpq wants them: numbers and texts as bytes, so that no text needs
// a copy.
struct Values {
  explicit Values(std::span<const Param> params) {
    owned.reserve(params.size());
    numbers.reserve(params.size());
    for (const auto& param : params) add(param);
  }
  void add(const Param& param) {
    const bool any = param.type() == Param::Type::any;
    types.push_back(any ? kAny : param.type() == Param::Type::integer ? kBigint : kText);
    formats.push_back(any ? 0 : 1);
    const auto& value = param.value();
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      numbers.push_back(htobe64(static_cast<std::uint64_t>(*number)));
      data.push_back(reinterpret_cast<const char*>(&numbers.back()));
      lengths.push_back(sizeof(std::uint64_t));
      return;
    }
    if (std::holds_alternative<std::nullptr_t>(value)) {
      data.push_back(nullptr);
      lengths.push_back(0);
      return;
    }
    const auto* own = std::get_if<std::string>(&value);
    std::string_view view = own ? std::string_view(*own) : std::get<std::string_view>(value);
    if (any) {
      if (view.find('\0') != std::string_view::npos) {
        throw StoreError("a text holds a NUL character, which PostgreSQL cannot keep", false);
      }
      view = owned.emplace_back(view);  // libpq looks for the end of this form.
    }
    data.push_back(view.data() ? view.data() : "");
    lengths.push_back(static_cast<int>(view.size()));
  }
  int count() const { return static_cast<int>(data.size()); }

  std::vector<Oid> types;
  std::vector<const char*> data;
  std::vector<int> lengths;
  std::vector<int> formats;
  std::vector<std::uint64_t> numbers;
  std::vector<std::string> owned;
};

// By its content, so that behind a pooler a name can never stand for another text.
std::string name_of(std::string_view sql, const std::vector<Oid>& types) {
  std::uint64_t hash = 14695981039346656037ull;
  const auto mix = [&](unsigned char byte) { hash = (hash ^ byte) * 1099511628211ull; };
  for (const char c : sql) mix(static_cast<unsigned char>(c));
  for (const Oid type : types) mix(static_cast<unsigned char>(type));
  std::array<char, 24> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), hash, 16).ptr;
  return "hp_" + std::string(text.data(), end);
}

PostgresError::Kind kind_of(std::string_view state) {
  using Kind = PostgresError::Kind;
  if (state == "40001" || state == "40P01" || state == "55P03") return Kind::again;
  if (state == "26000" || state == "42P05" || state == "0A000") return Kind::plans;
  // Ended by an administrator, a crash or a failover; or this server only reads now.
  if (state.starts_with("08") || state.starts_with("57P") || state == "25006" || state == "25P03" ||
      state.empty()) {
    return Kind::lost;
  }
  if (state.starts_with("53") || state.starts_with("58") || state == "57014") return Kind::later;
  return Kind::refused;
}

std::string one_line(const char* message) {
  std::string text = message ? message : "";
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

}  // namespace

PostgresConnection::PostgresConnection(Options options) : options_(std::move(options)) {
  try {
    connect();
  } catch (...) {
    PQfinish(connection_);
    throw;
  }
}

PostgresConnection::~PostgresConnection() { PQfinish(connection_); }

void PostgresConnection::connect() {
  // The URL's own words come last and win.
  const std::array<const char*, 6> keywords{"client_encoding", "application_name",
                                            "keepalives_idle", "tcp_user_timeout",
                                            "dbname",          nullptr};
  const std::array<const char*, 6> values{"UTF8",  options_.application, "10",
                                          "10000", options_.url.c_str(), nullptr};
  connection_ = PQconnectStartParams(keywords.data(), values.data(), 1);
  if (!connection_) throw std::bad_alloc();
  const auto deadline = std::chrono::steady_clock::now() + options_.connect_patience;
  PostgresPollingStatusType step = PGRES_POLLING_WRITING;
  while (PQstatus(connection_) != CONNECTION_BAD && step != PGRES_POLLING_OK) {
    if (step == PGRES_POLLING_FAILED) break;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd fd{PQsocket(connection_),
              static_cast<short>(step == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
    if (left.count() <= 0 || poll(&fd, 1, static_cast<int>(left.count())) == 0) {
      fail_lost("no answer within " + std::to_string(options_.connect_patience.count()) + " ms");
    }
    step = PQconnectPoll(connection_);
  }
  if (PQstatus(connection_) != CONNECTION_OK) fail_lost();
  if (PQserverVersion(connection_) < 130000) {
    throw StoreError("the database server is PostgreSQL " +
                         std::string(PQparameterStatus(connection_, "server_version")) +
                         "; 13 or newer is needed",
                     false);
  }
  PQsetnonblocking(connection_, 1);
  PQsetNoticeProcessor(
      connection_, [](void*, const char*) {}, nullptr);
  PQenterPipelineMode(connection_);
}

void PostgresConnection::begin_write() {
  begin(usual_begin_ ? "BEGIN" : "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
}
void PostgresConnection::begin_read() { begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); }

void PostgresConnection::begin_single() {
  begin(nullptr);
  single_ = Single::first;
}

void PostgresConnection::begin(const char* text) {
  single_ = Single::no;
  if (behind_) read_answers(nullptr);
  begin_ = text;
  commit_sent_ = has_written_ = marked_ = false;
}

std::int64_t PostgresConnection::run(std::string_view sql, std::span<const Param> params,
                                     const RowVisitor* visit) {
  send(sql, params);
  return read_answers(visit);
}

// Early, so that the transaction has its number before any event gets one: who follows events goes
// by that order.
void PostgresConnection::raise_mark() {
  if (options_.mark.empty() || std::exchange(marked_, true)) return;
  const std::array<Param, 1> mark{Param(options_.mark)};
  send(commit_marks::kRaise, mark);
}

void PostgresConnection::run_later(std::string_view sql, std::span<const Param> params) {
  if (in_transaction_ || begin_) raise_mark();
  send(sql, params);
  has_written_ = true;
  if (sent_.size() >= kMostUnread) read_answers(nullptr);
}

void PostgresConnection::commit() {
  if (begin_) {  // Nothing was done.
    begin_ = nullptr;
    return;
  }
  if (has_written_) raise_mark();
  commit_sent_ = true;
  send_text("COMMIT", What::end);
  read_answers(nullptr);
  in_transaction_ = false;
  commit_sent_ = false;
  if (ended_as_ != "COMMIT") {
    throw PostgresError(PostgresError::Kind::refused, "25P02",
                        "a statement of the transaction had failed, so it was rolled back");
  }
  if (marked_) ++marked_commits_;
}

void PostgresConnection::end_read() {
  if (begin_) {
    begin_ = nullptr;
    return;
  }
  send_text("COMMIT", What::end);
  in_transaction_ = false;
  PQpipelineSync(connection_);
  PQflush(connection_);
  behind_ = true;
}

void PostgresConnection::roll_back() {
  begin_ = nullptr;
  commit_sent_ = false;
  if (!in_transaction_ && sent_.empty()) return;
  // What was sent before may fail, and then the rollback is skipped with it: so a pipeline of its
  // own.
  try {
    if (!sent_.empty()) read_answers(nullptr);
  } catch (const PostgresError& e) {
    if (e.kind() == PostgresError::Kind::lost) throw;
  }
  send_text("ROLLBACK", What::end);
  read_answers(nullptr);
  in_transaction_ = false;
}

void PostgresConnection::execute_plainly(const std::string& sql) {
  send_text(sql.c_str(), What::statement);
  read_answers(nullptr);
}

std::string PostgresConnection::escape_name(const std::string& name) {
  char* escaped = PQescapeIdentifier(connection_, name.data(), name.size());
  if (!escaped) fail_lost();
  std::string text = escaped;
  PQfreemem(escaped);
  return text;
}

void PostgresConnection::note_sent(What what, std::string name) {
  sent_.push_back({what, std::move(name)});
}

void PostgresConnection::send_text(const char* sql, What what) {
  if (PQsendQueryParams(connection_, sql, 0, nullptr, nullptr, nullptr, nullptr, 0) != 1) {
    fail_lost();
  }
  note_sent(what);
}

void PostgresConnection::send(std::string_view sql, std::span<const Param> params) {
  if (single_ == Single::over) throw SecondStatement{};
  if (single_ == Single::first && !sql.starts_with("SELECT") && !sql.starts_with("WITH")) {
    throw StoreError("a read only reads: " + std::string(sql.substr(0, 80)), false);
  }
  if (single_ == Single::first) single_ = Single::over;
  if (begin_) {
    send_text(std::exchange(begin_, nullptr), What::begin);
    in_transaction_ = true;
  }
  const Values values(params);
  auto it = prepared_.find(sql);
  if (it == prepared_.end()) {
    it = prepared_.emplace(std::string(sql), Prepared{name_of(sql, values.types), values.types})
             .first;
  }
  Prepared& prepared = it->second;
  int sent = 0;
  if (options_.prepare && prepared.types == values.types) {
    if (!prepared.there) {
      if (PQsendPrepare(connection_, prepared.name.c_str(), it->first.c_str(), values.count(),
                        values.types.data()) != 1) {
        fail_lost();
      }
      note_sent(What::prepare, it->first);
      prepared.there = true;
    }
    sent = PQsendQueryPrepared(connection_, prepared.name.c_str(), values.count(),
                               values.data.data(), values.lengths.data(), values.formats.data(), 0);
  } else {
    sent = PQsendQueryParams(connection_, it->first.c_str(), values.count(), values.types.data(),
                             values.data.data(), values.lengths.data(), values.formats.data(), 0);
  }
  if (sent != 1) fail_lost();
  note_sent(What::statement);
}

std::int64_t PostgresConnection::read_answers(const RowVisitor* visit) {
  if (!std::exchange(behind_, false) && PQpipelineSync(connection_) != 1) fail_lost();
  Result failed;
  Result last;
  while (true) {
    Result result(next_result());
    if (!result) continue;  // The end of one statement's answer.
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_PIPELINE_SYNC) break;
    if (sent_.empty()) fail_lost("the server answered what was not asked");
    const Sent sent = std::move(sent_.front());
    sent_.pop_front();
    const bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!good && sent.what == What::prepare) prepared_.find(sent.name)->second.there = false;
    if (!good && status != PGRES_PIPELINE_ABORTED && !failed) failed = std::move(result);
    if (good && sent.what == What::statement) last = std::move(result);
    if (good && sent.what == What::end) ended_as_ = PQcmdStatus(result.get());
  }
  sent_.clear();
  if (failed) fail(failed.get());
  if (!last) return 0;
  if (visit) {
    const int rows = PQntuples(last.get());
    for (int row = 0; row < rows; ++row) (*visit)(PostgresRow(last.get(), row));
  }
  const std::string_view changed = PQcmdTuples(last.get());
  std::int64_t count = 0;
  std::from_chars(changed.data(), changed.data() + changed.size(), count);
  if (count > 0 && !std::string_view(PQcmdStatus(last.get())).starts_with("SELECT")) {
    has_written_ = true;
  }
  return count;
}

PGresult* PostgresConnection::next_result() {
  while (PQisBusy(connection_)) wait_for_answer();
  PGresult* result = PQgetResult(connection_);
  if (result && PQresultStatus(result) == PGRES_FATAL_ERROR &&
      PQstatus(connection_) == CONNECTION_BAD) {
    const Result owned(result);
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (!state || kind_of(state) == PostgresError::Kind::lost)
      fail_lost(PQresultErrorMessage(result));
    fail(result);
  }
  if (!result && PQstatus(connection_) == CONNECTION_BAD) fail_lost();
  return result;
}

void PostgresConnection::wait_for_answer() {
  const int unsent = PQflush(connection_);
  if (unsent < 0) {
    // What the server said before it went is still to be read.
    if (PQconsumeInput(connection_) != 1) fail_lost();
    if (!PQisBusy(connection_)) return;
    fail_lost();
  }
  pollfd fd{PQsocket(connection_), static_cast<short>(POLLIN | (unsent ? POLLOUT : 0)), 0};
  int ready = 0;
  do {
    ready = poll(&fd, 1, static_cast<int>(options_.patience.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) {
    fail_lost("no answer within " + std::to_string(options_.patience.count() / 1000) + " s");
  }
  if (fd.revents & (POLLIN | POLLHUP | POLLERR)) {
    if (PQconsumeInput(connection_) != 1) fail_lost();
  }
}

void PostgresConnection::hear(int other, std::chrono::milliseconds longest,
                              const std::function<void(std::string_view)>& on_text) {
  std::array<pollfd, 2> fds{{{PQsocket(connection_), POLLIN, 0}, {other, POLLIN, 0}}};
  poll(fds.data(), fds.size(), static_cast<int>(longest.count()));
  if (PQconsumeInput(connection_) != 1) fail_lost();
  while (PGnotify* notify = PQnotifies(connection_)) {
    const std::unique_ptr<PGnotify, void (*)(void*)> owned(notify, PQfreemem);
    on_text(notify->extra);
  }
}

void PostgresConnection::fail(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string code = state ? state : "";
  throw PostgresError(
      kind_of(code), code,
      one_line(message ? message : PQresultErrorMessage(result)) + " (" + code + ")");
}

void PostgresConnection::fail_lost(const std::string& why) {
  throw PostgresError(PostgresError::Kind::lost, "",
                      one_line(why.empty() ? PQerrorMessage(connection_) : why.c_str()));
}

}  // namespace holdpoint
