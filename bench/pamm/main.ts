import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { Redis } from 'ioredis';
import { ChainConfig } from '../../config/chains-schema.ts';
import { migrate } from '../../db/migrate.ts';
import type { Received } from '../../devnet/mock-builders/behaviour.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { startRedis } from '../../local/services/redis.ts';
import { runMain } from '../../runtime/run-main.ts';
import { createProcesses } from '../../test/pamm/processes.ts';
import { CHAIN, createDirectSender, createPoster, createUpdates, type SentAt } from './load.ts';
import { summarize } from './percentiles.ts';

const BUILDERS = 5;
const TARGET = { p50: 5, p99: 25 };
const WARM_UP_SECS = 3;

type Options = { rate: number; secs: number };

runMain(async () => {
  const command = new Command('bench/pamm')
    .description(
      'Time from handing a quote update to the API until its bytes reach each of five builders, beside a direct send',
    )
    .option('--rate <n>', 'submissions per second', Number, 100)
    .option('--secs <n>', 'seconds measured', Number, 30)
    .parse();
  const stack = await startStack();
  try {
    report(await measure(stack, command.opts<Options>()));
  } finally {
    await stack.stop();
  }
});

type Stack = Awaited<ReturnType<typeof startStack>>;

/** Postgres, Redis with an append-only file, five builders, two API and two worker processes; simulation is off. */
async function startStack() {
  const [postgres, redis, builders] = await Promise.all([startPostgres(), startRedis(), startBuilders()]);
  await migrate(postgres.url);
  const client = new Redis(redis.url);
  await client.config('SET', 'appendfsync', 'everysec');
  await client.config('SET', 'appendonly', 'yes');
  client.disconnect();
  const processes = await createProcesses({
    chains: [chainWith(builders.urls)],
    redisUrl: redis.url,
    databaseUrl: postgres.url,
  });
  const apis = await Promise.all([processes.startApi(), processes.startApi()]);
  const workers = await Promise.all([processes.startWorker(), processes.startWorker()]);
  return {
    bases: apis.map(({ base }) => base),
    urls: builders.urls,
    received: builders.received,
    async stop() {
      await Promise.all([...apis, ...workers].map((process) => process.stop()));
      await Promise.all([builders.stop(), redis.stop(), postgres.stop(), processes.remove()]);
    },
  };
}

async function startBuilders() {
  let output = '';
  const service = await startOwnProcess({
    main: 'mock-builders',
    args: Array.from({ length: BUILDERS }, () => '0'),
    env: {},
    ready: new RegExp(`(?:\\{.*\\}\\s*){${BUILDERS}}`),
  });
  output = service.recentOutput();
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { port: number; streamUrl: string });
  return {
    urls: lines.map(({ streamUrl }) => streamUrl),
    received: async (index: number): Promise<Received[]> =>
      (await (await fetch(`http://127.0.0.1:${lines[index]?.port}/received`)).json()) as Received[],
    stop: () => service.stop(),
  };
}

function chainWith(urls: readonly string[]): ChainConfig {
  return ChainConfig.parse({
    chainId: CHAIN,
    name: 'bench',
    rpcUrls: ['http://127.0.0.1:1'],
    blockTimeMs: 1_000,
    deployments: [],
    pamm: {
      kind: 'ethereum',
      builders: urls.map((url, index) => ({ id: `b${index}`, transport: 'quote-stream', url })),
    },
  });
}

/** Submits and sends directly in turns, half a period apart, so that both meet the same machine. */
async function measure(stack: Stack, { rate, secs }: Options) {
  const [nextPosted, nextDirect] = await Promise.all([createUpdates(), createUpdates()]);
  const poster = createPoster(stack.bases);
  const direct = await createDirectSender(stack.urls);
  await at(
    rate,
    WARM_UP_SECS,
    () => poster.post(nextPosted()),
    () => direct.send(nextDirect()),
  );
  poster.submitted.sentAt.clear();
  poster.submitted.statuses.clear();
  direct.sentAt.clear();
  await at(
    rate,
    secs,
    () => poster.post(nextPosted()),
    () => direct.send(nextDirect()),
  );
  await sleep(3_500);

  const service: number[] = [];
  const straight: number[] = [];
  let lost = 0;
  for (const index of stack.urls.keys()) {
    const arrivals = new Map((await stack.received(index)).map((update) => [receivedKey(update), BigInt(update.atNs)]));
    lost += collect(poster.submitted.sentAt, arrivals, service) + collect(direct.sentAt, arrivals, straight);
  }
  poster.close();
  direct.close();
  return { service: summarize(service), direct: summarize(straight), lost, statuses: poster.submitted.statuses };
}

/** Calls both functions `rate` times a second, the second half a period later, and waits for the first's promises. */
async function at(rate: number, secs: number, first: () => Promise<void>, second: () => void): Promise<void> {
  const startedAt = performance.now();
  const calls: Promise<void>[] = [];
  for (let i = 0; i < rate * secs; i++) {
    await sleep(Math.max(0, startedAt + (i * 1_000) / rate - performance.now()));
    calls.push(first());
    await sleep(500 / rate);
    second();
  }
  await Promise.all(calls);
}

const receivedKey = (update: Received): string => `${update.replacementUuid}:${update.replacementSeqNumber}`;

/** Adds the times of one builder in milliseconds. Returns how many updates it never got. */
function collect(sentAt: SentAt, arrivals: ReadonlyMap<string, bigint>, times: number[]): number {
  let lost = 0;
  for (const [key, sent] of sentAt) {
    const arrived = arrivals.get(key);
    if (arrived === undefined) lost += 1;
    else times.push(Number(arrived - sent) / 1e6);
  }
  return lost;
}

function report({ service, direct, lost, statuses }: Awaited<ReturnType<typeof measure>>): void {
  const added = { p50: service.p50 - direct.p50, p99: service.p99 - direct.p99 };
  const line = (name: string, p50: number, p99: number, rest = '') =>
    `${name.padEnd(22)} p50 ${p50.toFixed(2).padStart(8)} ms   p99 ${p99.toFixed(2).padStart(8)} ms${rest}\n`;
  process.stdout.write(line('through the service', service.p50, service.p99, `   (${service.count} arrivals)`));
  process.stdout.write(line('direct send', direct.p50, direct.p99, `   (${direct.count} arrivals)`));
  process.stdout.write(line('added', added.p50, added.p99, `   (targets ${TARGET.p50} and ${TARGET.p99} ms)`));
  process.stdout.write(`lost ${lost}, responses ${JSON.stringify(Object.fromEntries(statuses))}\n`);
  if (lost > 0) process.exitCode = 1;
}
