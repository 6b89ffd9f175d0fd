import {
  type Address,
  concatHex,
  decodeAbiParameters,
  encodeDeployData,
  type Hex,
  hexToBigInt,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  size,
  sliceHex,
} from 'viem';
import type { SwapOutcome } from '../curve.ts';
import { swapOutcome } from '../pool-errors.ts';
import type { SwapDeltas } from '../pool-events.ts';
import { SIMULATED_WALK_CODE } from './simulated-walk-code.ts';

/** Calldata of a simulated swap, into which the walk writes the amount. */
export interface SimulationTemplate {
  readonly data: Hex;
  /** Offset of the amount, an int256 word, in bytes. */
  readonly amountOffset: number;
}

/** An amount to simulate. */
export interface WalkPoint {
  /** Raw units: positive = exact input, negative = exact output. */
  readonly amount: bigint;
  /** Gas after which the simulation counts as refused. */
  readonly gasLimit: number;
}

/** A side of a pool to be simulated in one `eth_call`, as `SimulatedWalk.sol` describes. */
export interface SideWalk {
  readonly pool: Address;
  readonly template: SimulationTemplate;
  /** A call of the pool that reads the storage which simulations will read. */
  readonly warming: { readonly data: Hex; readonly gas: number };
  /** At least one, of ever larger swaps: exact outputs, then exact inputs. */
  readonly points: readonly WalkPoint[];
  /** How many amounts to simulate between the last that is not rejected and the first that is. Default: none. */
  readonly halvings?: number;
}

/** How a simulation ended. Amounts as in {@link WalkPoint}. */
export interface WalkRecord {
  readonly amount: bigint;
  readonly outcome: SwapOutcome;
  /** Null unless it fills. */
  readonly fill: SwapDeltas | null;
}

export interface WalkAnswer {
  /** False when gas ran out before the end: the next call begins behind the points that have a record. */
  readonly done: boolean;
  /** Of the points in order, up to the first that is rejected; then of the search, which halves each time. */
  readonly records: readonly WalkRecord[];
}

const codeAbi = parseAbi([
  'struct Walk { address pool; bytes warming; uint256 warmingGas; bytes simulation; uint256 amountOffset; bytes points; uint256 halvings; }',
  'constructor(Walk walk)',
]);
const answerParameters = parseAbiParameters(
  'uint256 chainId, uint256 blockNumber, uint256 blockTimestamp, bool done, bytes records',
);
const AMOUNT_BYTES = 16;
/** Amount and number of bytes kept, before these bytes. */
const HEADER_BYTES = 17;
const FILL_BYTES = 32;

/** Encodes the data of an `eth_call` without address that walks a side. */
export function encodeWalk({ pool, template, warming, points, halvings = 0 }: SideWalk): Hex {
  const packed = points.flatMap(({ amount, gasLimit }) => [
    numberToHex(amount, { size: AMOUNT_BYTES, signed: true }),
    numberToHex(gasLimit, { size: 4 }),
  ]);
  const walk = {
    pool,
    warming: warming.data,
    warmingGas: BigInt(warming.gas),
    simulation: template.data,
    amountOffset: BigInt(template.amountOffset),
    points: concatHex(packed),
    halvings: BigInt(halvings),
  };
  return encodeDeployData({ abi: codeAbi, bytecode: SIMULATED_WALK_CODE, args: [walk] });
}

/** @throws Error when this is not the answer of a walk */
export function decodeWalk(answer: Hex): WalkAnswer {
  const [, , , done, packed] = decodeAbiParameters(answerParameters, answer);
  const records: WalkRecord[] = [];
  for (let offset = 0; offset < size(packed); ) {
    const amount = hexToBigInt(sliceHex(packed, offset, offset + AMOUNT_BYTES, { strict: true }), { signed: true });
    const kept = Number(sliceHex(packed, offset + AMOUNT_BYTES, offset + HEADER_BYTES, { strict: true }));
    offset += HEADER_BYTES;
    records.push({ amount, ...readEnd(packed, offset, kept) });
    offset += kept;
  }
  return { done, records };
}

/** @param kept number of bytes: those of a fill's amounts, of a selector, or none */
function readEnd(packed: Hex, offset: number, kept: number): Omit<WalkRecord, 'amount'> {
  if (kept !== FILL_BYTES) {
    const data = kept === 0 ? '0x' : sliceHex(packed, offset, offset + kept, { strict: true });
    return { outcome: swapOutcome({ success: false, data }), fill: null };
  }
  const word = hexToBigInt(sliceHex(packed, offset, offset + FILL_BYTES, { strict: true }));
  const fill = { amount0Delta: BigInt.asIntN(128, word >> 128n), amount1Delta: BigInt.asIntN(128, word) };
  return { outcome: 'fills', fill };
}
