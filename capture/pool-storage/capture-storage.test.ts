import { type Address, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DeploymentConfig } from '../../config/chains-schema.ts';
import { balanceOf } from '../../devnet/actions.ts';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { createPackedPool, type PackedPool } from '../../devnet/packed/random-pool.fixture.ts';
import { readPackedState } from '../../devnet/packed/storage.fixture.ts';
import { PACKED_VARIANTS } from '../../devnet/packed/variants.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { observeSwapsOf, ordinaryRecipe } from '../../test/packed/observed-swaps.ts';
import { chainConfig } from '../../test/quotes/quote-world.ts';
import { type CapturedSetup, CHAIN, captureStorage, startCapturedSetup } from '../packed-setup.fixture.ts';

let captured: CapturedSetup;
let setup: CapturedSetup['setup'];
let database: CapturedSetup['database'];
let pools: readonly PackedPool[];

beforeAll(async () => {
  captured = await startCapturedSetup(PACKED_VARIANTS[0]);
  ({ setup, database } = captured);
  const made: PackedPool[] = [];
  for (const decimals of [6, 18, 6, 6]) made.push(await createPackedPool(setup, ordinaryRecipe(decimals, 18)));
  pools = made;
  await Promise.all(pools.map(captured.seed));
});

afterAll(() => captured?.stop());

async function capture(enabled = true, url = setup.anvil.url): Promise<number> {
  const { poolFactory } = setup.deployment;
  const flat = DeploymentConfig.parse({ contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory });
  const chain = chainConfig(CHAIN, [url], { deployments: [{ ...flat, layout: 'packed', enabled }] });
  return captureStorage(database, chain);
}

async function stored(address: Address) {
  const { rows } = await database.query('SELECT * FROM read_model.pool_storage WHERE pool = $1', [address]);
  return rows[0];
}

const burner = async (address: Address) =>
  setup.chain.client.setCode({ address, bytecode: loadArtifact('GasHog').deployedBytecode });

test('cursor, totals and accrued fees of every pool are stored with their block, and counted when its balances cover them', async () => {
  const { chain } = setup;
  const [traded, idle, broken, robbed] = pools;
  if (!traded || !idle || !broken || !robbed) throw new Error('no pools');
  for (const pool of [traded, robbed]) expect((await observeSwapsOf(setup, pool, 3)).length).toBe(3);
  await burner(broken.address);
  // A total of twice what the pool owns.
  const value = `0x${(2n * (await balanceOf(chain, robbed.token0, robbed.address)) * 10n ** 12n).toString(16).padStart(64, '0')}`;
  await chain.client.setStorageAt({ address: robbed.address, index: 1, value: value as `0x${string}` });
  expect(await capture()).toBe(4);

  const block = await chain.client.getBlock();
  for (const { address, token0, token1 } of [traded, idle]) {
    const state = await readPackedState(chain, address, []);
    expect(await stored(address)).toEqual({
      chain_id: String(CHAIN),
      pool: address,
      block_number: String(block.number),
      block_hash: block.hash,
      block_timestamp: String(block.timestamp),
      cur_bin_idx: Number(state.bin),
      cur_pos_in_bin: String(state.position),
      cur_bin_dist_from_provided_price_e6: Number(state.distanceE6),
      total0_scaled: String(state.total0),
      total1_scaled: String(state.total1),
      notional_fee0_scaled: String(state.notional0),
      notional_fee1_scaled: String(state.notional1),
      balance0_raw: String(await balanceOf(chain, token0, address)),
      balance1_raw: String(await balanceOf(chain, token1, address)),
      refusal: null,
      captured_at: expect.any(Date),
    });
  }
  expect((await stored(traded.address)).notional_fee1_scaled).not.toBe('0');
  expect(await stored(broken.address)).toMatchObject({
    refusal: 'the storage was not read',
    total0_scaled: null,
    cur_bin_idx: null,
    balance0_raw: String(await balanceOf(chain, broken.token0, broken.address)),
  });
  expect(await stored(robbed.address)).toMatchObject({ refusal: 'totals and fees of token0 exceed the balance' });
});

test('a token that does not report a balance makes the readings of its pools not count', async () => {
  const [, idle] = pools;
  if (!idle) throw new Error('no pool');
  const code = await setup.chain.client.getCode({ address: idle.token0 });
  await burner(idle.token0);
  await capture();
  expect(await stored(idle.address)).toMatchObject({
    refusal: 'a token did not report the balance of the pool',
    balance0_raw: null,
    cur_bin_idx: 0,
  });
  await setup.chain.client.setCode({ address: idle.token0, bytecode: code ?? '0x' });
  await capture();
  expect(await stored(idle.address)).toMatchObject({ refusal: null });
});

test('a read at an older block never replaces one at a newer block', async () => {
  const [, idle] = pools;
  if (!idle) throw new Error('no pool');
  const older = await setup.chain.client.getBlockNumber();
  await setup.chain.client.mine({ blocks: 1 });
  await capture();
  const behind = await startRpcProxy(setup.anvil.url);
  behind.misbehave({ kind: 'staleHead', block: numberToHex(older) });
  expect(await capture(true, behind.url)).toBe(4);
  await behind.stop();
  expect(await stored(idle.address)).toMatchObject({ block_number: String(older + 1n) });
});

test('a pool that a reorganisation undid, and those of a factory that is switched off, are forgotten', async () => {
  const [removed, kept] = pools;
  if (!removed || !kept) throw new Error('no pools');
  await database.query(`DELETE FROM ${ONCHAIN_SCHEMA}.pool WHERE address = $1`, [removed.address]);
  expect(await capture()).toBe(3);
  expect(await stored(removed.address)).toBeUndefined();
  expect(await stored(kept.address)).toBeDefined();
  expect(await capture(false)).toBe(0);
  expect(await stored(kept.address)).toBeUndefined();
});
