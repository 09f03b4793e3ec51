#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace holdpoint {

// What all large bodies together may take, be they received or sent. Small ones are free, so that
// those who hold the whole of it keep nobody from answering. Safe to share between threads.
class ByteBudget {
 public:
  static constexpr std::size_t kFree = 64 << 10;

  explicit ByteBudget(std::size_t bytes) : left_(static_cast<std::int64_t>(bytes)) {}

  // A part of it, given back at the end. Used by one thread.
  class Share {
   public:
    explicit Share(ByteBudget& budget) : budget_(budget) {}
    ~Share() { give_back(); }
    Share(const Share&) = delete;

    // Makes room for a body of `bytes`, besides those taken before. False: there is none.
    [[nodiscard]] bool take(std::size_t bytes) {
      if (bytes <= kFree) return true;
      const auto wanted = static_cast<std::int64_t>(bytes);
      if (budget_.left_.fetch_sub(wanted) < wanted) {
        budget_.left_.fetch_add(wanted);
        return false;
      }
      taken_ += wanted;
      return true;
    }
    void give_back() {
      budget_.left_.fetch_add(taken_);
      taken_ = 0;
    }

   private:
    ByteBudget& budget_;
    std::int64_t taken_ = 0;
  };

 private:
  std::atomic<std::int64_t> left_;
};

}  // namespace holdpoint
