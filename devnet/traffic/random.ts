/** Repeatable chance. */
export interface Random {
  /** From 0 to 1, without 1. */
  fraction(): number;
  /** Integer from min to max, both included. */
  integer(min: number, max: number): number;
  /** True this many times out of a hundred. */
  chance(percent: number): boolean;
  /** One of the items. Throws when the list is empty. */
  pick<T>(items: readonly T[]): T;
}

/** The same seed gives the same sequence (splitmix32). */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const integer = (min: number, max: number): number => min + (next() % (max - min + 1));
  return {
    fraction: () => next() / 2 ** 32,
    integer,
    chance: (percent) => integer(0, 99) < percent,
    pick: (items) => {
      const item = items[integer(0, items.length - 1)];
      if (item === undefined) throw new RangeError('nothing to pick from');
      return item;
    },
  };
}
