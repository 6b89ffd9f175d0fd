import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { postJson } from './json-rpc.ts';

/** A JSON-RPC request as it came. */
export interface ProxiedRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A log as a node gives it, with the fields by which tests choose. */
export interface NodeLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly blockNumber: string;
  readonly transactionHash: string;
  readonly logIndex: string;
}

export type Request = ProxiedRequest & { readonly id: number };

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
  /** Answers requests for logs with other logs than the node's, such as too few of them. */
  | { readonly kind: 'otherLogs'; readonly of: (logs: readonly NodeLog[]) => readonly NodeLog[] }
  /** Passes requests to another node. */
  | { readonly kind: 'elsewhere'; readonly url: string }
  /**
   * Answers calls, whatever block they are to be at, with the state after the next quiet work:
   * of the block that it mined.
   */
  | { readonly kind: 'ahead' }
  /** Reports this block as the latest. */
  | { readonly kind: 'staleHead'; readonly block: `0x${string}` }
  /** Has no block above this one: it reports this as the latest, and refuses to read at the hashes of others. */
  | { readonly kind: 'behind'; readonly block: bigint }
  /** Refuses calls with overrides, runs them as if they had none, or with those of the state alone. */
  | { readonly kind: 'noOverrides'; readonly how: 'refuse' | 'ignore' | 'ignoreBlock' }
  /** Passes another request on, or answers by itself, and passes on another text than the node's. */
  | {
      readonly kind: 'rewritten';
      readonly request: (request: ProxiedRequest) => ProxiedRequest | { readonly answer: object };
      readonly text: (text: string) => string;
    }
  /**
   * A free plan: bounds requests a second, beyond which they get status 429, and the blocks of a request for logs.
   * Those for logs of a late block or of one after it are passed on when `until` settles.
   */
  | {
      readonly kind: 'freePlan';
      readonly perSec: number;
      readonly logBlocks: number;
      readonly refusal: string;
      readonly late?: { readonly block: number; readonly until: Promise<void> };
    };

/** Answers a request as a node that behaves so; null is honest. What a free plan refuses is for the proxy to count. */
export async function respond(
  behaviour: Exclude<Misbehaviour, { readonly kind: 'freePlan' }> | null,
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
    case 'otherLogs':
      return request.method === 'eth_getLogs'
        ? otherLogs(behaviour.of, upstream, request, response)
        : forward(upstream, request, response);
    case 'elsewhere':
      return forward(behaviour.url, request, response);
    case 'ahead':
      return forward(upstream, { ...request, params: request.params.with(1, 'latest') }, response);
    case 'staleHead':
      return forward(upstream, withHead(request, behaviour.block), response);
    case 'behind':
      return fromBehind(behaviour.block, upstream, request, response);
    case 'rewritten': {
      const rewritten = behaviour.request(request);
      if ('answer' in rewritten) return sendJson(response, request, rewritten.answer);
      return forward(upstream, { ...request, ...rewritten }, response, behaviour.text);
    }
    case 'noOverrides':
      return withoutOverrides(behaviour.how, upstream, request, response);
    default:
      behaviour satisfies null;
      return forward(upstream, request, response);
  }
}

async function otherLogs(
  of: (logs: readonly NodeLog[]) => readonly NodeLog[],
  upstream: string,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const { text } = await postJson(upstream, JSON.stringify(request));
  const { result, error } = JSON.parse(text) as { result?: NodeLog[]; error?: object };
  sendJson(response, request, result ? { result: of(result) } : { error });
}

function withHead(request: Request, block: string): Request {
  const params = request.params.map((param) => (param === 'latest' ? block : param));
  return { ...request, params };
}

async function fromBehind(block: bigint, upstream: string, request: Request, response: ServerResponse): Promise<void> {
  const hashes = request.params.flatMap((param) => (param as { blockHash?: string } | null)?.blockHash ?? []);
  for (const hash of hashes) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByHash', params: [hash, false] });
    const { text } = await postJson(upstream, body);
    const { result } = JSON.parse(text) as { result: { number: string } | null };
    if (result && BigInt(result.number) <= block) continue;
    return sendJson(response, request, { error: { code: -32_000, message: 'header not found' } });
  }
  return forward(upstream, withHead(request, `0x${block.toString(16)}`), response);
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

async function forward(
  url: string,
  request: Request,
  response: ServerResponse,
  rewrite: (text: string) => string = (text) => text,
): Promise<void> {
  const { status, text } = await postJson(url, JSON.stringify(request));
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(rewrite(text));
}

function sendJson(response: ServerResponse, { id }: Request, answer: object): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id, ...answer });
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
}
