import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { OrderProcess } from '../../test/abuse/order-process.ts';
import type { StreamChain } from '../../test/many-pools/stream-chain.ts';
import { print, printTable } from '../print.ts';
import { runBench } from '../run-bench.ts';
import { everySecond, mineNext } from '../stream/blocks.ts';
import type { Order } from '../stream/clients.ts';
import type { Plan } from '../stream/connections.ts';
import { type CrowdFigures, measureCrowd } from '../stream/crowd.ts';
import { type StreamWorld, startStreamWorld } from '../stream/world.ts';
import type { Verdicts } from '../verdicts.ts';

/** In a block a third of the pools change; those of the last group never do. */
const GROUPS = [60, 60, 60, 20];
const STREAMS_PER_PROCESS = 2;
const WARM_UP_BLOCKS = 8;
/** Numbers of processes that have targets. */
const [FEW, MANY] = [4, 8];

interface Figures extends CrowdFigures {
  readonly processes: number;
  /** Of the pools that changed, as they are published. */
  readonly changedBytesPerBlock: number;
}

runBench({
  name: 'scale',
  description: `Serves 200 pools of one chain with one-second blocks by several numbers of processes, two streams of all pools to each:
calls of the node, time from the chain read to updates, bytes of Redis.`,
  options: {
    processes: ['numbers of them; the first is what the others are compared with', `1,2,${FEW},${MANY}`],
    seconds: ['for each number of processes', 30],
  },
  run: async (options, verdicts) => {
    const world = await startStreamWorld([31_337], { sizes: GROUPS });
    const clients = new OrderProcess<Order>(new URL('../stream/clients.ts', import.meta.url));
    const figures: Figures[] = [];
    for (const processes of options.processes.split(',').map(Number)) {
      print(`${processes} processes ...`);
      figures.push(await measure(world, clients, processes, options.seconds));
      printFigures(figures);
    }
    judge(figures, verdicts);
  },
});

async function measure(
  { stores, chains, serve }: StreamWorld,
  clients: OrderProcess<Order>,
  processes: number,
  seconds: number,
): Promise<Figures> {
  const apis = await Promise.all(Array.from({ length: processes }, () => serve()));
  const redis = new Redis(stores.redis.url);
  const [chain] = chains;
  const streams = STREAMS_PER_PROCESS * processes;
  const { chainId, pools } = chain;
  const plans = Array.from(
    { length: streams },
    (_, stream): Plan => ({
      chainId,
      transport: 'sse',
      pools: pools.flat(),
      depth: stream < streams / 2,
      pace: 'good',
    }),
  );
  const meter = () => netBytes(redis);
  let changedBytesPerBlock = Number.NaN;
  const afterwards = async () => {
    changedBytesPerBlock = await publishedBytes(redis, chain);
  };
  const timing = { seconds, warmUpBlocks: WARM_UP_BLOCKS };
  const crowd = await measureCrowd({ apis, clients, chains, plans, ...timing, meter, afterwards });
  redis.disconnect();
  await Promise.all(apis.map(({ stop }) => stop()));
  return { ...crowd, processes, changedBytesPerBlock };
}

async function netBytes(redis: Redis): Promise<number> {
  const info = await redis.info('stats');
  const bytesOf = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  return bytesOf('total_net_input_bytes') + bytesOf('total_net_output_bytes');
}

/** Bytes of changed pools in a block, from what is published. */
async function publishedBytes(redis: Redis, chain: StreamChain): Promise<number> {
  const listener = redis.duplicate();
  let bytes = 0;
  listener.on('pmessage', (_pattern, _channel, text: string) => {
    for (const value of (JSON.parse(text) as { values: unknown[] }).values) bytes += JSON.stringify(value).length;
  });
  await listener.psubscribe('*:reads');
  const blocks = 3 * (GROUPS.length - 1);
  await everySecond(blocks, 0, mineNext(chain));
  await sleep(1_000);
  listener.disconnect();
  return bytes / blocks;
}

const bytesRatio = ({ meteredPerBlock, processes, changedBytesPerBlock }: Figures) =>
  meteredPerBlock / ((processes + 1) * changedBytesPerBlock);
const callsRatio = ({ callsPerBlock }: Figures, [alone]: readonly Figures[]) =>
  callsPerBlock / (alone?.callsPerBlock ?? Number.NaN);

function printFigures(figures: readonly Figures[]): void {
  const rows = figures.map((each) => [
    String(each.processes),
    each.callsPerBlock.toFixed(2),
    callsRatio(each, figures).toFixed(2),
    `${each.sinceRead.median.toFixed(0)} / ${each.sinceRead.p99.toFixed(0)}`,
    String(each.lost),
    (each.meteredPerBlock / 1_000).toFixed(0),
    bytesRatio(each).toFixed(2),
  ]);
  const header = ['processes', 'calls a block', 'of one', 'after read, ms', 'missed', 'Redis kB a block', 'of changed'];
  printTable(header, rows);
}

function judge(figures: readonly Figures[], verdicts: Verdicts<'scale'>): void {
  for (const each of figures) {
    const { processes, sinceRead, lost } = each;
    const line = (figure: Parameters<typeof verdicts.line>[0], value: number) =>
      print(`${processes} processes, ${figure}: ${verdicts.line(figure, value)}`);
    line('updates missed', lost);
    if (processes === FEW) line('update after chain read at 4, p99 ms', sinceRead.p99);
    if (processes === MANY) line('calls a block, 8 processes/1', callsRatio(each, figures));
    if (processes >= FEW) line('Redis bytes/changed bytes', bytesRatio(each));
  }
}
