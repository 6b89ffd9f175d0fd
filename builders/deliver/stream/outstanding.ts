import type { Submission } from '../../submit/quote-update.ts';
import { deadlineMs } from '../../submit/quote-update.ts';
import { updateKey } from './codec.ts';

/** Updates on a stream whose acknowledgement has not come, oldest first. */
export class Outstanding {
  readonly #byKey = new Map<string, Submission[]>();

  /** Adds a submission. Returns false if the same update is outstanding already: its answer will serve both. */
  add(submission: Submission): boolean {
    const key = updateKey(submission.update);
    const known = this.#byKey.get(key);
    if (known) known.push(submission);
    else this.#byKey.set(key, [submission]);
    return known === undefined;
  }

  /** Takes out the submissions that an acknowledgement answers. */
  take(key: string): Submission[] {
    const submissions = this.#byKey.get(key) ?? [];
    this.#byKey.delete(key);
    return submissions;
  }

  /** Takes out the submissions whose deadline has passed. */
  takeExpired(nowMs: number): Submission[] {
    const expired = [...this.#byKey.values()].flat().filter((submission) => deadlineMs(submission) <= nowMs);
    for (const submission of expired) this.#drop(submission);
    return expired;
  }

  /** Takes everything out. */
  takeAll(): Submission[] {
    const all = [...this.#byKey.values()].flat();
    this.#byKey.clear();
    return all;
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  #drop(submission: Submission): void {
    const key = updateKey(submission.update);
    const left = (this.#byKey.get(key) ?? []).filter((other) => other !== submission);
    if (left.length > 0) this.#byKey.set(key, left);
    else this.#byKey.delete(key);
  }
}
