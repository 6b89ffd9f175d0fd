/** What must hold, as docs/build/invariants.md has it, named by what is wrong. */
export type Rule =
  | 'goes back'
  | 'not of the block'
  | 'withdrawn'
  | 'not current'
  | 'frame is old'
  | 'frame is not whole'
  | 'no frame'
  | 'two readers'
  | 'budget'
  | 'starves'
  | 'error';

export interface Violation {
  readonly rule: Rule;
  /** Milliseconds. */
  readonly at: number;
  readonly text: string;
}

/** The first violation of a simulation, and how much was compared. */
export class Findings {
  readonly #now: () => number;
  violation: Violation | undefined;
  /** A number that all that readers got goes into. */
  digest = 0;
  readonly counts = { states: 0, live: 0, frames: 0 };
  readonly #since = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes a violation, unless there is one. */
  found(rule: Rule, text: string): void {
    this.violation ??= { rule, at: this.#now(), text };
  }

  /** How long something has been so, milliseconds: 0 at the first time, and while it is not. */
  lastsMs(what: string, isSo: boolean): number {
    if (!isSo) {
      this.#since.delete(what);
      return 0;
    }
    const since = this.#since.get(what) ?? this.#now();
    this.#since.set(what, since);
    return this.#now() - since;
  }

  /** Lets the digest depend on something. */
  note(text: string): void {
    let hash = this.digest;
    for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619);
    this.digest = hash >>> 0;
  }
}
