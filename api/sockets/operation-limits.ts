import type { WebSocket } from 'ws';
import { rateWindow } from '../../runtime/rate-window.ts';
import { MAX_MESSAGE_BYTES } from '../../runtime/web-sockets.ts';

const OPERATIONS_PER_SEC = 10;
/** Bytes of all operations: room for a `subscribe` of 1,400 pools. */
const BYTES_PER_SEC = MAX_MESSAGE_BYTES;
/** The connection ends when more operations are rejected in a second. A long operation counts more than once. */
const REFUSALS_PER_SEC = 100;
const BYTES_PER_REFUSAL = MAX_MESSAGE_BYTES / 10;

/** What is done with the messages of a client. */
export interface OperationHandlers {
  /** Takes a message, after the one before was done. Must not reject. */
  readonly run?: (data: Buffer, isBinary: boolean) => Promise<void>;
  /** Called for a message that is not read, with how long until one is read again. */
  readonly onLimited?: (waitMs: number) => void;
  /** To end the connection. */
  readonly onOver: () => void;
}

/** Takes what a client sends over a WebSocket, within limits. Ignores what comes while the connection closes. */
export function receiveOperations(socket: WebSocket, { run, onLimited, onOver }: OperationHandlers): void {
  const useOperations = windowLimit(OPERATIONS_PER_SEC, 1);
  const useBytes = windowLimit(BYTES_PER_SEC, 1);
  const useRefusals = windowLimit(REFUSALS_PER_SEC, 1);
  let done: Promise<void> = Promise.resolve();
  socket.on('message', (data: Buffer, isBinary) => {
    if (socket.readyState !== socket.OPEN) return;
    const waitMs = useOperations(1) || useBytes(data.length);
    if (waitMs === 0) done = done.then(() => (socket.readyState === socket.OPEN ? run?.(data, isBinary) : undefined));
    else if (useRefusals(1 + Math.floor(data.length / BYTES_PER_REFUSAL)) > 0) onOver();
    else onLimited?.(waitMs);
  });
}

/** @returns takes a whole amount and gives 0, or takes nothing and gives the milliseconds until the next window */
export function windowLimit(requests: number, windowSecs: number) {
  const take = rateWindow({ requests, windowSecs }, () => performance.now());
  return (amount: number): number => {
    const { rejected, msBeforeNext } = take(amount);
    return rejected ? msBeforeNext : 0;
  };
}
