import { client, type Quote } from '../api.ts';
import { count, priceExact, priceText } from '../format.ts';
import { STATUSES } from '../glossary-terms.ts';
import { usePolled } from '../polling.ts';
import { priceOfX64 } from '../quantities.ts';

const EVERY_MS = 2_000;

type Props = { readonly quote: Quote | null; readonly chainId: number; readonly pool: string };

/**
 * Shows which block live prices are for and how old their source was, and the prices on the chain where they differ.
 */
export function LivePrice({ quote, chainId, pool }: Props) {
  const basis = quote?.basis?.kind === 'live' ? quote.basis : null;
  const load = (signal: AbortSignal) =>
    client.getBidAsk({ chainId, poolAddress: pool, depth: false, basis: 'committed' }, { signal });
  const { data: committed } = usePolled(basis && `${chainId}:${pool}`, load, EVERY_MS);
  if (quote === null || basis === null) return null;
  const isOther = committed && (committed.bidAdj !== quote.bidAdj || committed.askAdj !== quote.askAdj);
  return (
    <p class="mute" data-figure="live">
      Live in block <span data-figure="target">{count(basis.targetBlockNumber)}</span>, which is being built, from a
      source <span data-figure="source-age">{count(basis.sourceAgeMs)} ms</span> old.
      {isOther && <Committed quote={committed} />}
    </p>
  );
}

/** What the pool trades at on the chain. */
function Committed({ quote: { bidAdj, askAdj, basis, priceProviderStatus } }: { readonly quote: Quote }) {
  const prices = [priceOfX64(bidAdj), priceOfX64(askAdj)];
  const [bid, ask] = prices.map((price) => (
    <span title={priceExact(price)}>{price === null ? 'closed' : priceText(price)}</span>
  ));
  return (
    <span data-figure="committed">
      {' '}
      On the chain, in block {count(basis?.blockNumber)}:{' '}
      {prices.every((price) => price === null) ? (
        `no price, ${STATUSES[priceProviderStatus].label}`
      ) : (
        <>
          bid {bid}, ask {ask}
        </>
      )}
      .
    </span>
  );
}
