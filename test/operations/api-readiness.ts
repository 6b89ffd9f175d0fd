import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { EVENTUALLY, healthyPool, mine, operatedApi } from './operated-api.ts';
import type { OperatedWorld } from './operated-world.ts';
import { BID_ASK_ROUTE } from './process-metrics.ts';
import { scrape } from './scrape.ts';

/** The finality window of a local chain, in blocks: Ponder undoes no more. */
const FINALITY = 30;

/**
 * Tests of `/ready` of the API. They stop an index, a node and capture, so they come last.
 *
 * @param maxLagSecs how far an index may be behind
 */
export function testReadiness(world: OperatedWorld, maxLagSecs: number): void {
  const { readiness, lagOf, api } = operatedApi(world);

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
    // Longer than the limit: nothing may be taken for a stall in this time.
    await sleep((maxLagSecs + 2) * 1_000);
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
    const log = world.processes.api.log();
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
}
