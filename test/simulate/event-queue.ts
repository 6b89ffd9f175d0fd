import type { TimedEvent } from './machine.ts';

interface Entry {
  readonly event: TimedEvent;
  readonly at: number;
  readonly order: number;
}

/** Events in the order of their times; of one time, in the order in which they were added: a binary heap. */
export class EventQueue {
  readonly #heap: Entry[] = [];
  #added = 0;

  push(event: TimedEvent): void {
    this.#added += 1;
    const entry = { event, at: event.at, order: this.#added };
    let index = this.#heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (isBefore(this.#heap[parent] as Entry, entry)) break;
      this.#heap[index] = this.#heap[parent] as Entry;
      index = parent;
    }
    this.#heap[index] = entry;
  }

  /** Takes the first event out, if it is not later than a time. */
  popUntil(at: number): TimedEvent | undefined {
    for (;;) {
      const first = this.#heap[0]?.event;
      if (!first || first.at > at) return undefined;
      this.#removeFirst();
      if (!first.isDropped) return first;
    }
  }

  #removeFirst(): void {
    const last = this.#heap.pop() as Entry;
    const size = this.#heap.length;
    if (size === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      if (child + 1 < size && isBefore(this.#heap[child + 1] as Entry, this.#heap[child] as Entry)) child += 1;
      if (isBefore(last, this.#heap[child] as Entry)) break;
      this.#heap[index] = this.#heap[child] as Entry;
      index = child;
    }
    this.#heap[index] = last;
  }
}

const isBefore = (one: Entry, other: Entry): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);
