import { WebSocket } from 'ws';
import { encodeUpdate } from '../../builders/deliver/stream/quote-stream-codec.ts';
import { updateKey } from '../../builders/deliver/stream/stream-codec.ts';
import type { QuoteUpdate } from '../../builders/submit/quote-update.ts';
import { nowNs } from '../../devnet/mock-builders/behaviour.ts';
import { timeRequest } from '../../test/abuse/timed-request.ts';
import { newUuid, signedTx, updateOf } from '../../test/pamm/sample-updates.ts';

export const CHAIN = 31337;
/** Each maker updates its quote again and again under one uuid. */
const MAKERS = 50;

/** When each update was handed over, Unix nanoseconds, by {@link updateKey}. */
export type SentAt = Map<string, bigint>;

export type Submitted = { readonly sentAt: SentAt; readonly statuses: Map<number, number> };

/** Updates of one set of makers, each with the next sequence number of its uuid. */
export async function createUpdates(): Promise<() => QuoteUpdate> {
  const tx = await signedTx(CHAIN);
  const uuids = Array.from({ length: MAKERS }, newUuid);
  let count = 0;
  return () => {
    const replacementUuid = uuids[count % MAKERS] ?? newUuid();
    count += 1;
    return updateOf({ chainId: CHAIN, tx, replacementUuid, replacementSeqNumber: BigInt(count), blockNumber: 1n });
  };
}

/** Posts one update and notes when it was handed over. */
export function createPoster(bases: readonly string[]) {
  const submitted: Submitted = { sentAt: new Map(), statuses: new Map() };
  let turn = 0;
  const post = async (update: QuoteUpdate): Promise<void> => {
    const body = JSON.stringify({
      tx: update.tx,
      blockNumber: Number(update.blockNumber),
      replacementUuid: update.replacementUuid,
      replacementSeqNumber: Number(update.replacementSeqNumber),
    });
    const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer any' };
    const path = `/public/v1/evm/${CHAIN}/pamm-quote`;
    submitted.sentAt.set(updateKey(update), nowNs());
    const { status } = await timeRequest(bases[turn++ % bases.length] ?? '', { path, body, headers });
    submitted.statuses.set(status, (submitted.statuses.get(status) ?? 0) + 1);
  };
  return { post, submitted };
}

/** Sends updates straight from this process to every builder: the best that is possible. */
export async function createDirectSender(urls: readonly string[]) {
  const sockets = await Promise.all(urls.map(openSocket));
  const sentAt: SentAt = new Map();
  const send = (update: QuoteUpdate): void => {
    sentAt.set(updateKey(update), nowNs());
    for (const socket of sockets) socket.send(encodeUpdate(update));
  };
  return { send, sentAt };
}

function openSocket(url: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
  });
}
