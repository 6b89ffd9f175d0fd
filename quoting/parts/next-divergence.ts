import type { Address } from 'viem';

/** Pools of one sealed block whose last part was read: how many, and which have another state than that part had. */
export interface ComparedPools {
  readonly blockNumber: bigint;
  readonly compared: number;
  readonly different: readonly Address[];
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

/** Over so long comparisons are counted: each of a pool in a block. */
export const WINDOW_MS = 600_000;
/** For so long nothing may differ until parts are used again. */
export const AGREED_MS = 60_000;
/** Fewer comparisons decide nothing. */
export const MIN_COMPARED = 20;
/** One pool decides nothing, however often it differs: its provider may answer at random. */
const MIN_DIFFERENT_POOLS = 2;
/** Parts are left out above this share of comparisons in which a pool differs: 1%. */
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
 * 1. Parts become divergent only when more than 1% of `MIN_COMPARED` or more comparisons within `WINDOW_MS` differ, of
 *    at least two pools; then at once.
 * 2. They are so no longer only once no pool differed for `AGREED_MS`, and `MIN_COMPARED` agreed in that time; then at
 *    once. What was before does not count any more.
 * 3. Without comparisons nothing changes.
 */
export function nextDivergence(before: DivergenceState, pools: ComparedPools, now: number): DivergenceState {
  const { blockNumber, compared, different } = pools;
  const last = before.blocks.at(-1);
  const isSame = last?.blockNumber === blockNumber;
  const block = isSame
    ? { ...last, compared: last.compared + compared, different: [...last.different, ...different] }
    : { ...pools, at: now };
  const kept = isSame ? before.blocks.slice(0, -1) : before.blocks;
  const state = {
    ...before,
    blocks: [...kept, block].filter(({ at }) => now - at <= WINDOW_MS),
    ...(different.length > 0 ? { differedAt: now, agreed: 0 } : { agreed: before.agreed + compared }),
  };
  if (before.isDivergent) {
    const agrees = now - state.differedAt >= AGREED_MS && state.agreed >= MIN_COMPARED;
    return agrees ? noDivergence : state;
  }
  return { ...state, isDivergent: isDivergent(state) };
}

function isDivergent({ blocks }: DivergenceState): boolean {
  const compared = blocks.reduce((total, block) => total + block.compared, 0);
  const different = blocks.flatMap((block) => block.different);
  const isOfSome = new Set(different).size >= MIN_DIFFERENT_POOLS;
  return compared >= MIN_COMPARED && isOfSome && different.length * 100 > compared * MAX_DIFFERENT_PCT;
}
