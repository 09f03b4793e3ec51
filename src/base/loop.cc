#include "base/loop.h"

#include <pthread.h>

#include <exception>
#include <system_error>

#include "base/log.h"

namespace holdpoint {

using namespace std::chrono_literals;

void name_thread(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

Loop::Loop(std::string name, const Clock& clock, RunOnce run_once)
    : name_(std::move(name)), clock_(clock), run_once_(std::move(run_once)) {}

void Loop::start() {
  thread_ = std::thread([this] { run(); });
}

void Loop::wake() {
  {
    std::lock_guard lock(mutex_);
    if (woken_) return;
    woken_ = true;
  }
  changed_.notify_one();
}

void Loop::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Loop::run() {
  name_thread(name_);
  std::optional<Time> next;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!woken_) {
      const auto ready = [this] { return woken_ || stopping_; };
      if (next) {
        const Time now = clock_.now();
        if (*next > now) changed_.wait_for(lock, *next - now, ready);
      } else {
        changed_.wait(lock, ready);
      }
      if (stopping_) return;
    }
    woken_ = false;
    lock.unlock();
    const Time now = clock_.now();
    try {
      next = run_once_(now);
    } catch (const std::exception& e) {
      log(Level::error, "loop_failed", {{"loop", name_}, {"reason", e.what()}});
      next = now + 1s;
    }
    lock.lock();
  }
}

Pool::Pool(std::string name, std::size_t most, std::size_t max_queued)
    : name_(std::move(name)), most_(most), max_queued_(max_queued) {}

bool Pool::submit(std::function<void()> job) {
  std::unique_lock lock(mutex_);
  if (stopping_) return false;
  // A thread that was notified but has not woken yet still counts as idle, so compare with the jobs
  // that wait.
  const bool enough = jobs_.size() < idle_;
  if (!enough && threads_.size() >= most_ && jobs_.size() >= max_queued_) return false;
  jobs_.push_back(std::move(job));
  if (enough) {
    changed_.notify_one();
  } else if (threads_.size() < most_) {
    threads_.emplace_back();
    const auto self = std::prev(threads_.end());
    try {
      *self = std::thread([this, self] { work(self); });
    } catch (const std::system_error&) {
      // No more threads to be had: those there are will come to it.
      threads_.erase(self);
      if (threads_.empty()) {
        jobs_.pop_back();
        return false;
      }
    }
    join_ended(lock);
  }
  return true;
}

void Pool::work(Threads::iterator self) {
  name_thread(name_);
  std::unique_lock lock(mutex_);
  while (true) {
    if (jobs_.empty()) {
      if (stopping_) break;
      ++idle_;
      changed_.wait_for(lock, 10s, [this] { return !jobs_.empty() || stopping_; });
      --idle_;
      if (jobs_.empty()) break;
    }
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
  ended_.splice(ended_.end(), threads_, self);
  changed_.notify_all();
}

void Pool::join_ended(std::unique_lock<std::mutex>& lock) {
  Threads ended;
  ended.swap(ended_);
  lock.unlock();
  for (auto& thread : ended) thread.join();
  lock.lock();
}

void Pool::stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return threads_.empty(); });
  join_ended(lock);
}

std::size_t Pool::threads() {
  std::lock_guard lock(mutex_);
  return threads_.size();
}

}  // namespace holdpoint
