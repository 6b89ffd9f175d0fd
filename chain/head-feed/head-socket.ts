import { type RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { BlockAnswer, type BlockRef } from '../chain-rpc.ts';
import type { RpcFailureCode } from '../rpc-failure.ts';

/** A head as a node told it. */
export interface ToldHead {
  readonly block: BlockRef;
  /** All of the header, unchecked. */
  readonly header: Readonly<Record<string, unknown>>;
}

export interface HeadSocketOptions {
  readonly url: string;
  readonly chainId: number;
  readonly onHead: (head: ToldHead) => void;
  /** Called once, unless the socket was closed from here. */
  readonly onEnd: (reason: RpcFailureCode) => void;
  /** Told of each request that was sent. */
  readonly count: (method: string, outcome: string) => void;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;
const MAX_MESSAGE_BYTES = 1_048_576;
/** In the order in which they are sent, each after the answer to the one before; ids count from 1. */
const REQUESTS = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_subscribe', params: ['newHeads'] },
] as const;

const Answer = z.object({ id: z.number(), result: z.string() });
const Header = z.record(z.string(), z.unknown());
const Told = z.object({ method: z.literal('eth_subscription'), params: z.object({ result: Header }) });

/**
 * Subscribes to the heads of a node by WebSocket. A node of another chain, or one that tells what is no head, is cut off.
 *
 * @returns closes the socket at once
 */
export function openHeadSocket({ url, chainId, onHead, onEnd, count }: HeadSocketOptions): () => void {
  // viem hides the socket of its transport, so that one that hangs while it connects could not be closed.
  const socket = new WebSocket(url, {
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  let asked = 0;
  let isOver = false;

  const end = (reason: RpcFailureCode) => {
    if (isOver) return;
    isOver = true;
    const pending = REQUESTS[asked - 1];
    if (pending) count(pending.method, reason);
    socket.terminate();
    onEnd(reason);
  };
  const ask = () => {
    const request = REQUESTS[asked];
    asked += 1;
    if (request) socket.send(JSON.stringify({ jsonrpc: '2.0', id: asked, ...request }));
  };
  const take = (data: RawData) => {
    const message = parse(data);
    const told = Told.safeParse(message);
    if (told.success) {
      const header = told.data.params.result;
      const block = BlockAnswer.safeParse(header);
      return block.success ? onHead({ block: block.data, header }) : end('garbage');
    }
    const answer = Answer.safeParse(message);
    const request = REQUESTS[asked - 1];
    if (!answer.success || !request || answer.data.id !== asked)
      return end(asked > REQUESTS.length ? 'garbage' : 'refused');
    if (request.method === 'eth_chainId' && Number(answer.data.result) !== chainId) return end('wrong_chain');
    count(request.method, 'ok');
    ask();
  };

  socket.on('open', ask);
  socket.on('message', (data) => {
    if (!isOver) take(data);
  });
  socket.on('error', () => end('unreachable'));
  socket.on('close', () => end('unreachable'));
  return () => {
    isOver = true;
    socket.terminate();
  };
}

function parse(data: RawData): unknown {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined; // Not JSON: refused by the caller's schema, as any other invalid message.
  }
}
