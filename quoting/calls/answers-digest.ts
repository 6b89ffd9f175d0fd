import { hash } from 'node:crypto';
import { type Hex, size, sliceHex } from 'viem';
import type { ContractCall } from '../../chain/multicall.ts';
import type { CodeOverrides } from '../../chain/read-context.ts';
import { hexDigits } from '../../protocol/abi-words.ts';
import { type BoundedCall, type CallResult, CODE_HASH_GAS } from '../../protocol/bounded-calls/bounded-calls.ts';
import { CALLS_DIGEST_CODE } from '../../protocol/bounded-calls/calls-digest-code.ts';
import { perObject } from '../../runtime/per-object.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import type { PoolAnswers } from './decode-pool.ts';
import {
  poolStubs,
  priceCalls,
  quoteCall,
  stopLossCalls,
  storageCall,
  velocityCalls,
  type Watched,
  wasQuoteSkipped,
} from './pool-calls.ts';

/** The address where `CallsDigest.sol` is put. */
const TARGET = '0xd19e57d19e57d19e57d19e57d19e57d19e57d19e';
/** Of calls whose results are kept whole. The stub itself bounds what the provider may take. */
const WHOLE = { storage: 2_000_000, quote: 5_800_000, guard: 1_000_000, keptBytes: 0xffff };
const WORD = 32;

/** What is digested of a call. A gas limit of zero: the code of the target. */
type DigestedCall = Omit<BoundedCall, 'likelyGas'>;

/** Code to put at addresses for {@link digestCall} of these pools. */
export const digestCode = (pools: readonly ServedPool[]): CodeOverrides =>
  new Map([...poolStubs(pools), [TARGET, CALLS_DIGEST_CODE]]);

/** What a pool answered, but for its own prices. */
export interface OtherAnswers extends Omit<PoolAnswers, 'prices'> {
  /** Results of all of {@link priceCalls} but the first. */
  readonly others: readonly CallResult[];
}

export interface AnsweredPool {
  readonly pool: ServedPool;
  readonly answers: OtherAnswers;
}

/** What a call showed of a pool. */
export interface ShownOthers {
  readonly answers: OtherAnswers;
  readonly gasUsed: number;
}

/** Leaves out the pool's own prices. */
export const othersIn = ({ prices = [], ...answers }: PoolAnswers): OtherAnswers => ({
  ...answers,
  others: prices.slice(1),
});

/**
 * The call that gives what a pool answers now, its own prices aside: these take its code, and the stub is in its place.
 * Where that is what it answered, the call gives the digest instead. Its `gas` is what honest contracts take at most.
 */
export function digestCall(answered: AnsweredPool): ContractCall {
  const { digested, likelyGas } = callsOf(answered);
  return { target: TARGET, data: `${digestOf(answered)}${digested.map(pack).join('')}`, gas: likelyGas };
}

const callsOf = perObject(({ pool, answers: { watched } }: AnsweredPool) => {
  const [storage, quote] = [storageCall(pool), quoteCall(pool)];
  const guards = [...stopLossCalls(pool), ...(velocityCalls(pool) ?? [])];
  const others = otherCalls(pool, watched).filter((call) => !isOwnCode(pool, call));
  const { keptBytes } = WHOLE;
  const digested: DigestedCall[] = [
    { ...storage, gasLimit: WHOLE.storage, keptBytes },
    { ...quote, gasLimit: WHOLE.quote, keptBytes },
    ...guards.map((call) => ({ ...call, gasLimit: WHOLE.guard, keptBytes })),
    ...others,
  ];
  const gas = [storage, quote, ...guards, ...others.map(({ likelyGas }) => ({ gas: likelyGas || CODE_HASH_GAS }))];
  return { digested, likelyGas: gas.reduce((sum, each) => sum + each.gas, 0) };
});

const otherCalls = (pool: ServedPool, watched: Watched | undefined): BoundedCall[] =>
  priceCalls(pool, watched).slice(1);

/** Whether a call reads the code of the pool, which never changes: the stub is in its place. */
const isOwnCode = ({ address }: ServedPool, { target, gasLimit }: DigestedCall): boolean =>
  gasLimit === 0 && target === address;

/**
 * Reads the result of {@link digestCall}: what the pool answers, and the gas that this took.
 *
 * @returns undefined where the node did not make the calls, or the stub not that of the provider for want of gas
 */
export function readOthers(answered: AnsweredPool, { success, data }: CallResult): ShownOthers | undefined {
  if (success || size(data) < 2 * WORD) return undefined;
  const end = size(data) - WORD;
  const answers = answersIn(answered, sliceHex(data, 0, end));
  return answers && { answers, gasUsed: Number(sliceHex(data, end)) };
}

function answersIn(answered: AnsweredPool, data: Hex): OtherAnswers | undefined {
  const { pool, answers } = answered;
  if (size(data) === WORD) return data === digestOf(answered) ? answers : undefined;
  const results = unpack(data, callsOf(answered).digested.length);
  const [storage, quote, ...rest] = results;
  if (!quote || wasQuoteSkipped(quote)) return undefined;
  const stopLoss = rest.splice(0, stopLossCalls(pool).length);
  const velocityCount = velocityCalls(pool)?.length;
  const velocity = velocityCount === undefined ? undefined : rest.splice(0, velocityCount);
  const { watched } = answers;
  const others = otherCalls(pool, watched).map((call, index) =>
    isOwnCode(pool, call) ? answers.others[index] : rest.shift(),
  );
  if (!others.every((result) => result !== undefined)) return undefined;
  return { storage, quote, watched, others, ...(stopLoss.length > 0 && { stopLoss }), ...(velocity && { velocity }) };
}

/** The digest that {@link digestCall} gives while these are the answers. */
export const digestOf = perObject(({ pool, answers }: AnsweredPool): Hex => {
  const { storage, quote, stopLoss = [], velocity = [], watched } = answers;
  const calls = otherCalls(pool, watched);
  const others = answers.others.filter((_, index) => !(calls[index] && isOwnCode(pool, calls[index])));
  const bytes = [storage, quote, ...stopLoss, ...velocity, ...others].map((result) => {
    const { success, data }: CallResult = result ?? { success: false, data: '0x' };
    return `${hexDigits(success ? 1 : 0, WORD)}${hexDigits(size(data), WORD)}${data.slice(2)}`;
  });
  return `0x${hash('sha256', Buffer.from(bytes.join(''), 'hex'), 'hex')}`;
});

const pack = ({ target, data, gasLimit, keptBytes }: DigestedCall): string =>
  `${hexDigits(gasLimit, 4)}${target.slice(2)}${hexDigits(keptBytes, 2)}${hexDigits(size(data), 2)}${data.slice(2)}`;

/** @returns none unless the data are this many results */
function unpack(data: Hex, count: number): CallResult[] {
  const slice = (from: number, to: number): Hex => `0x${data.slice(2 + 2 * from, 2 + 2 * to)}`;
  let offset = 0;
  const results = Array.from({ length: count }, (): CallResult => {
    const begin = offset + 2 * WORD;
    const [success, kept] = [Number(slice(offset, offset + WORD)), Number(slice(offset + WORD, begin))];
    offset = begin + kept;
    return { success: success === 1, data: slice(begin, offset) };
  });
  return offset === size(data) ? results : [];
}
