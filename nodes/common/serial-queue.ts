/**
 * Runs tasks one at a time, in the order in which they were added. Results arrive in that order, too, and a
 * task that fails does not hold up those behind it.
 */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Adds a task, which starts once all earlier ones have ended.
   * @returns what the task returns, or throws
   */
  add<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
