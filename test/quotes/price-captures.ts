import type pg from 'pg';
import type { Address } from 'viem';
import { type CapturePrices, createPriceCapture } from '../../capture/price-health/capture-prices.ts';
import { readGuardedPools } from '../../capture/price-health/guarded-pools.ts';
import { createGuardProbe } from '../../capture/price-health/probe-guards.ts';
import { CAPTURE_CLASSES, readPoolValues } from '../../capture/read-schedule/pool-values.ts';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import type { Backlog } from '../../chain/read-schedule/read-scheduler.ts';
import { DeploymentConfig } from '../../config/chains-schema.ts';
import { FACTORY, openSeeder, seedPools, seedToken } from '../harness/seed-pools.ts';
import { chainConfig, type Pair, type QuoteWorld } from './quote-world.ts';

export const deploymentsOf = (poolFactory: Address) => [
  DeploymentConfig.parse({ contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory }),
];

/** Calls for all pools of a test at once. */
const AMPLE = 10_000;

/** Captures prices of pools of a world into a migrated database. */
export class PriceCaptures {
  readonly #world: QuoteWorld;
  readonly #database: { readonly url: string; readonly pool: pg.Pool };

  constructor(world: QuoteWorld, database: { readonly url: string; readonly pool: pg.Pool }) {
    this.#world = world;
    this.#database = database;
  }

  /** Says of these pools that they are indexed. */
  async seed(
    pools: readonly Address[],
    { token0, token1 }: Pair,
    { factory = FACTORY, balance0Raw = 0n } = {},
  ): Promise<void> {
    const seeder = openSeeder(this.#database.url);
    for (const address of [token0, token1]) await seedToken(seeder.db, { chainId: 31337, address });
    await seedPools(
      seeder.db,
      pools.map((address) => ({ pool: { chainId: 31337, address, factory, token0, token1 }, state: { balance0Raw } })),
    );
    await seeder.end();
  }

  priceCapture(
    { url = this.#world.anvil.url, factory = FACTORY, callsPerMinute = AMPLE, now = () => performance.now() },
    countRemaining?: () => void,
    backlogs?: Map<string, Backlog>,
  ): CapturePrices {
    const chain = chainConfig(31337, [url], { deployments: deploymentsOf(factory) });
    const [funded, remaining] = [openChainRpc(chain, 10_000), openChainRpc(chain, 10_000, countRemaining)];
    return createPriceCapture({
      database: this.#database.pool,
      chainId: 31337,
      now,
      budget: new CallBudget(callsPerMinute, CAPTURE_CLASSES, now),
      rpcs: { funded, remaining },
      pools: () => readPoolValues(this.#database.pool, chain),
      onRead: (_, kind, backlog) => backlogs?.set(kind, backlog),
      closed: [],
      logUnknown: () => undefined,
    });
  }

  /** Pools that guards close on both sides, by a probe of all. */
  async closedPools(factory: Address): Promise<ReadonlySet<Address>> {
    const { stopLoss, priceVelocityGuard } = this.#world.deployment;
    const [deployment] = deploymentsOf(factory);
    if (!deployment) throw new Error('no deployment');
    const deployments = [{ ...deployment, stopLoss, priceVelocityGuard }];
    const chain = chainConfig(31337, [this.#world.anvil.url], { deployments });
    const rpc = openChainRpc(chain, 10_000);
    const now = () => performance.now();
    const probe = createGuardProbe({
      chainId: 31337,
      now,
      budget: new CallBudget(AMPLE, CAPTURE_CLASSES, now),
      logUnknown: () => undefined,
      rpcs: { funded: rpc, remaining: rpc },
      pools: async () => readGuardedPools(this.#database.pool, chain, await readPoolValues(this.#database.pool, chain)),
    });
    for (const kind of CAPTURE_CLASSES) await probe.run(kind);
    return new Set([...probe.closed].filter(([, { bids, asks }]) => bids && asks).map(([address]) => address));
  }

  /** Reads all pools once, with a budget for all. @returns how many */
  async capture(url = this.#world.anvil.url): Promise<number> {
    const prices = this.priceCapture({ url });
    return (await prices('funded')) + (await prices('remaining'));
  }

  /** What was stored, by pool. */
  async captured() {
    const { rows } = await this.#database.pool.query<{
      pool: Address;
      status: string;
      sell_price_x64: string | null;
      buy_price_x64: string | null;
      block_number: string;
      block_timestamp: string;
      balance0_raw: string | null;
      balance1_raw: string | null;
    }>('SELECT * FROM operator.price_health WHERE chain_id = 31337');
    return new Map(rows.map((row) => [row.pool, row]));
  }
}
