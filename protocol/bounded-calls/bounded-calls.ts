import { type Address, type Hex, size } from 'viem';
import { bytesAt, hexDigits, wordAt } from '../abi-words.ts';
import { BOUNDED_CALLS_CODE } from './bounded-calls-code.ts';

/** Nodes cap an `eth_call` at this much gas by default. */
export const CALL_GAS_CAP = 50_000_000n;

/** The caller, an account without a known key. Creation code runs at the empty address that it would create next. */
export const CALLER: Address = '0x5ea5c4000000000000000000000000005ea5c400';

/** Gas of one code hash: that of an account which was not touched before, and of the frame around it. */
export const CODE_HASH_GAS = 5_000;

/** A call to an untrusted contract. */
export interface BoundedCall {
  readonly target: Address;
  readonly data: Hex;
  /** Gas that an honest contract takes at most. It decides how many calls share an `eth_call` in the first round. */
  readonly likelyGas: number;
  /** Gas after which the call counts as failed. A call that is begun has all of it, whatever earlier calls used. */
  readonly gasLimit: number;
  /** Bytes of its return or revert data to keep, at most 255. */
  readonly keptBytes: number;
}

/** Makes a call whose result is the hash of the code at an address, as EXTCODEHASH gives it. No contract runs. */
export function codeHashCall(target: Address): BoundedCall {
  return { target, data: '0x', likelyGas: 0, gasLimit: 0, keptBytes: 32 };
}

/** How a call ended, with the beginning of its return data or revert data. */
export interface CallResult {
  readonly success: boolean;
  readonly data: Hex;
}

/** The result of an isolated call, with the gas that it took, rounded up to thousands. */
export interface BoundedResult extends CallResult {
  readonly gasUsed: number;
}

export interface BoundedAnswer {
  readonly chainId: bigint;
  readonly blockNumber: bigint;
  /** Unix seconds. */
  readonly blockTimestamp: bigint;
  /** In the order of the calls; null for a call that was not begun because too little gas was left. */
  readonly results: readonly (BoundedResult | null)[];
}

const WORD_BYTES = 32;
/** Offset of the results in an answer, bytes: behind the words of chain, block, time and the offset itself. */
const RESULTS_AT = 128n;
/** Bytes before those of a result: gas in thousands (2), state (1), number of bytes (1). */
const RESULT_HEADER_BYTES = 4;
const CALL_HEADER_BYTES = 27;
const NOT_BEGUN = 0;
const SUCCEEDED = 2;

/** Bytes that a call adds to the data of an `eth_call`. */
export const callBytes = ({ data }: BoundedCall): number => CALL_HEADER_BYTES + size(data);

/** Bytes that a call adds to the answer, at most. */
export const answerBytes = ({ keptBytes }: BoundedCall): number => RESULT_HEADER_BYTES + keptBytes;

/**
 * Encodes the data of an `eth_call` without address that runs these calls, as `BoundedCalls.sol` describes: behind the
 * code its arguments, `uint256 answerBytes, bytes calls`. It avoids viem's codec, as {@link decodeBoundedCalls} does.
 */
export function encodeBoundedCalls(calls: readonly BoundedCall[]): Hex {
  const packed = calls.map(({ target, data, gasLimit, keptBytes }) => {
    const head = hexDigits(gasLimit, 4) + hexDigits(keptBytes, 1) + hexDigits(size(data), 2);
    return `${target.slice(2)}${head}${data.slice(2)}`;
  });
  const bytes = calls.reduce((sum, call) => sum + answerBytes(call), 0);
  const text = packed.join('');
  const args = [bytes, 2 * WORD_BYTES, text.length / 2].map((value) => hexDigits(value, WORD_BYTES));
  const words = Math.ceil(text.length / (2 * WORD_BYTES));
  return `${BOUNDED_CALLS_CODE}${args.join('')}${text.padEnd(2 * WORD_BYTES * words, '0')}`;
}

/**
 * Decodes the answer to {@link encodeBoundedCalls}. It avoids viem's codec, since hundreds of calls are made in a
 * block.
 *
 * @throws RangeError when the answer does not hold this many results
 */
export function decodeBoundedCalls(answer: Hex, count: number): BoundedAnswer {
  const [chainId, blockNumber, blockTimestamp] = [wordAt(answer, 0), wordAt(answer, 1), wordAt(answer, 2)];
  if (wordAt(answer, 3) !== RESULTS_AT) throw new RangeError('an answer of isolated calls has no results');
  const packed = bytesAt(answer, Number(RESULTS_AT) + WORD_BYTES, Number(wordAt(answer, 4)));
  const results: (BoundedResult | null)[] = [];
  let offset = 0;
  for (let index = 0; index < count; index++) {
    const header = Number(bytesAt(packed, offset, RESULT_HEADER_BYTES));
    const [gasUsed, state, kept] = [(header >>> 16) * 1_000, (header >>> 8) & 0xff, header & 0xff];
    offset += RESULT_HEADER_BYTES;
    const data = bytesAt(packed, offset, kept);
    results.push(state === NOT_BEGUN ? null : { success: state === SUCCEEDED, data, gasUsed });
    offset += kept;
  }
  return { chainId, blockNumber, blockTimestamp, results };
}
