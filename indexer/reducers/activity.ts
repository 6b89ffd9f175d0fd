import { FLAT_FEE_TOTALS, TOTAL } from '../../protocol/pool-totals.ts';
import { arrayLiteral } from '../schema/number-list.ts';

/** Totals of a new flat pool. */
export const NO_ACTIVITY = arrayLiteral(Object.values(TOTAL).map(() => 0));

/** Totals of a new packed pool. Its fees are unknown: only the packed words are summed. */
export const NO_PACKED_ACTIVITY = arrayLiteral(
  Object.keys(TOTAL).map((name) => (FLAT_FEE_TOTALS.some((total) => total === name) ? 'NULL' : 0)),
);
