import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ChainConfig } from '../../config/chains-schema.ts';
import { migrate } from '../../db/migrate.ts';
import type { Received } from '../../devnet/mock-builders/behaviour.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { Samples } from '../../test/harness/samples.ts';
import { createProcesses } from '../../test/pamm/processes.ts';
import { print } from '../print.ts';
import { runBench } from '../run-bench.ts';
import { startStores } from '../stores.ts';
import type { Verdicts } from '../verdicts.ts';
import { CHAIN, createDirectSender, createPoster, createUpdates, type SentAt } from './load.ts';

const BUILDERS = 5;
const WARM_UP_SECS = 3;

runBench({
  name: 'pamm',
  description:
    'Time from handing a quote update to the API until its bytes reach each of five builders, beside a direct send',
  options: { rate: ['submissions per second', 100], secs: ['seconds measured', 30] },
  run: async (pace, verdicts) => report(await measure(await startStack(), pace), verdicts),
});

type Stack = Awaited<ReturnType<typeof startStack>>;

/** Postgres, Redis with an append-only file, five builders, two API and two worker processes; simulation is off. */
async function startStack() {
  const [{ postgres, redis }, builders] = await Promise.all([startStores(), startBuilders()]);
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
  await Promise.all([processes.startWorker(), processes.startWorker()]);
  return { ...builders, bases: apis.map(({ base }) => base) };
}

async function startBuilders() {
  const service = await startOwnProcess({
    main: 'mock-builders',
    args: Array.from({ length: BUILDERS }, () => '0'),
    env: {},
    ready: new RegExp(`(?:\\{.*\\}\\s*){${BUILDERS}}`),
  });
  const lines = service
    .recentOutput()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { port: number; streamUrl: string });
  return {
    urls: lines.map(({ streamUrl }) => streamUrl),
    received: async (index: number): Promise<Received[]> =>
      (await (await fetch(`http://127.0.0.1:${lines[index]?.port}/received`)).json()) as Received[],
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

interface Pace {
  readonly rate: number;
  readonly secs: number;
}

/** Submits and sends directly in turns, half a period apart, so that both meet the same machine. */
async function measure(stack: Stack, { rate, secs }: Pace) {
  const [nextPosted, nextDirect] = await Promise.all([createUpdates(), createUpdates()]);
  const poster = createPoster(stack.bases);
  const direct = await createDirectSender(stack.urls);
  const sendBoth = (forSecs: number) =>
    at(
      { rate, secs: forSecs },
      () => poster.post(nextPosted()),
      () => direct.send(nextDirect()),
    );
  await sendBoth(WARM_UP_SECS);
  poster.submitted.sentAt.clear();
  poster.submitted.statuses.clear();
  direct.sentAt.clear();
  await sendBoth(secs);
  await sleep(3_500);
  const [service, straight] = [new Samples(), new Samples()];
  let lost = 0;
  for (const index of stack.urls.keys()) {
    const arrivals = new Map((await stack.received(index)).map((update) => [receivedKey(update), BigInt(update.atNs)]));
    lost += collect(poster.submitted.sentAt, arrivals, service) + collect(direct.sentAt, arrivals, straight);
  }
  return { service, direct: straight, lost, statuses: poster.submitted.statuses };
}

/** Calls both functions `rate` times a second, the second half a period later, and waits for the first's promises. */
async function at({ rate, secs }: Pace, first: () => Promise<void>, second: () => void): Promise<void> {
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
function collect(sentAt: SentAt, arrivals: ReadonlyMap<string, bigint>, times: Samples): number {
  let lost = 0;
  for (const [key, sent] of sentAt) {
    const arrived = arrivals.get(key);
    if (arrived === undefined) lost += 1;
    else times.add(Number(arrived - sent) / 1e6);
  }
  return lost;
}

type Figures = Awaited<ReturnType<typeof measure>>;

function report({ service, direct, lost, statuses }: Figures, verdicts: Verdicts<'pamm'>): void {
  const line = (name: string, p50: number, p99: number, rest: string) =>
    print(`${name.padEnd(22)} p50 ${p50.toFixed(2).padStart(8)} ms   p99 ${p99.toFixed(2).padStart(8)} ms   (${rest})`);
  line('through the service', service.median, service.p99, `${service.count} arrivals`);
  line('direct send', direct.median, direct.p99, `${direct.count} arrivals`);
  const [p50, p99] = [service.median - direct.median, service.p99 - direct.p99];
  line('added', p50, p99, `${verdicts.line('added, p50 ms', p50)}, ${verdicts.line('added, p99 ms', p99)}`);
  print(`lost ${lost} (${verdicts.line('lost', lost)}), responses ${JSON.stringify(Object.fromEntries(statuses))}`);
}
