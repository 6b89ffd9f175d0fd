import { isTradable } from 'pool-trading-data-client/math';
import { stream } from 'pool-trading-data-client/stream';

// Trades while all is current, stops when anything is stale: watcher URL CHAIN_ID POOL..., until Ctrl-C.
const [url = '', chain, ...pools] = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

let isTrading = false;
for await (const { block, quotes, stale } of stream({ url, chainId: Number(chain), pools, signal: stop.signal })) {
  const isCurrent = block !== null && stale.size === 0;
  // A quote that did not change holds at the block, however long ago it was sent: its age does not count here.
  const mayTrade = isCurrent && [...quotes.values()].every((quote) => isTradable(quote, { maxAgeMs: Infinity }));
  if (mayTrade !== isTrading) {
    const [reason] = stale.values();
    process.stdout.write(
      mayTrade ? `trading at block ${block.number}\n` : `stopped: ${reason?.error ?? 'a side is closed'}\n`,
    );
  }
  isTrading = mayTrade;
}
