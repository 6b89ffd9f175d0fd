import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { overrideSupport } from '../../chain/override-support.ts';
import { canTraceWrites } from '../../chain/trace-writes.ts';

/** What a node does besides answering; null where it did not show it. */
export interface NodeAbilities {
  readonly stateOverrides: boolean | null;
  readonly blockOverrides: boolean | null;
  /** `debug_traceCall` with overrides of the block. */
  readonly traces: boolean | null;
  /** Whether a socket was subscribed to heads; null without a URL of one. */
  readonly socket: boolean | null;
}

const SOCKET_TIMEOUT_MS = 10_000;

/** Finds what the nodes of a chain do. */
export async function nodeAbilities(rpc: ChainRpc, chainId: number, wsUrl: string | null): Promise<NodeAbilities> {
  const unknown = () => null;
  const overrides = await overrideSupport({ rpc, chainId }).catch(unknown);
  return {
    stateOverrides: overrides?.state ?? null,
    blockOverrides: overrides?.stateAndBlock ?? null,
    traces: await canTraceWrites(rpc).catch(unknown),
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
