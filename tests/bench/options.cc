#include "options.h"

#include <getopt.h>

#include <array>
#include <charconv>
#include <sstream>

namespace holdpoint::bench {
namespace {

constexpr int kMaxClients = 1000;
constexpr int kMaxNodes = 16;

long parse_number(const std::string& name, const std::string& value, long least, long most) {
  long number = 0;
  const char* end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || stopped != end || number < least || number > most)
    throw UsageError(name + " must be a number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", not '" + value + "'");
  return number;
}

std::vector<int> parse_numbers(const std::string& name, const std::string& value, int most) {
  std::vector<int> numbers;
  std::istringstream list(value);
  for (std::string item; std::getline(list, item, ',');)
    numbers.push_back(static_cast<int>(parse_number(name, item, 1, most)));
  if (numbers.empty()) throw UsageError(name + " is empty");
  return numbers;
}

// An optional value in a word of its own, which getopt does not know.
std::string take_optional(int argc, char** argv) {
  if (optarg != nullptr) return optarg;
  if (optind < argc && argv[optind][0] != '-') return argv[optind++];
  return "";
}

std::string parse_url(const std::string& value) {
  if (value.empty()) return value;
  if (!value.starts_with("postgres://") && !value.starts_with("postgresql://"))
    throw UsageError("--postgres must be a postgres:// URL");  // not shown: it may hold a password
  if (value.find_first_of("'\n") != std::string::npos)
    throw UsageError("--postgres: write quotes and line ends as %27 and %0A");
  if (value.find("options=") != std::string::npos)
    throw UsageError("--postgres: the URL may have no options: they choose the bench's schemas");
  return value;
}

Part parse_part(const std::string& value) {
  if (value == "ceilings") return Part::ceilings;
  if (value == "lifecycles") return Part::lifecycles;
  if (value == "parked") return Part::parked;
  throw UsageError("--only must be ceilings, lifecycles or parked, not '" + value + "'");
}

}  // namespace

const char* const kHelp =
    R"(Measures Holdpoint on this machine, next to the machine's own ceilings.

usage: bench [options]

  --seconds N        how long each number of clients is measured (default 8)
  --clients LIST     numbers of clients, comma-separated (default 1,16,64)
  --parked N         sessions left waiting to weigh one of them (default 5000)
  --postgres [URL]   measure on PostgreSQL too, beside SQLite, each part in a fresh schema of that
                     database; without a URL on a durable server of the bench's own
  --nodes LIST       numbers of nodes on PostgreSQL, comma-separated (default 1,2,3); requests go
                     to them in turn
  --binary PATH      the server (default: holdpoint beside this program)
  --json FILE        write the figures as JSON too
  --only PART        ceilings, lifecycles or parked; what is left out shows as '-'
  --help             this text

Files go into a fresh folder below $TMPDIR, or /var/tmp, which is removed at the end; a server and
schemas of the bench's own go with it.
Exit code: 0; 1 when a request failed or gave a wrong result; 2 for a wrong option.
)";

Options parse_options(int argc, char** argv) {
  enum : int { seconds = 1, clients, parked, postgres, nodes, binary, json, only, help };
  static constexpr std::array<option, 10> kOptions{
      {{"seconds", required_argument, nullptr, seconds},
       {"clients", required_argument, nullptr, clients},
       {"parked", required_argument, nullptr, parked},
       {"postgres", optional_argument, nullptr, postgres},
       {"nodes", required_argument, nullptr, nodes},
       {"binary", required_argument, nullptr, binary},
       {"json", required_argument, nullptr, json},
       {"only", required_argument, nullptr, only},
       {"help", no_argument, nullptr, help},
       {nullptr, 0, nullptr, 0}}};
  bool nodes_given = false;
  Options options;
  options.binary = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "holdpoint";
  opterr = 0;
  for (int found; (found = getopt_long(argc, argv, ":h", kOptions.data(), nullptr)) != -1;) {
    switch (found) {
      case seconds:
        options.span = Seconds(static_cast<double>(parse_number("--seconds", optarg, 1, 3600)));
        break;
      case clients:
        options.clients = parse_numbers("--clients", optarg, kMaxClients);
        break;
      case parked:
        options.parked = parse_number("--parked", optarg, 1, 10'000'000);
        break;
      case postgres:
        options.postgres = true;
        options.postgres_url = parse_url(take_optional(argc, argv));
        break;
      case nodes:
        options.nodes = parse_numbers("--nodes", optarg, kMaxNodes);
        nodes_given = true;
        break;
      case binary:
        options.binary = optarg;
        break;
      case json:
        options.json = optarg;
        break;
      case only:
        options.only = parse_part(optarg);
        break;
      case help:
      case 'h':
        options.help = true;
        break;
      case ':':
        throw UsageError(std::string(argv[optind - 1]) + " needs a value");
      default:
        throw UsageError("unknown option " + std::string(argv[optind - 1]));
    }
  }
  if (optind < argc) throw UsageError("unexpected argument " + std::string(argv[optind]));
  if (nodes_given && !options.postgres) throw UsageError("--nodes needs --postgres");
  return options;
}

}  // namespace holdpoint::bench
