#include "base/secret.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/temp_dir.h"

namespace holdpoint {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  std::filesystem::permissions(path, std::filesystem::perms{0600});
}

TEST_CASE("a secret that names no place is itself") {
  CHECK(read_secret("whsec_abc", "/nowhere").reveal() == "whsec_abc");
  CHECK(read_secret("ENV:HOME", "/nowhere").reveal() == "ENV:HOME");
  CHECK(read_secret("", "/nowhere").reveal() == "");
}

TEST_CASE("env: takes the secret from the environment") {
  setenv("HOLDPOINT_TEST_SECRET", "from the environment", 1);
  CHECK(read_secret("env:HOLDPOINT_TEST_SECRET", "/nowhere").reveal() == "from the environment");
}

TEST_CASE("a variable that is missing or empty is refused by name") {
  unsetenv("HOLDPOINT_TEST_SECRET");
  CHECK_THROWS_WITH_AS(read_secret("env:HOLDPOINT_TEST_SECRET", "/nowhere"),
                       doctest::Contains("HOLDPOINT_TEST_SECRET"), std::runtime_error);
  setenv("HOLDPOINT_TEST_SECRET", "", 1);
  CHECK_THROWS_AS(read_secret("env:HOLDPOINT_TEST_SECRET", "/nowhere"), std::runtime_error);
  CHECK_THROWS_AS(read_secret("env:", "/nowhere"), std::runtime_error);
}

TEST_CASE("file: takes the secret from a file, without the line breaks at its end") {
  const test::TempDir dir;
  write(dir.path() / "plain", "s3cret");
  write(dir.path() / "lines", " s3\ncret \r\n\n");
  CHECK(read_secret("file:plain", dir.path()).reveal() == "s3cret");
  CHECK(read_secret("file:lines", dir.path()).reveal() == " s3\ncret ");
  CHECK(read_secret("file:" + (dir.path() / "plain").string(), "/nowhere").reveal() == "s3cret");
}

TEST_CASE("a secret file that everybody may read is refused, with what to do") {
  const test::TempDir dir;
  write(dir.path() / "open", "s3cret");
  std::filesystem::permissions(dir.path() / "open", std::filesystem::perms{0644});
  CHECK_THROWS_WITH_AS(read_secret("file:open", dir.path()), doctest::Contains("chmod 600"),
                       std::runtime_error);
  std::filesystem::permissions(dir.path() / "open", std::filesystem::perms{0640});
  CHECK(read_secret("file:open", dir.path()).reveal() == "s3cret");
}

TEST_CASE("a secret prints as stars, whatever it holds") {
  std::ostringstream out;
  out << Secret("hunter2") << Secret();
  CHECK(out.str() == "******");
}

TEST_CASE("a secret file that is not there is refused by name") {
  const test::TempDir dir;
  CHECK_THROWS_WITH_AS(read_secret("file:missing", dir.path()),
                       doctest::Contains((dir.path() / "missing").c_str()), std::runtime_error);
}

TEST_CASE("a secret file that holds nothing, or is a folder, is refused as an empty variable is") {
  const test::TempDir dir;
  write(dir.path() / "empty", "");
  write(dir.path() / "blank", "\n");
  CHECK_THROWS_AS(read_secret("file:empty", dir.path()), std::runtime_error);
  CHECK_THROWS_AS(read_secret("file:blank", dir.path()), std::runtime_error);
  CHECK_THROWS_AS(read_secret("file:.", dir.path()), std::runtime_error);
}

TEST_CASE("a URL is shown without its password, and otherwise as it is") {
  struct Shown {
    std::string url;
    std::string as;
  };
  for (const auto& [url, as] : std::initializer_list<Shown>{
           {"postgres://ana:s3cret@host:5432/db", "postgres://ana:***@host:5432/db"},
           {"postgres://ana:s3cret@host/db?sslmode=require",
            "postgres://ana:***@host/db?sslmode=require"},
           {"postgres://ana:p%40ss%3Aw%2Frd@host/db", "postgres://ana:***@host/db"},
           {"postgres://ana:a:b@host/db", "postgres://ana:***@host/db"},
           {"postgres://ana:p@ss@host/db", "postgres://ana:***@host/db"},
           {"postgres://host:5432/db?options=a@b", "postgres://host:5432/db?options=a@b"},
           {"postgres://ana:@host/db", "postgres://ana:***@host/db"},
           {"postgres://:s3cret@host/db", "postgres://:***@host/db"},
           {"postgres://ana:s3cret@h1:1,h2:2/db", "postgres://ana:***@h1:1,h2:2/db"},
           {"postgres://ana:s3cret@[::1]:5432/db", "postgres://ana:***@[::1]:5432/db"},
           {"postgres://ana@host:5432/db", "postgres://ana@host:5432/db"},
           {"postgres://host:5432/db", "postgres://host:5432/db"},
           {"postgres:///db?host=/run/postgresql", "postgres:///db?host=/run/postgresql"},
           {"postgres://host/db?user=ana&password=s3cret",
            "postgres://host/db?user=ana&password=***"},
           {"postgres://host/db?password=s3cret&user=ana",
            "postgres://host/db?password=***&user=ana"},
           {"postgres://host/db?sslpassword=s3cret&password=s3cret",
            "postgres://host/db?sslpassword=***&password=***"},
           {"postgres://ana:s3cret@host/db?password=s3cret",
            "postgres://ana:***@host/db?password=***"},
           {"sqlite:holdpoint.db", "sqlite:holdpoint.db"},
           {"env:DATABASE_URL", "env:DATABASE_URL"},
           {"file:secrets/url", "file:secrets/url"},
           {"", ""},
       }) {
    CAPTURE(url);
    CHECK(hide_password(url) == as);
  }
}

}  // namespace
}  // namespace holdpoint
