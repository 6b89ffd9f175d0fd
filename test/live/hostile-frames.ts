import { type Hex, numberToHex } from 'viem';
import type { Random } from '../../devnet/traffic/random.ts';
import { BOUNDS } from '../../quoting/live/frame.ts';
import type { LiveWorld } from './live-world.ts';

export const word = (value: number | bigint): Hex => numberToHex(value, { size: 32 });
export const account = (value: number) => `0x${value.toString(16).padStart(40, '0')}`;

/** A frame in the builder's form, whose fields a test chooses. */
export const frameText = (blockNumber: bigint | number, venues: object): string =>
  JSON.stringify({ slot: 1, blockNumber: Number(blockNumber), timestamp: 1, ...venues });

export const venueOf = (accounts: Readonly<Record<string, Readonly<Record<string, string>>>>) => ({
  [account(7)]: {
    stateOverride: Object.fromEntries(Object.entries(accounts).map(([at, stateDiff]) => [at, { stateDiff }])),
  },
});

/** Messages that are no frames, or frames that must change nothing. */
export function hostileMessage(random: Random, { market }: LiveWorld): string {
  const { number } = market.builder.block();
  const [pool] = market.pools;
  const stamp = { [word(0)]: word(1) };
  return random.pick([
    () => 'garbage',
    () => '{"blockNumber":',
    () => 'null',
    () => '[]',
    () => 'x'.repeat(1_000_000),
    () => frameText(number, { [account(7)]: { stateOverride: { [account(8)]: { stateDiff: { '0x1': '0xzz' } } } } }),
    () => frameText(number - 1n, venueOf({ [market.registry]: stamp })),
    () => frameText(number - 3n, venueOf({ [market.registry]: stamp })),
    () => frameText(number + 2n, venueOf({ [market.registry]: stamp })),
    () => frameText(10n ** 15n, venueOf({ [market.registry]: stamp })),
    // Storage of pools and tokens is not taken from a source.
    () => frameText(number, venueOf(Object.fromEntries(market.pools.map(({ address }) => [address, stamp])))),
    () => frameText(number, venueOf({ [market.token0]: stamp, [market.token1]: stamp, [pool?.address ?? '']: stamp })),
    // Accounts of another chain, and code.
    () => frameText(number, venueOf({ [account(9)]: { [word(1)]: word(2) } })),
    () =>
      frameText(number, {
        [account(7)]: { stateOverride: { [pool?.address ?? '']: { code: '0x00', stateDiff: {} } } },
      }),
    () =>
      frameText(
        number,
        venueOf(Object.fromEntries(Array.from({ length: BOUNDS.accounts + 1 }, (_, at) => [account(at + 100), stamp]))),
      ),
  ])();
}
