import type { Address } from 'viem';
import { z } from 'zod';
import { readJson } from '../../runtime/json.ts';
import { LiveSocket } from '../../runtime/live-socket.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { PushedPart } from './part-pushes.ts';
import { type PartMessage, pushedPart, readPartMessage } from './pushed-part.ts';

export interface PartSocketOptions {
  readonly url: string;
  /** Called for each part; undefined where the message does not say which. */
  readonly onPart: (part: PushedPart | undefined) => void;
  /** Called for each log of a part, where the node does not push parts themselves. */
  readonly onLog: () => void;
  /** Whether it counts now which parts come: otherwise messages are not read, and each is an unknown part. */
  readonly isWanted: () => boolean;
  /** Gives the contracts whose logs are wanted then. */
  readonly loggingAccounts: () => Promise<readonly Address[]>;
  readonly logger: Logger;
}

const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
/** Some nodes push a block with all its transactions. */
const MAX_MESSAGE_BYTES = 16 * 1_048_576;
const PARTS_ID = 1;

const Refusal = z.object({ id: z.literal(PARTS_ID), error: z.object({}) });
const Push = z.object({ method: z.literal('eth_subscription'), params: z.object({ result: z.unknown() }) });
const Log = z.object({ address: z.string(), topics: z.array(z.string()) });

/**
 * Subscribes to the parts that a node pushes, and again after each end of the connection. Where it refuses, to heads,
 * which come with each part on some nodes, and to logs of parts.
 *
 * @returns closes the socket
 */
export function openPartSocket(options: PartSocketOptions): () => void {
  const { url, onPart, onLog, isWanted, loggingAccounts, logger } = options;
  let last: PartMessage | undefined;
  /** Where heads are followed, whether logs are too, or the contracts are just asked for. */
  let hasLogs = true;
  let isSubscribed = false;
  const subscribe = (id: number, ...params: readonly unknown[]) => {
    if (socket.isOpen) socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_subscribe', params }));
  };
  const push = (result: unknown) => {
    if (Log.safeParse(result).success) return onLog();
    const message = readPartMessage(result, last);
    onPart(message && pushedPart(last, message));
    last = message;
    if (!hasLogs) subscribeLogs();
  };
  const subscribeLogs = () => {
    hasLogs = true;
    loggingAccounts()
      .catch(() => [])
      .then((address) => {
        if (address.length > 0) subscribe(PARTS_ID + 2, 'pendingLogs', { address });
        // The next head asks again. Meanwhile parts are polled.
        else hasLogs = false;
      });
  };
  const socket = new LiveSocket({
    url,
    minPauseMs: MIN_PAUSE_MS,
    maxPauseMs: MAX_PAUSE_MS,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    logger: logger.child({ host: new URL(url).host }),
    onOpen() {
      last = undefined;
      hasLogs = true;
      isSubscribed = false;
      subscribe(PARTS_ID, 'newFlashblocks');
    },
    onMessage(data) {
      if (isSubscribed && !isWanted()) {
        last = undefined;
        return onPart(undefined);
      }
      isSubscribed = true;
      const message = readJson(data.toString());
      const pushed = Push.safeParse(message).data;
      if (pushed) return push(pushed.params.result);
      if (!Refusal.safeParse(message).success) return;
      subscribe(PARTS_ID + 1, 'newHeads');
      subscribeLogs();
    },
  });
  return () => socket.close();
}
