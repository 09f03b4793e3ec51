#include "flow/herald.h"

#include <doctest/doctest.h>

#include <set>
#include <sstream>

#include "store/event_store.h"
#include "tests/support/eventually.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// Remembers what is posted, and says what the test feeds it.
class FakeBulletin final : public Bulletin {
 public:
  void post(std::span<const std::string> texts) override {
    if (broken) throw StoreError("no way through", true);
    posts.with([&](auto& all) { all.emplace_back(texts.begin(), texts.end()); });
  }
  void listen(const std::function<void(std::string_view)>& on_text) override {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopped_ || !fed_.empty(); });
      if (stopped_) return;
      const std::string text = fed_.front();
      fed_.pop_front();
      on_text(text);
    }
  }
  void stop() override {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  bool is_open() const override { return open; }

  void feed(std::string text) {
    std::lock_guard lock(mutex_);
    fed_.push_back(std::move(text));
    changed_.notify_all();
  }
  std::vector<std::vector<std::string>> take_posts() {
    return posts.with([](auto& all) { return std::exchange(all, {}); });
  }

  std::atomic<bool> open{true};
  std::atomic<bool> broken{false};
  Guarded<std::vector<std::vector<std::string>>> posts;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> fed_;
  bool stopped_ = false;
};

const std::string kNode = "0198a000-0000-7000-8000-000000000001";
const std::string kOther = "0198a000-0000-7000-8000-000000000002";

std::set<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> words;
  for (std::string word; in >> word;) words.insert(word);
  return words;
}

// A node's herald, whose hearers count.
struct Node {
  Node() {
    herald.run_once(now());  // The first look.
    bulletin.take_posts();
    forget();
  }
  void forget() { turns = deliveries = deadlines = events = credentials = 0; }
  std::string called() const {
    std::ostringstream out;
    out << turns << deliveries << deadlines << events << credentials;
    return out.str();
  }
  Time now() const { return world.now(); }
  SessionId session() const { return SessionId::make(now()); }
  // Tells of one event of each session.
  void tell(const std::vector<SessionId>& sessions, const std::string& type = "question_answered",
            bool moves = true) {
    Story story;
    for (const auto& id : sessions)
      story.events.push_back({id, type, {}, Level::info, true, moves});
    herald.tell(story);
  }
  void tell_due(bool turn, bool delivery) {
    Story story;
    story.events.push_back({session(), "session_resumed", {}});
    story.turn_due = turn;
    story.delivery_due = delivery;
    herald.tell(story);
  }
  // What goes out at the next chance, all texts one after the other.
  std::vector<std::string> said() {
    world.clock.advance(10ms);
    herald.run_once(now());
    std::vector<std::string> texts;
    for (const auto& post : bulletin.take_posts()) {
      texts.insert(texts.end(), post.begin(), post.end());
    }
    return texts;
  }

  World world;
  FakeBulletin bulletin;
  std::atomic<int> turns{0}, deliveries{0}, deadlines{0}, events{0}, credentials{0};
  std::vector<SessionId> cancelled;
  bool takes_turns = false, takes_deliveries = false;
  Journal& journal = world.process().journal;
  Herald herald{
      world.db(),
      bulletin,
      journal,
      kNode,
      world.clock,
      {[this] { ++turns; }, [this] { ++deliveries; }, [this] { ++deadlines; }, [this] { ++events; },
       [this] { ++credentials; }, [this](const SessionId& id) { cancelled.push_back(id); },
       [this] { return takes_turns; }, [this] { return takes_deliveries; }}};
};

bool is_touched(Journal::Watch& watch) {
  return watch.wait_until(std::chrono::steady_clock::now());
}

}  // namespace

TEST_CASE("what is told goes out once, and what is told within a moment goes out together") {
  Node node;
  const auto a = node.session(), b = node.session();
  node.tell({a});
  node.tell({b});
  node.tell({a});
  const auto texts = node.said();
  REQUIRE(texts.size() == 1);
  CHECK(words_of(texts[0]) == std::set<std::string>{kNode, a.text(), b.text()});
  CHECK(node.said().empty());
}

TEST_CASE("what is told right after something was sent waits for a moment") {
  Node node;
  node.tell({node.session()});
  CHECK(node.said().size() == 1);
  node.tell({node.session()});
  const Time sent_at = node.now();
  node.world.clock.advance(2ms);
  CHECK(node.herald.run_once(node.now()) == sent_at + 3ms);
  CHECK(node.bulletin.take_posts().empty());
  node.world.clock.advance(1ms);
  node.herald.run_once(node.now());
  CHECK(node.bulletin.take_posts().size() == 1);
}

TEST_CASE("where much happens word goes out seldom, and soon again once it is quiet") {
  Node node;
  const auto posts_within = [&](int millis, int sessions) {
    node.bulletin.take_posts();
    for (int i = 0; i < millis; ++i) {
      for (int n = 0; n < sessions; ++n) node.tell({node.session()});
      node.world.clock.advance(1ms);
      node.herald.run_once(node.now());
    }
    return node.bulletin.take_posts().size();
  };
  posts_within(100, 5);
  CHECK(posts_within(100, 5) <= 6);
  for (int i = 0; i < 30; ++i) {
    node.world.clock.advance(50ms);
    node.tell({node.session()});
    node.herald.run_once(node.now());
  }
  node.tell({node.session()});
  CHECK(posts_within(3, 0) == 1);
}

TEST_CASE("more sessions than fit into one text go out in several, each of them whole") {
  Node node;
  std::set<std::string> told{kNode};
  std::vector<SessionId> sessions;
  for (int i = 0; i < 1000; ++i) sessions.push_back(node.session());
  for (const auto& id : sessions) told.insert(id.text());
  node.tell(sessions);
  std::vector<SessionId> ended;
  for (int i = 0; i < 300; ++i) ended.push_back(node.session());
  for (const auto& id : ended) told.insert("!" + id.text());
  node.tell(ended, "session_cancelled");
  const auto texts = node.said();
  CHECK(texts.size() > 5);
  std::set<std::string> said;
  std::size_t words = 0;
  for (const auto& text : texts) {
    CHECK(text.size() <= Bulletin::kMaxText);
    CHECK(text.starts_with(kNode + " "));
    const auto its = words_of(text);
    words += its.size() - 1;
    said.insert(its.begin(), its.end());
  }
  CHECK(said == told);
  CHECK(words == 1300);
}

TEST_CASE("others are told of work only if this node does not take it by itself") {
  Node node;
  const auto has = [&](bool turn, bool delivery, const char* word) {
    node.tell_due(turn, delivery);
    return words_of(node.said().at(0)).contains(word);
  };
  CHECK(has(true, false, "t"));
  CHECK_FALSE(has(true, false, "d"));
  CHECK(has(false, true, "d"));
  CHECK_FALSE(has(false, true, "t"));
  node.takes_turns = true;
  CHECK_FALSE(has(true, true, "t"));
  CHECK(has(true, true, "d"));
  node.takes_turns = false;
  node.takes_deliveries = true;
  CHECK(has(true, true, "t"));
  CHECK_FALSE(has(true, true, "d"));
}

TEST_CASE("events that move nobody are told as such, and a story without events is none") {
  Node node;
  node.tell({node.session(), node.session()}, "turn_started", false);
  CHECK(node.said() == std::vector<std::string>{kNode + " e"});
  node.tell({});
  CHECK(node.said().empty());
  node.herald.tell_credentials();
  CHECK(node.said() == std::vector<std::string>{kNode + " c"});
}

TEST_CASE("word that does not get through is dropped: others find out by looking") {
  Node node;
  node.bulletin.broken = true;
  node.tell({node.session()});
  CHECK_NOTHROW(node.said());
  node.bulletin.broken = false;
  CHECK(node.said().empty());
  node.tell({node.session()});
  CHECK(node.said().size() == 1);
}

TEST_CASE("a node hears what another says, and wakes who has to look") {
  Node node;
  node.herald.hear(kOther + " t");
  CHECK(node.called() == "10000");
  node.herald.hear(kOther + " d c");
  CHECK(node.called() == "11001");
  node.herald.hear(kOther + " e");
  CHECK(node.called() == "11011");
  node.herald.hear(kOther + " e " + node.session().text() + " " + node.session().text());
  CHECK(node.called() == "11021");
  CHECK(node.cancelled.empty());
}

TEST_CASE("a session that was cancelled elsewhere reaches who runs it here") {
  Node node;
  const auto id = node.session(), other = node.session();
  Journal::Watch watch(node.journal, id);
  node.herald.hear(kOther + " " + other.text() + " !" + id.text());
  CHECK(node.cancelled == std::vector<SessionId>{id});
  CHECK(is_touched(watch));
  CHECK(node.called() == "00010");
}

TEST_CASE("who waits for a session looks again when another node touched it, nobody else") {
  Node node;
  const auto id = node.session(), other = node.session();
  Journal::Watch watch(node.journal, id), also(node.journal, id), bystander(node.journal, other);
  node.herald.hear(kOther + " " + id.text());
  CHECK(is_touched(watch));
  CHECK(is_touched(also));
  CHECK_FALSE(is_touched(bystander));
  CHECK_FALSE(is_touched(watch));
}

TEST_CASE("a node does not listen to itself") {
  Node node;
  Journal::Watch watch(node.journal, node.session());
  node.herald.hear(kNode + " t d c e !" + node.session().text());
  node.herald.hear(kNode);
  CHECK(node.called() == "00000");
  CHECK(node.cancelled.empty());
}

TEST_CASE("what is no word of ours is ignored, and the words beside it are not") {
  Node node;
  const std::string id = node.session().text();
  for (const std::string& text :
       {std::string(), std::string(" "), std::string("t"), kOther, kOther + " ",
        kOther + " x T tt !! ! !t", kOther + "  \t\n", kOther + " " + id.substr(1),
        kOther + " !" + id + "0", kOther + " " + std::string(7000, '!'),
        std::string("\xff\0 \xfe", 4)}) {
    CAPTURE(text);
    node.herald.hear(text);
    CHECK(node.called() == "00000");
  }
  CHECK(node.cancelled.empty());
  node.herald.hear(kOther + "  what  t   is !this " + id + " ?");
  CHECK(node.called() == "10010");
}

TEST_CASE("what one herald says another understands") {
  Node node;
  const auto moved = node.session(), ended = node.session();
  node.tell({moved});
  node.tell({ended}, "session_cancelled");
  node.tell({node.session()}, "turn_started", false);
  node.tell_due(true, true);
  node.herald.tell_credentials();
  auto texts = node.said();
  REQUIRE(texts.size() == 1);
  texts[0].replace(0, kNode.size(), kOther);
  Journal::Watch watch(node.journal, moved);
  node.forget();
  node.herald.hear(texts[0]);
  CHECK(node.called() == "11011");
  CHECK(node.cancelled == std::vector<SessionId>{ended});
  CHECK(is_touched(watch));
}

TEST_CASE("a node looks once a second while word comes through, four times as often if not") {
  Node node;
  for (const bool open : {true, false}) {
    CAPTURE(open);
    const Duration between = open ? 1000ms : 250ms;
    node.bulletin.open = open;
    node.world.clock.advance(1000ms);
    node.herald.run_once(node.now());
    for (int i = 0; i < 3; ++i) {
      node.forget();
      node.world.clock.advance(between - 1ms);
      CHECK(node.herald.run_once(node.now()) == node.now() + 1ms);
      CHECK(node.called().substr(0, 3) == "000");
      node.world.clock.advance(1ms);
      node.herald.run_once(node.now());
      CHECK(node.called().substr(0, 3) == "111");
    }
  }
}

TEST_CASE("those who follow events are woken by a look only if there are new ones") {
  Node node;
  const auto look = [&] {
    node.forget();
    node.world.clock.advance(1s);
    node.herald.run_once(node.now());
    return node.events.load();
  };
  CHECK(look() == 0);
  node.world.trigger();
  CHECK(look() == 1);
  CHECK(look() == 0);
}

TEST_CASE("without word, all who wait look again as soon as anything happened, and only then") {
  Node node;
  node.bulletin.open = false;
  Journal::Watch watch(node.journal, node.session());
  const auto look = [&] {
    node.forget();
    node.world.clock.advance(250ms);
    node.herald.run_once(node.now());
    const bool touched = is_touched(watch);
    CHECK(node.credentials == (touched ? 1 : 0));
    return touched;
  };
  CHECK_FALSE(look());
  node.world.trigger();
  CHECK(look());
  CHECK_FALSE(look());
}

TEST_CASE("while word comes through, all who wait look again every five seconds all the same") {
  Node node;
  Journal::Watch watch(node.journal, node.session());
  int touched = 0;
  for (int second = 0; second < 20; ++second) {
    node.world.clock.advance(1s);
    node.herald.run_once(node.now());
    if (is_touched(watch)) ++touched;
  }
  CHECK(touched == 4);
}

TEST_CASE("a started herald speaks and listens by itself until it is stopped") {
  Node node;
  node.herald.start();
  node.tell({node.session()});
  CHECK(eventually([&] {
    node.world.clock.advance(1ms);
    return !node.bulletin.take_posts().empty();
  }));
  node.bulletin.feed(kOther + " c");
  CHECK(eventually([&] { return node.credentials > 0; }));
  node.herald.stop();
}

TEST_CASE("a clock that is set back silences nobody") {
  Node node;
  node.tell({node.session()});
  CHECK(node.said().size() == 1);
  Journal::Watch watch(node.journal, node.session());
  node.world.clock.advance(-3600s);
  node.forget();
  node.tell({node.session()});
  CHECK(node.said().size() == 1);
  CHECK(node.called().substr(0, 3) == "111");
  for (int second = 0; second < 6; ++second) {
    node.world.clock.advance(1s);
    node.herald.run_once(node.now());
  }
  CHECK(is_touched(watch));
}
