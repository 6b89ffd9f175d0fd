import { parseEventLogs } from 'viem';
import { describe, expect, it } from 'vitest';
import { administer, extsload } from '../../devnet/actions.ts';
import { staticCall } from '../../devnet/dev-chain.ts';
import { administerPacked } from '../../devnet/packed/actions.ts';
import { swapWords } from '../../devnet/packed/event-words.fixture.ts';
import { ONE, PackedMarket } from '../../devnet/packed/market.fixture.ts';
import { readPackedState } from '../../devnet/packed/storage.fixture.ts';
import { PACKED_VARIANTS, type PackedVariant } from '../../devnet/packed/variants.ts';
import { decodeExtsload, encodeExtsload } from '../../protocol/layouts/extsload.ts';
import { packedPoolEvents } from '../../protocol/layouts/packed/abi.ts';
import { encodeBinStates, isAsShown } from '../../protocol/layouts/packed/calibration/check-storage.ts';
import { packedEvents } from '../../protocol/layouts/packed/events.ts';
import { readDetails } from '../../protocol/layouts/packed/interpretations.ts';
import { packedStorage } from '../../protocol/layouts/packed/storage.ts';
import { binSharesSlot, binSlot, decodeBin, stateSlots } from '../../protocol/layouts/storage.ts';
import type { PoolEventOf } from '../../protocol/pool-events.ts';
import type { BinState } from '../../protocol/pool-state.ts';
import { openWorld } from '../harness/open-world.ts';

const IMMUTABLES = { lowestBin: -4, highestBin: 4, scale: { multiplier0: 1n, multiplier1: 1n } };
const BINS = Array.from({ length: 9 }, (_, index) => index - 4);

/** The two arrangements of details; one of them with raw deltas. */
const variants = PACKED_VARIANTS.filter(({ rule }) => rule === 'sumOnEdges' || rule === 'quotient');

describe.each(variants)('a pool with $details', (variant: PackedVariant) => {
  const world = openWorld(async (ends) => {
    const market = ends.adopt(await PackedMarket.open(variant), ({ setup }) => setup.anvil.stop());
    const traded = await market.fundedPool();
    const { chain, deployment } = market.setup;
    const { curator } = chain.roles;
    await administer(chain, deployment, {
      from: curator,
      functionName: 'setPoolAdminFees',
      args: [traded.pool, 100_000, 50_000],
    });
    await administerPacked(chain, deployment, {
      from: curator,
      functionName: 'setPoolBidAskRefAsymmetryX8',
      args: [traded.pool, 513],
    });
    await administerPacked(chain, deployment, {
      from: curator,
      functionName: 'setPoolBinAdditionalFees',
      args: [traded.pool, -2, 700, 65_535],
    });
    await market.buy(traded, 250n * ONE);
    await market.sell(traded, 900n * ONE);
    return { market, traded };
  });

  it('has the state that its storage words say, all of it', async () => {
    const { chain } = world.market.setup;
    const data = encodeExtsload(stateSlots(IMMUTABLES));
    const answer = await staticCall(chain, { to: world.traded.pool, data });
    const words = decodeExtsload(answer.data);
    const [head, state] = [packedStorage.decodeHead(words), packedStorage.decodeState(IMMUTABLES, words)];
    const expected = await readPackedState(chain, world.traded.pool, BINS);
    expect(head).toEqual({
      pauseLevel: 0,
      cursor: { bin: Number(expected.bin), position: expected.position, lowerDistE6: Number(expected.distanceE6) },
      spreadFeeE6: 300_000,
      notionalFeeE8: 50_100,
      binTotals: { token0Scaled: expected.total0, token1Scaled: expected.total1 },
      notionalFees: { token0Scaled: expected.notional0, token1Scaled: expected.notional1 },
      mutablePriceProvider: world.traded.provider.toLowerCase(),
    });
    expect(head.cursor.bin).toBeLessThan(0);
    expect(head.binTotals).toEqual({
      token0Scaled: state.bins.reduce((sum, { token0Scaled }) => sum + token0Scaled, 0n),
      token1Scaled: state.bins.reduce((sum, { token1Scaled }) => sum + token1Scaled, 0n),
    });
    expect(state.bins).toEqual(
      [...expected.bins.values()].map((bin) => ({
        token0Scaled: bin.balance0,
        token1Scaled: bin.balance1,
        lengthE6: Number(bin.lengthE6),
        addFeeBuyE6: Number(bin.addFeeBuyE6),
        addFeeSellE6: Number(bin.addFeeSellE6),
      })),
    );
    expect(state.bins[2]).toMatchObject({ addFeeBuyE6: 700, addFeeSellE6: 65_535 });
    expect(() => packedStorage.decodeState(IMMUTABLES, words.slice(1))).toThrow('12');
  });

  it('keeps bins and their shares where the lens finds them', async () => {
    const { chain, deployment } = world.market.setup;
    const lens = encodeBinStates(world.traded.pool, BINS);
    const answer = (await staticCall(chain, { to: deployment.dataProvider, data: lens })).data;
    const bins = (await extsload(chain, world.traded.pool, BINS.map(binSlot))).map(decodeBin);
    const shares = (await extsload(chain, world.traded.pool, BINS.map(binSharesSlot))).map(BigInt);
    const isShown = (change: Partial<BinState>, ownShares = shares) =>
      isAsShown([{ ...(bins[0] as BinState), ...change }, ...bins.slice(1)], ownShares, answer, IMMUTABLES.scale);
    expect(isShown({})).toBe(true);
    expect(bins.every(({ token0Scaled }) => token0Scaled === 0n)).toBe(false);
    const [first] = bins;
    if (first === undefined) throw new Error('there is no bin');
    const { multiplier1 } = IMMUTABLES.scale;
    expect(isShown({ lengthE6: first.lengthE6 + 1 })).toBe(false);
    expect(isShown({ token1Scaled: first.token1Scaled + multiplier1 })).toBe(false);
    expect(isShown({ addFeeSellE6: first.addFeeSellE6 + 1 })).toBe(false);
    expect(isShown({}, [0n, ...shares.slice(1)])).toBe(false);
    expect(isAsShown(bins, shares, '0x', IMMUTABLES.scale)).toBe(true);
  });

  it('reports swaps in events, whose words mean what its variant says', async () => {
    const logs = await world.market.setup.chain.client.getLogs({ address: world.traded.pool, fromBlock: 0n });
    const decoded = parseEventLogs({ abi: packedPoolEvents, logs });
    expect(decoded).toHaveLength(logs.length);
    const swaps = decoded.filter((event) => event.eventName === 'Swap').map(({ args }) => packedEvents.Swap(args));
    const bins = decoded
      .filter((event) => event.eventName === 'BinSwapped')
      .map(({ args }) => packedEvents.BinSwapped(args));
    const expected = await swapWords(world.market.setup, world.traded.pool);
    expect(
      swaps.map(({ details, amount0Delta, amount1Delta, platformFees }) => {
        const { bin, ...rest } = readDetails(variant.details, details);
        return [{ ...rest, bin: BigInt(bin) }, [amount0Delta, amount1Delta], [platformFees.high, platformFees.low]];
      }),
    ).toEqual(expected.map(({ details, amounts, platformFees }) => [details, amounts, platformFees]));
    expect(
      bins.map(({ bin, delta0, delta1, fees }) => ({
        bin: BigInt(bin),
        deltas: [delta0, delta1],
        fees: [fees.high, fees.low],
      })),
    ).toEqual(expected.flatMap((swap) => swap.bins));
    const trader = world.market.setup.chain.roles.trader.toLowerCase();
    expect(swaps.map(({ recipient }) => recipient)).toEqual([trader, trader]);
  });

  it('reports settings that only this layout has', async () => {
    const logs = await world.market.setup.chain.client.getLogs({ address: world.traded.pool, fromBlock: 0n });
    const decoded = parseEventLogs({ abi: packedPoolEvents, logs });
    const settings = decoded.flatMap((event): readonly PoolEventOf<'asymmetryUpdated' | 'binFeesUpdated'>[] => {
      if (event.eventName === 'BinAdditionalFeesUpdated') return [packedEvents.BinAdditionalFeesUpdated(event.args)];
      if (event.eventName === 'BidAskRefAsymmetryUpdated') return [packedEvents.BidAskRefAsymmetryUpdated(event.args)];
      return [];
    });
    expect(settings).toEqual([
      { kind: 'asymmetryUpdated', asymmetryX8: 513 },
      { kind: 'binFeesUpdated', bin: -2, addFeeBuyE6: 700, addFeeSellE6: 65_535 },
    ]);
  });
});
