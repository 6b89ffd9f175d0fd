import { OpenAPIHono } from '@hono/zod-openapi';
import { z } from 'zod';
import { ApiError, sendError } from '../../api/errors.ts';
import { registerRoute } from '../../api/route/route.ts';
import { poolTable } from '../../api/snapshots/pool-directory.ts';
import type { SnapshotService } from '../../api/snapshots/types.ts';
import { ChainConfig } from '../../config/chains-schema.ts';
import { RoutingConfig } from '../../config/routing-schema.ts';
import { type BenchMarket, createMarket } from './market.ts';
import { formatTable, Samples } from './measure.ts';
import { seededRandom } from './random.ts';

/**
 * Warm routing: every snapshot is in memory, as for all but the first request of a block. A request goes through the
 * whole handler, body to body.
 */

const SHAPE = { tokens: 60, pools: 1_000, hubs: 4, binsPerSide: 20 };
const WARM_UP = 1_000;
const ORDERS = 10_000;
const GROWTH_POOLS = [500, 1_000, 2_000, 4_000];
const GROWTH_ORDERS = 1_500;
const TARGET_P99_MS = 10;

const Answer = z.union([
  z.object({
    candidatesConsidered: z.number(),
    routes: z.array(z.object({ tradeType: z.string(), routeType: z.string() })).min(1),
  }),
  z.object({ code: z.string() }),
]);

interface Timed {
  readonly kind: string;
  readonly candidates: number;
  readonly milliseconds: number;
}

/** Prints p50 and p99 by kind of answer, then how the cost grows with the market. */
export async function benchWarm(write: (line: string) => void): Promise<void> {
  const timed = await runOrders(createMarket(SHAPE, seededRandom(1)), WARM_UP, ORDERS);
  const kinds = [...new Set(timed.map(({ kind }) => kind))].sort();
  const rows = kinds.map((kind) =>
    kindRow(
      kind,
      timed.filter((each) => each.kind === kind),
    ),
  );
  write(
    `warm, ${SHAPE.pools} pools over ${SHAPE.tokens} tokens, ${2 * SHAPE.binsPerSide} bins each (p99 target ${TARGET_P99_MS} ms)`,
  );
  write(formatTable(['answer', 'orders', 'candidates', 'p50 ms', 'p99 ms', 'p99 / target'], rows));
  write('');
  write('growth with the number of pools, same tokens');
  write(formatTable(['pools', 'candidates', 'mean ms', 'us per candidate'], await growthRows()));
}

function kindRow(kind: string, list: readonly Timed[]): string[] {
  const samples = samplesOf(list);
  const p99 = samples.quantile(0.99);
  const candidates = meanCandidates(list).toFixed(0);
  return [
    kind,
    String(list.length),
    candidates,
    samples.quantile(0.5).toFixed(2),
    p99.toFixed(2),
    (p99 / TARGET_P99_MS).toFixed(2),
  ];
}

async function growthRows(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const pools of GROWTH_POOLS) {
    const market = createMarket({ ...SHAPE, pools }, seededRandom(2));
    const answered = (await runOrders(market, WARM_UP / 2, GROWTH_ORDERS)).filter(({ candidates }) => candidates > 0);
    const { mean } = samplesOf(answered);
    const candidates = meanCandidates(answered);
    rows.push([String(pools), candidates.toFixed(0), mean.toFixed(3), ((mean * 1_000) / candidates).toFixed(2)]);
  }
  return rows;
}

async function runOrders(market: BenchMarket, warmUp: number, orders: number): Promise<readonly Timed[]> {
  const app = benchApp(market);
  const random = seededRandom(3);
  const timed: Timed[] = [];
  for (let index = 0; index < warmUp + orders; index++) {
    const body = JSON.stringify(randomOrder(market, random));
    const start = performance.now();
    const response = await app.request(`/public/v1/evm/${market.chainId}/route`, { method: 'POST', body });
    const answer = await response.text();
    const milliseconds = performance.now() - start;
    if (index >= warmUp) timed.push({ ...kindOf(response.status, answer), milliseconds });
  }
  return timed;
}

function benchApp(market: BenchMarket): OpenAPIHono {
  const app = new OpenAPIHono();
  app.onError((error, c) => {
    if (error instanceof ApiError) return sendError(c, error);
    throw error;
  });
  const table = poolTable(market.pools);
  const chain = ChainConfig.parse({
    chainId: market.chainId,
    name: 'bench',
    rpcUrls: ['http://127.0.0.1:1'],
    blockTimeMs: 1_000,
    deployments: [],
  });
  const snapshots: Pick<SnapshotService, 'depths'> = {
    depths: async (_chainId, pools) => new Map(pools.flatMap(({ address }) => snapshotEntry(market, address))),
  };
  const routing = RoutingConfig.parse({});
  registerRoute(app, {
    chains: new Map([[chain.chainId, chain]]),
    directory: { table: async () => table },
    snapshots,
    routing,
  });
  return app;
}

function snapshotEntry({ snapshots }: BenchMarket, address: `0x${string}`) {
  const snapshot = snapshots.get(address);
  return snapshot ? [[address, snapshot] as const] : [];
}

/** 0.3 to 3,000 whole tokens between any two tokens, in both trade types. */
function randomOrder({ tokens }: BenchMarket, random: () => number) {
  const first = Math.floor(random() * tokens.length);
  const second = (first + 1 + Math.floor(random() * (tokens.length - 1))) % tokens.length;
  const [tokenIn, tokenOut] = [tokens[first], tokens[second]];
  const isExactIn = random() < 0.5;
  const decimals = (isExactIn ? tokenIn : tokenOut)?.decimals ?? 18;
  const amount = (BigInt(Math.floor(10 ** (2.5 + random() * 4))) * 10n ** BigInt(decimals)) / 1_000n;
  const amounts = isExactIn ? { amountIn: amount.toString() } : { amountOut: amount.toString() };
  return { tokenIn: tokenIn?.address, tokenOut: tokenOut?.address, ...amounts };
}

function kindOf(status: number, text: string): { kind: string; candidates: number } {
  const answer = Answer.safeParse(JSON.parse(text)).data;
  if (!answer) throw new Error(`unexpected answer ${status}: ${text}`);
  if ('code' in answer) return { kind: `(${answer.code})`, candidates: 0 };
  const [route] = answer.routes;
  const shape = answer.routes.length > 1 ? 'split' : route?.routeType;
  return { kind: `${shape}, ${route?.tradeType}`, candidates: answer.candidatesConsidered };
}

function samplesOf(list: readonly Timed[]): Samples {
  const samples = new Samples();
  for (const { milliseconds } of list) samples.add(milliseconds);
  return samples;
}

const meanCandidates = (list: readonly Timed[]) =>
  list.reduce((sum, { candidates }) => sum + candidates, 0) / list.length;
