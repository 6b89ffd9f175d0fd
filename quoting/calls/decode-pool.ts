import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import { readBalance } from '../../protocol/bounded-calls/balance-call.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { CodeState } from '../../protocol/curve-search.ts';
import type { SimulatedSwap } from '../../protocol/guards/simulated-swap.ts';
import type { PoolAtBlock } from '../../protocol/layout.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { quoteStatus } from '../../protocol/quote-status.ts';
import { closedSides, type TransferLimits, tokenLimits } from '../../protocol/transfers/transfer-limits.ts';
import { readMoved } from '../../protocol/transfers/transfer-proof.ts';
import { perObject } from '../../runtime/per-object.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import { CLOSED_ASK_X64, CLOSED_BID_X64, type CurveSides, type DepthSnapshot, type PriceSnapshot } from '../types.ts';
import { PRICE_CALLS, type Watched } from './pool-calls.ts';
import { isPricedByOverrides } from './probe-calls.ts';

/** For each token of a pool, token0 first: its answer when it was asked to move `most`, raw units. */
export type TransferAnswers = readonly { readonly most: Hex; readonly result: CallResult }[];

/** What the calls for a pool returned. A field is absent where the nodes did not run its calls. */
export interface PoolAnswers {
  readonly storage?: CallResult | undefined;
  readonly quote?: CallResult | undefined;
  /** Results of {@link priceCalls}. */
  readonly prices?: readonly CallResult[] | undefined;
  /** The accounts that were passed to {@link priceCalls}. */
  readonly watched?: Watched | undefined;
  /** Absent also where nodes do not apply overrides. */
  readonly transfers?: TransferAnswers | undefined;
  /** In a block that is being built, the answer to {@link quoteCall} without the overrides of sources. */
  readonly committedQuote?: CallResult | undefined;
  /** Results of {@link stopLossCalls}; read with prices only in a block that is being built. */
  readonly stopLoss?: readonly CallResult[] | undefined;
  /** Results of {@link velocityCalls}; read after a part only. */
  readonly velocity?: readonly CallResult[] | undefined;
  /** Swaps that were simulated with the prices. */
  readonly simulated?: readonly SimulatedSwap[] | undefined;
}

/** A pool to read, and its snapshot of an earlier block, if any: it is used again when the pool has not changed. */
export interface PoolRead {
  readonly pool: ServedPool;
  readonly before?: PriceSnapshot | undefined;
}

/**
 * Decodes the answers of a pool into its snapshot; an error when its storage was not read or an answer does not decode.
 *
 * @param readAt Unix seconds
 */
export function decodePool(
  { pool, before }: PoolRead,
  block: BlockRef,
  readAt: number,
  answers: PoolAnswers,
): PriceSnapshot | SnapshotError {
  const fingerprint = fingerprintOf(answers);
  const { pending } = block;
  const isPriced = () => isPricedByOverrides(answers.quote, answers.committedQuote);
  // A part has all that happened: where it changes nothing, it says so.
  const hasLivePrice = pending !== undefined && (pending.part !== undefined || isPriced());
  const { stopLoss, velocity, simulated } = answers;
  const read = { block, readAt, hasLivePrice, stopLoss, velocity, simulated };
  if (before?.pool === pool && before.fingerprint === fingerprint) return { ...before, ...read };
  const { address } = pool;
  const [prices, ...balances] = answers.prices ?? [];
  const [balance0Raw, balance1Raw] = [readBalance(balances[0]), readBalance(balances[1])];
  if (!answers.storage?.success) return new SnapshotError('read_failed', `storage of ${address} was not read`);
  if (prices?.success && prices.data === '0x') return new SnapshotError('read_failed', `no pool at ${address}`);
  try {
    return {
      pool,
      ...read,
      fingerprint,
      ...decodePrices(pool, stateOf(pool)(answers.storage), answers, [balance0Raw, balance1Raw]),
      balance0Raw,
      balance1Raw,
      depth: null,
    };
  } catch (cause) {
    return new SnapshotError('read_failed', `${address} does not decode`, { cause });
  }
}

/**
 * Hashes the answers, those of every read apart from others. To keep parts of them would keep the whole text of many
 * pools' answers in memory.
 */
function fingerprintOf({ storage, quote, prices = [], watched, transfers = [] }: PoolAnswers): string {
  const rest = createHash('sha256').update(`${watched}`);
  for (const { most, result } of transfers) rest.update(`${most} ${result.success} ${result.data} `);
  const state = hashOf([storage, ...prices.slice(0, PRICE_CALLS)]);
  return `${state} ${hashOf([quote, ...prices.slice(PRICE_CALLS)], rest)}`;
}

function hashOf(results: readonly (CallResult | undefined)[], hash = createHash('sha256')): string {
  for (const result of results) hash.update(`${result?.success}`).update(result?.data ?? '');
  return hash.digest('base64');
}

/** The part of a fingerprint that names storage, prices and balances alone: at the same state it is the same. */
export const stateIn = ({ fingerprint }: Pick<PriceSnapshot, 'fingerprint'>): string =>
  fingerprint.slice(0, fingerprint.indexOf(' '));

/** The state of a pool by its storage, which is one answer for all frames of a block that is being built. */
const stateOf = perObject(({ layout, immutables }: ServedPool) =>
  perObject(({ data }: CallResult) => layoutAdapter(layout).state.decode(immutables, data)),
);

/** Decodes the prices exactly as the pool gave them. The provider's quote only shapes the curve. */
function decodePrices(
  { layout }: ServedPool,
  state: PoolAtBlock,
  { quote, transfers, ...answers }: PoolAnswers,
  balances: readonly [bigint | null, bigint | null],
): Pick<PriceSnapshot, 'status' | 'bidX64' | 'askX64' | 'curve' | 'limits'> {
  const answer = answers.prices?.[0];
  const prices = answer ? layoutAdapter(layout).prices.decode(answer) : 'unread';
  const curve = typeof prices === 'string' ? null : state.curve(prices, quote, readCode(answers));
  const price = typeof prices === 'string' ? prices : curve ? 'read' : 'unread';
  const limits = readLimits(state.heldRaw(), balances, transfers);
  const { bids, asks } = closedSides(limits);
  const status = quoteStatus({ price, pauseLevel: state.pauseLevel, bidsRejected: bids, asksRejected: asks });
  if (status !== 'healthy' || typeof prices === 'string') {
    return { status, bidX64: CLOSED_BID_X64, askX64: CLOSED_ASK_X64, curve: null, limits };
  }
  const bidX64 = bids ? CLOSED_BID_X64 : prices.sellX64;
  return { status, bidX64, askX64: asks ? CLOSED_ASK_X64 : prices.buyX64, curve, limits };
}

function readLimits(
  held: readonly [bigint, bigint],
  balances: readonly [bigint | null, bigint | null],
  transfers: TransferAnswers | undefined,
): TransferLimits {
  const limitsOf = (token: 0 | 1) => {
    const tried = transfers?.[token];
    return tokenLimits(held[token], balances[token], tried ? readMoved(tried.result, BigInt(tried.most)) : null);
  };
  return { token0: limitsOf(0), token1: limitsOf(1) };
}

function readCode({ prices, watched }: PoolAnswers): CodeState | undefined {
  if (!watched || !prices) return undefined;
  return { accounts: watched, hashes: prices.slice(-watched.length).map(({ data }) => data) };
}

/** Adds to a snapshot the sides that trade. When both are rejected, its status becomes `pool_refused`. */
export function withDepth(
  {
    curve: _,
    fingerprint: __,
    limits: ___,
    hasLivePrice: ____,
    stopLoss: _____,
    velocity: ______,
    simulated: _______,
    ...snapshot
  }: PriceSnapshot,
  { bids, asks, curve }: CurveSides,
): DepthSnapshot {
  const isRejected = bids === null && asks === null;
  return {
    ...snapshot,
    status: isRejected ? 'pool_refused' : snapshot.status,
    bidX64: bids === null ? CLOSED_BID_X64 : snapshot.bidX64,
    askX64: asks === null ? CLOSED_ASK_X64 : snapshot.askX64,
    depth: { bids: bids ?? [], asks: asks ?? [] },
    curve,
  };
}
