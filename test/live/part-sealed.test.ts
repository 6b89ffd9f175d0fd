import { expect, onTestFinished, test, vi } from 'vitest';
import { LiveConfig } from '../../config/live-schema.ts';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import { feedWords } from '../../devnet/live/registry.ts';
import { type PartTrap, trapped } from '../../devnet/parts/part-traps.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { AGREED_MS, MIN_COMPARED } from '../../quoting/parts/next-divergence.ts';
import { startedWorld } from '../harness/open-world.ts';
import type { Batch, LiveQuote } from './live-world.ts';
import { quotesAfter, quotesOf } from './part-quotes.ts';
import { partSource, startPartWorld } from './part-world.ts';

/** What quotes say after the last part of a block is compared with the block once it is sealed. */

const world = startedWorld(() => startPartWorld({ node: { form: 'payload', partsPerBlock: 2 } }));

/**
 * An API whose clock can be put forward, and which counts what was compared.
 *
 * @param rpcUrls the nodes that follow parts
 */
function openCounted(rpcUrls: readonly string[] = [world.node.url]) {
  const [outcomes, parts]: [string[], string[]] = [[], []];
  let aheadMs = 0;
  const [source] = partSource(world.node).sources;
  const api = world.open({
    chain: { ...world.config, live: LiveConfig.parse({ sources: [{ ...source, rpcUrls }] }) },
    observeLive: () => ({
      count: (_, outcome) => parts.push(outcome),
      skipped: () => undefined,
      suspended: () => undefined,
      sealed: (outcome) => outcomes.push(outcome),
    }),
    now: () => performance.now() + aheadMs,
  });
  const forward = (ms: number) => {
    aheadMs += ms;
  };
  return { api, outcomes, parts, forward };
}

type Counted = ReturnType<typeof openCounted>;

/** What quotes give, without when they were read. */
const givenBy = (all: readonly LiveQuote[]) => all.map(({ bidAdj, askAdj, depth }) => ({ bidAdj, askAdj, depth }));

/** Seals the block of the newest part. @returns its number */
async function seal(): Promise<bigint> {
  const { number } = world.node.part();
  while (world.node.part().number === number) await world.node.nextPart();
  return number;
}

/** The committed quotes of a block. */
const committedAt = (number: bigint, { api }: Pick<Counted, 'api'>): Promise<readonly LiveQuote[]> =>
  vi.waitFor(async () => {
    const pools = world.market.pools.map(({ address }) => address);
    const { headers, text } = await api.batch({ pools, basis: 'committed' });
    expect(headers.get('X-Block-Number')).toBe(String(number));
    const { results } = JSON.parse(text) as Batch;
    return results.flatMap((result) => ('quote' in result ? [result.quote] : []));
  });

/** What a node shows after parts that has another price of the first pools. */
function lieOf(hundredths: bigint, pools: number): PartTrap {
  const { timeSecs } = world.node.part();
  const words = world.market.pools
    .slice(0, pools)
    .map(({ feedId }) => feedWords(feedId, timeSecs, priceAround(hundredths)));
  return { kind: 'divergent', overrides: { [world.market.registry]: { stateDiff: Object.assign({}, ...words) } } };
}

const every = (outcome: string) => world.market.pools.map(() => outcome);

test('a pool is in the sealed block as quotes gave it after the last part, unless more happened after that', async () => {
  const counted = openCounted();
  for (const hundredths of [200n, 205n, 199n]) {
    const part = await world.price(hundredths);
    const live = await quotesAfter(world, part, counted.api);
    expect(givenBy(await committedAt(await seal(), counted))).toEqual(givenBy(live));
  }
  expect(counted.outcomes).toEqual([...every('same'), ...every('same'), ...every('same')]);
  await quotesAfter(world, world.node.part(), counted.api);
  const last = await world.price(201n);
  await committedAt(await seal(), counted);
  expect(last.transactions.length).toBeGreaterThan(0);
  expect(counted.outcomes.slice(3 * world.market.pools.length)).toEqual(every('unseen'));
  await counted.api.stop();
});

test('to compare costs no call', async () => {
  const plain = { api: world.open({ chain: { ...world.config, live: undefined } }) };
  const compared = openCounted();
  /** Calls at the sealed block until it is quoted. */
  const callsAt = async (number: bigint, of: Pick<Counted, 'api'>) => {
    const before = world.node.requests.length;
    await committedAt(number, of);
    const sent = world.node.requests.slice(before).filter(({ method }) => method === 'eth_call');
    return sent.filter(({ params }) => !params.includes('pending')).length;
  };
  const counts: (readonly [number, number])[] = [];
  for (const hundredths of [200n, 201n, 202n, 203n, 204n]) {
    await quotesAfter(world, await world.price(hundredths), compared.api);
    const number = await seal();
    counts.push([await callsAt(number, compared), await callsAt(number, plain)]);
  }
  expect(compared.outcomes.length).toBe(5 * world.market.pools.length);
  // At first each learns what holds for long.
  expect(counts.slice(1).map(([ofCompared]) => ofCompared)).toEqual(counts.slice(1).map(([, ofPlain]) => ofPlain));
  for (const { api } of [plain, compared]) await api.stop();
});

test('a node whose parts are not what is sealed is left out, and comes back a minute after it agrees', async () => {
  const counted = openCounted();
  const truth = { api: world.open({ chain: { ...world.config, live: undefined } }) };
  const isWarned = () => Object.values(counted.api.warnings()).some((text) => text.includes('(divergent)'));

  /** Passes a block whose last part has new prices; the node shows other ones of the first pools, if it lies. */
  const pass = async (
    hundredths: bigint,
    { lies, isLeftOut }: { readonly lies: number; readonly isLeftOut: boolean },
  ) => {
    if (world.node.part().index === 1) await world.node.nextPart();
    if (lies > 0) world.node.trap(lieOf(hundredths + 9n, lies));
    else world.node.trap();
    const shown = counted.parts.length;
    const part = await world.price(hundredths);
    // Of calls that show a part the second one began after this one was shown.
    const isShown = async () => {
      await quotesOf(world, {}, counted.api);
      expect(counted.parts.length).toBeGreaterThan(shown + 1);
    };
    if (isLeftOut) {
      await vi.waitFor(isShown);
      const all = await quotesOf(world, {}, counted.api);
      expect(all.map(({ basis }) => basis?.kind)).toEqual(every('committed'));
    } else await quotesAfter(world, part, counted.api);
    expect(isWarned()).toBe(isLeftOut);
    const number = await seal();
    const [own, right] = [await committedAt(number, counted), await committedAt(number, truth)];
    expect(givenBy(own)).toEqual(givenBy(right));
  };

  // Each block has all pools, of which one differs: it decides nothing.
  const blocks = MIN_COMPARED / world.market.pools.length;
  for (let block = 0; block <= blocks; block += 1) await pass(200n + BigInt(block), { lies: 1, isLeftOut: false });
  expect(new Set(counted.outcomes)).toEqual(new Set(['same', 'different']));
  // With a second one, it does.
  await pass(194n, { lies: 2, isLeftOut: false });
  for (const hundredths of [195n, 196n]) await pass(hundredths, { lies: 2, isLeftOut: true });
  expect(counted.parts.at(-1)).toBe('divergent');

  // It agrees again, for enough pools; then a minute passes. A block whose last part was not read in time counts not.
  const before = counted.outcomes.length;
  const agreed = () => counted.outcomes.slice(before).filter((outcome) => outcome === 'same').length;
  const passUntil = async (count: number) => {
    for (let hundredths = 190n; agreed() < count; hundredths += 1n)
      await pass(hundredths, { lies: 0, isLeftOut: true });
  };
  await passUntil(MIN_COMPARED);
  counted.forward(AGREED_MS);
  await passUntil(agreed() + 1);
  expect(counted.outcomes.slice(before)).not.toContain('different');
  await pass(199n, { lies: 0, isLeftOut: false });
  for (const { api } of [counted, truth]) await api.stop();
});

test('of two nodes, the one whose parts are not what is sealed is asked last, and quotes are those of the other one', {
  timeout: 60_000,
}, async () => {
  const { node } = world;
  const lying = await startRpcProxy(node.url);
  onTestFinished(lying.stop);
  const [both, right] = [openCounted([lying.url, node.url]), openCounted()];
  const pools = world.market.pools.length;
  /** Passes a block whose last part the first node shows with other prices. @returns quotes after that part */
  const pass = async (hundredths: bigint) => {
    if (world.node.part().index === 1) await world.node.nextPart();
    const lie = trapped([lieOf(hundredths + 9n, pools)], () => ({ part: node.part(), headSecs: 0n }));
    lying.misbehave(lie, ({ params }) => params.includes('pending'));
    const part = await world.price(hundredths);
    const quotes = await Promise.all([both, right].map(({ api }) => quotesAfter(world, part, api)));
    await committedAt(await seal(), both);
    return quotes.map(givenBy);
  };
  const differing = () => both.outcomes.filter((outcome) => outcome === 'different').length;
  for (let hundredths = 190n; differing() < MIN_COMPARED; hundredths += 1n) {
    const [given, truth] = await pass(hundredths);
    expect(given).not.toEqual(truth);
  }
  for (const hundredths of [200n, 201n]) {
    const [given, truth] = await pass(hundredths);
    expect(given).toEqual(truth);
  }
  expect([both.api.warnings(), both.parts.at(-1)]).toEqual([{}, 'used']);
  for (const { api } of [both, right]) await api.stop();
});
