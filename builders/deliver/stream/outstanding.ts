import { deadlineMs, type Submission } from '../../submit/quote-update.ts';
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
    const all = this.takeAll();
    const isExpired = (submission: Submission) => deadlineMs(submission) <= nowMs;
    for (const submission of all) if (!isExpired(submission)) this.add(submission);
    return all.filter(isExpired);
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
}
