import { seededRandom } from '../../devnet/traffic/random.ts';
import { estimateDepth } from '../../protocol/routing/pool-candidate.ts';
import { ChainDepthEstimates } from '../../quoting/depth-estimates.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { Samples } from '../../test/harness/samples.ts';
import { print, printTable } from '../print.ts';
import type { Verdicts } from '../verdicts.ts';
import { benchApp, timeOrder, warmSnapshots } from './bench-app.ts';
import { numberedAddress, type WarmMarket, warmMarket } from './market.ts';
import { type MarketShape, planMarket } from './market-plan.ts';
import { orderBetween } from './orders.ts';

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

/**
 * Routes over a pair with thousands of pools, all funded, and over thousands of intermediate tokens: warm, after the
 * first requests showed which pools are worth a read.
 */
export async function benchCrowded(shape: MarketShape, verdicts: Verdicts<'route'>): Promise<void> {
  const rows: string[][] = [];
  for (const [pools, middles] of CROWDS) {
    const { most, wall, cpu } = await timeCrowd(crowdedMarket(shape, pools, middles));
    const cells = [wall.median, wall.p99, cpu.p99].map((cell) => cell.toFixed(2));
    const verdict = verdicts.verdict('crowded pair, p99 ms', cpu.p99);
    rows.push([`${pools} of the pair, ${middles} intermediate tokens`, String(most), ...cells, verdict]);
  }
  print(`\ncrowded pair, warm (target of CPU time, p99 ms: ${verdicts.text('crowded pair, p99 ms')})`);
  printTable(['pools', 'read at most', 'wall p50 ms', 'wall p99 ms', 'cpu p99 ms', ''], rows);
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
    made.push({ ...model, pool: { ...model.pool, ...changes, address: numberedAddress(1_000_000 + made.length) } });
  };
  for (let index = 0; index < direct; index++) add({});
  for (let index = 0; index < middles; index++) {
    const middle = { address: numberedAddress(2_000_000 + index), symbol: null, decimals: 18 };
    if (tokenIn) add({ token0: tokenIn, token1: middle });
    if (tokenOut) add({ token0: middle, token1: tokenOut });
  }
  return {
    tokens,
    pools: made.map(({ pool }) => pool),
    snapshots: new Map(made.map((snapshot) => [snapshot.pool.address, snapshot])),
  };
}

async function timeCrowd(market: WarmMarket) {
  const estimates = new ChainDepthEstimates(() => performance.now());
  recordAll(estimates, market);
  let most = 0;
  const snapshots = warmSnapshots(market, ({ length }) => {
    most = Math.max(most, length);
  });
  const app = benchApp(market, snapshots, estimates);
  const random = seededRandom(3);
  const [tokenIn, tokenOut] = market.tokens;
  const [wall, cpu] = [new Samples(), new Samples()];
  for (let index = 0; index < WARM_UP + ORDERS; index++) {
    const { wallMs, cpuMs } = await timeOrder(app, orderBetween(tokenIn, tokenOut, random));
    if (index < WARM_UP) continue;
    wall.add(wallMs);
    cpu.add(cpuMs);
  }
  return { most, wall, cpu };
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
