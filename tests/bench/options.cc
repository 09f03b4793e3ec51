#include "options.h"

#include <getopt.h>

#include <array>
#include <charconv>
#include <sstream>

namespace holdpoint::bench {
namespace {

constexpr int kMaxClients = 1000;

long parse_number(const std::string& name, const std::string& value, long least, long most) {
  long number = 0;
  const char* end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || stopped != end || number < least || number > most)
    throw UsageError(name + " must be a number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", not '" + value + "'");
  return number;
}

std::vector<int> parse_clients(const std::string& value) {
  std::vector<int> clients;
  std::istringstream list(value);
  for (std::string item; std::getline(list, item, ',');)
    clients.push_back(static_cast<int>(parse_number("--clients", item, 1, kMaxClients)));
  if (clients.empty()) throw UsageError("--clients is empty");
  return clients;
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
  --binary PATH      the server (default: holdpoint beside this program)
  --json FILE        write the figures as JSON too
  --only PART        ceilings, lifecycles or parked; what is left out shows as '-'
  --help             this text

Files go into a fresh folder below $TMPDIR, or /var/tmp, which is removed at the end.
Exit code: 0; 1 when a request failed or gave a wrong result; 2 for a wrong option.
)";

Options parse_options(int argc, char** argv) {
  enum : int { seconds = 1, clients, parked, binary, json, only, help };
  static constexpr std::array<option, 8> kOptions{{{"seconds", required_argument, nullptr, seconds},
                                                   {"clients", required_argument, nullptr, clients},
                                                   {"parked", required_argument, nullptr, parked},
                                                   {"binary", required_argument, nullptr, binary},
                                                   {"json", required_argument, nullptr, json},
                                                   {"only", required_argument, nullptr, only},
                                                   {"help", no_argument, nullptr, help},
                                                   {nullptr, 0, nullptr, 0}}};
  Options options;
  options.binary = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "holdpoint";
  opterr = 0;
  for (int found; (found = getopt_long(argc, argv, ":h", kOptions.data(), nullptr)) != -1;) {
    switch (found) {
      case seconds:
        options.span = Seconds(static_cast<double>(parse_number("--seconds", optarg, 1, 3600)));
        break;
      case clients:
        options.clients = parse_clients(optarg);
        break;
      case parked:
        options.parked = parse_number("--parked", optarg, 1, 10'000'000);
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
  return options;
}

}  // namespace holdpoint::bench
