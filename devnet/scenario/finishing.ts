import { administer, swap } from '../actions.ts';
import { setFeedPrice, silenceFeed } from '../providers.ts';
import { toX64 } from './market.ts';
import type { Stage } from './plan.ts';

/** Buys token0 worth this many thousandths of a bin, from the cursor up. */
export async function buyBins({ chain, deployment, pool, token0PerBin }: Stage, thousandths: bigint): Promise<void> {
  await swap(chain, deployment, { pool, zeroForOne: false, amountSpecified: -((token0PerBin * thousandths) / 1_000n) });
}

/** Sells token0 worth this many thousandths of a bin, from the cursor down. */
export async function sellBins({ chain, deployment, pool, token0PerBin }: Stage, thousandths: bigint): Promise<void> {
  await swap(chain, deployment, { pool, zeroForOne: true, amountSpecified: (token0PerBin * thousandths) / 1_000n });
}

/** Moves the price of a feed that is this pool's own. */
export async function moveFeed({ chain, deployment, feedIdOf }: Stage, feed: string, usd: string): Promise<void> {
  await setFeedPrice(chain, deployment, { feedId: feedIdOf(feed), priceX64: toX64(usd) });
}

export async function takeFeedDown({ chain, deployment, feedIdOf }: Stage, feed: string): Promise<void> {
  await silenceFeed(chain, deployment, feedIdOf(feed), 'takeDown');
}

export async function pause({ chain, deployment, pool }: Stage): Promise<void> {
  await administer(chain, deployment, { from: chain.roles.curator, functionName: 'pausePool', args: [pool] });
}

export async function pauseByProtocol({ chain, deployment, pool }: Stage): Promise<void> {
  await administer(chain, deployment, { from: chain.roles.owner, functionName: 'protocolPausePool', args: [pool] });
}

export async function handOver({ chain, deployment, pool }: Stage): Promise<void> {
  const { curator, otherCurator } = chain.roles;
  await administer(chain, deployment, {
    from: curator,
    functionName: 'proposePoolAdminTransfer',
    args: [pool, otherCurator],
  });
  await administer(chain, deployment, { from: otherCurator, functionName: 'acceptPoolAdmin', args: [pool] });
}

export async function proposeOtherProvider(stage: Stage): Promise<void> {
  const { chain, deployment, pool } = stage;
  const next = await stage.deployOtherProvider();
  await administer(chain, deployment, {
    from: chain.roles.curator,
    functionName: 'proposePoolPriceProvider',
    args: [pool, next],
  });
}
