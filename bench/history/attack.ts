import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { STATEMENT_TIMEOUT_MS } from '../../api/read-in-turn.ts';
import { timeRequest } from '../hostile/load.ts';
import { get, percentile } from '../listing/load.ts';
import { OrderProcess } from '../order-process.ts';
import { formatTable, Samples } from '../route/measure.ts';
import { type AttackedApi, serveAttacked } from './attacked-api.ts';
import type { QuoteOrder, QuoteTimes } from './quote-client.ts';
import { ENDPOINTS } from './requests.ts';

const AT_ONCE = 200;
/** One after the other: together, what a key may send in ten seconds. */
const BURSTS = 3;
const ROUNDS = 5;
const CALM_MS = 2_000;
const WARM_UP_MS = 5_000;
const TIMED = 10;
const MOST_RATIO = 3;
const CLIENT = new URL('./quote-client.ts', import.meta.url);
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const ms = (value: number) => value.toFixed(1);

interface Costliest {
  readonly name: string;
  readonly path: string;
  readonly most: string;
  /** Milliseconds of the request alone: median, and slowest. */
  readonly usual: number;
  readonly slowest: number;
  /** Of the answer, not compressed. */
  readonly bytes: number;
}

/** Prints the costliest legal request of each endpoint, and quotes while many such requests come at once beside calm ones. */
export async function printAttacks(database: pg.Pool, databaseUrl: string, print: (line: string) => void) {
  const api = await serveAttacked(database, databaseUrl);
  const client = new OrderProcess<QuoteOrder>(CLIENT);
  try {
    const costliest: Costliest[] = [];
    for (const { paths, ...endpoint } of ENDPOINTS)
      costliest.push({ ...endpoint, ...(await costliestOf(api.url, paths)) });
    const dear = costliest.map(({ path, most, usual, slowest, bytes }) => [
      path.replace(/0x\w+/, '…'),
      ms(usual),
      ms(slowest),
      String(bytes),
      most,
    ]);
    print(
      `\n${formatTable([`costliest legal request (a statement: at most ${STATEMENT_TIMEOUT_MS} ms)`, 'p50 ms', 'slowest', 'bytes', 'bound'], dear)}`,
    );
    await timeQuotes(client, api, () => sleep(WARM_UP_MS));
    const rows: string[][] = [];
    for (const each of costliest) rows.push(await attack(client, api, each));
    const header = [`${AT_ONCE} of them at once: quotes`, 'calm p99 ms', 'p99 ms', `ratio (target < ${MOST_RATIO})`];
    print(`\n${formatTable([...header, 'burst ms', '200', '503', 'other'], rows)}`);
  } finally {
    client.stop();
    agent.destroy();
    await api.stop();
  }
}

/** @returns which of the paths takes longest */
async function costliestOf(
  url: string,
  paths: readonly string[],
): Promise<Pick<Costliest, 'path' | 'usual' | 'slowest' | 'bytes'>> {
  const timed = [];
  for (const path of paths) {
    const times: number[] = [];
    for (let asked = 0; asked <= TIMED; asked += 1) {
      const answer = await timeRequest(url, { path }, agent);
      if (answer.status !== 200) throw new Error(`${answer.status} ${path}`);
      // The first compiles, and reads from disk.
      if (asked > 0) times.push(answer.ms);
    }
    timed.push({ path, usual: percentile(times, 0.5), slowest: Math.max(...times), bytes: await get(`${url}${path}`) });
  }
  return timed.reduce((most, each) => (each.usual > most.usual ? each : most));
}

/** In turns with calm, so that noise falls on both. @returns cells of its row */
async function attack(
  client: OrderProcess<QuoteOrder>,
  api: AttackedApi,
  { name, path }: Costliest,
): Promise<string[]> {
  const times = { calm: new Samples(), attacked: new Samples() };
  const bursts = new Samples();
  const answers = new Map<number, number>();
  const burst = async () => {
    const startedAt = performance.now();
    const sent = Array.from({ length: AT_ONCE }, () => timeRequest(api.url, { path }, agent));
    for (const { status } of await Promise.all(sent)) answers.set(status, (answers.get(status) ?? 0) + 1);
    bursts.add(performance.now() - startedAt);
  };
  await burst();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const took of await timeQuotes(client, api, () => sleep(CALM_MS))) times.calm.add(took);
    const several = async () => {
      for (let made = 0; made < BURSTS; made += 1) await burst();
    };
    for (const took of await timeQuotes(client, api, several)) times.attacked.add(took);
  }
  const [calm, attacked] = [times.calm.quantile(0.99), times.attacked.quantile(0.99)];
  const [served = 0, late = 0] = [answers.get(200), answers.get(503)];
  const other = AT_ONCE * (1 + ROUNDS * BURSTS) - served - late;
  const counts = [served, late, other].map(String);
  return [name, ms(calm), ms(attacked), (attacked / calm).toFixed(2), bursts.quantile(0.5).toFixed(0), ...counts];
}

/** Quotes that are asked while the work is done. @returns milliseconds of each */
async function timeQuotes(
  client: OrderProcess<QuoteOrder>,
  { url, quotes }: AttackedApi,
  work: () => Promise<void>,
): Promise<readonly number[]> {
  await client.ask({ kind: 'start', url, requests: quotes });
  await work();
  const { times, rejected } = await client.ask<QuoteTimes>({ kind: 'stop' });
  if (rejected > 0) throw new Error(`${rejected} quotes were not answered with 200`);
  return times;
}
