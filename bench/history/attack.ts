import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { STATEMENT_TIMEOUT_MS } from '../../api/read-in-turn.ts';
import { LoadClients } from '../../test/abuse/load.ts';
import { timeRequest } from '../../test/abuse/timed-request.ts';
import { Samples } from '../../test/harness/samples.ts';
import { print, printTable } from '../print.ts';
import type { Verdicts } from '../verdicts.ts';
import { type AttackedApi, serveAttacked } from './attacked-api.ts';
import { ENDPOINTS } from './requests.ts';

const AT_ONCE = 200;
/** One after the other: together, what a key may send in ten seconds. */
const BURSTS = 3;
const ROUNDS = 5;
const CALM_MS = 2_000;
const WARM_UP_MS = 5_000;
const TIMED = 10;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const ms = (value: number) => value.toFixed(1);

interface Costliest {
  readonly name: string;
  readonly path: string;
  readonly most: string;
  /** Milliseconds of the request alone. */
  readonly times: Samples;
  /** Of the answer, not compressed. */
  readonly bytes: number;
}

/**
 * Prints the costliest legal request of each endpoint,
 * and quotes while many such requests come at once beside calm ones.
 */
export async function measureAttacks(database: pg.Pool, databaseUrl: string, verdicts: Verdicts<'history'>) {
  const api = await serveAttacked(database, databaseUrl);
  const clients = new LoadClients();
  const costliest: Costliest[] = [];
  for (const { paths, name, most, target } of ENDPOINTS) {
    const found = await costliestOf(api.url, paths);
    costliest.push({ name, most, ...found });
    if (target) print(`${target}: ${verdicts.line(target, found.times.median)}`);
  }
  const shown = costliest.map(({ path, most, times, bytes }) => [
    path.replace(/0x\w+/, '…'),
    ms(times.median),
    ms(times.max),
    String(bytes),
    most,
  ]);
  print('');
  printTable(
    [
      `costliest legal request (a statement: at most ${STATEMENT_TIMEOUT_MS} ms)`,
      'p50 ms',
      'slowest',
      'bytes',
      'bound',
    ],
    shown,
  );
  await timeQuotes(clients, api, () => sleep(WARM_UP_MS));
  const rows: string[][] = [];
  for (const each of costliest) {
    const { calm, attacked, cells } = await attack(clients, api, each.path);
    const ratio = attacked.p99 / calm.p99;
    const verdict = verdicts.verdict('quotes p99, attacked/calm', ratio);
    rows.push([each.name, ms(calm.p99), ms(attacked.p99), `${ratio.toFixed(2)} ${verdict}`, ...cells]);
  }
  const target = `ratio (target ${verdicts.text('quotes p99, attacked/calm')})`;
  print('');
  printTable(
    [`${AT_ONCE} of them at once: quotes`, 'calm p99 ms', 'p99 ms', target, 'burst ms', '200', '503', 'other'],
    rows,
  );
}

/** @returns which of the paths takes longest */
async function costliestOf(
  url: string,
  paths: readonly string[],
): Promise<Pick<Costliest, 'path' | 'times' | 'bytes'>> {
  const timed = [];
  for (const path of paths) {
    const times = new Samples();
    let bytes = 0;
    for (let asked = 0; asked <= TIMED; asked += 1) {
      const answer = await timeRequest(url, { path }, agent);
      if (answer.status !== 200) throw new Error(`${answer.status} ${path}`);
      // The first compiles, and reads from disk.
      if (asked > 0) times.add(answer.ms);
      bytes = answer.bytes;
    }
    timed.push({ path, times, bytes });
  }
  return timed.reduce((most, each) => (each.times.median > most.times.median ? each : most));
}

/** In turns with calm, so that noise falls on both. @returns cells of the bursts */
async function attack(clients: LoadClients, api: AttackedApi, path: string) {
  const [calm, attacked, bursts] = [new Samples(), new Samples(), new Samples()];
  const answers = new Map<number, number>();
  const burst = async () => {
    const startedAt = performance.now();
    const sent = Array.from({ length: AT_ONCE }, () => timeRequest(api.url, { path }, agent));
    for (const { status } of await Promise.all(sent)) answers.set(status, (answers.get(status) ?? 0) + 1);
    bursts.add(performance.now() - startedAt);
  };
  const several = async () => {
    for (let made = 0; made < BURSTS; made += 1) await burst();
  };
  await burst();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const took of await timeQuotes(clients, api, () => sleep(CALM_MS))) calm.add(took);
    for (const took of await timeQuotes(clients, api, several)) attacked.add(took);
  }
  const [served = 0, late = 0] = [answers.get(200), answers.get(503)];
  const other = AT_ONCE * (1 + ROUNDS * BURSTS) - served - late;
  return { calm, attacked, cells: [bursts.median.toFixed(0), ...[served, late, other].map(String)] };
}

/** Quotes that as many clients as attack ask while the work is done. @returns milliseconds of each */
async function timeQuotes(
  clients: LoadClients,
  { url, quotes }: AttackedApi,
  work: () => Promise<unknown>,
): Promise<readonly number[]> {
  const load = { url, requests: quotes, clients: AT_ONCE, pauseMs: 0 };
  const { times, rejected } = await clients.during(load, work);
  if (rejected > 0) throw new Error(`${rejected} quotes were not answered with 200`);
  return times;
}
