import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Misbehaviour, type ProxiedRequest, type Request, respond } from './misbehaviour.ts';

export interface RpcProxy {
  readonly url: string;
  /** Requests that came, in order. */
  readonly requests: readonly ProxiedRequest[];
  /** Takes effect with the next request; null is honest. Applies to requests for which `when` holds. */
  misbehave(behaviour: Misbehaviour | null, when?: (request: ProxiedRequest) => boolean): void;
  /**
   * Does something, such as mining, while no request is at the node; those that come wait. Anvil answers a call at its
   * head with the state of the next block when that is mined meanwhile.
   */
  quietly<T>(work: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

/**
 * A node that lies on demand: it stands before an honest one and counts what passes.
 *
 * @param record false: requests are not kept, for proxies that stand for long
 * @param host of the loopback interface; the indexer spares a node elsewhere than on 127.0.0.1
 */
export async function startRpcProxy(upstream: string, record = true, host = '127.0.0.1'): Promise<RpcProxy> {
  const requests: ProxiedRequest[] = [];
  let behaviour: Misbehaviour | null = null;
  let applies: (request: ProxiedRequest) => boolean = () => true;
  const atNode = new Set<Promise<void>>();
  let quiet: Promise<unknown> | undefined;
  const isQuietOver: (() => void)[] = [];
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(incoming);
    const request = JSON.parse(body) as Request;
    if (record) requests.push({ method: request.method, params: request.params });
    const applied = behaviour && applies(request) ? behaviour : null;
    if (applied?.kind === 'ahead') await new Promise<void>((resolve) => isQuietOver.push(resolve));
    while (quiet) await quiet;
    const answered =
      applied?.kind === 'freePlan'
        ? respondByPlan(applied, request, response)
        : respond(applied, upstream, request, response);
    atNode.add(answered);
    await answered.finally(() => atNode.delete(answered));
  }

  const takenAt: number[] = [];
  function respondByPlan(plan: Misbehaviour & { kind: 'freePlan' }, request: Request, response: ServerResponse) {
    const now = performance.now();
    while (takenAt[0] !== undefined && takenAt[0] < now - 1_000) takenAt.shift();
    if (takenAt.length >= plan.perSec) return respond(TOO_MANY, upstream, request, response);
    takenAt.push(now);
    const isOfLogs = request.method === 'eth_getLogs';
    const isWide = isOfLogs && blocksOf(request) > plan.logBlocks;
    const refused = { kind: 'error', code: -32_000, message: plan.refusal } as const;
    const { late } = plan;
    const isLate = isOfLogs && late !== undefined && lastBlockOf(request) >= late.block;
    const held = isLate ? ({ kind: 'held', until: late.until } as const) : null;
    return respond(isWide ? refused : held, upstream, request, response);
  }

  server.listen(0, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    requests,
    misbehave(next, when = () => true) {
      behaviour = next;
      applies = when;
    },
    async quietly(work) {
      const done = Promise.allSettled(atNode).then(work);
      quiet = done.catch(() => undefined);
      return done.finally(() => {
        quiet = undefined;
        for (const resolve of isQuietOver.splice(0)) resolve();
      });
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const TOO_MANY = { kind: 'text', status: 429, body: 'too many requests' } as const;

type LogRange = { readonly fromBlock?: string; readonly toBlock?: string };

/** How many blocks a request for logs spans; one that names a block's hash spans one. */
function blocksOf({ params }: Request): number {
  const [{ fromBlock, toBlock }] = params as [LogRange];
  return Number(toBlock) - Number(fromBlock) + 1 || 1;
}

/** The last block that a request for logs spans; NaN for one that names a block's hash. */
const lastBlockOf = ({ params }: Request): number => Number((params as [LogRange])[0].toBlock);

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of incoming) text += chunk;
  return text;
}
