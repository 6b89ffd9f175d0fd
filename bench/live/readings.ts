import { get } from 'node:http';
import type { Address } from 'viem';
import { millisecondsNow } from '../stream/now.ts';

interface ShownQuote {
  readonly poolAddress: Address;
  readonly bidAdj: string;
}

/** What a client of the stream holds, and how often it was sent something. */
export interface StreamReader {
  /** The bid of each pool. */
  readonly bids: ReadonlyMap<Address, string>;
  /** Messages with quotes so far. */
  readonly messages: () => number;
  /** Calls the listener after each message. */
  readonly onMessage: (listener: () => void) => void;
  readonly close: () => void;
}

/** Opens the stream of pools, with depth. */
export function readStream(base: string, pools: readonly Address[]): StreamReader {
  const bids = new Map<Address, string>();
  let listener: () => void = () => undefined;
  let messages = 0;
  let rest = '';
  const sent = get(`${base}/stream?pools=${pools.join(',')}`, { agent: false }, (response) => {
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const frames = (rest + chunk).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const [, data = '{}'] = /^data: (.*)$/m.exec(frame) ?? [];
        const { quotes = [] } = JSON.parse(data) as { quotes?: readonly ShownQuote[] };
        for (const { poolAddress, bidAdj } of quotes) bids.set(poolAddress, bidAdj);
        if (quotes.length > 0) messages += 1;
      }
      listener();
    });
    response.on('error', () => undefined);
  });
  sent.on('error', () => undefined);
  return {
    bids,
    messages: () => messages,
    onMessage: (each) => {
      listener = each;
    },
    close: () => sent.destroy(),
  };
}

const PAUSE_MS = 5;
const LIMIT_MS = 10_000;

/** Asks for a quote until it shows another bid than before. @returns the bid, and when it came */
export async function awaitOtherBid(
  url: string,
  before: string,
): Promise<{ readonly bid: string; readonly at: number }> {
  const until = millisecondsNow() + LIMIT_MS;
  while (millisecondsNow() < until) {
    const { bidAdj } = (await (await fetch(url)).json()) as ShownQuote;
    if (bidAdj !== before) return { bid: bidAdj, at: millisecondsNow() };
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error('the quote did not change within 10 s');
}
