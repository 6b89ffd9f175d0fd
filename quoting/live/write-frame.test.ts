import fc from 'fast-check';
import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { parseBuilderFrame } from './builder-frame.ts';
import type { Frame } from './frame.ts';
import { anyVenues } from './frames.fixture.ts';
import { parseRelayerFrame } from './relayer-frame.ts';
import { SLOT_CHAIN, timeOfSlot } from './slots.ts';
import { type FrameForm, frameHead, writeOverrides } from './write-frame.ts';

const target = { blockNumber: 25_000_000n, timestamp: timeOfSlot(14_000_000n) };
const wallMs = Number(target.timestamp) * 1_000 - 4_321;

test('what is written in either form is read as the same overrides, venue by venue', () => {
  let several = 0;
  fc.assert(
    fc.property(anyVenues, fc.nat({ max: 2 }), (republished, index) => {
      const all = [...republished];
      const named = all.slice(index, index + 1).map(([venue]): Address => venue);
      for (const routers of [[], named]) {
        const shown = new Map(all.filter(([venue]) => routers.length === 0 || routers.includes(venue)));
        const textOf = (form: FrameForm) =>
          writeOverrides(form, frameHead(form, SLOT_CHAIN, target, wallMs), republished, routers);
        const [builder, answer] = (['builder', 'builderAnswer'] as const).map((form) =>
          parseBuilderFrame(textOf(form), SLOT_CHAIN),
        ) as [Frame, Frame];
        expect(answer).toEqual(builder);
        expect([builder.venues, builder.timestamp, builder.skipped]).toEqual([shown, target.timestamp, undefined]);
        const relayer = parseRelayerFrame(textOf('bap710'));
        const hasOverrides = shown.values().some(({ size }) => size > 0);
        expect(relayer?.venues).toEqual(hasOverrides ? shown : new Map());
        for (const { blockNumber } of [builder, relayer ?? builder]) expect(blockNumber).toBe(target.blockNumber);
        if (shown.size > 1) several += 1;
      }
    }),
    { numRuns: runs(200) },
  );
  expect(several).toBeGreaterThan(20);
});

test('without overrides a frame names the block alone, with a slot only where slots give times', () => {
  expect(writeOverrides('builder', frameHead('builder', 56, target, wallMs), undefined, [])).toBe(
    `{"blockNumber":25000000,"timestamp":${wallMs}000000}`,
  );
  expect(writeOverrides('builderAnswer', frameHead('builderAnswer', 56, target, wallMs), undefined, [])).toBe(
    `{"blockNumber":"0x17d7840","timestamp":${wallMs}000000}`,
  );
  expect(writeOverrides('bap710', frameHead('bap710', 56, target, wallMs), undefined, [])).toBe(
    `{"blockNumber":25000000,"millisTimestamp":${wallMs},"overrides":{},"venues":[]}`,
  );
});
