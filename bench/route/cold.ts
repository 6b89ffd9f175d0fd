import { startAnvil } from '../../devnet/anvil.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { Samples } from '../../test/harness/samples.ts';
import { chainConfig, stillQuotes } from '../../test/quotes/quote-world.ts';
import { quotedChains } from '../../test/quotes/quoted-chains.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { print, printTable } from '../print.ts';
import type { Verdicts } from '../verdicts.ts';
import { benchApp, timeOrder } from './bench-app.ts';
import { deployMarket } from './chain-market.ts';
import { CHAIN_ID } from './market.ts';
import { type MarketShape, planMarket } from './market-plan.ts';
import { kindOfAnswer, randomOrder } from './orders.ts';

const ORDERS = 60;
const NODE_DELAY_MS = 20;

/** Cold routing: each order meets a service that has read nothing yet, before a node that answers after 20 ms. */
export async function benchCold(shape: MarketShape, verdicts: Verdicts<'route'>): Promise<void> {
  const anvil = await startAnvil({ chainId: CHAIN_ID });
  const market = await deployMarket(anvil.url, planMarket(shape, seededRandom(1)));
  const proxy = await startRpcProxy(anvil.url);
  proxy.misbehave({ kind: 'slow', ms: NODE_DELAY_MS });
  const random = seededRandom(3);
  const [times, candidates, calls] = [new Samples(), new Samples(), new Samples()];
  while (times.count < ORDERS) {
    const config = chainConfig(CHAIN_ID, [proxy.url]);
    const [fresh] = quotedChains([config], fixedDirectory([]), { quotes: stillQuotes }).values();
    if (!fresh) throw new Error('no chain');
    const before = proxy.requests.length;
    const { status, text, wallMs } = await timeOrder(benchApp(market, fresh.snapshots), randomOrder(market, random));
    const kind = kindOfAnswer(status, text);
    if (kind.candidates === 0) continue;
    times.add(wallMs);
    candidates.add(kind.candidates);
    calls.add(proxy.requests.length - before);
  }
  const cells = [candidates.mean, calls.mean, times.median, times.p99].map((cell) => cell.toFixed(cell < 10 ? 2 : 0));
  print(`\ncold, node answers after ${NODE_DELAY_MS} ms (${verdicts.line('cold, p99 ms', times.p99)})`);
  printTable(['orders', 'candidates', 'node calls', 'p50 ms', 'p99 ms'], [[String(times.count), ...cells]]);
}
