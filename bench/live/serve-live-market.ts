import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { LiveConfig } from '../../config/live-schema.ts';
import { WarmBudgetConfig } from '../../config/read-budget-schema.ts';
import type { LiveMarket } from '../../devnet/live/live-market.fixture.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { timeRequest } from '../../test/abuse/timed-request.ts';
import { Samples } from '../../test/harness/samples.ts';
import { BLOCK_MS, builderSource } from '../../test/live/live-world.ts';
import { chainConfig } from '../../test/quotes/quote-world.ts';
import { type MeasuredProcess, type MeasuredScript, startMeasuredScript } from '../measured-process.ts';

/** More calls than a bench makes: latencies are measured without waits for the budget. */
const UNLIMITED = { callsPerMinute: 100_000 };
const PAUSE_MS = 10;
const random = seededRandom(28);

interface LiveSettings {
  readonly warmBudget?: { readonly callsPerMinute?: number };
  readonly live?: z.input<typeof LiveConfig>;
  readonly blockTimeMs?: number;
}

/**
 * Serves a live market in a process of its own, which reads the chain through this URL.
 *
 * @param settings `warmBudget` empty: as by default
 */
export function serveLiveMarket(
  market: LiveMarket,
  rpcUrl: string,
  { warmBudget = UNLIMITED, live = builderSource(market), blockTimeMs = BLOCK_MS }: LiveSettings = {},
): Promise<MeasuredScript> {
  const { chain, deployment, packed, pools } = market;
  const config = chainConfig(chain.chainId, [rpcUrl], {
    blockTimeMs,
    wsUrls: [chain.rpcUrl.replace(/^http/, 'ws')],
    warmBudget: WarmBudgetConfig.parse(warmBudget),
  });
  return startMeasuredScript(new URL('./server.ts', import.meta.url), {
    chain: { ...config, live },
    pools: pools.map(({ address, layout }) => ({ address, layout })),
    deployments: { flat: deployment, packed },
  });
}

/** Times quotes of any pools, one after the other. @throws Error when one is not answered with 200 */
export async function timeQuotes(
  { pools, chain }: LiveMarket,
  { url }: MeasuredProcess,
  isOver: () => boolean,
): Promise<Samples> {
  const times = new Samples();
  while (!isOver()) {
    const path = `/public/v1/evm/${chain.chainId}/${random.pick(pools).address}/bid_ask`;
    const { ms, status } = await timeRequest(url, { path });
    if (status !== 200) throw new Error(`a quote: ${status}`);
    times.add(ms);
    await sleep(PAUSE_MS);
  }
  return times;
}
