import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { PART_MS } from '../../quoting/parts/part-schedule.ts';
import { startedWorld } from '../harness/open-world.ts';
import type { LiveQuote } from './live-world.ts';
import { pricedQuotes, quotesAfter, quotesOf } from './part-quotes.ts';
import { levelsOf, PART_TRAPS, trapName } from './part-traps.ts';
import { PART_MAX_AGE_MS, startPartWorld } from './part-world.ts';

/** Of five reads: a node that is right again is seen by the next ones. Besides, it is asked once in `PART_MS`. */
const MAX_CALLS = 15;
const GAP_MS = 10;
/** Why no part is used, as the operator sees it, by trap. Others have several reasons. */
const REASONS: ReadonlyMap<string, RegExp> = new Map([
  ['callsBehind 3', /\(behind\)$/],
  ['allBehind 0', /\(committed\)$/],
  ['otherContext', /\(committed\)$/],
  ['oldState 0', /\(older\)$/],
  ['null', /\(refused\)$/],
  ['otherParent', /\(parent\)$/],
]);

const world = startedWorld(() => startPartWorld({ node: { form: 'payload' } }));

const quotes = (body: object = {}) => quotesOf(world, body);

/** Shows a part with new prices that start a block: those of the block before are stale then. */
async function nextBlock(): Promise<void> {
  const { number } = world.node.part();
  while (world.node.part().number === number) await world.node.nextPart();
}

test('quotes are those after the newest part of the block being built, part by part and block by block', async () => {
  for (const hundredths of [200n, 201n, 202n, 203n]) {
    // A block without prices between two with them.
    if (hundredths === 202n) for (const _ of [1, 2]) await nextBlock();
    const { part, quotes: all } = await pricedQuotes(world, hundredths);
    for (const { basis, priceProviderStatus } of all) {
      expect(['healthy', 'pool_refused']).toContain(priceProviderStatus);
      expect(basis).toMatchObject({
        source: { kind: 'preconfirmed', part: part.index },
        targetTimestamp: Number(part.timeSecs),
        blockNumber: Number(part.number) - 1,
      });
      expect(basis?.sourceAgeMs).toBeLessThan(PART_MAX_AGE_MS);
    }
    const committed = await quotes({ basis: 'committed' });
    expect(committed.map(({ priceProviderStatus }) => priceProviderStatus)).toEqual(committed.map(() => 'feed_down'));
  }
});

test('there are no overrides to give', async () => {
  await pricedQuotes(world, 205n);
  await vi.waitFor(async () => {
    const { overrides, results } = await world.batch({ include: 'stateOverride' });
    expect(results[0]).toMatchObject({ quote: { basis: { kind: 'live' } } });
    expect(overrides).toBeNull();
  });
});

const callsAtParts = () => world.node.requests.filter(({ params }) => params.includes('pending')).length;

const levelsOfAll = (all: readonly LiveQuote[]) => all.map(levelsOf);

test('a node falls into each trap, and into two at once: no quote is of a wrong state, committed ones are as before', async () => {
  const { node } = world;
  for (const _ of [1, 2]) await nextBlock();
  const { part, quotes: before } = await pricedQuotes(world, 204n);
  const right = levelsOfAll(before);
  const committed = levelsOfAll(await quotes({ basis: 'committed' }));
  for (const trap of PART_TRAPS) {
    const name = trapName(trap);
    node.trap(...trap);
    for (const deadline = performance.now() + 2 * PART_MAX_AGE_MS; performance.now() < deadline; ) {
      // biome-ignore lint/plugin: the pace of requests, which all run in this process: nodes answer meanwhile.
      await sleep(GAP_MS);
      const seen = await quotes();
      for (const [index, { basis }] of seen.entries()) {
        const expected = basis?.kind === 'live' ? right : committed;
        expect(levelsOfAll(seen)[index], `${name}, pool ${index}`).toEqual(expected[index]);
      }
      expect(levelsOfAll(await quotes({ basis: 'committed' }))).toEqual(committed);
    }
    // Calls that one node answers may be all that a quote needs.
    if (trap[0]?.kind !== 'halves' || trap.length > 1)
      await vi.waitFor(async () => {
        const kinds = (await quotes()).map(({ basis }) => basis?.kind);
        expect(kinds, name).toEqual(right.map(() => 'committed'));
        const [warning] = Object.values(world.api.warnings());
        expect(warning, name).toMatch(REASONS.get(name) ?? /\(\w+\)$/);
      });
    node.trap();
    const [asked, askedAt] = [callsAtParts(), performance.now()];
    expect(levelsOfAll(await quotesAfter(world, part))).toEqual(right);
    const parts = (performance.now() - askedAt) / PART_MS;
    expect(callsAtParts() - asked).toBeLessThanOrEqual(MAX_CALLS + parts);
  }
});
