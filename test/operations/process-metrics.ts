import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { issueApiKey } from '../../db/api-keys.ts';
import type { PoolTradingDataClient } from '../harness/http-client.ts';
import { newUuid, signedTx } from '../pamm/sample-updates.ts';
import { EVENTUALLY, healthyPool, mine, operatedApi } from './operated-api.ts';
import { type OperatedChain, type OperatedWorld, PROCESSES, type ProcessName } from './operated-world.ts';
import { metricsIn } from './promql.ts';
import { type Scrape, scrape } from './scrape.ts';

export const BID_ASK_ROUTE = '/public/v1/evm/:chain_id/:pool_address/bid_ask';

async function scrapeAll(world: OperatedWorld): Promise<Readonly<Record<ProcessName, Scrape>>> {
  const scrapes = PROCESSES.map(async (name) => {
    const paths = name === 'indexer' ? ['/metrics', '/metrics/nodes'] : ['/metrics'];
    return [name, await scrape(world.processes[name].url, paths)] as const;
  });
  return Object.fromEntries(await Promise.all(scrapes)) as Record<ProcessName, Scrape>;
}

async function sendQuote(client: PoolTradingDataClient, { chainId }: OperatedChain) {
  const body = {
    tx: await signedTx(chainId),
    blockNumber: 1_000_000,
    replacementUuid: newUuid(),
    replacementSeqNumber: 1,
    maxTimestamp: Math.floor(Date.now() / 1000) + 4,
  };
  return client.POST('/public/v1/evm/{chain_id}/pamm-quote', { params: { path: { chain_id: chainId } }, body });
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

/** Tests of what chains cost of which no client requests a pool. */
export function testIdleCost(world: OperatedWorld): void {
  const { readiness, lagOf } = operatedApi(world);
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

  test('costs at most 2.5 calls a block, and 1.5 with sockets', async () => {
    await Promise.all(world.chains.map((chain) => interval(chain, 1)));
    await vi.waitUntil(async () => (await readiness()).chains.every(({ lagBlocks }) => lagBlocks === 0), EVENTUALLY);
    // What begins with the blocks is no part of the pace.
    await mined(await heights(), 3);
    const startedAt = performance.now();
    const [before, from] = [await scrapeAll(world), await heights()];
    await mined(from, BLOCKS);
    const [after, to] = [await scrapeAll(world), await heights()];
    const seconds = (performance.now() - startedAt) / 1_000;
    await Promise.all(world.chains.map((chain) => interval(chain, 0)));
    const costs = world.chains.map((chain, i) => {
      const calls = callsOf(after, chain) - callsOf(before, chain);
      const blocks = (to[i] ?? 0) - (from[i] ?? 0);
      // Polls keep the pace of the chain, also where a busy node is behind it.
      return calls / Math.max(blocks, seconds);
    });
    const [polled, pushed] = costs;
    expect(polled).toBeLessThanOrEqual(2.5);
    expect(pushed).toBeLessThanOrEqual(1.5);
    // Its logs are read, block by block. An indexer that is behind reads the last ones now.
    await vi.waitUntil(async () => {
      const lags = await Promise.all(world.chains.map(lagOf));
      return lags.every((lag, i) => (lag?.indexedBlock ?? 0) >= (to[i] ?? 0));
    }, EVENTUALLY);
    const whole = await scrapeAll(world);
    for (const [i, chain] of world.chains.entries()) {
      const blocks = (to[i] ?? 0) - (from[i] ?? 0);
      expect(callsOf(whole, chain) - callsOf(before, chain)).toBeGreaterThan(0.9 * blocks);
    }
  });
}

/** Tests of the metrics of all processes. */
export function testMetrics(world: OperatedWorld): void {
  const { api } = operatedApi(world);

  test('of every process move with its work', { timeout: 240_000 }, async () => {
    const [ethereum, bsc] = world.chains;
    const { key } = await issueApiKey(world.database, 'metrics');
    await vi.waitFor(async () => {
      const { data } = await api().GET('/public/v1/evm/metadata', { params: { query: { minTvlFiat: 0 } } });
      expect(new Set(data?.data.map(({ chain }) => chain))).toEqual(new Set(['ethereum', 'bsc']));
    }, EVENTUALLY);
    const before = await scrapeAll(world);

    const params = { path: { chain_id: ethereum.chainId, pool_address: healthyPool(ethereum) } };
    for (let n = 0; n < 5; n++) {
      const { response } = await api().GET('/public/v1/evm/{chain_id}/{pool_address}/bid_ask', { params });
      expect(response.status).toBe(200);
    }
    for (const chain of [ethereum, bsc]) {
      await vi.waitFor(
        async () => expect((await sendQuote(api(key), chain)).data).toMatchObject({ accepted: true }),
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
      ['capture', 'capture_job_duration_seconds_count', { task: 'listing', result: 'ok' }, 1],
      ['capture', 'capture_job_last_success_timestamp_seconds', { task: `price-health-${bsc.chainId}` }, 1],
      ['capture', 'rpc_requests_total', { chain: String(bsc.chainId), outcome: 'ok' }, 1],
      ['indexer', 'ponder_sync_block', { chain: `chain_${ethereum.chainId}` }, 1],
      ['indexer', 'rpc_requests_total', { chain: String(ethereum.chainId), outcome: 'ok' }, 1],
      ['indexer', 'ponder_realtime_latency_count', { chain: `chain_${ethereum.chainId}` }, 1],
    ];
    await vi.waitFor(async () => {
      const after = await scrapeAll(world);
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
    const scrapes = await scrapeAll(world);
    const known = new Set(['up', ...PROCESSES.flatMap((name) => [...scrapes[name].names])]);
    const expressions = [...dashboardExpressions(), ...alertExpressions()];
    expect(expressions.length).toBeGreaterThan(25);
    for (const expression of expressions) {
      const names = metricsIn(expression);
      expect(names, expression).not.toEqual([]);
      for (const name of names) expect(known, expression).toContain(name);
    }
  });
}
