import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, test, vi } from 'vitest';
import { parse } from 'yaml';
import type { ChainLag } from '../../api/observability/chain-lag.ts';
import { issueApiKey, rotateApiKey } from '../../db/api-keys.ts';
import { createPoolTradingDataClient } from '../harness/http-client.ts';
import { startedWorld } from '../harness/open-world.ts';
import { newUuid, signedTx } from '../pamm/sample-updates.ts';
import { type OperatedChain, PROCESSES, type ProcessName, startOperatedWorld } from './operated-world.ts';
import { metricsIn } from './promql.ts';
import { type Scrape, scrape } from './scrape.ts';

const MAX_LAG_SECS = 3;
/** A change of a key counts in every process within this time. */
const KEY_CHANGE_MS = 3_000;
/** The finality window of a local chain, in blocks: Ponder undoes no more. */
const FINALITY = 30;
const EVENTUALLY = { timeout: 60_000, interval: 200 };

const world = startedWorld(() =>
  startOperatedWorld({ INDEXING_MAX_LAG_SECS: String(MAX_LAG_SECS), LOG_LEVEL: 'info' }),
);

test('every process logs in to Postgres as itself', async () => {
  const { rows } = await world.database.query<{ login: string }>(
    `SELECT DISTINCT usename AS login FROM pg_stat_activity WHERE datname = current_database() AND usename <> 'postgres'`,
  );
  expect(rows.map(({ login }) => login).sort()).toEqual([...PROCESSES].sort());
});

test('capture logs in to Redis as itself, and takes what the API reads of live sources', async () => {
  const admin = new Redis(inject('redisUrl'));
  const user = `user=${new URL(world.captureRedisUrl).username} `;
  const channels = async () => {
    const connections = String(await admin.client('LIST')).split('\n');
    return connections.flatMap((line) => (line.includes(user) ? [/ sub=(\d+)/.exec(line)?.[1]] : []));
  };
  await expect.poll(channels, EVENTUALLY).toEqual(expect.arrayContaining(['0', String(world.chains.length)]));
  admin.disconnect();
});

type Readiness = {
  readonly ready: boolean;
  readonly failures: Readonly<Record<string, string>>;
  readonly warnings: Readonly<Record<string, string>>;
  readonly chains: readonly ChainLag[];
};

async function readiness(): Promise<Readiness & { readonly status: number }> {
  const response = await fetch(`${world.processes.api.url}/ready`);
  return { status: response.status, ...((await response.json()) as Readiness) };
}

async function lagOf({ chainId }: OperatedChain): Promise<ChainLag | undefined> {
  return (await readiness()).chains.find((chain) => chain.chainId === chainId);
}

const BID_ASK_ROUTE = '/public/v1/evm/:chain_id/:pool_address/bid_ask';

function healthyPool({ scenario }: OperatedChain): string {
  const [pool] = scenario.pools;
  if (pool === undefined) throw new Error('the scenario has no pool');
  return pool.address;
}

async function sendQuote({ chainId }: OperatedChain, apiKey: string) {
  const body = {
    tx: await signedTx(chainId),
    blockNumber: 1_000_000,
    replacementUuid: newUuid(),
    replacementSeqNumber: 1,
    maxTimestamp: Math.floor(Date.now() / 1000) + 4,
  };
  return api(apiKey).POST('/public/v1/evm/{chain_id}/pamm-quote', { params: { path: { chain_id: chainId } }, body });
}

const operatorFile = (path: string) => readFileSync(new URL(`../../ops/${path}`, import.meta.url), 'utf8');

function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(operatorFile('grafana/dashboard.json')) as {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  };
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}

function alertExpressions(): string[] {
  const { groups } = parse(operatorFile('alerts.yml')) as {
    readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
}

const mine = ({ client }: OperatedChain, blocks: number) =>
  client.request({ method: 'anvil_mine', params: [blocks] } as never);

const api = (apiKey?: string) =>
  createPoolTradingDataClient(world.processes.api.url, apiKey === undefined ? {} : { apiKey });

async function scrapeAll(): Promise<Readonly<Record<ProcessName, Scrape>>> {
  const scrapes = PROCESSES.map(async (name) => {
    const paths = name === 'indexer' ? ['/metrics', '/metrics/nodes'] : ['/metrics'];
    return [name, await scrape(world.processes[name].url, paths)] as const;
  });
  return Object.fromEntries(await Promise.all(scrapes)) as Record<ProcessName, Scrape>;
}

// First: pools that were asked for are read at each block for a while.
describe('a chain of one-second blocks that no client asks for', () => {
  const BLOCKS = 10;
  const interval = ({ client }: OperatedChain, seconds: number) =>
    client.request({ method: 'evm_setIntervalMining', params: [seconds] } as never);
  const heights = () => Promise.all(world.chains.map(async ({ client }) => Number(await client.getBlockNumber())));
  const mined = async (from: readonly number[], blocks: number) =>
    vi.waitUntil(async () => (await heights()).every((height, i) => height >= (from[i] ?? 0) + blocks), EVENTUALLY);

  /** Requests of all processes but capture, whose read budget pays for its own. */
  const callsOf = ({ api, builders, indexer }: Awaited<ReturnType<typeof scrapeAll>>, { chainId }: OperatedChain) => {
    const counts = [api, builders, indexer].map((it) => it.sum('rpc_requests_total', { chain: String(chainId) }));
    return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  };

  test('costs at most 2.5 calls a block, and 1.5 with sockets', { timeout: 120_000 }, async () => {
    await Promise.all(world.chains.map((chain) => interval(chain, 1)));
    await vi.waitUntil(async () => (await readiness()).chains.every(({ lagBlocks }) => lagBlocks === 0), EVENTUALLY);
    // What begins with the blocks is no part of the pace.
    await mined(await heights(), 3);
    const startedAt = performance.now();
    const [before, from] = [await scrapeAll(), await heights()];
    await mined(from, BLOCKS);
    const [after, to] = [await scrapeAll(), await heights()];
    const seconds = (performance.now() - startedAt) / 1_000;
    await Promise.all(world.chains.map((chain) => interval(chain, 0)));
    const costs = world.chains.map((chain, i) => {
      const calls = callsOf(after, chain) - callsOf(before, chain);
      const blocks = (to[i] ?? 0) - (from[i] ?? 0);
      // Polls keep the pace of the chain, also where a busy node is behind it.
      return { ofSecond: calls / Math.max(blocks, seconds), ofBlock: calls / blocks };
    });
    const [polled, pushed] = costs;
    expect(polled?.ofSecond).toBeLessThanOrEqual(2.5);
    expect(pushed?.ofSecond).toBeLessThanOrEqual(1.5);
    // Its logs are read, block by block.
    expect(Math.min(...costs.map(({ ofBlock }) => ofBlock))).toBeGreaterThan(0.9);
  });
});

describe('metrics', () => {
  test('of every process move with its work', { timeout: 240_000 }, async () => {
    const [ethereum, bsc] = world.chains;
    const { key } = await issueApiKey(world.database, 'metrics');
    await vi.waitFor(async () => {
      const { data } = await api().GET('/public/v1/evm/metadata', { params: { query: { minTvlFiat: 0 } } });
      expect(new Set(data?.data.map(({ chain }) => chain))).toEqual(new Set(['ethereum', 'bsc']));
    }, EVENTUALLY);
    const before = await scrapeAll();

    const params = { path: { chain_id: ethereum.chainId, pool_address: healthyPool(ethereum) } };
    for (let n = 0; n < 5; n++) {
      const { response } = await api().GET('/public/v1/evm/{chain_id}/{pool_address}/bid_ask', { params });
      expect(response.status).toBe(200);
    }
    for (const chain of [ethereum, bsc]) {
      await vi.waitFor(
        async () => expect((await sendQuote(chain, key)).data).toMatchObject({ accepted: true }),
        EVENTUALLY,
      );
    }
    await mine(ethereum, 1);

    /** Process, sample and labels: each grows by at least this much. */
    const expected: readonly (readonly [ProcessName, string, Record<string, string>, number])[] = [
      ['api', 'http_request_duration_seconds_count', { route: BID_ASK_ROUTE, status: '200' }, 5],
      ['api', 'http_request_duration_seconds_bucket', { route: BID_ASK_ROUTE, le: '+Inf' }, 5],
      ['api', 'snapshot_lookups_total', { chain: String(ethereum.chainId), result: 'cached' }, 1],
      ['api', 'snapshot_lookups_total', { chain: String(ethereum.chainId) }, 5],
      ['api', 'rpc_requests_total', { chain: String(ethereum.chainId), outcome: 'ok' }, 1],
      ['builders', 'pamm_outcomes_total', { provider: world.providers.stream, outcome: 'accepted' }, 1],
      ['builders', 'pamm_outcomes_total', { provider: world.providers.bundle, outcome: 'accepted' }, 1],
      ['builders', 'pamm_answer_seconds_count', {}, 3],
      ['builders', 'pamm_simulations_total', { chain: String(ethereum.chainId) }, 1],
      ['builders', 'rpc_requests_total', { chain: String(ethereum.chainId), outcome: 'ok' }, 1],
      ['capture', 'capture_job_duration_seconds_count', { job: 'listing', result: 'ok' }, 1],
      ['capture', 'capture_job_last_success_timestamp_seconds', { job: `price-health-${bsc.chainId}` }, 1],
      ['capture', 'rpc_requests_total', { chain: String(bsc.chainId), outcome: 'ok' }, 1],
      ['indexer', 'ponder_sync_block', { chain: `chain_${ethereum.chainId}` }, 1],
      ['indexer', 'rpc_requests_total', { chain: String(ethereum.chainId), outcome: 'ok' }, 1],
      ['indexer', 'ponder_realtime_latency_count', { chain: `chain_${ethereum.chainId}` }, 1],
    ];
    await vi.waitFor(async () => {
      const after = await scrapeAll();
      for (const [name, sample, labels, growth] of expected) {
        const grown = (after[name].sum(sample, labels) ?? 0) - (before[name].sum(sample, labels) ?? 0);
        expect(grown, `${name}: ${sample} ${JSON.stringify(labels)}`).toBeGreaterThanOrEqual(growth);
      }
      for (const provider of Object.values(world.providers)) {
        expect(after.builders.sum('pamm_queue_depth', { provider }), provider).toBe(0);
      }
      expect(after.api.sum('indexing_stalled')).toBe(0);
    }, EVENTUALLY);
  });

  test('are all that the dashboard and the alerts read', async () => {
    const scrapes = await scrapeAll();
    const known = new Set(['up', ...PROCESSES.flatMap((name) => [...scrapes[name].names])]);
    const expressions = [...dashboardExpressions(), ...alertExpressions()];
    expect(expressions.length).toBeGreaterThan(25);
    for (const expression of expressions) {
      const names = metricsIn(expression);
      expect(names, expression).not.toEqual([]);
      for (const name of names) expect(known, expression).toContain(name);
    }
  });
});

describe('keys', () => {
  const chainsWith = async (key: string) => (await api(key).GET('/public/v1/chains', {})).response.status;

  test('the old key of a rotation ends in the running API within 3 seconds, the new one works at once', async () => {
    const old = await issueApiKey(world.database, 'holder');
    const kept = await issueApiKey(world.database, 'holder with a time of grace');
    for (const { key } of [old, kept]) expect(await chainsWith(key)).toBe(200);
    const rotated = await rotateApiKey(world.database, old.keyId, 0);
    const inGrace = await rotateApiKey(world.database, kept.keyId, 3_600);
    // biome-ignore lint/plugin: the whole time: keys that stay valid must not end in it either.
    await sleep(KEY_CHANGE_MS);
    expect(await chainsWith(old.key)).toBe(401);
    for (const key of [rotated?.key, kept.key, inGrace?.key]) expect(await chainsWith(key ?? '')).toBe(200);
  });

  test('nothing secret is in the logs of any process, and no store refused it anything', () => {
    for (const name of PROCESSES) {
      const log = world.processes[name].recentOutput();
      expect(log, name).not.toMatch(/NOPERM|permission denied|must be owner/);
      expect(log, name).not.toMatch(/ptd_[0-9a-f]{12}_/);
      expect(log, name).not.toContain(new URL(world.databaseUrl).password);
    }
  });
});

describe('/ready of the API', { timeout: 150_000 }, () => {
  test('lists where the index of every chain is', async () => {
    await vi.waitFor(async () => expect(await readiness()).toMatchObject({ status: 200, failures: {} }), EVENTUALLY);
    for (const chain of world.chains) {
      const head = await chain.client.getBlock();
      await vi.waitFor(async () => {
        expect(await lagOf(chain)).toEqual({
          chainId: chain.chainId,
          name: chain.chainId === 31337 ? 'ethereum' : 'bsc',
          indexedBlock: Number(head.number),
          indexedTimestamp: Number(head.timestamp),
          headBlock: Number(head.number),
          lagBlocks: 0,
          lagSecs: 0,
          finalityBlocks: 30,
          finalitySecs: 30,
          firstSync: null,
          stalled: false,
        });
      }, EVENTUALLY);
    }
  });

  test('does not take silent chains, or blocks without events, for a stalled index', async () => {
    const [first] = world.chains;
    // biome-ignore lint/plugin: longer than the limit: nothing may be taken for a stall in this time.
    await sleep((MAX_LAG_SECS + 2) * 1_000);
    await vi.waitFor(async () => expect((await readiness()).status).toBe(200), EVENTUALLY);
    await mine(first, 40);
    const head = Number(await first.client.getBlockNumber());
    await vi.waitFor(
      async () => expect(await lagOf(first)).toMatchObject({ indexedBlock: head, headBlock: head, stalled: false }),
      EVENTUALLY,
    );
    await vi.waitFor(async () => expect((await readiness()).status).toBe(200), EVENTUALLY);
  });

  test('reports the one chain whose index stopped at a reorganisation that it cannot undo', async () => {
    const [first, second] = world.chains;
    const before = Number(await second.client.getBlockNumber());
    await second.client.request({ method: 'anvil_reorg', params: [3 * FINALITY, []] } as never);
    await mine(second, 5);
    await vi.waitFor(async () => {
      expect(await readiness()).toMatchObject({
        status: 503,
        ready: false,
        failures: { indexing: `chain ${second.chainId} is indexed 5 blocks behind its head` },
      });
    }, EVENTUALLY);
    await vi.waitFor(async () => {
      expect(await lagOf(second)).toMatchObject({ indexedBlock: before, lagBlocks: 5, stalled: true });
      expect(await lagOf(first)).toMatchObject({ lagBlocks: 0, stalled: false });
      const metrics = await scrape(world.processes.api.url);
      expect(metrics.sum('indexing_stalled', { chain: String(second.chainId) })).toBe(1);
      expect(metrics.sum('indexing_lag_blocks', { chain: String(second.chainId) })).toBe(5);
      expect(metrics.sum('indexing_stalled', { chain: String(first.chainId) })).toBe(0);
    }, EVENTUALLY);
    const indexer = await fetch(`${world.processes.indexer.url}/ready`);
    expect(indexer.status).toBe(200);
  });

  test('warns, and counts no defect, while no node of a chain answers: one line when it begins', async () => {
    const [, second] = world.chains;
    const { chainId } = second;
    const name = `nodes-${chainId}`;
    expect((await readiness()).warnings).not.toHaveProperty(name);
    await second.anvil.stop();
    const params = { path: { chain_id: chainId, pool_address: healthyPool(second) } };
    for (let n = 0; n < 20; n += 1) {
      await vi.waitFor(async () => {
        const { response } = await api().GET('/public/v1/evm/{chain_id}/{pool_address}/bid_ask', { params });
        expect([response.status, response.headers.get('Retry-After')]).toEqual([500, '2']);
      }, EVENTUALLY);
    }
    await vi.waitFor(async () => expect((await readiness()).warnings).toHaveProperty(name), EVENTUALLY);
    const { data: status } = await api().GET('/public/v1/status', {});
    expect(status?.chains.map((each) => [each.chainId, each.nodesRespond])).toEqual(
      world.chains.map((each) => [each.chainId, each.chainId !== chainId]),
    );
    await vi.waitFor(async () => {
      const metrics = await scrape(world.processes.api.url);
      expect(metrics.sum('chain_nodes_failing', { chain: String(chainId) })).toBe(1);
      expect(metrics.sum('chain_nodes_failing')).toBe(1);
      const failed = (labels: Record<string, string>) => metrics.sum('http_request_duration_seconds_count', labels);
      expect(failed({ route: BID_ASK_ROUTE, fault: 'nodes' })).toBeGreaterThanOrEqual(20);
      expect(failed({ route: BID_ASK_ROUTE, status: '500' })).toBe(failed({ route: BID_ASK_ROUTE, fault: 'nodes' }));
      expect(failed({ fault: 'defect' }) ?? 0).toBe(0);
    }, EVENTUALLY);
    const log = world.processes.api.recentOutput();
    expect(log.match(/no node of the chain answers/g)).toHaveLength(1);
    expect(log).not.toContain('Internal server error');
  });

  test('warns when capture has stopped for a minute', async () => {
    const [first] = world.chains;
    const name = `capture-${first.chainId}`;
    await vi.waitFor(async () => expect((await readiness()).warnings).not.toHaveProperty(name), EVENTUALLY);
    await world.processes.capture.stop();
    await world.database.query('UPDATE operator.listing_window SET generated_at_ts = generated_at_ts - 60');
    await vi.waitFor(async () => {
      const { warnings } = await readiness();
      expect(warnings[name]).toMatch(/^capture last computed the listing \d+ s ago$/);
    }, EVENTUALLY);
  });
});
