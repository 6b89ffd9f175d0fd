import type { IncomingMessage, Server } from 'node:http';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { bytesToHex } from 'viem';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  type PWebsocketQuoteUpdateV1Args,
  PWebsocketQuoteUpdateV1ArgsSchema,
  PWebsocketQuoteUpdateV1ResponseSchema,
} from '../../builders/proto/generated/quote_update_pb.ts';
import { type MockState, nowNs } from './behaviour.ts';

const PATH = '/ws/sendquoteupdate';

/** Serves the quote stream on an HTTP server. Returns how to end it. */
export function attachStream(server: Server, state: MockState): () => void {
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const refusal = refusalOf(state, request);
    if (refusal) {
      state.refusals += 1;
      return socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\n\r\n`);
    }
    sockets.handleUpgrade(request, socket, head, (ws) => serve(state, ws, request));
  });
  return () => {
    for (const ws of sockets.clients) ws.terminate();
    sockets.close();
  };
}

function refusalOf({ behaviour }: MockState, request: IncomingMessage): string | undefined {
  if (request.url !== PATH) return '404 Not Found';
  if (behaviour.kind === 'too-many-requests') return '429 Too Many Requests';
  if (behaviour.kind === 'http-status') return `${behaviour.status} Refused`;
  return undefined;
}

function serve(state: MockState, ws: WebSocket, request: IncomingMessage): void {
  state.connections += 1;
  const connection = state.connections;
  state.authorizations.push(request.headers.authorization);
  let messages = 0;
  ws.on('message', (frame: Buffer) => {
    const atNs = nowNs();
    const update = fromBinary(PWebsocketQuoteUpdateV1ArgsSchema, frame);
    messages += 1;
    if (state.record) state.received.push(describe(update, atNs, connection));
    answer(state, ws, update, messages);
  });
}

function answer(state: MockState, ws: WebSocket, update: PWebsocketQuoteUpdateV1Args, messages: number): void {
  const { behaviour } = state;
  switch (behaviour.kind) {
    case 'hanging':
      break;
    case 'slow-ack':
      setTimeout(() => acknowledge(ws, update, ''), behaviour.delayMs);
      break;
    case 'reject':
      acknowledge(ws, update, behaviour.error);
      break;
    case 'close-after':
      if (messages > behaviour.messages) ws.close();
      else acknowledge(ws, update, '');
      break;
    default:
      acknowledge(ws, update, '');
  }
}

function acknowledge(ws: WebSocket, update: PWebsocketQuoteUpdateV1Args, error: string): void {
  if (ws.readyState !== ws.OPEN) return;
  const { replacementUuid, replacementSeqNumber } = update;
  const response = create(PWebsocketQuoteUpdateV1ResponseSchema, {
    replacementUuid,
    replacementSeqNumber,
    timestamp: nowNs(),
    error,
  });
  ws.send(toBinary(PWebsocketQuoteUpdateV1ResponseSchema, response));
}

function describe(update: PWebsocketQuoteUpdateV1Args, atNs: bigint, connection: number) {
  return {
    atNs: atNs.toString(),
    tx: bytesToHex(update.tx),
    blockNumber: update.blockNumber.toString(),
    replacementUuid: bytesToHex(update.replacementUuid),
    replacementSeqNumber: update.replacementSeqNumber.toString(),
    message: {
      disableCrossRegionSharing: update.disableCrossRegionSharing,
      assetPairs: update.assetPairs.map((pair) => bytesToHex(pair)),
      quoteAddress: bytesToHex(update.quoteAddress),
      poolAddresses: update.poolAddresses.map((pool) => bytesToHex(pool)),
    },
    connection,
  };
}
