import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Hex } from 'viem';
import { millisecondsNow } from './now.ts';

/** Passes requests on to a node, counts them, and notes when the last read of each block was answered. */
export interface CountingNode {
  readonly url: string;
  /** Requests so far. */
  readonly calls: () => number;
  /** Those of them that are `eth_call`s. */
  readonly reads: () => number;
  /** When the last `eth_call` at a block was answered, as {@link millisecondsNow}; undefined without one. */
  readonly readDoneAt: (block: Hex) => number | undefined;
  readonly stop: () => Promise<void>;
}

export async function startCountingNode(upstream: string): Promise<CountingNode> {
  const agent = new Agent({ keepAlive: true });
  const done = new Map<string, number>();
  let calls = 0;
  let reads = 0;
  const server = createServer((incoming, response) => {
    calls += 1;
    void pass(incoming, response).catch(() => response.destroy());
  });
  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(incoming);
    if (body.includes(METHOD)) reads += 1;
    const answer = await post(upstream, agent, body);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer);
    const block = blockOfCall(body);
    if (block) done.set(block, millisecondsNow());
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    reads: () => reads,
    readDoneAt: (block) => done.get(block),
    stop: async () => {
      server.closeAllConnections();
      agent.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const METHOD = '"method":"eth_call"';
const AT_BLOCK = '"blockHash":"';
const HASH_LENGTH = 66;

/**
 * The block that an `eth_call` names by its hash. Not parsed:
 * to parse a quarter of a megabyte takes time from what is timed.
 */
function blockOfCall(body: Buffer): string | undefined {
  const at = body.indexOf(AT_BLOCK);
  if (at < 0 || !body.includes(METHOD)) return undefined;
  return body.toString('latin1', at + AT_BLOCK.length, at + AT_BLOCK.length + HASH_LENGTH);
}

function post(url: string, agent: Agent, body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json' };
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('error', reject);
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve(Buffer.concat(chunks)));
    });
    sent.on('error', reject).end(body);
  });
}
