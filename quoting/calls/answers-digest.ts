import { hash } from 'node:crypto';
import { type Hex, size } from 'viem';
import type { ContractCall } from '../../chain/multicall.ts';
import type { CodeOverrides } from '../../chain/read-context.ts';
import { hexDigits } from '../../protocol/abi-words.ts';
import { type BoundedCall, type CallResult, CODE_HASH_GAS } from '../../protocol/bounded-calls/bounded-calls.ts';
import { CALLS_DIGEST_CODE } from '../../protocol/bounded-calls/calls-digest-code.ts';
import { perObject } from '../../runtime/per-object.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import type { PoolAnswers } from './decode-pool.ts';
import { poolStubs, priceCalls, quoteCall, stopLossCalls, storageCall, velocityCalls } from './pool-calls.ts';

/** The address where `CallsDigest.sol` is put. */
const TARGET = '0xd19e57d19e57d19e57d19e57d19e57d19e57d19e';
/** Of calls whose results are kept whole. The stub itself bounds what the provider may take. */
const WHOLE = { storage: 2_000_000, quote: 5_800_000, guard: 1_000_000, keptBytes: 0xffff };
const DIGEST_BYTES = 32;

/** What is digested of a call. A gas limit of zero: the code of the target. */
type DigestedCall = Omit<BoundedCall, 'likelyGas'>;

/** Code to put at addresses for {@link digestCall} of these pools. */
export const digestCode = (pools: readonly ServedPool[]): CodeOverrides =>
  new Map([...poolStubs(pools), [TARGET, CALLS_DIGEST_CODE]]);

/** What a pool answered. */
export interface AnsweredPool {
  readonly pool: ServedPool;
  readonly answers: PoolAnswers;
}

/**
 * The call that shows whether a pool's answers are others than these, without giving them: its own prices aside, which
 * its code makes of its storage and of what its provider quotes.
 */
export function digestCall({ pool, answers: { watched } }: AnsweredPool): ContractCall {
  const [storage, quote] = [storageCall(pool), quoteCall(pool)];
  const guards = [...stopLossCalls(pool), ...(velocityCalls(pool) ?? [])];
  const [, ...others] = priceCalls(pool, watched).filter((call) => !isOwnCode(pool, call));
  const { keptBytes } = WHOLE;
  const calls: DigestedCall[] = [
    { ...storage, gasLimit: WHOLE.storage, keptBytes },
    { ...quote, gasLimit: WHOLE.quote, keptBytes },
    ...guards.map((call) => ({ ...call, gasLimit: WHOLE.guard, keptBytes })),
    ...others,
  ];
  const gas = [storage, quote, ...guards, ...others.map(({ likelyGas }) => ({ gas: likelyGas || CODE_HASH_GAS }))];
  return {
    target: TARGET,
    data: `0x${calls.map(pack).join('')}`,
    gas: gas.reduce((sum, each) => sum + each.gas, 0),
  };
}

/** Whether a call reads the code of the pool, which never changes: the stub is in its place. */
const isOwnCode = ({ address }: ServedPool, { target, gasLimit }: DigestedCall): boolean =>
  gasLimit === 0 && target === address;

/** The digest of a result of {@link digestCall}; undefined where the node did not make the calls. */
export const readDigest = ({ success, data }: CallResult): Hex | undefined =>
  !success && size(data) === DIGEST_BYTES ? data : undefined;

/** The digest that {@link digestCall} gives while these are the answers. */
export const digestOf = perObject(({ pool, answers }: AnsweredPool): Hex => {
  const { storage, quote, stopLoss = [], velocity = [], prices = [], watched } = answers;
  const calls = priceCalls(pool, watched);
  const others = prices.filter((_, index) => index > 0 && !(calls[index] && isOwnCode(pool, calls[index])));
  const bytes = [storage, quote, ...stopLoss, ...velocity, ...others].map((result) => {
    const { success, data }: CallResult = result ?? { success: false, data: '0x' };
    return `${hexDigits(success ? 1 : 0, 32)}${hexDigits(size(data), 32)}${data.slice(2)}`;
  });
  return `0x${hash('sha256', Buffer.from(bytes.join(''), 'hex'), 'hex')}`;
});

const pack = ({ target, data, gasLimit, keptBytes }: DigestedCall): string =>
  `${hexDigits(gasLimit, 4)}${target.slice(2)}${hexDigits(keptBytes, 2)}${hexDigits(size(data), 2)}${data.slice(2)}`;
