import { rateWindow } from '../../runtime/rate-window.ts';
import { MAX_MESSAGE_BYTES } from '../../runtime/web-sockets.ts';

const OPERATIONS_PER_SEC = 10;
/** Bytes of all operations: room for a `subscribe` of 1,400 pools. */
const BYTES_PER_SEC = MAX_MESSAGE_BYTES;
/** The connection ends when more operations are rejected in a second. A long operation counts more than once. */
const REFUSALS_PER_SEC = 100;
const BYTES_PER_REFUSAL = MAX_MESSAGE_BYTES / 10;

/**
 * Makes the limits of what one client sends over a WebSocket.
 *
 * @returns takes a message by its bytes: `waitMs` is 0, or how long until one is read again. With `isOver` the connection
 *   ends
 */
export function operationLimits() {
  const useOperations = windowLimit(OPERATIONS_PER_SEC, 1);
  const useBytes = windowLimit(BYTES_PER_SEC, 1);
  const useRefusals = windowLimit(REFUSALS_PER_SEC, 1);
  return (bytes: number): { readonly waitMs: number; readonly isOver: boolean } => {
    const waitMs = useOperations(1) || useBytes(bytes);
    return { waitMs, isOver: waitMs > 0 && useRefusals(1 + Math.floor(bytes / BYTES_PER_REFUSAL)) > 0 };
  };
}

/** @returns takes a whole amount and gives 0, or takes nothing and gives the milliseconds until the next window */
export function windowLimit(requests: number, windowSecs: number) {
  const take = rateWindow({ requests, windowSecs }, () => performance.now());
  return (amount: number): number => {
    const { rejected, msBeforeNext } = take(amount);
    return rejected ? msBeforeNext : 0;
  };
}
