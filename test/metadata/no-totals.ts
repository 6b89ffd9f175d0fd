import { TOTAL_NAMES, type TotalName } from '../../protocol/pool-totals.ts';

/** The day of a pool in which nothing happened. */
export const NO_TOTALS = Object.fromEntries(TOTAL_NAMES.map((name) => [name, 0n])) as Readonly<
  Record<TotalName, bigint>
>;
