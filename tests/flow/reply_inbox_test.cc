#include "flow/reply_inbox.h"

#include <doctest/doctest.h>

#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "tests/flow/hooked_database.h"
#include "tests/flow/mail_world.h"
#include "tests/support/eventually.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A folder of a mail server, as its clients see it.
struct Folder {
  std::mutex mutex;
  std::map<ImapClient::Uid, std::string> mails;
  std::set<ImapClient::Uid> seen;
  bool reachable = true;
  bool idles = true;
  int opened = 0;
  int waits = 0;
};

class FakeImap final : public ImapClient {
 public:
  FakeImap(Folder& folder, std::function<bool()> cancelled)
      : folder_(folder), cancelled_(std::move(cancelled)) {}
  std::vector<Uid> unseen() override {
    const std::lock_guard lock(folder_.mutex);
    check();
    std::vector<Uid> uids;
    for (const auto& [uid, mail] : folder_.mails) {
      if (!folder_.seen.count(uid)) uids.push_back(uid);
    }
    return uids;
  }
  Fetched fetch(Uid uid) override {
    const std::lock_guard lock(folder_.mutex);
    check();
    const std::string& mail = folder_.mails.at(uid);
    if (mail == "large") return {Fetched::Kind::too_large, ""};
    if (mail == "gone") return {Fetched::Kind::gone, ""};
    return {Fetched::Kind::here, mail};
  }
  void mark_seen(Uid uid) override {
    const std::lock_guard lock(folder_.mutex);
    check();
    folder_.seen.insert(uid);
  }
  bool can_wait() const override { return folder_.idles; }
  bool wait_for_mail(Duration at_most) override {
    {
      const std::lock_guard lock(folder_.mutex);
      check();
      ++folder_.waits;
    }
    if (!blocks) return false;
    const auto end = std::chrono::steady_clock::now() + at_most;
    while (!cancelled_() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(Duration{5});
    }
    return false;
  }
  static inline bool blocks = false;

 private:
  void check() const {
    if (!folder_.reachable) throw ImapError("the mail server hung up");
  }
  Folder& folder_;
  const std::function<bool()> cancelled_;
};

struct Post {
  ReplyInbox inbox() {
    return ReplyInbox(
        [this](std::function<bool()> cancelled) -> std::unique_ptr<ImapClient> {
          const std::lock_guard lock(folder.mutex);
          ++folder.opened;
          if (!folder.reachable) throw ImapError("nothing answers at [email] imap_url");
          return std::make_unique<FakeImap>(folder, std::move(cancelled));
        },
        replies, m.world.clock, "imap.example");
  }
  void deliver(ImapClient::Uid uid, const std::string& text) {
    folder.mails[uid] = "From: ana@example.org\r\nTo: " + m.address_of(m.asked().id) +
                        "\r\nMessage-ID: <" + std::to_string(uid) + "@x>\r\n\r\n" + text;
  }
  Replies fresh_replies() {
    return Replies(m.world.db(), m.world.process().journal, m.world.process().answers,
                   m.world.process().notices, m.tokens, {"reply@example.org", {}});
  }

  MailWorld m;
  SessionId id = m.ask();
  Folder folder;
  Replies replies = fresh_replies();
};

}  // namespace

TEST_CASE("all that is unseen is taken, marked as seen, and then word is waited for") {
  Post post;
  post.folder.mails = {{1, "From: stranger@x\r\n\r\nBuy!"}, {2, "large"}, {3, "gone"}, {4, ""}};
  post.deliver(7, "Yes");
  auto inbox = post.inbox();
  CHECK(inbox.run_once(post.m.world.now()) == post.m.world.now());
  CHECK(post.folder.seen == std::set<ImapClient::Uid>{1, 2, 3, 4, 7});
  CHECK(post.folder.waits == 1);
  CHECK(post.m.world.questions(post.id)[0].status == QuestionStatus::answered);
  CHECK(post.m.mails_back() == 0);
  inbox.run_once(post.m.world.now());
  CHECK(post.folder.opened == 1);
}

TEST_CASE("a server that gives no word is asked every half minute") {
  Post post;
  post.folder.idles = false;
  auto inbox = post.inbox();
  CHECK(inbox.run_once(post.m.world.now()) == post.m.world.now() + 30s);
  CHECK(post.folder.waits == 0);
}

TEST_CASE("a lost mailbox is opened again, after waits that grow to a minute") {
  Post post;
  post.folder.reachable = false;
  auto inbox = post.inbox();
  const auto now = post.m.world.now();
  for (const auto wait : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    CHECK(inbox.run_once(now) == now + wait);
  }
  CHECK_FALSE(inbox.is_connected());
  post.folder.reachable = true;
  post.deliver(1, "Yes");
  CHECK(inbox.run_once(now) == now);
  CHECK(inbox.is_connected());
  CHECK(post.m.world.questions(post.id)[0].status == QuestionStatus::answered);
  post.folder.reachable = false;
  CHECK(inbox.run_once(now) == now + 1s);
  CHECK_FALSE(inbox.is_connected());
}

TEST_CASE("a mail that the store cannot take stays unseen until it can") {
  Post post;
  post.deliver(1, "Perhaps");
  HookedDatabase db(post.m.world.db());
  bool down = true;
  db.before_write = [&] {
    if (down) throw StoreError("the disk is full", true);
  };
  Replies replies(db, post.m.world.process().journal, post.m.world.process().answers,
                  post.m.world.process().notices, post.m.tokens, {"reply@example.org", {}});
  ReplyInbox inbox(
      [&](std::function<bool()> cancelled) {
        return std::make_unique<FakeImap>(post.folder, std::move(cancelled));
      },
      replies, post.m.world.clock, "imap.example");
  const auto now = post.m.world.now();
  CHECK(inbox.run_once(now) == now + 1s);
  CHECK(inbox.run_once(now) == now + 2s);
  CHECK(post.folder.seen.empty());
  down = false;
  CHECK(inbox.run_once(now) == now);
  CHECK(post.folder.seen.size() == 1);
  post.m.world.run_until_idle();
  CHECK(post.m.mails_back() == 1);
}

TEST_CASE("two nodes that read the same mailbox mail back once") {
  Post post;
  post.deliver(1, "Perhaps");
  auto one = post.inbox();
  auto other = post.inbox();
  one.run_once(post.m.world.now());
  post.folder.seen.clear();  // As if both had looked before either was done.
  other.run_once(post.m.world.now());
  post.m.world.run_until_idle();
  CHECK(post.m.mails_back() == 1);
}

TEST_CASE("a mailbox stops at once while it waits for word") {
  Post post;
  FakeImap::blocks = true;
  auto inbox = post.inbox();
  inbox.start();
  CHECK(eventually([&] {
    const std::lock_guard lock(post.folder.mutex);
    return post.folder.waits > 0;
  }));
  const auto began = std::chrono::steady_clock::now();
  inbox.stop();
  CHECK(std::chrono::steady_clock::now() - began < 2s);
  FakeImap::blocks = false;
}
