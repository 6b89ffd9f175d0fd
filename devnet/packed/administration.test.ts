import {
  decodeAbiParameters,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseEventLogs,
  zeroHash,
} from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addLiquidity, administer, balanceOf, extsload } from '../actions.ts';
import { staticCall } from '../dev-chain.ts';
import { createPool, evenBins } from '../pools.ts';
import { flatPoolAbi } from '../protocol-abi.ts';
import { packedFactoryEvents, packedLensAbi, packedPoolEvents } from './abi.ts';
import { administerPacked } from './actions.ts';
import { ONE, PackedMarket, quoteAround, refusalOf } from './market.fixture.ts';
import { createPoolWithAsymmetry } from './pools.ts';
import { readPackedState } from './storage.fixture.ts';
import { packedVariant } from './variants.ts';

let market: PackedMarket;

beforeAll(async () => {
  market = await PackedMarket.open(packedVariant('sumOnPrice'));
});

afterAll(() => market.setup.anvil.stop());

test('the asymmetry is set by the admin, up to the maximum, and stored', async () => {
  const { chain, deployment } = market.setup;
  const { owner, curator } = chain.roles;
  const { pool } = await market.fundedPool();
  const set = (value: number) =>
    administerPacked(chain, deployment, {
      from: curator,
      functionName: 'setPoolBidAskRefAsymmetryX8',
      args: [pool, value],
    });
  await set(65_535);
  const logs = await chain.client.getLogs({ fromBlock: await chain.client.getBlockNumber() });
  const events = parseEventLogs({ abi: [...packedPoolEvents, ...packedFactoryEvents], logs });
  expect(events.map(({ eventName }) => eventName)).toEqual([
    'BidAskRefAsymmetryUpdated',
    'PoolBidAskRefAsymmetryUpdated',
  ]);
  expect(await readPackedState(chain, pool, [])).toMatchObject({ asymmetryX8: 65_535n, distanceE6: 0n });
  await administerPacked(chain, deployment, { from: owner, functionName: 'setMaxBidAskRefAsymmetryX8', args: [100] });
  expect(await refusalOf(set(101))).toMatchObject({ name: 'BidAskRefAsymmetryTooHigh' });
  await set(100);
  const byUntrusted = administerPacked(chain, deployment, {
    from: owner,
    functionName: 'setPoolBidAskRefAsymmetryX8',
    args: [pool, 1],
  });
  expect(await refusalOf(byUntrusted)).toMatchObject({ name: 'OnlyPoolAdmin' });
});

test('a moderator pauses and unpauses; simulations still work', async () => {
  const { chain, deployment } = market.setup;
  const { owner, untrusted } = chain.roles;
  const pool = await market.fundedPool();
  const pause = () =>
    administer(chain, deployment, { from: untrusted, functionName: 'protocolPausePool', args: [pool.pool] });
  expect(await refusalOf(pause())).toMatchObject({ name: 'OnlyProtocol' });
  await administerPacked(chain, deployment, { from: owner, functionName: 'setModerator', args: [untrusted, true] });
  await pause();
  expect(await readPackedState(chain, pool.pool, [])).toMatchObject({ pauseLevel: 2n });
  expect(await refusalOf(market.buy(pool, ONE))).toMatchObject({ name: 'PoolPaused' });
  expect(await market.simulatedSale(pool, ONE, quoteAround(200n))).toMatchObject({ name: 'SimulateSwap' });
});

test('collected fees of the protocol go to the fee receiver', async () => {
  const { chain, deployment } = market.setup;
  const { owner, untrusted, feeDestination } = chain.roles;
  const pool = await market.fundedPool();
  await market.buy(pool, 300n * ONE);
  await administerPacked(chain, deployment, { from: owner, functionName: 'setFeeReceiver', args: [untrusted] });
  const before = await balanceOf(chain, market.token1, feeDestination);
  await administer(chain, deployment, { from: owner, functionName: 'collectPoolFees', args: [pool.pool] });
  // Spread 2 to 1 for the protocol, and all of the notional fee.
  const toAdmin = (await balanceOf(chain, market.token1, feeDestination)) - before;
  expect(toAdmin).toBeGreaterThan(0n);
  expect(await balanceOf(chain, market.token1, untrusted)).toBeGreaterThan(2n * toAdmin);
  expect(await readPackedState(chain, pool.pool, [])).toMatchObject({ notional0: 0n, notional1: 0n });
});

test('a new pool keeps to the limits of bin distances', async () => {
  const { chain, deployment } = market.setup;
  const provider = await market.deployProvider();
  await administerPacked(chain, deployment, {
    from: chain.roles.owner,
    functionName: 'setBinDistanceLimits',
    args: [-40_000n, 49_999n],
  });
  const creation = createPool(chain, deployment, market.spec(provider));
  expect(await refusalOf(creation)).toMatchObject({ name: 'InvalidParameters' });
  await administerPacked(chain, deployment, {
    from: chain.roles.owner,
    functionName: 'setBinDistanceLimits',
    args: [-40_000n, 50_000n],
  });
  await createPool(chain, deployment, market.spec(provider));
  await administerPacked(chain, deployment, {
    from: chain.roles.owner,
    functionName: 'setBinDistanceLimits',
    args: [-999_999n, 8_388_607n],
  });
});

test('bins lie beyond the range of an int8', async () => {
  const { chain, deployment } = market.setup;
  const provider = await market.deployProvider();
  const pool = await createPool(chain, deployment, market.spec(provider, { bins: evenBins(-140, 140, 100) }));
  await administerPacked(chain, deployment, {
    from: chain.roles.curator,
    functionName: 'setPoolBinAdditionalFees',
    args: [pool, 135, 7, 8],
  });
  const bins = [-135, 0, 135].map((bin) => ({ bin, shares: ONE }));
  await addLiquidity(chain, deployment, { pool, owner: chain.roles.provider, bins });
  await market.buy({ pool, provider }, (3n * ONE) / 2n);
  expect(await readPackedState(chain, pool, [])).toMatchObject({ bin: 135n, distanceE6: 13_500n });
  await market.sell({ pool, provider }, 2n * ONE);
  expect(await readPackedState(chain, pool, [])).toMatchObject({ bin: -135n, distanceE6: -13_500n });
  const { bins: stored } = await readPackedState(chain, pool, [135]);
  const { balance0, balance1, shares } = stored.get(135) ?? { balance0: 0n, balance1: 0n, shares: 0n };
  const data = encodeFunctionData({ abi: packedLensAbi, functionName: 'binStates', args: [pool, [135]] });
  const answer = await staticCall(chain, { to: deployment.dataProvider, data });
  const lens = decodeFunctionResult({ abi: packedLensAbi, functionName: 'binStates', data: answer.data });
  expect(lens).toEqual([[balance0], [balance1], [100], [7], [8], [shares]]);
});

test('a pool may be created with an asymmetry, which no event contains', async () => {
  const { chain, deployment } = market.setup;
  await administerPacked(chain, deployment, {
    from: chain.roles.owner,
    functionName: 'setMaxBidAskRefAsymmetryX8',
    args: [77],
  });
  const spec = market.spec(await market.deployProvider());
  const creation = createPoolWithAsymmetry(chain, deployment, spec, 78);
  expect(await refusalOf(creation)).toMatchObject({ name: 'BidAskRefAsymmetryTooHigh' });
  const pool = await createPoolWithAsymmetry(chain, deployment, spec, 77);
  expect(await readPackedState(chain, pool, [])).toMatchObject({ asymmetryX8: 77n });
  const logs = await chain.client.getLogs({ fromBlock: await chain.client.getBlockNumber() });
  expect(parseEventLogs({ abi: [...packedPoolEvents, ...packedFactoryEvents], logs })).toEqual([]);
});

test('storage is read in three forms', async () => {
  const { chain } = market.setup;
  const { pool } = await market.fundedPool();
  const slots = [0n, 1n, 2n].map((slot) => numberToHex(slot, { size: 32 }));
  const [first = zeroHash] = slots;
  const load = async (data: Hex) => (await staticCall(chain, { to: pool, data })).data;
  const forms = { abi: flatPoolAbi, functionName: 'extsload' } as const;
  const words = await extsload(chain, pool, slots);
  expect(await load(encodeFunctionData({ ...forms, args: [first] }))).toBe(words[0]);
  const range = await load(encodeFunctionData({ ...forms, args: [first, 3n] }));
  expect(decodeAbiParameters([{ type: 'bytes32[]' }], range)[0]).toEqual(words);
  expect(words.filter((word) => word === zeroHash)).toHaveLength(1);
});
