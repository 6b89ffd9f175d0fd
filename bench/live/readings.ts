import type { Address } from 'viem';
import { millisecondsNow } from '../../test/many-pools/now.ts';
import { connectSse } from '../../test/stream/stream-connection.ts';

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
export function readStream(url: string, chainId: number, pools: readonly Address[]): StreamReader {
  const bids = new Map<Address, string>();
  let listener: () => void = () => undefined;
  let messages = 0;
  const message = (_event: string, _id: string, data: string) => {
    const { quotes = [] } = JSON.parse(data) as { quotes?: readonly ShownQuote[] };
    for (const { poolAddress, bidAdj } of quotes) bids.set(poolAddress, bidAdj);
    if (quotes.length > 0) messages += 1;
    listener();
  };
  const { close } = connectSse(url, { chainId, pools, depth: true }, { message, ended: () => undefined });
  return {
    bids,
    messages: () => messages,
    onMessage: (each) => {
      listener = each;
    },
    close,
  };
}

const PAUSE_MS = 5;
const LIMIT_MS = 10_000;

/** Asks for a quote until it shows another bid than before. @returns when it came, as {@link millisecondsNow} */
export async function awaitOtherBid(url: string, before: string): Promise<number> {
  const until = millisecondsNow() + LIMIT_MS;
  while (millisecondsNow() < until) {
    const { bidAdj } = (await (await fetch(url)).json()) as ShownQuote;
    if (bidAdj !== before) return millisecondsNow();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error('the quote did not change within 10 s');
}
