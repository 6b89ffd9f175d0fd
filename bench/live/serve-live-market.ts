import { WarmBudgetConfig } from '../../config/read-budget-schema.ts';
import type { LiveMarket } from '../../devnet/live/live-market.fixture.ts';
import { BLOCK_MS, builderSource } from '../../test/live/live-world.ts';
import { chainConfig } from '../../test/quotes/quote-world.ts';
import { startMeasuredServer } from '../measured-server.ts';

/** More calls than a bench makes: latencies are measured without waits for the budget. */
const UNLIMITED = { callsPerMinute: 100_000 };

/**
 * Serves a live market in a process of its own, which reads the chain through this URL.
 *
 * @param warmBudget empty: as by default
 */
export function serveLiveMarket(
  market: LiveMarket,
  rpcUrl: string,
  warmBudget: { callsPerMinute?: number } = UNLIMITED,
) {
  const { chain, deployment, packed, pools } = market;
  const config = chainConfig(chain.chainId, [rpcUrl], {
    blockTimeMs: BLOCK_MS,
    wsUrls: [chain.rpcUrl.replace(/^http/, 'ws')],
    warmBudget: WarmBudgetConfig.parse(warmBudget),
  });
  const live = builderSource(market);
  const task = {
    chain: { ...config, live },
    pools: pools.map(({ address, layout }) => ({ address, layout })),
    deployments: { flat: deployment, packed },
  };
  return startMeasuredServer(new URL('./server.ts', import.meta.url), { BENCH_TASK: JSON.stringify(task) });
}
