// Repeats a task about every second: less often while the page is hidden or the task fails, at
// once when the page is seen again or someone asks.

const kEvery_ms = 1000;
const kHidden_ms = 10000;
const kLongest_ms = 15000;

export class Poller {
  // `task` is async; `on_failure(error, retry_ms)` hears of each failure, `on_success` of the rest.
  constructor(task, { on_success, on_failure }) {
    this.task_ = task;
    this.on_success_ = on_success;
    this.on_failure_ = on_failure;
    this.failures_ = 0;
    this.timer_ = null;
    this.running_ = false;
    this.again_ = false;
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.now();
    });
    addEventListener('online', () => this.now());
  }

  now() {
    clearTimeout(this.timer_);
    if (this.running_) this.again_ = true;
    else this.run_();
  }

  async run_() {
    this.running_ = true;
    let wait_ms = document.hidden ? kHidden_ms : kEvery_ms;
    try {
      await this.task_();
      this.failures_ = 0;
      this.on_success_();
    } catch (error) {
      wait_ms = Math.min(kLongest_ms, kEvery_ms * 2 ** this.failures_);
      this.failures_ += 1;
      this.on_failure_(error, wait_ms);
    }
    this.running_ = false;
    if (this.again_) wait_ms = 0;
    this.again_ = false;
    this.timer_ = setTimeout(() => this.run_(), wait_ms);
  }
}
