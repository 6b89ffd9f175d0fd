import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { Redis } from 'ioredis';
import { startPostgres } from '../../local/services/postgres.ts';
import { startRedis } from '../../local/services/redis.ts';
import { stopRunningServices } from '../../local/services/service-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { runMain } from '../../runtime/run-main.ts';
import { connectSse } from '../../test/stream/stream-connection.ts';
import { fillIndex } from '../hostile/seed.ts';
import { chainsFile } from '../hostile/served-process.ts';
import { formatTable, Samples } from '../route/measure.ts';
import { type ApiSetup, serveApi } from '../serve-api.ts';
import { type Block, everySecond, mineNext } from '../stream/blocks.ts';
import { type StreamChain, startStreamChain } from '../stream/market.ts';
import { millisecondsNow } from '../stream/now.ts';

/** In a block a third of the pools change; those of the last group never do. */
const GROUPS = [60, 60, 60, 20];
const STREAMS_PER_PROCESS = 2;
const WARM_UP_BLOCKS = 8;
const LAST_UPDATES_MS = 3_000;
const START_LIMIT_MS = 120_000;
const CALLS_RATIO = 1.1;
const BYTES_RATIO = 1.2;
const AFTER_READ_MS = 150;
const write = (line: string) => process.stdout.write(`${line}\n`);

interface Figures {
  readonly processes: number;
  readonly callsPerBlock: number;
  /** From the answer to the last call at a block to its update, by stream; ms. */
  readonly afterRead: Samples;
  readonly missed: number;
  readonly redisBytesPerBlock: number;
  /** Of the pools that changed, as they are published. */
  readonly changedBytesPerBlock: number;
}

runMain(async () => {
  const { processes, seconds } = new Command('bench:scale')
    .description(
      `Serves 200 pools of one chain with one-second blocks by several numbers of processes, two streams of all pools to each:
calls of the node, time from the chain read to updates, bytes of Redis.`,
    )
    .option('--processes <numbers>', 'the first is what the others are compared with', '1,2,4,8')
    .option('--seconds <number>', 'for each number of processes', '30')
    .parse()
    .opts<{ readonly processes: string; readonly seconds: string }>();
  try {
    await bench(processes.split(',').map(Number), Number(seconds));
  } finally {
    await stopRunningServices();
  }
});

async function bench(counts: readonly number[], seconds: number): Promise<void> {
  const [postgres, redis, folder, chain] = await Promise.all([
    startPostgres(),
    startRedis(),
    createTempFolder('scale'),
    startStreamChain(31_337, GROUPS),
  ]);
  try {
    await fillIndex(postgres.url, [chain]);
    const { chains, ...rest } = chainsFile([chain], ({ node }) => node.url);
    const file = {
      ...rest,
      chains: chains.map((entry) => ({ ...entry, warmBudget: { callsPerMinute: 1_000_000 } })),
      stream: { connectionsPerAddress: 1_000 },
    };
    const setup = { folder, databaseUrl: postgres.url, redisUrl: redis.url, chainsFile: file };
    const figures: Figures[] = [];
    for (const processes of counts) {
      write(`${processes} processes ...`);
      figures.push(await measure(setup, chain, processes, seconds));
      write(report(figures));
    }
  } finally {
    await chain.stop();
    await Promise.all([postgres.stop(), redis.stop(), folder.remove()]);
  }
}

async function measure(setup: ApiSetup, chain: StreamChain, processes: number, seconds: number): Promise<Figures> {
  const apis = await Promise.all(Array.from({ length: processes }, () => serveApi(setup)));
  const urls = apis.map(({ url }) => url);
  const redis = new Redis(setup.redisUrl);
  const streams = new Streams(urls, chain);
  try {
    await allServe(urls, chain);
    streams.open();
    await everySecond(WARM_UP_BLOCKS, 0, mineNext(chain));
    const [calls, bytes] = [chain.node.calls(), await netBytes(redis)];
    streams.updates.clear();
    const blocks = await everySecond(seconds, 0, mineNext(chain));
    await sleep(1_000);
    const [madeCalls, movedBytes] = [chain.node.calls() - calls, (await netBytes(redis)) - bytes];
    await sleep(LAST_UPDATES_MS);
    const changedBytesPerBlock = await publishedBytes(redis, chain);
    return {
      processes,
      callsPerBlock: madeCalls / blocks.length,
      redisBytesPerBlock: movedBytes / blocks.length,
      changedBytesPerBlock,
      ...delays(blocks, streams),
    };
  } finally {
    streams.close();
    redis.disconnect();
    await Promise.all(apis.map((api) => api.stop()));
  }
}

/** Resolves when all answer. */
async function allServe(urls: readonly string[], { chainId, pools }: StreamChain): Promise<void> {
  const ask = async (url: string) => (await fetch(`${url}/public/v1/evm/${chainId}/${pools[0]?.[0]}/bid_ask`)).status;
  for (const deadline = Date.now() + START_LIMIT_MS; Date.now() < deadline; await sleep(500)) {
    if ((await Promise.all(urls.map(ask))).every((status) => status === 200)) return;
  }
  throw new Error(`${urls.length} processes do not serve`);
}

/** Streams of all pools of a chain. */
class Streams {
  /** When the last message of a block came, by stream and hash. */
  readonly updates = new Map<string, number>();
  readonly count: number;
  readonly #urls: readonly string[];
  readonly #chain: StreamChain;
  #connections: ReturnType<typeof connectSse>[] = [];

  constructor(urls: readonly string[], chain: StreamChain) {
    this.#urls = urls;
    this.#chain = chain;
    this.count = STREAMS_PER_PROCESS * urls.length;
  }

  open(): void {
    const { chainId, pools } = this.#chain;
    this.#connections = Array.from({ length: this.count }, (_, stream) =>
      connectSse(
        this.#urls[stream % this.#urls.length] as string,
        { chainId, pools: pools.flat(), depth: stream < this.count / 2 },
        {
          message: (_event, _id, text) => {
            const hash = /"blockHash":"(0x\w+)"/.exec(text)?.[1];
            if (text.includes('"last":true')) this.updates.set(`${stream} ${hash}`, millisecondsNow());
          },
          ended: (why) => {
            throw new Error(`a stream ended: ${why}`);
          },
        },
      ),
    );
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

function delays(blocks: readonly Block[], { updates, count }: Streams): Pick<Figures, 'afterRead' | 'missed'> {
  const afterRead = new Samples();
  let missed = 0;
  for (const { hash, chain } of blocks) {
    const readAt = chain.node.readDoneAt(hash);
    for (let stream = 0; stream < count; stream += 1) {
      const at = updates.get(`${stream} ${hash}`);
      if (at === undefined || readAt === undefined) missed += 1;
      else afterRead.add(at - readAt);
    }
  }
  return { afterRead, missed };
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

function report(figures: readonly Figures[]): string {
  const alone = figures[0]?.callsPerBlock ?? Number.NaN;
  const rows = figures.map(({ processes, callsPerBlock, afterRead, missed, ...bytes }) => [
    String(processes),
    callsPerBlock.toFixed(2),
    (callsPerBlock / alone).toFixed(2),
    `${afterRead.quantile(0.5).toFixed(0)} / ${afterRead.quantile(0.99).toFixed(0)}`,
    String(missed),
    (bytes.redisBytesPerBlock / 1_000).toFixed(0),
    (bytes.redisBytesPerBlock / ((processes + 1) * bytes.changedBytesPerBlock)).toFixed(2),
  ]);
  const targets = ['target', '', `at 8 <= ${CALLS_RATIO}`, `p99 at 4 < ${AFTER_READ_MS}`, '0', '', `<= ${BYTES_RATIO}`];
  const header = ['processes', 'calls a block', 'of one', 'after read, ms', 'missed', 'Redis kB a block', 'of changed'];
  return formatTable(header, [...rows, targets]);
}
