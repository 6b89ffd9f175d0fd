import { readFile, writeFile } from 'node:fs/promises';
import type { Address } from 'viem';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { swap } from '../../devnet/actions.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { connectNode, request } from '../../devnet/json-rpc.ts';
import { LOG_FAULTS, type LogFault, ofContracts } from '../../devnet/log-faults.ts';
import type { NodeLog } from '../../devnet/misbehaviour.ts';
import { packedSwap } from '../../devnet/packed/actions.ts';
import { createPackedPool } from '../../devnet/packed/random-pool.fixture.ts';
import { stockTokens } from '../../devnet/random-pool.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import type { RepairedLog } from '../../indexer/backfill/repair.ts';
import { startBackfillWorld } from '../backfill/backfill-world.ts';
import { openWorld } from '../harness/open-world.ts';
import { ordinaryRecipe } from '../packed/observed-swaps.ts';
import { auditPools, differencesOf, suspectedOf } from './audit-pools.ts';
import { readChainPools } from './chain-pools.ts';
import { inOneBlock } from './in-one-block.ts';
import { connectExact, readIndexedPools } from './indexed-pools.ts';
import { indexerStarter, type RunningIndexer, waitUntilIndexed } from './indexer-process.ts';
import { poolsOf, unlikeLogs } from './unlike-logs.ts';

/** Two chains whose first node gives other logs than the chain has. The second chain has another node besides. */

const LIMIT_MS = 120_000;
/** More blocks than an index may undo, twice. */
const FINAL = '0x46';
const [ONE_NODE, TWO_NODES] = [31_337, 31_338];
/** From finality to a difference that counts. */
const FOUND_MS = 120_000;
/** A pool is compared a minute after its last comparison. */
const COMPARED_MS = 60_000;
/** Capture compares this often. */
const RUN_MS = 5_000;
const world = openWorld(async (ends) => {
  const started = ends.adopt(await startBackfillWorld(40), ({ stop }) => stop());
  const [one, two] = started.chains;
  if (one === undefined || two === undefined) throw new Error('no chains');
  const onlyNode = ends.adopt(await startRpcProxy(one.url), ({ stop }) => stop());
  const nodes = new Map([
    [ONE_NODE, onlyNode],
    [TWO_NODES, started.secondNode],
  ]);
  const file = JSON.parse(await readFile(started.chainsFile, 'utf8'));
  const urlsOf = new Map([
    [ONE_NODE, [onlyNode.url]],
    [TWO_NODES, [started.secondNode.url, two.url]],
  ]);
  const chains = file.chains.map((chain: { chainId: number }) => ({ ...chain, rpcUrls: urlsOf.get(chain.chainId) }));
  await writeFile(started.chainsFile, JSON.stringify({ ...file, chains }));
  return { ...started, nodes };
});
const startIndexer = indexerStarter();
let indexer: RunningIndexer;
/** Of each chain: pairs of a flat and a packed pool. */
const pairs = new Map<number, Address[][]>();
/** Contracts of the first chain whose logs its node left out. */
const leftOut = new Map<Address, NodeLog[]>();
/** The factory whose log of a new pool was left out. */
let factory: Address;
/** What differs on the first chain. */
let found: readonly string[];

beforeAll(async () => {
  for (const { chainId } of world.chains) {
    const made: Address[][] = [];
    for (const salt of [700, 701, 702, 703, 704, 705]) made.push(await makePair(chainId, salt));
    pairs.set(chainId, made);
    for (const pair of pairs.get(chainId) ?? []) await trade(chainId, pair, 3);
    await mine(chainId, FINAL);
  }
}, LIMIT_MS);

afterEach(behave);

function chainOf(chainId: number) {
  const chain = world.chains.find((each) => each.chainId === chainId);
  const node = world.nodes.get(chainId);
  if (chain === undefined || node === undefined) throw new Error('no such chain');
  return { ...chain, node };
}

const pairOf = (chainId: number, place: number): Address[] => pairs.get(chainId)?.[place] ?? [];
const mine = (chainId: number, blocks: string) => request(chainOf(chainId).url, 'anvil_mine', [blocks]);

async function makePair(chainId: number, salt: number): Promise<Address[]> {
  const { url, scenario } = chainOf(chainId);
  const chain = await connectDevChain(url);
  const { deployment, tokens, packed } = scenario;
  const [plan] = TRADING_POOLS;
  if (plan === undefined || packed === undefined) throw new Error('no plan');
  const { finish: _, ...quiet } = plan;
  const flat = await buildPool({ chain, deployment, tokens }, quiet, salt);
  const shelf = await stockTokens(chain, packed);
  const other = await createPackedPool({ chain, deployment: packed, shelf }, ordinaryRecipe(6, 18));
  return [flat.address.toLowerCase() as Address, other.address.toLowerCase() as Address];
}

/** Swaps in a flat and a packed pool alternately, each time in a block of its own. */
async function trade(chainId: number, [flat, packed]: readonly Address[], times: number, isPackedFirst = false) {
  const { url, scenario } = chainOf(chainId);
  const chain = await connectDevChain(url);
  if (flat === undefined || packed === undefined || scenario.packed === undefined) throw new Error('no pools');
  const { packed: deployment } = scenario;
  const swaps = [
    () => swap(chain, scenario.deployment, { pool: flat, zeroForOne: true, amountSpecified: 10n ** 12n }),
    () => packedSwap(chain, deployment, { pool: packed, zeroForOne: true, amountSpecified: 10n ** 6n }),
  ];
  for (let time = 0; time < times; time += 1)
    for (const each of isPackedFirst ? swaps.toReversed() : swaps) await each();
}

/** Lets the first node of a chain give other logs. @returns says whether it has, since then */
function misbehave(chainId: number, fault: LogFault): () => boolean {
  let hasGiven = false;
  const of = (logs: readonly NodeLog[]) => {
    const given = fault(logs);
    if (JSON.stringify(given) !== JSON.stringify(logs)) hasGiven = true;
    if (chainId === ONE_NODE) {
      const kept = new Set(given.map(nameOf));
      for (const log of logs.filter((each) => !kept.has(nameOf(each)))) noteLeftOut(log);
    }
    return given;
  };
  chainOf(chainId).node.misbehave({ kind: 'otherLogs', of });
  return () => hasGiven;
}

/** A fault that leaves logs of a pair of pools out, another one that does of another pair. */
function withLess(
  chainId: number,
  { leavesOut, truncates }: { readonly leavesOut: number; readonly truncates: number },
): LogFault {
  const faults = [
    ofContracts(pairOf(chainId, leavesOut), LOG_FAULTS.leavesOut),
    ofContracts(pairOf(chainId, truncates), LOG_FAULTS.truncates),
  ];
  return (logs) => faults.reduce((given, fault) => fault(given), logs);
}

const nameOf = ({ logIndex, transactionHash }: NodeLog) => `${transactionHash} ${logIndex}`;

function noteLeftOut(log: NodeLog): void {
  const address = log.address.toLowerCase() as Address;
  leftOut.set(address, [...(leftOut.get(address) ?? []), log]);
}

function behave(): void {
  for (const node of world.nodes.values()) node.misbehave(null);
}

async function catchUp(): Promise<void> {
  const heads = await Promise.all(world.chains.map(async ({ chainId, head }) => [chainId, await head()] as const));
  await waitUntilIndexed(indexer, new Map(heads), LIMIT_MS);
}

/** Pools and factories that differ at the end of four comparisons, each after another block. */
async function differing(chainId: number): Promise<readonly string[]> {
  const { url } = chainOf(chainId);
  const audit = () => auditPools(world.database, world.chainsFile, chainId, { url });
  for (let times = 0; times < 3; times += 1) {
    await audit();
    await mine(chainId, '0x1');
    await catchUp();
  }
  return [...differencesOf(await audit()).keys()].sort();
}

/**
 * What differs when nothing else does, as capture finds it. The time between its runs is counted, not waited for. What
 * runs take does not count: it can only let pools be compared sooner.
 */
async function expectFound(chainId: number, differing: readonly string[]): Promise<void> {
  const { url } = chainOf(chainId);
  let countedMs = 0;
  const letPass = async (ms: number) => {
    countedMs += ms;
    await world.database.query(
      `UPDATE operator.index_audit SET tried_at = tried_at - make_interval(secs => $2) WHERE chain_id = $1`,
      [chainId, ms / 1_000],
    );
  };
  await letPass(COMPARED_MS);
  for (;;) {
    const found = await auditPools(world.database, world.chainsFile, chainId, { url, asCapture: true });
    const addresses = [...differencesOf(found).keys()].sort();
    if (`${addresses}` === `${differing}`) return;
    if (countedMs >= FOUND_MS) expect.fail(`after ${countedMs} ms: ${addresses}`);
    await letPass(RUN_MS);
    await mine(chainId, '0x1');
    await catchUp();
  }
}

const logsUnlike = (chainId: number) => unlikeLogs(world.database, chainOf(chainId));
const poolsUnlike = async (chainId: number) => poolsOf(await logsUnlike(chainId));

test('history: pools and a factory whose logs the only node left out are found, whatever else is wrong with its logs; of two nodes, the other one fills in', {
  timeout: LIMIT_MS,
}, async () => {
  factory = chainOf(ONE_NODE).scenario.deployment.poolFactory.toLowerCase() as Address;
  const [hidden = ''] = pairOf(ONE_NODE, 2);
  const isOfHidden = (log: NodeLog) => log.address === factory && JSON.stringify(log).includes(hidden.slice(2));
  const lessPools = withLess(ONE_NODE, { leavesOut: 0, truncates: 4 });
  // Ponder takes no log that is not of its block: it asks again.
  let moves = 3;
  misbehave(ONE_NODE, (logs) => {
    if (logs.length > 0 && moves > 0) {
      moves -= 1;
      return LOG_FAULTS.moves(logs);
    }
    const given = lessPools(logs).filter((log) => !isOfHidden(log));
    return LOG_FAULTS.doubles(LOG_FAULTS.reorders(given));
  });
  const lessOfTwo = withLess(TWO_NODES, { truncates: 0, leavesOut: 4 });
  const hasLied = misbehave(TWO_NODES, (logs) => LOG_FAULTS.doubles(LOG_FAULTS.reorders(lessOfTwo(logs))));
  await postponeRepairs();
  indexer = await startIndexer(world);
  behave();
  await catchUp();
  expect(leftOut.get(factory)?.length).toBeGreaterThan(0);
  expect(moves).toBe(0);
  found = [...pairOf(ONE_NODE, 0), ...pairOf(ONE_NODE, 4), factory].sort();
  await expectFound(ONE_NODE, found);
  expect(await poolsUnlike(ONE_NODE)).toEqual([...pairOf(ONE_NODE, 0), ...pairOf(ONE_NODE, 4), hidden].sort());
  const unlike = await poolsUnlike(TWO_NODES);
  expect(await differing(TWO_NODES)).toEqual(unlike);
  // It moved logs, which their blocks showed.
  await expect.poll(() => named(ONE_NODE)).toEqual(['rpcUrls[0]']);
  // The other node may have given all. Answers come without a comparison when it has enough to do: then pools differ.
  if (hasLied() && unlike.length === 0) await expect.poll(() => named(TWO_NODES)).toEqual(['rpcUrls[0]']);
  else expect([[], ['rpcUrls[0]']]).toContainEqual(await named(TWO_NODES));
});

/** Nodes of a chain that gave wrong logs. */
async function named(chainId: number): Promise<readonly string[]> {
  const { rows } = await world.database.query('SELECT node FROM operator.log_fault WHERE chain_id = $1', [chainId]);
  return rows.map(({ node }) => node);
}

/** New blocks of both chains have four swaps of a pair, while their first nodes give other logs. */
async function tradeDuring(kind: keyof typeof LOG_FAULTS, place: number): Promise<void> {
  const [hasGiven] = world.chains.map(({ chainId }) => misbehave(chainId, LOG_FAULTS[kind]));
  for (const isPackedFirst of [false, true])
    for (const { chainId, url } of world.chains)
      await inOneBlock(url, () => trade(chainId, pairOf(chainId, place), 2, isPackedFirst));
  // Higher than the blocks that were taken back: an index at this height has read those of the swaps.
  for (const { chainId } of world.chains) await mine(chainId, '0x8');
  // The other chain's node may not be asked now.
  await vi.waitUntil(() => hasGiven?.());
}

test('following: logs that come twice, in another order or of another block do no harm; these are named', {
  timeout: LIMIT_MS,
}, async () => {
  const before = await poolsUnlike(ONE_NODE);
  await world.database.query('DELETE FROM operator.log_fault WHERE chain_id = $1', [ONE_NODE]);
  for (const kind of ['reorders', 'doubles', 'moves'] as const) {
    await tradeDuring(kind, 1);
    behave();
    await catchUp();
    if (kind !== 'moves') expect(await named(ONE_NODE)).toEqual([]);
  }
  await expect.poll(() => named(ONE_NODE)).toEqual(['rpcUrls[0]']);
  expect(await poolsUnlike(ONE_NODE)).toEqual(before);
});

test('following: pools are found of whose logs the only node left a part out, and no others, when all is final', {
  timeout: LIMIT_MS,
}, async () => {
  const before = await poolsUnlike(ONE_NODE);
  const faults = [
    ['leavesOut', 3],
    ['truncates', 5],
  ] as const;
  for (const [kind, place] of faults) {
    await tradeDuring(kind, place);
    await catchUp();
    behave();
  }
  for (const { chainId } of world.chains) await mine(chainId, FINAL);
  await catchUp();
  const left = faults.flatMap(([, place]) => pairOf(ONE_NODE, place));
  expect(await poolsUnlike(ONE_NODE)).toEqual([...before, ...left].sort());
  found = [...found, ...left].sort();
  await expectFound(ONE_NODE, found);
  await expectFound(TWO_NODES, await poolsUnlike(TWO_NODES));
});

/** The indexer repairs nothing for ten minutes after a backfill began. */
async function postponeRepairs(): Promise<void> {
  await world.database.query(
    `INSERT INTO operator.backfill (schema, refetched_chains, begun_at, served_at)
     VALUES ('onchain_0', '{}', now() + interval '1 hour', now())`,
  );
}

test('the running indexer repairs by itself what lastingly differs, once, and says what was missing', {
  timeout: LIMIT_MS,
}, async () => {
  const [missing, others] = [await logsUnlike(ONE_NODE), await logsUnlike(TWO_NODES)];
  // What was compared twice alone does not last yet.
  for (const { chainId, url } of world.chains) await auditPools(world.database, world.chainsFile, chainId, { url });
  await world.database.query(`UPDATE operator.backfill SET begun_at = now() - interval '11 minutes'`);
  expect(await indexer.ended).toBe('exit code 75');
  const line = indexer
    .recentOutput()
    .split('\n')
    .find((each) => each.includes('the repair of the index has ended'));
  const { repaired, faultyNodes, schema } = JSON.parse(line ?? '{}');
  // The only node left logs out as well, which nothing shows: it is named because it moved some.
  const chainIds = others.length > 0 ? [ONE_NODE, TWO_NODES] : [ONE_NODE];
  expect(faultyNodes).toEqual(chainIds.map((chainId) => ({ chainId, node: 'rpcUrls[0]' })));
  const named = (chainId: number) =>
    (repaired as readonly RepairedLog[])
      .filter((log) => log.chainId === chainId && log.logIndex !== null)
      .map(({ change, pool, blockNumber, logIndex }) => [change, pool, blockNumber, logIndex].join(' '));
  // The report has no more than a hundred.
  expect(missing.length + others.length).toBeLessThan(100);
  expect(named(ONE_NODE).sort()).toEqual(missing.map((name) => `missing ${name}`));
  expect(named(TWO_NODES).sort()).toEqual(others.map((name) => `missing ${name}`));
  const created = (repaired as readonly RepairedLog[]).filter(({ logIndex }) => logIndex === null);
  const [hidden] = pairOf(ONE_NODE, 2);
  expect(created.map(({ change, chainId, pool }) => [change, chainId, pool])).toEqual([['missing', ONE_NODE, hidden]]);
  for (const { chainId } of world.chains) await expectWhole(chainId);
  const { rows } = await world.database.query(`SELECT schema FROM operator.backfill WHERE refetched_chains <> '{}'`);
  expect(rows).toEqual([{ schema }]);
});

/** The index has each log of the chain once, and all rows are what the chain holds. */
async function expectWhole(chainId: number): Promise<void> {
  const { url, scenario } = chainOf(chainId);
  expect(await logsUnlike(chainId)).toEqual([]);
  expect(suspectedOf(await auditPools(world.database, world.chainsFile, chainId, { url }))).toEqual([]);
  const onChain = await readChainPools(connectNode(url), scenario.deployment.poolFactory);
  const exact = await connectExact(world.databaseUrl);
  const indexed = await readIndexedPools(exact, chainId).finally(() => exact.end());
  for (const [address, pool] of onChain) expect(indexed.get(address), address).toEqual(pool);
}
