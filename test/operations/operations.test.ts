import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ChainLag } from '../../api/observability/chain-lag.ts';
import { type OperatedChain, type OperatedWorld, startOperatedWorld } from './operated-world.ts';
import { scrape } from './scrape.ts';

const MAX_LAG_SECS = 3;
/** The finality window of a local chain, in blocks: Ponder undoes no more. */
const FINALITY = 30;
const EVENTUALLY = { timeout: 60_000, interval: 200 };

let world: OperatedWorld;

beforeAll(async () => {
  world = await startOperatedWorld({ INDEXING_MAX_LAG_SECS: String(MAX_LAG_SECS), LOG_LEVEL: 'info' });
}, 180_000);
afterAll(() => world?.stop());

type Readiness = {
  readonly ready: boolean;
  readonly failures: Readonly<Record<string, string>>;
  readonly chains: readonly ChainLag[];
};

async function readiness(): Promise<Readiness & { readonly status: number }> {
  const response = await fetch(`${world.processes.api.url}/ready`);
  return { status: response.status, ...((await response.json()) as Readiness) };
}

async function lagOf({ chainId }: OperatedChain): Promise<ChainLag | undefined> {
  return (await readiness()).chains.find((chain) => chain.chainId === chainId);
}

const mine = ({ client }: OperatedChain, blocks: number) =>
  client.request({ method: 'anvil_mine', params: [blocks] } as never);

describe('/ready of the API', () => {
  test('lists where the index of every chain is', async () => {
    await vi.waitFor(async () => expect(await readiness()).toMatchObject({ status: 200, failures: {} }), EVENTUALLY);
    for (const chain of world.chains) {
      const head = await chain.client.getBlock();
      expect(await lagOf(chain)).toEqual({
        chainId: chain.chainId,
        name: chain.chainId === 31337 ? 'ethereum' : 'bsc',
        indexedBlock: Number(head.number),
        indexedTimestamp: Number(head.timestamp),
        headBlock: Number(head.number),
        lagBlocks: 0,
        lagSecs: 0,
        stalled: false,
      });
    }
  });

  test('does not take silent chains, or blocks without events, for a stalled index', async () => {
    const [first] = world.chains;
    await new Promise((resolve) => setTimeout(resolve, (MAX_LAG_SECS + 2) * 1_000));
    await vi.waitFor(async () => expect((await readiness()).status).toBe(200), EVENTUALLY);
    await mine(first, 40);
    const head = Number(await first.client.getBlockNumber());
    await vi.waitFor(
      async () => expect(await lagOf(first)).toMatchObject({ indexedBlock: head, headBlock: head, stalled: false }),
      EVENTUALLY,
    );
    await vi.waitFor(async () => expect((await readiness()).status).toBe(200), EVENTUALLY);
  });

  test('tells of the one chain whose index stopped at a reorganisation that it cannot undo', async () => {
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
    expect(await lagOf(second)).toMatchObject({ indexedBlock: before, lagBlocks: 5, stalled: true });
    expect(await lagOf(first)).toMatchObject({ lagBlocks: 0, stalled: false });

    const metrics = await scrape(world.processes.api.url);
    expect(metrics.sum('indexing_stalled', { chain: String(second.chainId) })).toBe(1);
    expect(metrics.sum('indexing_lag_blocks', { chain: String(second.chainId) })).toBe(5);
    expect(metrics.sum('indexing_stalled', { chain: String(first.chainId) })).toBe(0);
    const indexer = await fetch(`${world.processes.indexer.url}/ready`);
    expect(indexer.status).toBe(200);
  });
});
