import { ChainConfig } from '../../config/chains-schema.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { stillQuotes } from '../../test/quotes/quote-world.ts';
import { quotedChains } from '../../test/quotes/quoted-chains.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { benchApp, timeOrder } from './bench-app.ts';
import { deployMarket } from './chain-market.ts';
import { type BenchMarket, CHAIN_ID } from './market.ts';
import { type MarketShape, planMarket } from './market-plan.ts';
import { formatTable, Samples } from './measure.ts';
import { kindOfAnswer, randomOrder } from './orders.ts';
import { seededRandom } from './random.ts';

const ORDERS = 60;
const NODE_DELAY_MS = 20;
const TARGET_MS = 1_000;

/** Cold routing: each order meets a service that has read nothing yet, before a node that answers after 20 ms. */
export async function benchCold(shape: MarketShape, write: (line: string) => void): Promise<void> {
  const anvil = await startAnvil({ chainId: CHAIN_ID });
  try {
    const market = await deployMarket(anvil.url, planMarket(shape, seededRandom(1)));
    const proxy = await startRpcProxy(anvil.url);
    proxy.misbehave({ kind: 'slow', ms: NODE_DELAY_MS });
    try {
      await runOrders(market, proxy, write);
    } finally {
      await proxy.stop();
    }
  } finally {
    await anvil.stop();
  }
}

async function runOrders(
  market: BenchMarket,
  proxy: { readonly url: string; readonly requests: readonly unknown[] },
  write: (line: string) => void,
): Promise<void> {
  const chain = ChainConfig.parse({
    chainId: CHAIN_ID,
    name: 'bench',
    rpcUrls: [proxy.url],
    blockTimeMs: 1_000,
    deployments: [],
  });
  const random = seededRandom(3);
  const [times, candidates, calls] = [new Samples(), new Samples(), new Samples()];
  while (times.count < ORDERS) {
    const [fresh] = quotedChains([chain], fixedDirectory([]), { quotes: stillQuotes }).values();
    if (!fresh) throw new Error('no chain');
    const app = benchApp(market, chain, fresh.snapshots);
    const before = proxy.requests.length;
    const { status, text, wallMs } = await timeOrder(app, CHAIN_ID, randomOrder(market, random));
    const kind = kindOfAnswer(status, text);
    if (kind.candidates === 0) continue;
    times.add(wallMs);
    candidates.add(kind.candidates);
    calls.add(proxy.requests.length - before);
  }
  const cells = [
    candidates.mean,
    calls.mean,
    times.quantile(0.5),
    times.quantile(0.99),
    times.quantile(0.99) / TARGET_MS,
  ];
  write(`cold, node answers after ${NODE_DELAY_MS} ms (target ${TARGET_MS} ms)`);
  write(
    formatTable(
      ['orders', 'candidates', 'node calls', 'p50 ms', 'p99 ms', 'p99 / target'],
      [[String(times.count), ...cells.map((cell) => cell.toFixed(cell < 10 ? 2 : 0))]],
    ),
  );
}
