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
  /** Since when these comparisons count. */
  readonly since: number;
  /** Those that count, in order: of the last {@link WINDOW_MS} unless parts are divergent. */
  readonly blocks: readonly (ComparedPools & { readonly at: number })[];
}

/** Over so long comparisons are counted: each of a pool in a block. */
export const WINDOW_MS = 600_000;
/** For so long parts must agree until they are used again. */
export const AGREED_MS = 60_000;
/** Fewer comparisons decide nothing. */
export const MIN_COMPARED = 20;
/** Parts differ above this share of comparisons in which a pool does: 1%. */
const MAX_DIFFERENT_PCT = 1;

export const noDivergence: DivergenceState = { isDivergent: false, since: Number.NEGATIVE_INFINITY, blocks: [] };

/**
 * Whether the parts that nodes show are those of the blocks that are sealed, by the pools of one more block.
 *
 * Some comparisons differ when more than 1% of them do, whichever one pool is left out: a pool alone decides nothing,
 * however often it differs, as its provider may answer at random.
 *
 * Invariants:
 * 1. Parts become divergent only when the comparisons of `WINDOW_MS`, `MIN_COMPARED` or more, differ; then at once.
 * 2. They are so no longer only once those since they last differed, of `AGREED_MS` and `MIN_COMPARED` or more, do not;
 *    then at once.
 * 3. What was compared before any of these does not count any more.
 * 4. Without comparisons nothing changes.
 */
export function nextDivergence(before: DivergenceState, pools: ComparedPools, now: number): DivergenceState {
  const { isDivergent, since } = before;
  const blocks = withPools(before.blocks, pools, now);
  if (!isDivergent) {
    const recent = blocks.filter(({ at }) => now - at <= WINDOW_MS);
    const isNow = comparedIn(recent) >= MIN_COMPARED && doDiffer(recent);
    return isNow ? { isDivergent: true, since: now, blocks: [] } : { ...before, blocks: recent };
  }
  if (doDiffer(blocks)) return { isDivergent, since: now, blocks: [] };
  return now - since >= AGREED_MS && comparedIn(blocks) >= MIN_COMPARED ? noDivergence : { ...before, blocks };
}

/** Pools of one block that are compared one after the other count at the time of the first ones. */
function withPools(
  blocks: DivergenceState['blocks'],
  { blockNumber, compared, different }: ComparedPools,
  now: number,
): DivergenceState['blocks'] {
  const last = blocks.at(-1);
  if (last?.blockNumber !== blockNumber) return [...blocks, { blockNumber, compared, different, at: now }];
  const whole = { ...last, compared: last.compared + compared, different: [...last.different, ...different] };
  return [...blocks.slice(0, -1), whole];
}

const comparedIn = (blocks: DivergenceState['blocks']): number =>
  blocks.reduce((total, { compared }) => total + compared, 0);

/** Without the pool that differs most often: its other comparisons stay, which are not known. */
function doDiffer(blocks: DivergenceState['blocks']): boolean {
  const different = blocks.flatMap((block) => block.different);
  const most = Math.max(0, ...[...Map.groupBy(different, (pool) => pool).values()].map(({ length }) => length));
  return (different.length - most) * 100 > (comparedIn(blocks) - most) * MAX_DIFFERENT_PCT;
}
