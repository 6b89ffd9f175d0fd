import fc from 'fast-check';
import type { Memory } from './api.ts';
import { type BrokenRequest, brokenRequests } from './broken-http.ts';
import { createJudge, type Judge } from './judge.ts';
import { type AbuseRequest, abuseRequests } from './requests.ts';
import { createSender, parseAnswers, type Sender, sendRaw } from './send.ts';
import { Tally } from './tally.ts';
import type { AbuseWorld } from './world.ts';

export interface FloodReport {
  readonly tally: Tally;
  /** What was wrong, with the request that showed it; the first ones only. */
  readonly faults: readonly string[];
  /** What the API holds after each tenth of the requests. */
  readonly memory: readonly Memory[];
}

const BATCH = 500;
const RAW_PER_BATCH = 40;
const AT_ONCE = 32;
const MAX_FAULTS = 20;
/** One client of this many requests never stops, so that the limits refuse some requests. */
const EVERY_NTH_IS_THE_SAME = 25;

/**
 * Sends generated requests, a number of them at a time, each from an address of its own.
 *
 * @param requests how many, in batches of {@link BATCH}
 * @param seed of the generators: the same one gives the same requests
 */
export async function flood(world: AbuseWorld, requests: number, seed: number): Promise<FloodReport> {
  const run = new Run(world);
  const batches = Math.ceil(requests / BATCH);
  const memory: Memory[] = [];
  for (let batch = 0; batch < batches; batch++) {
    await run.batch(batch * BATCH, seed + batch);
    const tenths = Math.floor(((batch + 1) / batches) * 10);
    while (memory.length < tenths) memory.push(await world.api.memory());
  }
  run.close();
  return { tally: run.tally, faults: run.faults, memory };
}

class Run {
  readonly tally = new Tally();
  readonly faults: string[] = [];
  readonly #port: number;
  readonly #sender: Sender;
  readonly #judge: Judge;
  readonly #requests: fc.Arbitrary<AbuseRequest>;
  readonly #broken: fc.Arbitrary<BrokenRequest>;

  constructor(world: AbuseWorld) {
    this.#port = world.api.port;
    this.#sender = createSender(world.api.port, AT_ONCE);
    this.#judge = createJudge(world.secrets);
    this.#requests = abuseRequests(world);
    this.#broken = brokenRequests(world);
  }

  async batch(first: number, seed: number): Promise<void> {
    const whole = fc.sample(this.#requests, { seed, numRuns: BATCH - RAW_PER_BATCH });
    const broken = fc.sample(this.#broken, { seed, numRuns: RAW_PER_BATCH });
    const spread = Math.floor(whole.length / broken.length);
    const all = whole.flatMap((request, index) => {
      const raw = index % spread === 0 ? broken[index / spread] : undefined;
      return raw ? [request, raw] : [request];
    });
    const queue = all.entries();
    const worker = async () => {
      for (const [index, request] of queue) await this.#one(request, clientOf(first + index));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  close(): void {
    this.#sender.close();
  }

  async #one(request: AbuseRequest | BrokenRequest, client: string): Promise<void> {
    try {
      await ('text' in request ? this.#sendBroken(request, client) : this.#sendWhole(request, client));
    } catch (error) {
      this.tally.add(request.kind, 'none');
      this.#report([`no answer: ${error}`], request);
    }
  }

  async #sendWhole(request: AbuseRequest, client: string): Promise<void> {
    const answer = await this.#sender.send(request, client);
    this.tally.add(request.kind, String(answer.status));
    const { method, target, headers, body } = request;
    const text = `${method} ${decoded(target)} ${headers.flat().join(' ')} ${body?.toString('latin1') ?? ''}`;
    this.#report(this.#judge.faults(answer, { text, isHead: method === 'HEAD' }), request);
  }

  /** A connection may end without an answer: its bytes were no request, or not all of one. */
  async #sendBroken(request: BrokenRequest, client: string): Promise<void> {
    const text = request.text.replaceAll('Host: x\r\n', `Host: x\r\nX-Forwarded-For: ${client}\r\n`);
    const { answers, rest } = parseAnswers(await sendRaw(this.#port, text));
    if (answers.length === 0) this.tally.add(request.kind, 'closed');
    for (const answer of answers) {
      this.tally.add(request.kind, String(answer.status));
      this.#report(this.#judge.faults(answer, { text, isHead: false }), request);
    }
    if (rest !== '') this.#report([`bytes that are no answer: ${rest.slice(0, 200)}`], request);
  }

  #report(found: readonly string[], request: AbuseRequest | BrokenRequest): void {
    if (found.length === 0 || this.faults.length >= MAX_FAULTS) return;
    const body = 'body' in request ? (request.body?.toString('latin1') ?? '') : '';
    this.faults.push(`${found.join('; ')} <- ${JSON.stringify(request).slice(0, 600)} ${body.slice(0, 300)}`);
  }
}

function clientOf(n: number): string {
  if (n % EVERY_NTH_IS_THE_SAME === 0) return '203.0.113.1';
  return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}

/** What an answer may repeat of a request's target: its escapes are read by then. */
function decoded(target: string): string {
  try {
    return `${target} ${decodeURIComponent(target)}`;
  } catch {
    return target; // Invalid escapes: repeated as they are, if at all.
  }
}
