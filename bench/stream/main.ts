import { Command } from 'commander';
import { startPostgres } from '../../local/services/postgres.ts';
import { startRedis } from '../../local/services/redis.ts';
import { stopRunningServices } from '../../local/services/service-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { runMain } from '../../runtime/run-main.ts';
import { stillQuotes } from '../../test/quotes/quote-world.ts';
import { fillIndex } from '../hostile/seed.ts';
import { chainsFile } from '../hostile/served-process.ts';
import { type ApiSetup, serveApi } from '../serve-api.ts';
import { measureBroadcast } from './broadcast.ts';
import { ClientProcess } from './client-process.ts';
import { type Plan, planConnections } from './connections.ts';
import { measureCrowd } from './crowd.ts';
import { type StreamChain, startStreamChain } from './market.ts';
import { formatReport } from './report.ts';
import { measureCold, measureWarmed } from './rest.ts';

const CHAIN_IDS = [31_337, 31_338];
const startedAt = performance.now();
const write = (line: string) => process.stdout.write(`${line}\n`);
const say = (line: string) => write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5)} s  ${line}`);

interface Options {
  readonly connections: string;
  readonly seconds: string;
  readonly rounds: string;
}

runMain(async () => {
  const { connections, seconds, rounds } = new Command('bench:stream')
    .description(
      `Streams 200 pools of two chains with one-second blocks, of which 60 change in a block, to many connections of 20 pools,
half by SSE and half by WebSocket: a tenth with depth, a twentieth that reads slowly, a fiftieth that never reads. Beside it
a bare Hono that broadcasts as many bytes, and batches at new blocks with and without warming.`,
    )
    .option('--connections <number>', 'a multiple of 100', '1000')
    .option('--seconds <number>', 'of the crowd; the others get half', '60')
    .option('--rounds <number>', 'batches, of each kind', '120')
    .parse()
    .opts<Options>();
  try {
    await bench(Number(connections), Number(seconds), Number(rounds));
  } finally {
    await stopRunningServices();
  }
});

async function bench(connections: number, seconds: number, rounds: number): Promise<void> {
  const [postgres, redis, folder, ...chains] = await Promise.all([
    startPostgres(),
    startRedis(),
    createTempFolder('stream'),
    ...CHAIN_IDS.map((chainId) => startStreamChain(chainId)),
  ]);
  await fillIndex(postgres.url, chains);
  const setup = { folder, databaseUrl: postgres.url, redisUrl: redis.url };
  const clients = new ClientProcess();
  try {
    const mix = { withDepth: connections / 10, slow: connections / 20, never: connections / 50, poolsEach: 20 };
    const plans = planConnections(chains, { total: connections, ...mix });
    const { warmed, ...streamed } = await whileServing(setup, chains, 30, async (api) => {
      say('one connection of each kind');
      const alone = await measureCrowd(api, clients, chains, onePlanEach(chains), Math.ceil(seconds / 2));
      say(`${connections} connections`);
      const crowd = await measureCrowd(api, clients, chains, plans, seconds);
      say('batches of requested pools');
      return { alone, crowd, warmed: await measureWarmed(api.url, firstOf(chains), rounds) };
    });
    say('batches without warming');
    const cold = await whileServing(setup, chains, 0, (api) => measureCold(api.url, firstOf(chains), rounds));
    say('a bare broadcast');
    const { bytesPlain: plain, bytesDepth: withDepth } = streamed.crowd;
    const broadcast = await measureBroadcast(clients, plans, { plain, withDepth }, Math.ceil(seconds / 2));
    write(`\n${formatReport({ connections, ...streamed, warmed, cold, broadcast })}`);
  } finally {
    clients.stop();
    await Promise.all(chains.map((chain) => chain.stop()));
    await Promise.all([postgres.stop(), redis.stop(), folder.remove()]);
  }
}

/** Runs something while an API reads requested pools this long after the last request. */
async function whileServing<T>(
  setup: Omit<ApiSetup, 'chainsFile'>,
  chains: readonly StreamChain[],
  warmSecs: number,
  run: (api: Awaited<ReturnType<typeof serveApi>>) => Promise<T>,
): Promise<T> {
  const { chains: entries, ...rest } = chainsFile(chains, ({ node }) => node.url);
  const api = await serveApi({
    ...setup,
    chainsFile: {
      ...rest,
      chains: entries.map((entry, index) => ({
        ...entry,
        wsUrls: [chains[index]?.world.anvil.url.replace('http', 'ws')],
        // What is measured is the stream, not what an operator pays for.
        warmBudget: { callsPerMinute: 1_000_000 },
      })),
      quotes: { ...stillQuotes, warmSecs },
      stream: { connectionsPerAddress: 5_000 },
    },
  });
  try {
    return await run(api);
  } finally {
    await api.stop();
  }
}

/** Of each chain one connection with depth and one without, each of all pools. */
function onePlanEach(chains: readonly StreamChain[]): Plan[] {
  return chains.flatMap(({ chainId, pools }) =>
    [true, false].map((depth) => ({ chainId, transport: 'sse', pools: pools.flat(), depth, pace: 'good' }) as const),
  );
}

function firstOf(chains: readonly StreamChain[]): StreamChain {
  const [first] = chains;
  if (!first) throw new RangeError('no chains');
  return first;
}
