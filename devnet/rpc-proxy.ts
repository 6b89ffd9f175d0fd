import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendRequest } from '../runtime/http-request.ts';

/** Of the node behind the proxy. */
const TIMEOUT_MS = 300_000;

/** A JSON-RPC request as it came. */
export interface ProxiedRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Ways in which a node can fail its clients. */
export type Misbehaviour =
  /** Cuts the connection without an answer. */
  | { readonly kind: 'down' }
  /** Never answers. */
  | { readonly kind: 'hanging' }
  /** Passes requests on when this settles. */
  | { readonly kind: 'held'; readonly until: Promise<void> }
  /** Answers after a while. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Sends headers and half a body, then nothing. */
  | { readonly kind: 'trickle' }
  /** Answers with this status and text, whatever was asked. */
  | { readonly kind: 'text'; readonly status: number; readonly body: string }
  /** Answers with this JSON-RPC result, whatever was asked. */
  | { readonly kind: 'result'; readonly result: unknown }
  /** Answers with this JSON-RPC error, whatever was asked. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** Passes requests to another node. */
  | { readonly kind: 'elsewhere'; readonly url: string }
  /** Answers calls, whatever block they are to be at, with the state after the next quiet work: of the block that it mined. */
  | { readonly kind: 'ahead' }
  /** Reports this block as the latest. */
  | { readonly kind: 'staleHead'; readonly block: `0x${string}` }
  /** Refuses calls with overrides, runs them as if they had none, or with those of the state alone. */
  | { readonly kind: 'noOverrides'; readonly how: 'refuse' | 'ignore' | 'ignoreBlock' }
  /** A free plan: bounds requests a second, beyond which they get status 429, and the blocks of a request for logs. */
  | { readonly kind: 'freePlan'; readonly perSec: number; readonly logBlocks: number; readonly refusal: string };

export interface RpcProxy {
  readonly url: string;
  /** Requests that came, in order. */
  readonly requests: readonly ProxiedRequest[];
  /** Takes effect with the next request; null is honest. Applies to requests for which `when` holds. */
  misbehave(behaviour: Misbehaviour | null, when?: (request: ProxiedRequest) => boolean): void;
  /**
   * Does something, such as mining, while no request is at the node; those that come wait. Anvil answers a call at its head
   * with the state of the next block when that is mined meanwhile.
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
    const request = JSON.parse(body) as ProxiedRequest & { readonly id: number };
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
    const isWide = request.method === 'eth_getLogs' && blocksOf(request) > plan.logBlocks;
    const refused = { kind: 'error', code: -32_000, message: plan.refusal } as const;
    return respond(isWide ? refused : null, upstream, request, response);
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

type Request = ProxiedRequest & { readonly id: number };

const TOO_MANY = { kind: 'text', status: 429, body: 'too many requests' } as const;

/** How many blocks a request for logs spans; one that names a block's hash spans one. */
function blocksOf({ params }: Request): number {
  const [{ fromBlock, toBlock }] = params as [{ fromBlock?: string; toBlock?: string }];
  return Number(toBlock) - Number(fromBlock) + 1 || 1;
}

async function respond(
  behaviour: Misbehaviour | null,
  upstream: string,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  switch (behaviour?.kind) {
    case 'down':
      response.destroy();
      return;
    case 'hanging':
      return;
    case 'held':
      await behaviour.until;
      return forward(upstream, request, response);
    case 'slow':
      await sleep(behaviour.ms);
      return forward(upstream, request, response);
    case 'trickle':
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"jsonrpc":"2.0",');
      return;
    case 'text':
      response.writeHead(behaviour.status, { 'Content-Type': 'text/html' }).end(behaviour.body);
      return;
    case 'result':
      return sendJson(response, request, { result: behaviour.result });
    case 'error':
      return sendJson(response, request, { error: { code: behaviour.code, message: behaviour.message } });
    case 'elsewhere':
      return forward(behaviour.url, request, response);
    case 'ahead':
      return forward(upstream, { ...request, params: request.params.with(1, 'latest') }, response);
    case 'staleHead':
      return forward(upstream, withHead(request, behaviour.block), response);
    case 'noOverrides':
      return withoutOverrides(behaviour.how, upstream, request, response);
    default:
      return forward(upstream, request, response);
  }
}

function withHead(request: Request, block: string): Request {
  const params = request.params.map((param) => (param === 'latest' ? block : param));
  return { ...request, params };
}

async function withoutOverrides(
  how: 'refuse' | 'ignore' | 'ignoreBlock',
  upstream: string,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const hasOverrides = request.method === 'eth_call' && request.params.length > 2;
  if (!hasOverrides || how !== 'refuse') {
    const kept = request.params.slice(0, how === 'ignoreBlock' ? 3 : 2);
    return forward(upstream, { ...request, params: kept }, response);
  }
  const error = { code: -32602, message: 'too many arguments, want at most 2' };
  sendJson(response, request, { error });
}

async function forward(url: string, request: Request, response: ServerResponse): Promise<void> {
  const { status, text } = await sendRequest(url, { body: JSON.stringify(request), timeoutMs: TIMEOUT_MS });
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(text);
}

function sendJson(response: ServerResponse, { id }: Request, answer: object): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id, ...answer });
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of incoming) text += chunk;
  return text;
}
