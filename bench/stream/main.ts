import { OrderProcess } from '../../test/abuse/order-process.ts';
import type { StreamChain } from '../../test/many-pools/stream-chain.ts';
import { say } from '../print.ts';
import { runBench } from '../run-bench.ts';
import { measureBroadcast } from './broadcast.ts';
import type { Order } from './clients.ts';
import { type Plan, planConnections } from './connections.ts';
import { measureCrowd } from './crowd.ts';
import { printReport } from './report.ts';
import { measureCold, measureWarmed } from './rest.ts';
import { startStreamWorld } from './world.ts';

runBench({
  name: 'stream',
  description: `Streams 200 pools of two chains with one-second blocks, of which 60 change in a block, to many connections of 20 pools,
half by SSE and half by WebSocket: a tenth with depth, a twentieth that reads slowly, a fiftieth that never reads. Beside it
a bare Hono that broadcasts as many bytes, and batches at new blocks with and without warming.`,
  options: {
    connections: ['a multiple of 100', 1_000],
    seconds: ['of the crowd; the others get half', 60],
    rounds: ['batches, of each kind', 120],
  },
  run: async ({ connections, seconds, rounds }, verdicts) => {
    const { chains, serve } = await startStreamWorld([31_337, 31_338], { hasSockets: true });
    const [first] = chains;
    const clients = new OrderProcess<Order>(new URL('./clients.ts', import.meta.url));
    const mix = { withDepth: connections / 10, slow: connections / 20, never: connections / 50, poolsEach: 20 };
    const plans = planConnections(chains, { total: connections, ...mix });
    const short = Math.ceil(seconds / 2);
    const api = await serve(30);
    const common = { apis: [api], clients, chains };
    say('one connection of each kind');
    const alone = await measureCrowd({ ...common, plans: onePlanEach(chains), seconds: short });
    say(`${connections} connections`);
    const crowd = await measureCrowd({ ...common, plans, seconds });
    say('batches of requested pools');
    const warmed = await measureWarmed(api.url, first, rounds);
    await api.stop();
    say('batches without warming');
    const unwarmed = await serve(0);
    const cold = await measureCold(unwarmed.url, first, rounds);
    await unwarmed.stop();
    say('a bare broadcast');
    const { bytesPlain: plain, bytesDepth: withDepth } = crowd;
    const broadcast = await measureBroadcast(clients, plans, { plain, withDepth }, short);
    printReport({ connections, alone, crowd, warmed, cold, broadcast }, verdicts);
  },
});

/** Of each chain one connection with depth and one without, each of all pools. */
function onePlanEach(chains: readonly StreamChain[]): Plan[] {
  return chains.flatMap(({ chainId, pools }) =>
    [true, false].map((depth) => ({ chainId, transport: 'sse', pools: pools.flat(), depth, pace: 'good' }) as const),
  );
}
