import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Hex, numberToHex } from 'viem';
import { type WebSocket, WebSocketServer } from 'ws';
import { answerRpc, INVALID_PARAMS, METHOD_NOT_FOUND, type RpcCall, type RpcOutcome } from '../rpc-messages.ts';
import type { Part, PartForm } from './part.ts';

/** A block as a node gives it. */
export interface BlockJson {
  readonly hash: Hex;
}

const STREAMS = ['newFlashblocks', 'newHeads', 'pendingLogs'] as const;
type Stream = (typeof STREAMS)[number];

export interface PartSockets {
  readonly wsUrl: string;
  /** Sends a part to the subscriptions of `newFlashblocks`, and its block to those of `newHeads`. */
  showPart(part: Part, block: BlockJson): void;
  /** Sends a sealed block to the subscriptions of `newHeads`. */
  showHead(block: BlockJson): void;
  /** Sends a log of the newest part to the subscriptions of `pendingLogs`, all of which take it. */
  showLog(log: { readonly address: string; readonly topics: readonly Hex[] }): void;
  /** Subscriptions fall silent until they are resumed. */
  pause(isPaused: boolean): void;
  /** Open subscriptions, by stream. */
  count(stream: Stream): number;
  stop(): Promise<void>;
}

/** Serves the subscriptions of a node that follows parts, on a port of the loopback interface. */
export async function startPartSockets(chainId: number, form: PartForm): Promise<PartSockets> {
  const subscriptions = new Map<WebSocket, Map<Hex, Stream>>();
  let isSilent = false;
  let last = 0;
  const server = createServer((_, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    const own = new Map<Hex, Stream>();
    subscriptions.set(socket, own);
    socket.on('close', () => subscriptions.delete(socket));
    socket.on('error', () => socket.terminate());
    socket.on('message', (message: Buffer) => {
      socket.send(answerRpc(message.toString(), (call) => answer(call, own)));
    });
  });
  const answer = ({ method, params }: RpcCall, own: Map<Hex, Stream>): RpcOutcome => {
    if (method === 'eth_chainId') return { result: numberToHex(chainId) };
    if (method !== 'eth_subscribe') return METHOD_NOT_FOUND;
    const stream = STREAMS.find((each) => each === params[0]);
    if (!stream || (stream === 'newFlashblocks' && (form === 'logs' || form === 'heads'))) return INVALID_PARAMS;
    last += 1;
    const id = numberToHex(last);
    own.set(id, stream);
    return { result: id };
  };
  const show = (stream: Stream, result: object) => {
    if (isSilent) return;
    for (const [socket, own] of subscriptions) {
      for (const [subscription, each] of own) {
        if (each !== stream) continue;
        const params = { subscription, result };
        socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }));
      }
    }
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    wsUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    showPart(part, block) {
      show('newFlashblocks', form === 'payload' ? payloadOf(part, block) : block);
      if (form !== 'logs') show('newHeads', block);
    },
    showLog: (log) => show('pendingLogs', log),
    showHead: (block) => show('newHeads', block),
    pause: (isPaused) => {
      isSilent = isPaused;
    },
    count: (stream) =>
      subscriptions.values().reduce((sum, own) => sum + [...own.values()].filter((each) => each === stream).length, 0),
    async stop() {
      for (const socket of subscriptions.keys()) socket.terminate();
      sockets.close();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What the sequencer itself sends of a part. */
function payloadOf({ number, timeSecs, parentHash, index, transactions }: Part, block: BlockJson): object {
  const base = { parent_hash: parentHash, block_number: numberToHex(number), timestamp: numberToHex(timeSecs) };
  return {
    payload_id: numberToHex(number, { size: 8 }),
    index,
    ...(index === 0 && { base }),
    diff: { block_hash: block.hash, transactions },
    metadata: {
      block_number: Number(number),
      ...(index > 0 && { prev_flashblock_id: `${number}-${index - 1}` }),
    },
  };
}
