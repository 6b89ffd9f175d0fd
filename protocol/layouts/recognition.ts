import type { Address } from 'viem';
import { type BoundedCall, CALLER, type CallResult } from '../bounded-calls/bounded-calls.ts';
import { Q64 } from '../fixed-point.ts';
import { encodeSimulation as encodeFlat } from './flat/quoted-curve.ts';
import { encodeSimulation as encodePacked, type SimulationForm } from './packed/simulation.ts';
import { packedStoredLayout } from './packed/stored-layout.ts';

const QUOTE = { bidX64: Q64, askX64: Q64, referenceX64: Q64 };
const packedOrder = { zeroForOne: true, amountSpecified: 1n, quote: QUOTE, trader: CALLER };
const packed = (form: SimulationForm) => encodePacked(form, packedOrder);

/** Simulated swaps of one unit: one that a pool does not know reverts without a word. */
const SIGNS = [
  { layout: 'flat', name: 'flat', data: encodeFlat(true, 1n, QUOTE, CALLER) },
  { layout: 'packed', name: 'packed (simulation without sender)', data: packed('noSender') },
  { layout: 'packed', name: 'packed (simulation with sender)', data: packed('sender') },
] as const;

const SIMULATION = { likelyGas: 500_000, gasLimit: 3_000_000, keptBytes: 4 };
const HEAD = { likelyGas: 15_000, gasLimit: 100_000 };

/** What a pool answers like. */
export interface Recognition {
  readonly layout: string;
  readonly name: string;
}

/** The calls whose results {@link recognise} takes. */
export function recognitionCalls(pool: Address): BoundedCall[] {
  const { data, answerBytes } = packedStoredLayout.headCall;
  return [
    { target: pool, data, keptBytes: answerBytes, ...HEAD },
    ...SIGNS.map((sign) => ({ target: pool, data: sign.data, ...SIMULATION })),
  ];
}

/** The layout that a pool answers like; null when it tells no storage, or knows none or several of the simulations. */
export function recognise([head, ...simulations]: readonly (CallResult | null)[]): Recognition | null {
  if (!head || packedStoredLayout.decodeHead(head) === null) return null;
  const known = SIGNS.filter((_, index) => {
    const result = simulations[index];
    return result && !result.success && result.data !== '0x';
  });
  return known.length === 1 ? (known[0] ?? null) : null;
}
