import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pad } from 'viem';
import { getWebSocketRpcClient } from 'viem/utils';
import { onTestFinished, vi } from 'vitest';
import { parseChainsFile } from '../../config/load-chains.ts';
import { createLogger } from '../../runtime/logger.ts';
import { ponderChains } from '../sources.ts';
import { type GatewayDeps, openGateway } from './gateway.ts';

/** Ponder's own client asks nodes of these tests through the gateway. */

export const TIMEOUT_MS = 200;
const PONDER = import.meta.resolve('ponder');
const silent = createLogger('test', 'silent');
export const nothing = () => undefined;
const metric = { inc: nothing, observe: nothing };

type Request = { readonly method: string; readonly params?: readonly unknown[] };
type Reply = { readonly status?: number; readonly body?: unknown };
type Rpc = {
  request(request: Request): Promise<unknown>;
  subscribe(of: {
    onBlock: (block: { number: string; hash: string }) => void;
    onError: (error: unknown) => void;
  }): void;
  unsubscribe(): Promise<void>;
};

// viem's sockets dial again after the gateway of a test is closed, and write that they fail.
export function muteRedials(): () => void {
  const written = vi.spyOn(console, 'error').mockImplementation(nothing);
  return () => written.mockRestore();
}

export const ok = (result: unknown): Reply => ({ body: { jsonrpc: '2.0', id: 1, result } });
export const failed = (error: object): Reply => ({ body: { jsonrpc: '2.0', id: 1, error } });

/** A node that answers like this; undefined is no answer. */
export async function startNode(answer: (request: Request, path: string) => Reply | undefined): Promise<string> {
  const server = createServer(async (incoming, response) => {
    const request = JSON.parse(Buffer.concat(await incoming.toArray()).toString()) as Request;
    const reply = answer(request, incoming.url ?? '');
    if (reply) response.writeHead(reply.status ?? 200).end(JSON.stringify(reply.body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/a-key`;
}

export function chainOf(rpcUrls: readonly string[], wsUrls: readonly string[] = []) {
  const deployment = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: pad('0x1', { size: 20 }) };
  return { chainId: 1, name: 'one', rpcUrls, wsUrls, blockTimeMs: 400, deployments: [deployment] };
}

/** Ponder's client of a chain with these nodes, and what it logs. */
export async function openPonder(
  rpcUrls: readonly string[],
  wsUrls: readonly string[] = [],
  timeoutMs = 5_000,
  turns: GatewayDeps['turns'] = new Map(),
) {
  const faults: Record<string, number> = {};
  const { chains } = parseChainsFile({ chains: [chainOf(rpcUrls, wsUrls)] }, 'test');
  const counted: string[] = [];
  const blamed: unknown[] = [];
  const gateway = await openGateway(chains, {
    countCall: (_, method) => counted.push(method),
    countLogs: (_, fault, logs) => {
      faults[fault] = (faults[fault] ?? 0) + logs;
    },
    countComparison: nothing,
    blame: (faulty) => blamed.push(faulty),
    turns,
    logger: silent,
    timeoutMs,
  });
  const log = vi.fn();
  const stops: (() => void)[] = [];
  const logger = { trace: nothing, debug: log, info: log, warn: log, error: log, child: () => logger };
  const common = {
    logger,
    metrics: { ponder_rpc_request_duration: metric, ponder_rpc_request_error_total: metric },
    shutdown: { add: (stop: () => void) => stops.push(stop) },
  };
  const { createRpc } = (await import(new URL('rpc/index.js', PONDER).href)) as { createRpc: (of: object) => Rpc };
  const chain = { ...ponderChains(chains, gateway.url).chain_1, name: 'one', finalityBlockCount: 30 };
  const rpc = createRpc({ common, chain });
  onTestFinished(async () => {
    await rpc.unsubscribe();
    for (const stop of stops) stop();
    // Those of viem would dial again for ten seconds, in the stopped time of tests of other files as well.
    for (const url of chain.rpc ?? []) (await getWebSocketRpcClient(url)).close();
    gateway.close();
  });
  const logged = () => log.mock.calls.map(([line]) => line as { msg: string; error?: unknown });
  return { rpc, gateway, logged, counted, faults, blamed };
}

export const blockOf = (number: number) => ({
  number: `0x${number.toString(16)}`,
  hash: pad(`0x${number.toString(16)}`),
  parentHash: pad(`0x${(number - 1).toString(16)}`),
  timestamp: '0x1',
  logsBloom: pad('0x0', { size: 256 }),
  transactions: [],
});
