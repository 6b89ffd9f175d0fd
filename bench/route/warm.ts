import { seededRandom } from '../../devnet/traffic/random.ts';
import { Samples } from '../../test/harness/samples.ts';
import { print, printTable } from '../print.ts';
import type { Verdicts } from '../verdicts.ts';
import { benchApp, timeOrder, warmSnapshots } from './bench-app.ts';
import { type WarmMarket, warmMarket } from './market.ts';
import { type MarketShape, planMarket } from './market-plan.ts';
import { type AnswerKind, kindOfAnswer, randomOrder } from './orders.ts';

const WARM_UP = 1_000;
const ORDERS = 10_000;
const GROWTH_POOLS = [500, 1_000, 2_000, 4_000];
const GROWTH_ORDERS = 1_500;

interface Timed extends AnswerKind {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/**
 * Warm routing: every snapshot is in memory, as for all but the first request of a block. Prints p50 and p99 by kind of
 * answer, then how the cost grows with the market.
 */
export async function benchWarm(shape: MarketShape, verdicts: Verdicts<'route'>): Promise<void> {
  const timed = await runOrders(warmMarket(planMarket(shape, seededRandom(1))), WARM_UP, ORDERS);
  const names = [...new Set(timed.map(({ name }) => name))].sort();
  const rows = names.map((name) => {
    const list = timed.filter((each) => each.name === name);
    const [wall, cpu] = [samplesOf(list, 'wallMs'), samplesOf(list, 'cpuMs')];
    const times = [wall.median, wall.p99, cpu.median, cpu.p99].map((value) => value.toFixed(2));
    const candidates = samplesOf(list, 'candidates').mean.toFixed(0);
    return [name, String(list.length), candidates, ...times, verdicts.verdict('warm, p99 ms', cpu.p99)];
  });
  print(`warm (target of CPU time, p99 ms: ${verdicts.text('warm, p99 ms')})`);
  printTable(['answer', 'orders', 'candidates', 'p50 ms', 'p99 ms', 'cpu p50 ms', 'cpu p99 ms', ''], rows);
  print('\ngrowth with the number of pools, same tokens');
  printTable(['pools', 'candidates', 'mean cpu ms', 'cpu us per candidate'], await growthRows(shape));
}

async function growthRows(shape: MarketShape): Promise<string[][]> {
  const rows: string[][] = [];
  for (const pools of GROWTH_POOLS) {
    const market = warmMarket(planMarket({ ...shape, pools }, seededRandom(2)));
    const answered = (await runOrders(market, WARM_UP / 2, GROWTH_ORDERS)).filter(({ candidates }) => candidates > 0);
    const { mean } = samplesOf(answered, 'cpuMs');
    const candidates = samplesOf(answered, 'candidates').mean;
    rows.push([String(pools), candidates.toFixed(0), mean.toFixed(3), ((mean * 1_000) / candidates).toFixed(2)]);
  }
  return rows;
}

async function runOrders(market: WarmMarket, warmUp: number, orders: number): Promise<readonly Timed[]> {
  const app = benchApp(market, warmSnapshots(market));
  const random = seededRandom(3);
  const timed: Timed[] = [];
  for (let index = 0; index < warmUp + orders; index++) {
    const { status, text, wallMs, cpuMs } = await timeOrder(app, randomOrder(market, random));
    if (index >= warmUp) timed.push({ ...kindOfAnswer(status, text), wallMs, cpuMs });
  }
  return timed;
}

const samplesOf = (list: readonly Timed[], field: 'wallMs' | 'cpuMs' | 'candidates'): Samples =>
  new Samples(list.map((each) => each[field]));
