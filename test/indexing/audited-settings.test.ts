import { type Address, encodeFunctionData, numberToHex } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { allowlistAdminAbi, stopLossAdminAbi, velocityAdminAbi } from '../../devnet/abi.ts';
import { swapCall } from '../../devnet/actions.ts';
import { connectDevChain, type DevChain, send, submit } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import { type PackedDeployment, packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { deployQuoteProvider } from '../../devnet/packed/providers.ts';
import {
  createPool,
  depositAllowlistExtension,
  evenBins,
  stopLossExtension,
  swapAllowlistExtension,
  velocityExtension,
} from '../../devnet/pools.ts';
import { stockTokens } from '../../devnet/random-pool.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import type { GuardRole } from '../../protocol/layout.ts';
import { backfill, startBackfillWorld } from '../backfill/backfill-world.ts';
import { startedWorld } from '../harness/open-world.ts';
import { type AuditRow, auditPools, differencesOf, suspectedOf } from './audit-pools.ts';
import { indexerStarter, type RunningIndexer, waitUntilIndexed } from './indexer-process.ts';

/** Pools of both layouts with allowlists and guards, on a chain whose node leaves the logs of these out. */

const LIMIT_MS = 180_000;
/** More blocks than an index may undo, twice. */
const FINAL = '0x46';
const CHAIN = 31_338;

const world = startedWorld(() => startBackfillWorld(4, [CHAIN]));
const startIndexer = indexerStarter();
let indexer: RunningIndexer;
let chain: DevChain;
/** Flat pools: with an allowlist, and with guards. */
let flat: Address;
let guarded: Address;
/** With both. */
let packed: Address;

function followed() {
  const found = world.chains.find(({ chainId }) => chainId === CHAIN);
  const ofFlat = found?.scenario.pools.find(({ name }) => name === 'deposit-allowlist');
  const other = found?.scenario.pools.find((pool) => pool.generation === 'flat' && pool !== ofFlat && pool.busy);
  const ofPacked = found?.scenario.packed;
  if (!found || !ofPacked || !ofFlat || !other) throw new Error('no such chain');
  const { scenario, url } = found;
  const { deployment, tokens } = scenario;
  return { url, pool: ofFlat.address, other: other.address, deployment, tokens, ofPacked };
}

beforeAll(async () => {
  const { url, pool, ofPacked } = followed();
  chain = await connectDevChain(url);
  flat = pool.toLowerCase() as Address;
  guarded = await createGuardedPool(chain);
  packed = await createRestrictedPool(chain, ofPacked);
  for (const each of world.chains) await request(each.url, 'anvil_mine', [FINAL]);
}, LIMIT_MS);

/** Of a stop loss, which its admin may change at once. */
const GUARDS = { drawdownE6: 90_000, timelockSecs: 0 };
const MAX_CHANGE_E18 = 10n ** 16n;

/** A flat pool with both guards. */
async function createGuardedPool(on: DevChain): Promise<Address> {
  const { deployment, tokens } = followed();
  const [plan] = TRADING_POOLS;
  if (plan === undefined) throw new Error('no plan');
  const { finish: _, ...quiet } = plan;
  const extensions = () => [
    stopLossExtension(deployment, { ...GUARDS, decayPerSecondE8: 3 }),
    velocityExtension(deployment, MAX_CHANGE_E18),
  ];
  const { address } = await buildPool({ chain: on, deployment, tokens }, { ...quiet, extensions }, 901);
  return address.toLowerCase() as Address;
}

/** A packed pool with both guards, in which one account may deposit and one may swap. */
async function createRestrictedPool(on: DevChain, deployment: PackedDeployment): Promise<Address> {
  const [token0, token1] = (await stockTokens(on, deployment)).get(18) ?? [];
  if (token0 === undefined || token1 === undefined) throw new Error('no tokens');
  const one = 1n << 64n;
  const quote = { bidX64: one, askX64: one, referenceX64: one };
  return createPool(on, deployment, {
    token0,
    token1,
    priceProvider: await deployQuoteProvider(on, deployment, { token0, token1 }, quote),
    bins: evenBins(-1, 1, 1_000),
    salt: numberToHex(900, { size: 32 }),
    initialAmount0PerShareE18: one,
    initialAmount1PerShareE18: one,
    extensions: [
      depositAllowlistExtension(deployment, [on.roles.provider]),
      swapAllowlistExtension(deployment, [on.roles.trader]),
      packedStopLossExtension(deployment, { ...GUARDS, decayPerSecondE18: 3n }),
      velocityExtension(deployment, MAX_CHANGE_E18),
    ],
  });
}

async function catchUp(): Promise<void> {
  const heads = await Promise.all(world.chains.map(async ({ chainId, head }) => [chainId, await head()] as const));
  await waitUntilIndexed(indexer, new Map(heads), LIMIT_MS);
}

/** Compares what is due this long after the last comparison, thrice, after a block each time. */
async function audit(age = '1 minute'): Promise<readonly AuditRow[]> {
  let rows: readonly AuditRow[] = [];
  for (let times = 0; times < 3; times += 1) {
    await world.database.query('UPDATE operator.index_audit SET tried_at = now() - $1::interval', [age]);
    rows = await auditPools(world.database, world.chainsFile, CHAIN, { url: followed().url, asCapture: true });
    await request(followed().url, 'anvil_mine', ['0x1']);
    await catchUp();
  }
  return rows;
}

/** Lets the price of a pool change by so much of itself in a block. */
const limitTo = (pool: Address, maxChangeE18: bigint) =>
  encodeFunctionData({ abi: velocityAdminAbi, functionName: 'setMaxChangePerBlock', args: [pool, maxChangeE18] });

const setting = (to: Address, data: `0x${string}`) => ({ from: chain.roles.curator, to, data });

test('settings of allowlists and guards agree with the chain, in both layouts', { timeout: LIMIT_MS }, async () => {
  // One that is given its schema repairs nothing by itself.
  indexer = await startIndexer({ ...world, schema: 'onchain_1' });
  await catchUp();
  const rows = await audit();
  expect(differencesOf(rows)).toEqual(new Map());
  const shownOf = (pool: string) => rows.find(({ address }) => address === pool)?.shown;
  for (const pool of [flat, packed]) expect(shownOf(pool), pool).toContain('allowedAccounts');
  for (const pool of [guarded, packed])
    expect(shownOf(pool), pool).toEqual(expect.arrayContaining(['stopLossSettings', 'velocityLimits']));
});

test('a pool is compared again when a setting of it has become final', { timeout: LIMIT_MS }, async () => {
  const abi = allowlistAdminAbi;
  const before = await audit();
  const { trafficProvider } = chain.roles;
  const data = encodeFunctionData({ abi, functionName: 'setAllowedToDeposit', args: [flat, trafficProvider, false] });
  const { deployment, url } = followed();
  await send(chain, setting(deployment.depositAllowlist, data));
  await send(chain, setting(deployment.priceVelocityGuard, limitTo(guarded, 7n)));
  await request(url, 'anvil_mine', [FINAL]);
  await catchUp();
  const rows = await audit();
  const pools = rows.filter(({ address, factory }) => address !== factory);
  const compared = pools.filter(({ address, audited_block }) =>
    before.every((row) => row.address !== address || row.audited_block !== audited_block),
  );
  expect(compared.map(({ address }) => address).sort()).toEqual([flat, guarded].sort());
  expect(differencesOf(rows)).toEqual(new Map());
});

/** What changes the settings of both guards of a pool. */
function changedGuards(pool: Address, { stopLoss, priceVelocityGuard }: Pick<PackedDeployment, GuardRole>) {
  const abi = stopLossAdminAbi;
  return [
    setting(stopLoss, encodeFunctionData({ abi, functionName: 'proposeDrawdown', args: [pool, 5] })),
    setting(stopLoss, encodeFunctionData({ abi, functionName: 'executeDrawdown', args: [pool] })),
    setting(priceVelocityGuard, limitTo(pool, 2n ** 63n)),
  ];
}

test('settings that a node left out are found in their pools, which have no other event, and repaired', {
  timeout: LIMIT_MS,
}, async () => {
  const { deployment, ofPacked, other, url } = followed();
  const { trafficProvider, trader } = chain.roles;
  const abi = allowlistAdminAbi;
  const lists = [deployment.depositAllowlist, ofPacked.swapAllowlist] as const;
  const hiding = [deployment, ofPacked].flatMap(
    ({ depositAllowlist, swapAllowlist, stopLoss, priceVelocityGuard }): string[] => [
      depositAllowlist,
      swapAllowlist,
      stopLoss,
      priceVelocityGuard,
    ],
  );
  let left = 0;
  world.secondNode.misbehave({
    kind: 'otherLogs',
    of: (logs) => {
      const given = logs.filter(({ address }) => !hiding.includes(address.toLowerCase()));
      // Of a block without logs, Ponder asks for them again.
      if (given.length === 0) return logs;
      left += logs.length - given.length;
      return given;
    },
  });
  // In one block with a swap in another pool.
  await request(url, 'evm_setAutomine', [false]);
  const changed = [
    setting(lists[0], encodeFunctionData({ abi, functionName: 'setAllowAllDepositors', args: [flat, true] })),
    setting(
      lists[0],
      encodeFunctionData({ abi, functionName: 'setAllowedToDeposit', args: [flat, trafficProvider, true] }),
    ),
    setting(lists[1], encodeFunctionData({ abi, functionName: 'setAllowedToSwap', args: [packed, trader, false] })),
    ...changedGuards(guarded, deployment),
    ...changedGuards(packed, ofPacked),
  ];
  const swap = swapCall(chain, deployment, { pool: other, zeroForOne: true, amountSpecified: 10n ** 12n });
  for (const transaction of [...changed, swap]) await submit(chain, transaction);
  await request(url, 'anvil_mine', ['0x1']);
  await request(url, 'evm_setAutomine', [true]);
  await request(url, 'anvil_mine', [FINAL]);
  await catchUp();
  world.secondNode.misbehave(null);
  expect(left).toBeGreaterThan(0);
  // The index has no event of these pools since: they are not due.
  expect(differencesOf(await audit())).toEqual(new Map());
  expect(differencesOf(await audit('2 days'))).toEqual(
    new Map([
      [flat, ['allowAll', 'allowedAccounts']],
      [guarded, ['stopLossSettings', 'velocityLimits']],
      [packed, ['allowedAccounts', 'stopLossSettings', 'velocityLimits']],
    ]),
  );
  const command = backfill(world, ['--repair', '--json']);
  expect(await command.ended, command.stderr()).toBe(0);
  const [{ repaired, repairedSettings } = {}] = command.lines('end');
  const of = (pool: Address, contract: Address, settings: readonly string[], account: Address | null = null) => ({
    chainId: CHAIN,
    pool,
    contract,
    account: account?.toLowerCase() ?? null,
    settings,
  });
  const guardsOf = (pool: Address, { stopLoss, priceVelocityGuard }: Pick<PackedDeployment, GuardRole>) => [
    of(pool, stopLoss, ['drawdown_e6']),
    of(pool, priceVelocityGuard, ['max_change_per_block_e18']),
  ];
  const bySetting = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  expect(repaired).toEqual([]);
  expect((repairedSettings as object[]).toSorted(bySetting)).toEqual(
    [
      of(flat, lists[0], ['allow_all']),
      of(flat, lists[0], ['allowed'], trafficProvider),
      of(packed, lists[1], ['allowed'], trader),
      ...guardsOf(guarded, deployment),
      ...guardsOf(packed, ofPacked),
    ].toSorted(bySetting),
  );
  expect(suspectedOf(await auditPools(world.database, world.chainsFile, CHAIN, { url }))).toEqual([]);
  const { rows } = await world.database.query('SELECT pool FROM live.allowlist WHERE allow_all AND chain_id = $1', [
    CHAIN,
  ]);
  expect(rows).toEqual([{ pool: flat }]);
  const guards = await world.database.query(
    `SELECT pool, drawdown_e6, timelock_secs, max_change_per_block_e18 FROM live.stop_loss JOIN live.price_velocity
     USING (chain_id, pool) WHERE chain_id = $1 ORDER BY pool`,
    [CHAIN],
  );
  const settings = { drawdown_e6: '5', timelock_secs: '0', max_change_per_block_e18: String(2n ** 63n) };
  expect(guards.rows).toEqual([guarded, packed].sort().map((pool) => ({ pool, ...settings })));
});
