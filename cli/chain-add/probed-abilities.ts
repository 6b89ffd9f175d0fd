import { anyNodeHas } from '../../chain/ability-probes.ts';
import type { ChainRpc } from '../../chain/chain-rpc.ts';

/** What nodes of a chain do besides plain calls at the head; null where they did not show it. */
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
export async function probeAbilities({ endpoints }: ChainRpc, wsUrl: string | null): Promise<ProbedAbilities> {
  const unknown = () => null;
  const [stateOverrides, blockOverrides, traces] = await Promise.all([
    anyNodeHas(endpoints, 'stateOverrides').catch(unknown),
    anyNodeHas(endpoints, 'blockOverrides').catch(unknown),
    anyNodeHas(endpoints, 'traces').catch(unknown),
  ]);
  return { stateOverrides, blockOverrides, traces, socket: wsUrl === null ? null : await takesSubscription(wsUrl) };
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
