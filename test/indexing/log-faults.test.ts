import { readFile, writeFile } from 'node:fs/promises';
import type { Address } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { swap } from '../../devnet/actions.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import { LOG_FAULTS, type LogFault, ofContracts } from '../../devnet/log-faults.ts';
import type { NodeLog } from '../../devnet/misbehaviour.ts';
import { packedSwap } from '../../devnet/packed/actions.ts';
import { createPackedPool } from '../../devnet/packed/random-pool.fixture.ts';
import { stockTokens } from '../../devnet/random-pool.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import { startBackfillWorld } from '../backfill/backfill-world.ts';
import { openWorld } from '../harness/open-world.ts';
import { ordinaryRecipe } from '../packed/observed-swaps.ts';
import { auditPools, differencesOf } from './audit-pools.ts';
import { inOneBlock } from './in-one-block.ts';
import { type RunningIndexer, startIndexer, waitUntilIndexed } from './indexer-process.ts';

/** Two chains whose first node gives other logs than the chain has. The second chain has another node besides. */

const LIMIT_MS = 120_000;
/** More blocks than an index may undo, twice. */
const FINAL = '0x46';
const [ONE_NODE, TWO_NODES] = [31_337, 31_338];
/** First topics of swaps, flat and packed. */
const SWAPS = [
  '0x87d25816ca01843f551b4caa5eea03b5173c84c383573c63081fb7575378276e',
  '0x9734819749a91fc3be03ea83205f924ee08479bd3f0da48efc91d94d050cac1e',
];

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
    for (const salt of [700, 701, 702, 703]) made.push(await makePair(chainId, salt));
    pairs.set(chainId, made);
    for (const pair of pairs.get(chainId) ?? []) await trade(chainId, pair, 3);
    await mine(chainId, FINAL);
  }
}, LIMIT_MS);

afterEach(behave);

afterAll(() => indexer?.stop());

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

/** Swaps that the chain or the index alone has, by pool. */
async function unlikeSwaps(chainId: number): Promise<readonly string[]> {
  const { url } = chainOf(chainId);
  const filter = { fromBlock: '0x0', toBlock: 'latest', topics: [SWAPS] };
  const logs = await request<NodeLog[]>(url, 'eth_getLogs', [filter]);
  const onChain = logs.map(({ address, blockNumber, logIndex }) =>
    [address, Number(blockNumber), Number(logIndex)].join(' '),
  );
  const { rows } = await world.database.query<{ name: string }>(
    `SELECT concat_ws(' ', pool, block_number, log_index) AS name FROM live.swap WHERE chain_id = $1`,
    [chainId],
  );
  const indexed = new Set(rows.map(({ name }) => name));
  expect(indexed.size).toBe(rows.length);
  const unlike = new Set([...indexed].filter((name) => !onChain.includes(name)));
  for (const name of onChain) if (!indexed.has(name)) unlike.add(name);
  return [...new Set([...unlike].map((name) => name.split(' ')[0] ?? ''))].sort();
}

test('history: pools and a factory whose logs the only node left out are found; of two nodes, the other one fills in', {
  timeout: LIMIT_MS,
}, async () => {
  factory = chainOf(ONE_NODE).scenario.deployment.poolFactory.toLowerCase() as Address;
  const [hidden = ''] = pairOf(ONE_NODE, 2);
  const isOfHidden = (log: NodeLog) => log.address === factory && JSON.stringify(log).includes(hidden.slice(2));
  const lessPools = ofContracts(pairOf(ONE_NODE, 0), LOG_FAULTS.leavesOut);
  misbehave(ONE_NODE, (logs) => lessPools(logs).filter((log) => !isOfHidden(log)));
  const hasLied = misbehave(TWO_NODES, ofContracts(pairOf(TWO_NODES, 0), LOG_FAULTS.truncates));
  // One that was given its schema repairs nothing.
  indexer = await startIndexer({ ...world, schema: 'onchain_1' });
  behave();
  await catchUp();
  expect(leftOut.get(factory)?.length).toBeGreaterThan(0);
  found = [...pairOf(ONE_NODE, 0), factory].sort();
  expect(await differing(ONE_NODE)).toEqual(found);
  expect(await unlikeSwaps(ONE_NODE)).toEqual([...pairOf(ONE_NODE, 0), hidden].sort());
  const unlike = await unlikeSwaps(TWO_NODES);
  expect(await differing(TWO_NODES)).toEqual(unlike);
  const named = async () => (await world.database.query('SELECT chain_id::int4, node FROM operator.log_fault')).rows;
  const liar = { chain_id: TWO_NODES, node: 'rpcUrls[0]' };
  // The other node may have given all. Answers come without a comparison when it has enough to do: then pools differ.
  if (hasLied() && unlike.length === 0) await expect.poll(named).toEqual([liar]);
  else expect([[], [liar]]).toContainEqual(await named());
});

/** New blocks of both chains have four swaps of a pair, while their first nodes give other logs. */
async function tradeDuring(kind: keyof typeof LOG_FAULTS, place: number): Promise<void> {
  const [hasGiven] = world.chains.map(({ chainId }) => misbehave(chainId, LOG_FAULTS[kind]));
  for (const isPackedFirst of [false, true])
    for (const { chainId, url } of world.chains)
      await inOneBlock(url, () => trade(chainId, pairOf(chainId, place), 2, isPackedFirst));
  // Higher than the blocks that were taken back: an index at this height has read those of the swaps.
  for (const { chainId } of world.chains) await mine(chainId, '0x8');
  // The other chain's node may not be asked now.
  await vi.waitUntil(() => hasGiven?.(), 30_000);
}

async function becomeFinal(): Promise<void> {
  for (const { chainId } of world.chains) await mine(chainId, FINAL);
  await catchUp();
}

test('following: logs that come twice or in another order do no harm', {
  timeout: LIMIT_MS,
}, async () => {
  const before = await unlikeSwaps(ONE_NODE);
  for (const kind of ['reorders', 'doubles'] as const) {
    await tradeDuring(kind, 1);
    behave();
    await catchUp();
  }
  await becomeFinal();
  expect(await differing(ONE_NODE)).toEqual(found);
  expect(await unlikeSwaps(ONE_NODE)).toEqual(before);
  expect(await differing(TWO_NODES)).toEqual(await unlikeSwaps(TWO_NODES));
});

test.each([
  ['leavesOut', 1],
  ['truncates', 3],
] as const)(
  'following: pools are found of whose logs the only node %s a part',
  { timeout: LIMIT_MS },
  async (kind, place) => {
    await tradeDuring(kind, place);
    await catchUp();
    behave();
    await becomeFinal();
    found = [...found, ...pairOf(ONE_NODE, place)].sort();
    expect(await differing(ONE_NODE)).toEqual(found);
    expect(await differing(TWO_NODES)).toEqual(await unlikeSwaps(TWO_NODES));
  },
);

test('the indexer repairs by itself what lastingly differs, once, and says what was missing', {
  timeout: LIMIT_MS,
}, async () => {
  await indexer.stop();
  const [missing, others] = [await unlikeSwaps(ONE_NODE), await unlikeSwaps(TWO_NODES)];
  indexer = await startIndexer(world);
  expect(await indexer.ended).toBe('exit code 75');
  const line = indexer
    .recentOutput()
    .split('\n')
    .find((each) => each.includes('the repair of the index has ended'));
  const { repaired, faultyNodes, schema } = JSON.parse(line ?? '{}');
  // Of a chain with one node, it is not known.
  expect(faultyNodes).toEqual(others.length > 0 ? [{ chainId: TWO_NODES, node: 'rpcUrls[0]' }] : []);
  const pools = repaired.filter(({ chainId }: { chainId: number }) => chainId === ONE_NODE);
  expect([...new Set(pools.map(({ pool }: { pool: string }) => pool))].sort()).toEqual(missing);
  indexer = await startIndexer(world);
  await catchUp();
  for (const { chainId } of world.chains) {
    expect(await unlikeSwaps(chainId)).toEqual([]);
    expect(await differing(chainId)).toEqual([]);
  }
  const { rows } = await world.database.query('SELECT schema FROM operator.backfill');
  expect(rows).toEqual([{ schema }]);
});
