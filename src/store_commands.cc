#include "store_commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/log.h"
#include "base/secret.h"
#include "store/copy.h"
#include "store/lock_file.h"
#include "store/postgres.h"
#include "store/sqlite.h"
#include "wire/digest.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// What was typed cannot be.
class Mistyped : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A database as --from or --to names it.
struct Place {
  std::string option;
  std::string shown;  // Without a password.
  fs::path file;      // Empty: PostgreSQL.
  Secret url;

  bool is_file() const { return !file.empty(); }
};

Place read_place(const std::string& option, const std::string& typed) {
  Place place{option, typed, {}, {}};
  std::string url;
  try {
    url = read_secret(typed, fs::current_path()).reveal();
  } catch (const std::runtime_error& e) {
    throw Mistyped(option + ": " + e.what());
  }
  constexpr std::string_view kFile = "sqlite:";
  if (url.starts_with(kFile) && url.size() > kFile.size()) {
    place.file = fs::absolute(url.substr(kFile.size())).lexically_normal();
    place.shown = "sqlite:" + place.file.string();
    return place;
  }
  if (!url.starts_with("postgres://") && !url.starts_with("postgresql://")) {
    // Not quoted: it may hold a password where nobody would look for one.
    throw Mistyped(option +
                   " must be sqlite: and a path, like sqlite:holdpoint.db, or "
                   "postgres://user@host:5432/name, or env:NAME or file:path that holds one of "
                   "these");
  }
  const std::string wrong = check_postgres_url(url);
  if (!wrong.empty()) throw Mistyped(option + " cannot be read: " + wrong);
  place.url = Secret(url);
  if (typed == url) place.shown = hide_password(url);
  return place;
}

void check_not_same(const Place& from, const Place& to) {
  std::error_code ignored;
  const bool same = from.is_file()
                        ? from.file == to.file || fs::equivalent(from.file, to.file, ignored)
                        : from.url.reveal() == to.url.reveal();
  if (from.is_file() == to.is_file() && same) {
    throw Mistyped("--from and --to name the same database; name a new one with --to");
  }
}

void check_ours(const Place& place) {
  std::string why = "it has no schema_migrations";
  try {
    if (is_store_file(place.file.string())) return;
  } catch (const StoreError& e) {
    why = e.what();
  }
  throw Mistyped(place.option + ": " + place.file.string() +
                 " is no database of Holdpoint: " + why);
}

// A file that is not there would be made, and somebody else's would get our tables.
void check_files(const Place& from, const Place& to) {
  if (from.is_file()) {
    if (!fs::is_regular_file(from.file)) {
      throw Mistyped("--from: there is no file " + from.file.string() +
                     "; name the one that [database] url of the server names");
    }
    check_ours(from);
  }
  if (to.is_file()) {
    if (!fs::is_directory(to.file.parent_path())) {
      throw Mistyped("--to: there is no folder " + to.file.parent_path().string() +
                     "; make it first");
    }
    std::error_code ignored;
    if (fs::exists(to.file) && fs::file_size(to.file, ignored) != 0) check_ours(to);
  }
}

CopyError in_use(const Place& place) {
  std::string holder;
  std::getline(std::ifstream(place.file.string() + ".lock"), holder);
  return CopyError("a server has " + place.shown +
                   (holder.empty() ? "" : " (process " + holder + ")") +
                   "; stop it first, so that nothing changes while it is copied");
}

std::unique_ptr<Database> open(const Place& place) {
  try {
    if (!place.is_file()) {
      PostgresOptions options;
      options.url = place.url.reveal();
      options.connections = 4;
      options.long_transactions = true;
      options.start_patience = Duration{5000};
      return open_postgres(std::move(options));
    }
    SqliteOptions options;
    options.path = place.file.string();
    options.on_sync_failure = [](const std::string& what) {
      std::fprintf(stderr, "holdpoint: the disk failed: %s\n", what.c_str());
      std::_Exit(1);
    };
    return open_sqlite(std::move(options), SystemClock().now());
  } catch (const DatabaseInUse&) {
    throw in_use(place);
  } catch (const StoreError& e) {
    throw CopyError(place.option + ": " + e.what());
  }
}

// The process id of our own connection.
std::int64_t check_no_nodes(const Place& place, Database& db, std::int64_t known) {
  // Connections of ours, or of a node that was stopped just now, may not be quite closed yet.
  const auto deadline = std::chrono::steady_clock::now() + 3s;
  while (true) {
    const ConnectedNodes nodes = connected_nodes(db, known);
    if (nodes.others == 0) return nodes.self;
    if (std::chrono::steady_clock::now() >= deadline) {
      throw CopyError(place.option + ": nodes are connected to " + place.shown + " (" +
                      std::to_string(nodes.others) + " connections, from " + nodes.addresses +
                      ")\n  Stop them first, so that nothing changes while it is copied. A pooler "
                      "keeps connections for a while: name the server itself");
    }
    std::this_thread::sleep_for(50ms);
  }
}

// One line on a terminal that is written over and over, and gone in the end.
class Progress {
 public:
  ~Progress() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }
  void show(std::string_view doing, std::string_view table, std::int64_t rows) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now < next_) return;
    next_ = now + 100ms;
    shown_ = true;
    std::fprintf(stderr, "\r\033[K%s: %lld rows",
                 std::string(doing).append(" ").append(table).c_str(),
                 static_cast<long long>(rows));
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  // What takes less than a second needs no line.
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + 1s;
};

std::vector<CopiedTable> copy(const Place& from, const Place& to) {
  check_not_same(from, to);
  check_files(from, to);
  try {
    if (from.is_file()) const LockFile free(from.file.string() + ".lock");
  } catch (const DatabaseInUse&) {
    throw in_use(from);
  }
  // The source last: opening it may bring its schema to this version, which an older program cannot
  // use any more.
  const auto target = open(to);
  const auto source = open(from);
  if (!from.is_file() && !to.is_file() &&
      postgres_identity(*source) == postgres_identity(*target)) {
    throw Mistyped("--from and --to name the same database; name a new one with --to");
  }
  const auto ours = from.is_file() ? 0 : connected_nodes(*source, 0).self;
  const auto other = to.is_file() ? 0 : connected_nodes(*target, 0).self;
  if (!from.is_file()) check_no_nodes(from, *source, other);
  if (!to.is_file()) check_no_nodes(to, *target, ours);
  Progress progress;
  CopyOptions options;
  options.to_postgres = !to.is_file();
  options.hash = sha256_hex;
  options.on_progress = [&](auto doing, auto table, auto rows) {
    progress.show(doing, table, rows);
  };
  return copy_store(*source, *target, options);
}

void print(const std::vector<CopiedTable>& tables, const Place& from, const Place& to) {
  std::int64_t all = 0;
  for (const auto& table : tables) {
    all += table.rows;
    std::printf("%-22s %10lld %-4s  %s  same on both sides\n", table.name.c_str(),
                static_cast<long long>(table.rows), table.rows == 1 ? "row" : "rows",
                table.checksum.substr(0, 12).c_str());
  }
  std::printf(
      "\n%lld rows are copied. What to do next:\n"
      "  1. set [database] url to %s\n"
      "  2. start the server, or all nodes: what waited goes on\n"
      "  3. start none on %s again, and keep it until you are satisfied\n",
      static_cast<long long>(all), to.shown.c_str(), from.shown.c_str());
}

void print_json(const std::vector<CopiedTable>& tables, const Place& from, const Place& to) {
  JsonWriter out;
  out.begin_object().member("from", from.shown).member("to", to.shown).key("tables").begin_array();
  for (const auto& table : tables) {
    out.begin_object().member("name", table.name).member("rows", table.rows);
    out.member("checksum", table.checksum).end_object();
  }
  std::printf("%s\n", out.end_array().end_object().take().c_str());
}

}  // namespace

struct StoreCommands::Parsed {
  CLI::App* copy = nullptr;
  std::string from, to;
  bool json = false;
};

StoreCommands::StoreCommands(CLI::App& app) : parsed_(std::make_unique<Parsed>()) {
  Parsed& p = *parsed_;
  auto* store = app.add_subcommand("store", "The database as a whole: copy it to another one");
  store->require_subcommand(1);
  p.copy = store->add_subcommand(
      "copy",
      "Copy all data to a new database, SQLite or PostgreSQL, and check that it is the same there");
  p.copy
      ->add_option("--from", p.from,
                   "sqlite:path or postgres://user@host/name, or env:NAME or file:path that holds "
                   "it. Its server, or all its nodes, must be stopped")
      ->required();
  p.copy->add_option("--to", p.to, "Likewise; must be empty, a file may be new")->required();
  p.copy->add_flag("--json", p.json, "Print JSON");
  p.copy->footer(
      "Example:\n"
      "  holdpoint store copy --from sqlite:holdpoint.db --to "
      "postgres://holdpoint@db.example/holdpoint\n"
      "All rows go over in one transaction, which is committed only once both sides, read again, "
      "have the same\nrows and checksums; whatever goes wrong, the target stays empty. Nothing in "
      "the source changes, but that\nits schema is brought to this version, as by a start of the "
      "server.");
}

StoreCommands::~StoreCommands() = default;

bool StoreCommands::chosen() const { return static_cast<bool>(*parsed_->copy); }

int StoreCommands::run() {
  set_log_level(Level::warning);  // What was done is said here.
  try {
    const Place from = read_place("--from", parsed_->from), to = read_place("--to", parsed_->to);
    const auto tables = copy(from, to);
    (parsed_->json ? print_json : print)(tables, from, to);
    return 0;
  } catch (const Mistyped& e) {
    std::fprintf(stderr, "holdpoint: %s\n", e.what());
    return 2;
  } catch (const CopyError& e) {
    std::fprintf(stderr, "holdpoint: %s\n%s", e.what(),
                 e.in_doubt() ? "" : "  Nothing was copied.\n");
    return 1;
  }
}

}  // namespace holdpoint
