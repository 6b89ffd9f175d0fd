/** A block that another process took, and when this process heard of it. */
interface HeardHead {
  readonly number: bigint;
  readonly at: number;
}

/** What a process said of its heads. */
interface HeardProcess {
  /** Blocks that it took and this process has not yet, the oldest first. */
  readonly heads: readonly HeardHead[];
  /** The lowest block that it took back: nothing from there on is awaited. Null: none. */
  readonly takenBack: bigint | null;
}

/** By process. */
export type HeardHeads = ReadonlyMap<string, HeardProcess>;

/** A height that the nodes of this process may be about to reach, and how long to wait for them. */
export interface AwaitedHeight {
  readonly number: bigint;
  readonly until: number;
}

/**
 * For so long nodes may be behind those of another process. That process is not waited for again until they have come
 * to the first block that they missed, or that it took back: it may have been lied to, or be on another branch.
 */
export const FOLLOW_MS = 2_000;
/** A process that was not heard for this long is forgotten. */
const FORGET_MS = 60_000;
const MAX_HEARD = 32;

export function withHeard(
  before: HeardHeads,
  { from, number }: { readonly from: string; readonly number: bigint },
  now: number,
): HeardHeads {
  const isKept = ({ heads }: HeardProcess) => (heads.at(-1)?.at ?? now) > now - FORGET_MS;
  const kept = new Map([...before].filter(([name, process]) => name === from || isKept(process)));
  const { heads: of, takenBack } = kept.get(from) ?? { heads: [], takenBack: null };
  const lowest = [takenBack, ...of.map((head) => head.number).filter((each) => each > number)];
  const [first, ...later] = of.filter((head) => head.number < number);
  const last = of.find((head) => head.number === number) ?? { number, at: now };
  const heads = first ? [first, ...later.slice(2 - MAX_HEARD), last] : [last];
  return kept.set(from, { heads, takenBack: lowest.reduce(lower, null) });
}

const lower = (one: bigint | null, other: bigint | null): bigint | null =>
  one === null || (other !== null && other < one) ? other : one;

/** Forgets what this process has come to. */
export function withoutReached(before: HeardHeads, reached: bigint): HeardHeads {
  if (before.size === 0) return before;
  const left = [...before].map(([from, { heads, takenBack }]): readonly [string, HeardProcess] => [
    from,
    {
      heads: heads.filter(({ number }) => number > reached),
      takenBack: takenBack !== null && takenBack > reached ? takenBack : null,
    },
  ]);
  return new Map(left.filter(([, { heads, takenBack }]) => heads.length > 0 || takenBack !== null));
}

/** Whether another process took the block of this height, and did not take it back. */
export const hasHeard = (heard: HeardHeads, number: bigint): boolean =>
  heard.values().some(({ heads }) => heads.some((head) => head.number === number));

/** The highest block that is worth a wait at a head; null without one. */
export function awaitedHeight(heard: HeardHeads, head: bigint, now: number): AwaitedHeight | null {
  if (heard.size === 0) return null;
  const awaited = heard.values().flatMap(({ heads, takenBack }): AwaitedHeight[] => {
    const [first, last] = [heads[0], heads.at(-1)];
    if (!first || !last || first.at + FOLLOW_MS <= now || last.number <= head) return [];
    if (takenBack !== null && last.number >= takenBack) return [];
    return [{ number: last.number, until: last.at + FOLLOW_MS }];
  });
  return awaited.reduce<AwaitedHeight | null>((highest, each) => {
    return highest && highest.number >= each.number ? highest : each;
  }, null);
}
