import { client } from '../api.ts';
import { chains } from '../chains.ts';
import { count } from '../format.ts';
import { usePolled } from '../polling.ts';
import { hrefOf, type PoolsView } from './pools-query.ts';

const EVERY_MS = 15_000;

/**
 * Shows the chains side by side, each with its last indexed block, as a choice of what is listed.
 *
 * @param isWaiting loads the blocks later: rows come first
 */
export function ChainStrip({ view, isWaiting }: { readonly view: PoolsView; readonly isWaiting: boolean }) {
  const { data } = usePolled(isWaiting ? null : 'status', (signal) => client.getStatus({}, { signal }), EVERY_MS);
  const known = data?.chains ?? chains.value?.map((chain) => ({ ...chain, following: true, indexedBlock: null }));
  if (!known || known.length < 2) return null;
  const link = (chain: number | null) => ({
    href: hrefOf({ ...view, chain, offset: 0 }),
    'aria-current': view.chain === chain ? ('true' as const) : undefined,
  });
  return (
    <nav class="chains" aria-label="Chains">
      <a {...link(null)}>All chains</a>
      {known.map((chain) => (
        <a key={chain.chainId} {...link(chain.chainId)}>
          <bdi>{chain.name}</bdi>{' '}
          <small>
            {!chain.following && 'not following, '}
            {chain.indexedBlock !== null && `block ${count(chain.indexedBlock)}`}
          </small>
        </a>
      ))}
    </nav>
  );
}
