/** Items by a number, the highest first; of equal ones the first that came. Places are found by binary search. */
export class RankedList<T> {
  readonly #items: T[] = [];
  readonly #ranks: number[] = [];

  get length(): number {
    return this.#items.length;
  }

  /** The highest number; 0 without items. */
  get highest(): number {
    return this.#ranks[0] ?? 0;
  }

  add(item: T, rank: number): void {
    const place = this.#firstPlace((other) => other < rank);
    this.#items.splice(place, 0, item);
    this.#ranks.splice(place, 0, rank);
  }

  /** @param rank that the item was added with */
  remove(item: T, rank: number): void {
    const place = this.#items.indexOf(
      item,
      this.#firstPlace((other) => other <= rank),
    );
    if (place < 0) return;
    this.#items.splice(place, 1);
    this.#ranks.splice(place, 1);
  }

  /** The highest items that pass, at most `most`, among the `looked` highest. */
  best(most: number, passes: (item: T) => boolean, looked = this.#items.length): T[] {
    const found: T[] = [];
    const end = Math.min(looked, this.#items.length);
    for (let place = 0; place < end && found.length < most; place++) {
      const item = this.#items[place] as T;
      if (passes(item)) found.push(item);
    }
    return found;
  }

  #firstPlace(holds: (rank: number) => boolean): number {
    let [low, high] = [0, this.#ranks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(this.#ranks[middle] as number)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
