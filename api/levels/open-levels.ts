import type { Streams } from '../stream/streams.ts';
import { type ChooseDeps, createPoolChooser } from './choose-pools.ts';
import { type LevelsChain, PriceLevels } from './price-levels.ts';

export interface OpenLevelsDeps extends ChooseDeps {
  readonly chains: ReadonlyMap<number, LevelsChain>;
  readonly streams: Pick<Streams, 'chains'>;
}

/** Makes the price levels of all chains, over their streams. */
export function openLevels({ chains, streams, ...deps }: OpenLevelsDeps): ReadonlyMap<number, PriceLevels> {
  const choose = createPoolChooser(deps);
  return new Map(
    [...chains].flatMap(([chainId, chain]) => {
      const stream = streams.chains.get(chainId);
      return stream ? [[chainId, new PriceLevels(chain, stream, choose)] as const] : [];
    }),
  );
}
