import { type Address, numberToHex } from 'viem';
import type { BoundedCall } from '../protocol/bounded-calls/bounded-calls.ts';
import { boundedCalls, boundedCallsOnce, type ChainTarget } from './isolated-calls.ts';
import type { PendingState } from './pending-state.ts';
import { isRefusal, RpcFailure } from './rpc-failure.ts';
import { canTraceWrites } from './trace-writes.ts';

/** Which overrides of `eth_call` nodes apply. Quotes need those of state, live quotes both. */
export interface OverrideSupport {
  readonly state: boolean;
  readonly stateAndBlock: boolean;
}

/** An account without code, and the code that is put there: stop. */
const EMPTY: Address = `0x${'e0'.repeat(20)}`;
const STOP = '0x00';
const CALL: BoundedCall = { target: EMPTY, data: '0x', likelyGas: 5_000, gasLimit: 5_000, keptBytes: 0 };
/** So far ahead of the head that no node runs calls at that time by itself, seconds. */
const AHEAD_SECS = 3_600n;

/**
 * Finds which overrides nodes apply at the head, by the checks that quotes make.
 *
 * @throws RpcFailure when it is unknown: no node answered
 */
export async function overrideSupport(target: ChainTarget, signal?: AbortSignal): Promise<OverrideSupport> {
  const { block } = await target.rpc.head(signal);
  const pending: PendingState = {
    blockNumber: block.number + 1n,
    timestamp: block.timestamp + AHEAD_SECS,
    overrides: new Map([[EMPTY, new Map([[numberToHex(0, { size: 32 }), numberToHex(1, { size: 32 })]])]]),
    digest: 'override-support',
    receivedAt: performance.now(),
  };
  const code = new Map([[EMPTY, STOP] as const]);
  const [state, stateAndBlock] = await Promise.all([
    boundedCalls(target, { block, code, signal }, [[CALL]]).then(({ isApplied }) => isApplied),
    boundedCallsOnce(target, { block: { ...block, pending }, signal }, []).then(() => true, isNotApplied),
  ]);
  return { state, stateAndBlock };
}

/** @throws the error, unless it says that a node rejected or ignored overrides */
function isNotApplied(error: unknown): false {
  if (isRefusal(error) || (error instanceof RpcFailure && error.code === 'ignored')) return false;
  throw error;
}

/** What nodes do besides plain calls at the head; null where they did not show it. */
export interface ProbedAbilities {
  readonly stateOverrides: boolean | null;
  readonly blockOverrides: boolean | null;
  /** `debug_traceCall` with overrides of the block. */
  readonly traces: boolean | null;
  /** Whether a socket was subscribed to heads; null without a URL of one. */
  readonly socket: boolean | null;
}

const SOCKET_TIMEOUT_MS = 10_000;

/** Finds what the nodes of a chain do. */
export async function probeAbilities(target: ChainTarget, wsUrl: string | null): Promise<ProbedAbilities> {
  const unknown = () => null;
  const overrides = await overrideSupport(target).catch(unknown);
  return {
    stateOverrides: overrides?.state ?? null,
    blockOverrides: overrides?.stateAndBlock ?? null,
    traces: await canTraceWrites(target.rpc).catch(unknown),
    socket: wsUrl === null ? null : await takesSubscription(wsUrl),
  };
}

/** Whether a node takes a subscription to heads. */
async function takesSubscription(url: string): Promise<boolean> {
  const socket = new WebSocket(url);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const request = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] };
  const timer = setTimeout(resolve, SOCKET_TIMEOUT_MS, false);
  socket.onopen = () => socket.send(JSON.stringify(request));
  socket.onmessage = ({ data }) => resolve(/"result":\s*"0x/.test(String(data)));
  socket.onerror = () => resolve(false);
  const isTaken = await promise;
  clearTimeout(timer);
  socket.close();
  return isTaken;
}
