import type { Address } from 'viem';
import { ChainConfig } from '../../config/chains-schema.ts';
import { estimateDepth } from '../../protocol/routing/pool-candidate.ts';
import { ChainDepthEstimates } from '../../quoting/depth-estimates.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { DepthSnapshot, SnapshotMap } from '../../quoting/types.ts';
import { benchApp, timeOrder } from './bench-app.ts';
import { CHAIN_ID, type WarmMarket, warmMarket } from './market.ts';
import { type MarketShape, planMarket } from './market-plan.ts';
import { formatTable, Samples } from './measure.ts';
import { seededRandom } from './random.ts';

/** Pools of the pair, and intermediate tokens. */
const CROWDS = [
  [24, 0],
  [24, 1_000],
  [5_000, 0],
  [5_000, 1_000],
  [5_000, 20_000],
] as const;
/** Snapshots that differ; the others share them. */
const DISTINCT = 60;
const ORDERS = 1_000;
const WARM_UP = 200;
const TARGET_P99_MS = 15;

/**
 * Routes over a pair with thousands of pools, all funded, and over thousands of intermediate tokens: warm, after the first
 * requests showed which pools are worth a read.
 */
export async function benchCrowded(shape: MarketShape, write: (line: string) => void): Promise<void> {
  const rows: string[][] = [];
  for (const [pools, middles] of CROWDS) {
    rows.push(
      await crowdedRow(`${pools} of the pair, ${middles} intermediate tokens`, crowdedMarket(shape, pools, middles)),
    );
  }
  write(`\ncrowded pair, warm (target p99 ${TARGET_P99_MS} ms)`);
  write(formatTable(['pools', 'read at most', 'wall p50 ms', 'wall p99 ms', 'cpu p99 ms', 'cpu p99 / target'], rows));
}

/** Copies of planned pools: a number of them between two tokens, and between each of these and others. */
function crowdedMarket({ binsPerSide }: MarketShape, direct: number, middles: number): WarmMarket {
  const plan = planMarket({ tokens: 2, pools: DISTINCT, hubs: 1, binsPerSide }, seededRandom(1));
  const { tokens, snapshots } = warmMarket(plan);
  const models = [...snapshots.values()];
  const [tokenIn, tokenOut] = tokens;
  const made: DepthSnapshot[] = [];
  const add = (changes: Partial<ServedPool>) => {
    const model = models[made.length % models.length] as DepthSnapshot;
    made.push({ ...model, pool: { ...model.pool, ...changes, address: addressOf(1_000_000 + made.length) } });
  };
  for (let index = 0; index < direct; index++) add({});
  for (let index = 0; index < middles; index++) {
    const middle = { address: addressOf(2_000_000 + index), symbol: null, decimals: 18 };
    if (tokenIn) add({ token0: tokenIn, token1: middle });
    if (tokenOut) add({ token0: middle, token1: tokenOut });
  }
  return {
    tokens,
    pools: made.map(({ pool }) => pool),
    snapshots: new Map(made.map((snapshot) => [snapshot.pool.address, snapshot])),
  };
}

const addressOf = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;

async function crowdedRow(name: string, market: WarmMarket): Promise<string[]> {
  const chain = ChainConfig.parse({
    chainId: CHAIN_ID,
    name: 'bench',
    rpcUrls: ['http://127.0.0.1:1'],
    blockTimeMs: 1_000,
    deployments: [],
  });
  const estimates = new ChainDepthEstimates();
  recordAll(estimates, market);
  let most = 0;
  const depths = async (pools: readonly ServedPool[]): Promise<SnapshotMap<DepthSnapshot>> => {
    most = Math.max(most, pools.length);
    return new Map(pools.map(({ address }) => [address, market.snapshots.get(address) as DepthSnapshot]));
  };
  const app = benchApp(market, chain, { depths }, estimates);
  const random = seededRandom(3);
  const [wall, cpu] = [new Samples(), new Samples()];
  for (let index = 0; index < WARM_UP + ORDERS; index++) {
    const { wallMs, cpuMs } = await timeOrder(app, CHAIN_ID, orderOf(market, random));
    if (index < WARM_UP) continue;
    wall.add(wallMs);
    cpu.add(cpuMs);
  }
  const p99 = cpu.quantile(0.99);
  const cells = [wall.quantile(0.5), wall.quantile(0.99), p99, p99 / TARGET_P99_MS];
  return [name, String(most), ...cells.map((cell) => cell.toFixed(2))];
}

function recordAll(estimates: ChainDepthEstimates, { snapshots }: WarmMarket): void {
  for (const { pool, depth } of snapshots.values()) {
    estimates.record(pool, {
      bids: estimateDepth(depth.bids.slice(-1)),
      asks: estimateDepth(depth.asks.slice(-1)),
      tierRank: 1,
    });
  }
}

/** 0.3 to 3,000 whole tokens. */
function orderOf({ tokens: [tokenIn, tokenOut] }: WarmMarket, random: () => number): string {
  const milli = BigInt(Math.floor(10 ** (2.5 + random() * 4)));
  const amountIn = ((milli * 10n ** BigInt(tokenIn?.decimals ?? 18)) / 1_000n).toString();
  return JSON.stringify({ tokenIn: tokenIn?.address, tokenOut: tokenOut?.address, amountIn });
}
