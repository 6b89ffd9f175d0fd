import type { Address } from 'viem';
import { ChainConfig } from '../../config/chains-schema.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { DepthSnapshot, SnapshotMap } from '../../quoting/types.ts';
import { benchApp, timeOrder } from './bench-app.ts';
import { CHAIN_ID, type WarmMarket, warmMarket } from './market.ts';
import { type MarketShape, planMarket } from './market-plan.ts';
import { formatTable, Samples } from './measure.ts';
import { type AnswerKind, kindOfAnswer, randomOrder } from './orders.ts';
import { seededRandom } from './random.ts';

const WARM_UP = 1_000;
const ORDERS = 10_000;
const GROWTH_POOLS = [500, 1_000, 2_000, 4_000];
const GROWTH_ORDERS = 1_500;
const TARGET_P99_MS = 10;

interface Timed extends AnswerKind {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/**
 * Warm routing: every snapshot is in memory, as for all but the first request of a block. Prints p50 and p99 by kind of
 * answer, then how the cost grows with the market.
 */
export async function benchWarm(shape: MarketShape, write: (line: string) => void): Promise<void> {
  const timed = await runOrders(warmMarket(planMarket(shape, seededRandom(1))), WARM_UP, ORDERS);
  const names = [...new Set(timed.map(({ name }) => name))].sort();
  const rows = names.map((name) =>
    kindRow(
      name,
      timed.filter((each) => each.name === name),
    ),
  );
  write(`warm (target p99 ${TARGET_P99_MS} ms)`);
  write(
    formatTable(
      ['answer', 'orders', 'candidates', 'p50 ms', 'p99 ms', 'cpu p50 ms', 'cpu p99 ms', 'cpu p99 / target'],
      rows,
    ),
  );
  write('');
  write('growth with the number of pools, same tokens');
  write(formatTable(['pools', 'candidates', 'mean cpu ms', 'cpu us per candidate'], await growthRows(shape)));
}

function kindRow(name: string, list: readonly Timed[]): string[] {
  const [wall, cpu] = [samplesOf(list, 'wallMs'), samplesOf(list, 'cpuMs')];
  const p99 = cpu.quantile(0.99);
  const times = [wall.quantile(0.5), wall.quantile(0.99), cpu.quantile(0.5), p99, p99 / TARGET_P99_MS].map((value) =>
    value.toFixed(2),
  );
  return [name, String(list.length), meanCandidates(list).toFixed(0), ...times];
}

async function growthRows(shape: MarketShape): Promise<string[][]> {
  const rows: string[][] = [];
  for (const pools of GROWTH_POOLS) {
    const market = warmMarket(planMarket({ ...shape, pools }, seededRandom(2)));
    const answered = (await runOrders(market, WARM_UP / 2, GROWTH_ORDERS)).filter(({ candidates }) => candidates > 0);
    const { mean } = samplesOf(answered, 'cpuMs');
    const candidates = meanCandidates(answered);
    rows.push([String(pools), candidates.toFixed(0), mean.toFixed(3), ((mean * 1_000) / candidates).toFixed(2)]);
  }
  return rows;
}

async function runOrders(market: WarmMarket, warmUp: number, orders: number): Promise<readonly Timed[]> {
  const chain = ChainConfig.parse({
    chainId: CHAIN_ID,
    name: 'bench',
    rpcUrls: ['http://127.0.0.1:1'],
    blockTimeMs: 1_000,
    deployments: [],
  });
  const app = benchApp(market, chain, { depths: async (pools) => pick(market, pools) });
  const random = seededRandom(3);
  const timed: Timed[] = [];
  for (let index = 0; index < warmUp + orders; index++) {
    const { status, text, wallMs, cpuMs } = await timeOrder(app, CHAIN_ID, randomOrder(market, random));
    if (index >= warmUp) timed.push({ ...kindOfAnswer(status, text), wallMs, cpuMs });
  }
  return timed;
}

function pick({ snapshots }: WarmMarket, pools: readonly ServedPool[]): SnapshotMap<DepthSnapshot> {
  const picked = new Map<Address, DepthSnapshot>();
  for (const { address } of pools) {
    const snapshot = snapshots.get(address);
    if (snapshot) picked.set(address, snapshot);
  }
  return picked;
}

function samplesOf(list: readonly Timed[], field: 'wallMs' | 'cpuMs'): Samples {
  const samples = new Samples();
  for (const timed of list) samples.add(timed[field]);
  return samples;
}

const meanCandidates = (list: readonly Timed[]) =>
  list.reduce((sum, { candidates }) => sum + candidates, 0) / list.length;
