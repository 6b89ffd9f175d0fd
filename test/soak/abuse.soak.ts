import { expect, test } from 'vitest';
import { flood } from '../abuse/flood.ts';
import { attackWithHeavyJson, medianP99 } from '../abuse/heavy-json.ts';
import { fingerprint, injectionPlaces } from '../abuse/injections.ts';
import { createJudge } from '../abuse/judge.ts';
import { LARGE_BYTES, sendLarge } from '../abuse/large-bodies.ts';
import { createSender, parseAnswers } from '../abuse/send.ts';
import { type SlowEnd, startSlowClients } from '../abuse/slow-clients.ts';
import { beginRequest, isRejected } from '../abuse/unfinished-request.ts';
import { SQL_INJECTIONS } from '../abuse/values.ts';
import { CHAIN, startAbuseWorld } from '../abuse/world.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { eventually } from '../pamm/eventually.ts';
import { IS_LONG, SOAK_SEED } from './settings.ts';

const REQUESTS = IS_LONG ? 120_000 : 5_000;
/** What comes of a heavy text; `closed` of a WebSocket that sent too many. */
const REJECTED = ['400', '422', '429', 'closed'];
const MB = 1024 * 1024;
/**
 * A process still grows into its working set for several thousand requests, pages that it will not give back included.
 */
const MAX_GROWTH = { heapUsed: 1.1, rss: REQUESTS < 50_000 ? 1.25 : 1.1 };

/** Quotes are served as before while their p99 is below it, however quick they were when calm. */
const SERVED_MS = 10;
const print = (text: string) => process.stdout.write(`${text}\n`);

const world = startedWorld(startAbuseWorld);
const before = openWorld(async () => ({ rows: await fingerprint(world.database) }));

test('SQL in any parameter gets the answer to a wrong value', async () => {
  const sender = createSender(world.api.port, 8);
  const judge = createJudge(world.secrets);
  let client = 0;
  for (const { name, status, request } of injectionPlaces(world)) {
    for (const text of SQL_INJECTIONS) {
      const sent = request(text);
      const answer = await sender.send(sent, `192.168.${client >> 8}.${client++ & 255}`);
      expect([name, text, answer.status, answer.body]).toEqual([name, text, status, expect.any(String)]);
      const said = `${decodeURIComponent(sent.target)} ${sent.headers.flat().join(' ')} ${sent.body ?? ''}`;
      expect(judge.faults(answer, { text: said, isHead: false })).toEqual([]);
    }
  }
  sender.close();
  print(`${client} injections into ${injectionPlaces(world).length} places`);
  expect(await fingerprint(world.database)).toEqual(before.rows);
}, 120_000);

test('a body of 50 MB is refused unread, told its length or not, and takes no memory', async () => {
  const { port } = world.api;
  const paths = ['bid_ask/batch', 'route', 'pamm-quote'].map((end) => `POST /public/v1/evm/${CHAIN}/${end}`);
  const growths: number[] = [];
  for (const client of ['192.168.255.1', '192.168.255.2', '192.168.255.3']) {
    const before = await world.api.memory();
    for (const path of paths) {
      for (const isChunked of [false, true]) {
        const { status, body, sent } = await sendLarge(port, path, isChunked, client);
        // Bytes that still come when the connection closes can reset it before the answer has been read.
        if (status !== null) expect([status, Object.keys(JSON.parse(body))]).toEqual([413, ['error']]);
        print(`${path}${isChunked ? ', chunked' : ''}: ${status ?? 'cut'}, ${(sent / 1e6).toFixed(1)} of 50 MB taken`);
      }
    }
    const ignored = await Promise.all(
      Array.from({ length: 8 }, () => sendLarge(port, 'GET /public/v1/chains', false, client)),
    );
    expect(ignored.every(({ status, sent }) => status === 200 || sent < LARGE_BYTES)).toBe(true);
    const after = await world.api.memory();
    print(`memory ${memoryLine(before)} before, ${memoryLine(after)} after`);
    expect(after.heapUsed - before.heapUsed).toBeLessThan(10 * MB);
    growths.push(after.rss - before.rss);
  }
  // A young process grows into its working set once, by 60 MB at most; bodies that were kept would show each time.
  expect(Math.min(...growths)).toBeLessThan(LARGE_BYTES / 2);
}, 120_000);

test(`${REQUESTS} malformed requests beside slow clients: documented answers, others served, memory flat`, async () => {
  const slow = startSlowClients(world.api.port, { headers: 100, bodies: 100 });
  const startedAt = Date.now();
  const { tally, faults, memory } = await flood(world, REQUESTS, SOAK_SEED);
  print(`seed ${SOAK_SEED}, ${((Date.now() - startedAt) / 1_000).toFixed(0)} s\n${tally}`);
  print(memory.map((held, tenth) => `${tenth + 1}0%: ${memoryLine(held)}`).join('\n'));
  const [middle, end] = [memory[4], memory[9]];
  if (!middle || !end) throw new Error('memory was not measured');
  expect(faults).toEqual([]);
  expect(tally.count('429')).toBeGreaterThan(0);
  expect(tally.count('500') + tally.count('502') + tally.count('none')).toBe(0);
  expect(end.heapUsed).toBeLessThan(middle.heapUsed * MAX_GROWTH.heapUsed);
  expect(end.rss).toBeLessThan(middle.rss * MAX_GROWTH.rss);
  expectCut(await slow.headers, 10_000);
  expectCut(await slow.bodies, 20_000);
}, 3_600_000);

test('JSON that takes long to parse, at the full rate: refused, and others are served as before', async () => {
  const attacks = await attackWithHeavyJson(world, IS_LONG ? { rounds: 5, seconds: 4 } : { rounds: 1, seconds: 1 });
  const slowed = attacks.filter(({ kind, calm, attacked, answers }) => {
    const [before, meanwhile] = [medianP99(calm), medianP99(attacked)];
    print(
      `${kind}: p99 ${before.toFixed(1)} ms calm, ${meanwhile.toFixed(1)} ms attacked; ${JSON.stringify(answers[0])}`,
    );
    return meanwhile > Math.max(3 * before, SERVED_MS);
  });
  const clients = attacks.flatMap(({ calm, attacked }) => [...calm, ...attacked]);
  expect(clients.filter(({ rejected }) => rejected > 0)).toEqual([]);
  const outcomes = attacks.flatMap(({ answers }) => answers.flatMap(Object.keys));
  expect(outcomes.filter((outcome) => !REJECTED.includes(outcome))).toEqual([]);
  // In the short form other files share the cores.
  if (IS_LONG) expect(slowed).toEqual([]);
}, 600_000);

test('nothing of it was a defect, ended the process or reached the database', async () => {
  expect(world.api.defects).toEqual([]);
  const metrics = await (await fetch(`http://127.0.0.1:${world.api.port}/metrics`)).text();
  const answers = metrics.split('\n').filter((line) => line.startsWith('http_request_duration_seconds_count'));
  expect(answers.length).toBeGreaterThan(0);
  expect(answers.filter((line) => /status="50[0-24-9]"/.test(line))).toEqual([]);
  expect(await fingerprint(world.database)).toEqual(before.rows);
});

test('told to stop, the API takes no more, finishes the request in flight and ends in order', async () => {
  const { port } = world.api;
  const body = JSON.stringify({ pools: world.pools });
  const request = await beginRequest(port, `POST /public/v1/evm/${CHAIN}/bid_ask/batch`, body);
  const stopped = world.api.stop();
  await eventually(() => isRejected(port), 20_000);
  const answer = await request.finish();
  const { results } = JSON.parse(answer?.body ?? '') as { results: readonly object[] };
  expect([answer?.status, results.map((result) => 'quote' in result)]).toEqual([200, world.pools.map(() => true)]);
  await stopped;
  expect(await world.api.ended).toBe('exit code 0');
}, 120_000);

/** Every slow client was cut, not before its time was over and not long after it. */
function expectCut(ends: readonly SlowEnd[], limitMs: number): void {
  const times = ends.map(({ ms }) => ms);
  print(`slow clients: cut after ${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} ms`);
  expect(Math.min(...times)).toBeGreaterThan(limitMs - 1_000);
  expect(Math.max(...times)).toBeLessThan(limitMs + 60_000);
  const statuses = ends.flatMap(({ received }) => parseAnswers(received).answers.map(({ status }) => status));
  expect([...new Set(statuses)]).toEqual([408]);
}

const memoryLine = ({ heapUsed, rss }: { heapUsed: number; rss: number }): string =>
  `${(heapUsed / MB).toFixed(1)} MB heap and ${(rss / MB).toFixed(1)} MB resident`;
