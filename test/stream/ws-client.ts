import { once } from 'node:events';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { STREAM_MESSAGES, webSocketMessage } from '../../api/stream/message-schema.ts';
import type { StreamEventName } from '../../api/stream/types.ts';
import { WsAck, WsError } from '../../api/stream/ws-operations.ts';
import { Book } from './book.ts';

const Answer = z.union([WsAck, WsError]);
export type Answer = z.output<typeof Answer>;

export interface WsClient {
  readonly socket: WebSocket;
  readonly book: Book;
  readonly answers: readonly Answer[];
  /** Code and reason of the end. */
  readonly closed: Promise<readonly [number, string]>;
  send(operation: unknown): void;
  /** Sends an operation, a text as it is, and waits for the next answer. */
  ask(operation: unknown): Promise<Answer>;
}

/** Opens a WebSocket; each message has to be as the schemas say. */
export async function connectWs(url: string, headers: Record<string, string> = {}, autoPong = true): Promise<WsClient> {
  const socket = new WebSocket(url, { headers, autoPong });
  const book = new Book();
  const answers: Answer[] = [];
  const closed = once(socket, 'close').then(([code, reason]) => [Number(code), String(reason)] as const);
  socket.on('message', (text) => {
    const message = JSON.parse(String(text)) as { event: string; id?: string };
    if (!(message.event in STREAM_MESSAGES)) return answers.push(Answer.parse(message));
    const sentBefore = webSocketMessage(message.event as StreamEventName).parse(message) as Record<string, unknown>;
    const { event, id = '', ...data } = sentBefore;
    return book.take({ event: event as StreamEventName, id: String(id), data });
  });
  const send = (operation: unknown) =>
    socket.send(typeof operation === 'string' ? operation : JSON.stringify(operation));
  await once(socket, 'open');
  return {
    socket,
    book,
    answers,
    closed,
    send,
    async ask(operation) {
      const count = answers.length;
      send(operation);
      while (answers.length === count) await once(socket, 'message');
      return answers[count] as Answer;
    },
  };
}

/** The answer to a request for an upgrade that is refused. */
export async function rejectedUpgrade(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url, { headers });
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, import('node:http').IncomingMessage];
  let text = '';
  for await (const chunk of response) text += chunk;
  return {
    status: response.statusCode,
    body: JSON.parse(text) as unknown,
    retryAfter: response.headers['retry-after'],
  };
}
