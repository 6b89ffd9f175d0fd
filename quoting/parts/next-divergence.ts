/** Pools of one sealed block whose last part was read: how many have another state there than that part had. */
export interface ComparedPools {
  readonly blockNumber: bigint;
  readonly compared: number;
  readonly different: number;
}

/** All times are of one clock that never goes back, milliseconds. */
export interface DivergenceState {
  readonly isDivergent: boolean;
  /** Of the last {@link WINDOW_MS}, since parts were last found to agree, in order. */
  readonly blocks: readonly (ComparedPools & { readonly at: number })[];
  /** When a pool last differed, and how many agreed since. */
  readonly differedAt: number;
  readonly agreed: number;
}

/** Over so long the share of pools that differ is counted. */
export const WINDOW_MS = 600_000;
/** For so long nothing may differ until parts are used again. */
export const AGREED_MS = 60_000;
/** Fewer comparisons decide nothing. */
export const MIN_COMPARED = 20;
/** One pool that differs decides nothing. */
const MIN_DIFFERENT = 2;
/** Parts are left out above this share of pools that differ: 1%. */
const MAX_DIFFERENT_PCT = 1;

export const noDivergence: DivergenceState = {
  isDivergent: false,
  blocks: [],
  differedAt: Number.NEGATIVE_INFINITY,
  agreed: 0,
};

/**
 * Whether the parts that nodes show are those of the blocks that are sealed, by the pools of one more block.
 *
 * Invariants:
 * 1. Parts become divergent only when more than 1% of the pools compared within `WINDOW_MS` differ, at least two of
 *    `MIN_COMPARED`; then at once.
 * 2. They are so no longer only once no pool differed for `AGREED_MS`, and `MIN_COMPARED` agreed in that time; then at
 *    once. What was before does not count any more.
 * 3. Without comparisons nothing changes.
 */
export function nextDivergence(before: DivergenceState, pools: ComparedPools, now: number): DivergenceState {
  const { blockNumber, compared, different } = pools;
  const last = before.blocks.at(-1);
  const isSame = last?.blockNumber === blockNumber;
  const block = isSame
    ? { ...last, compared: last.compared + compared, different: last.different + different }
    : { ...pools, at: now };
  const kept = isSame ? before.blocks.slice(0, -1) : before.blocks;
  const state = {
    ...before,
    blocks: [...kept, block].filter(({ at }) => now - at <= WINDOW_MS),
    ...(different > 0 ? { differedAt: now, agreed: 0 } : { agreed: before.agreed + compared }),
  };
  if (before.isDivergent) {
    const agrees = now - state.differedAt >= AGREED_MS && state.agreed >= MIN_COMPARED;
    return agrees ? noDivergence : state;
  }
  return { ...state, isDivergent: isDivergent(state) };
}

function isDivergent({ blocks }: DivergenceState): boolean {
  const sum = (of: 'compared' | 'different') => blocks.reduce((total, block) => total + block[of], 0);
  const [compared, different] = [sum('compared'), sum('different')];
  return compared >= MIN_COMPARED && different >= MIN_DIFFERENT && different * 100 > compared * MAX_DIFFERENT_PCT;
}
