import { isTradable } from 'pool-trading-data-client/math';
import { stream } from 'pool-trading-data-client/stream';

// Trades while all is current, stops when anything is stale: watcher URL CHAIN_ID POOL..., until Ctrl-C.
const [url = '', chain, ...pools] = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

/** Each block confirms all quotes, also unchanged ones, so an older quote is not current. */
const MAX_AGE_MS = 30_000;
let isTrading = false;
for await (const { block, quotes, stale } of stream({ url, chainId: Number(chain), pools, signal: stop.signal })) {
  const isCurrent = block !== null && stale.size === 0;
  const mayTrade = isCurrent && [...quotes.values()].every((quote) => isTradable(quote, { maxAgeMs: MAX_AGE_MS }));
  if (mayTrade !== isTrading) {
    const [reason] = stale.values();
    process.stdout.write(
      mayTrade ? `trading at block ${block.number}\n` : `stopped: ${reason?.error ?? 'a side is closed'}\n`,
    );
  }
  isTrading = mayTrade;
}
