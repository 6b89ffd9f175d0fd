import { MAX_MESSAGE_BYTES } from '../../runtime/web-sockets.ts';
import { type ApiError, tooManyRequests } from '../errors.ts';
import type { ByeReason } from './bye.ts';
import type { Connection } from './connections.ts';
import type { OpenSocket } from './open-socket.ts';
import { windowLimit } from './window-limit.ts';

const OPERATIONS_PER_SEC = 10;
/** Bytes of all operations: room for a `subscribe` of 1,400 pools. */
const BYTES_PER_SEC = MAX_MESSAGE_BYTES;
/** The connection ends when more operations are rejected in a second. A long operation counts more than once. */
const REFUSALS_PER_SEC = 100;
const BYTES_PER_REFUSAL = MAX_MESSAGE_BYTES / 10;

/** Most operations that wait for the responses to earlier ones. */
const MAX_WAITING = 50;

/** The response to a message, and what follows it. */
export interface Answer {
  /** Null: there is none. */
  readonly response: string | null;
  /** Must not throw. */
  readonly after?: (() => void) | undefined;
}

/** What is done for one client over a WebSocket, in any dialect. */
export interface Session {
  /**
   * Answers a message, after the one before was answered. Must not reject. Without it what a client sends says nothing.
   */
  answer?(data: Buffer, isBinary: boolean): Promise<Answer>;
  /** The response to a message that is not read, since the client sent too many. */
  refuse?(error: ApiError): string;
  /** Says why the connection ends from our side, and ends it. */
  end(reason: ByeReason): void;
  /** Called once, when the socket is closed. */
  closed(): void;
}

/**
 * Runs a session: takes what its client sends, within limits. Ignores what comes while the connection closes.
 *
 * @returns ends it from our side
 */
export function runSession(opened: OpenSocket, session: Session): Connection['end'] {
  const { socket, now } = opened;
  const useOperations = windowLimit(OPERATIONS_PER_SEC, 1, now);
  const useBytes = windowLimit(BYTES_PER_SEC, 1, now);
  const useRefusals = windowLimit(REFUSALS_PER_SEC, 1, now);
  let waiting = 0;
  const isOpen = () => socket.readyState === socket.OPEN;
  const answer = async (data: Buffer, isBinary: boolean) => {
    const answered = isOpen() && (await session.answer?.(data, isBinary));
    waiting -= 1;
    if (!answered || !isOpen()) return;
    const { response, after } = answered;
    if (response !== null) {
      opened.largestMessage = Math.max(opened.largestMessage, Buffer.byteLength(response));
      socket.send(response);
    }
    after?.();
  };
  let done: Promise<void> = Promise.resolve();
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isOpen()) return;
    const waitMs = waiting === MAX_WAITING ? 1_000 : useOperations(1) || useBytes(data.length);
    if (waitMs === 0) {
      waiting += 1;
      done = done.then(() => answer(data, isBinary));
    } else if (useRefusals(1 + Math.floor(data.length / BYTES_PER_REFUSAL)) > 0) session.end('limits');
    else if (session.refuse) socket.send(session.refuse(tooManyRequests(waitMs)));
  });
  socket.once('close', () => session.closed());
  return (reason) => session.end(reason);
}
