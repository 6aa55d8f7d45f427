// Repeats a task about every second: less often while the page is hidden or the task fails, at
// once when the page is seen again or someone asks.

const everyMs = 1000;
const hiddenMs = 10000;
const longestMs = 15000;

export class Poller {
  // `task` is async; `onFailure(error, retryMs)` hears of each failure, `onSuccess` of the rest.
  constructor(task, { onSuccess, onFailure }) {
    this.task = task;
    this.onSuccess = onSuccess;
    this.onFailure = onFailure;
    this.failures = 0;
    this.timer = null;
    this.running = false;
    this.again = false;
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.now();
    });
    addEventListener('online', () => this.now());
  }

  now() {
    clearTimeout(this.timer);
    if (this.running) this.again = true;
    else this.run();
  }

  async run() {
    this.running = true;
    let waitMs = document.hidden ? hiddenMs : everyMs;
    try {
      await this.task();
      this.failures = 0;
      this.onSuccess();
    } catch (error) {
      waitMs = Math.min(longestMs, everyMs * 2 ** this.failures);
      this.failures += 1;
      this.onFailure(error, waitMs);
    }
    this.running = false;
    if (this.again) waitMs = 0;
    this.again = false;
    this.timer = setTimeout(() => this.run(), waitMs);
  }
}
