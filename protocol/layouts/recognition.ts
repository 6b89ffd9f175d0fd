import type { Address } from 'viem';
import { type BoundedCall, CALLER, type CallResult } from '../bounded-calls/bounded-calls.ts';
import { SMALLEST_SWAP } from '../curve.ts';
import { Q64 } from '../fixed-point.ts';
import { encodeSimulation as encodeFlat } from './flat/quoted-curve.ts';
import { encodeSimulation as encodePacked, FORM_PROBE, type SimulationForm } from './packed/simulation.ts';
import { packedStoredLayout } from './packed/stored-layout.ts';
import { swapOutcome } from './pool-errors.ts';

const QUOTE = { bidX64: Q64, askX64: Q64, referenceX64: Q64 };
const packedOrder = { zeroForOne: true, amountSpecified: SMALLEST_SWAP, quote: QUOTE, trader: CALLER };
const packed = (form: SimulationForm) => encodePacked(form, packedOrder);

/** Simulated swaps of one unit: one that a pool does not know reverts without a word. */
const SIGNS = [
  { layout: 'flat', name: 'flat', data: encodeFlat(true, SMALLEST_SWAP, QUOTE, CALLER) },
  { layout: 'packed', name: 'packed (simulation without sender)', data: packed('noSender') },
  { layout: 'packed', name: 'packed (simulation with sender)', data: packed('sender') },
] as const;

/** What a pool answers like. */
export interface Recognition {
  readonly layout: string;
  readonly name: string;
}

/** The calls whose results {@link recognise} takes. */
export function recognitionCalls(pool: Address): BoundedCall[] {
  return [
    { target: pool, ...packedStoredLayout.headCall },
    ...SIGNS.map((sign) => ({ target: pool, data: sign.data, ...FORM_PROBE })),
  ];
}

/** The layout that a pool answers like; null when it tells no storage, or knows none or several of the simulations. */
export function recognise([head, ...simulations]: readonly (CallResult | null)[]): Recognition | null {
  if (!head || packedStoredLayout.decodeHead(head) === null) return null;
  const known = SIGNS.filter((_, index) => {
    const result = simulations[index];
    return result && swapOutcome(result) !== 'silence';
  });
  return known.length === 1 ? (known[0] ?? null) : null;
}
