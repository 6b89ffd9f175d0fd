import { custom, numberToHex, pad, TimeoutError } from 'viem';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

/** What the patches 005 to 007 do: a chain is indexed soon, and as it is, after its node failed. */

const PONDER = import.meta.resolve('ponder');
const load = <T>(file: string) => import(new URL(file, PONDER).href) as Promise<T>;
const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
const metric = { inc: nothing, observe: nothing };
const common = {
  logger,
  metrics: { ponder_rpc_request_duration: metric, ponder_rpc_request_error_total: metric },
  shutdown: { add: nothing, isKilled: false },
};
const chain = { id: 1, name: 'test', pollingInterval: 100, finalityBlockCount: 30 };

type Request = { readonly method: string; readonly params?: unknown };
type Rpc = { request(request: Request): Promise<unknown> };

/** Ponder's client of a node that answers like this. */
async function rpcOf(answer: (request: Request) => Promise<unknown>): Promise<Rpc> {
  const { createRpc } = await load<{ createRpc: (of: object) => Rpc }>('rpc/index.js');
  return createRpc({ common, chain: { ...chain, rpc: custom({ request: answer }) } });
}

describe('requests', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('for logs of a block that the node does not have are given up within seconds, others are not', async () => {
    const rpc = await rpcOf(() => Promise.reject(Object.assign(new Error('unknown block'), { code: -32_000 })));
    const failed = vi.fn();
    rpc.request({ method: 'eth_getLogs', params: [{ blockHash: pad('0x1') }] }).catch(() => failed('logs'));
    rpc.request({ method: 'eth_getBlockByNumber', params: ['0x1', true] }).catch(() => failed('block'));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(failed.mock.calls).toEqual([['logs']]);
  });

  test('are as many as before when a node answers again that was silent', async () => {
    let isHanging = true;
    const rpc = await rpcOf(async (body) => {
      if (isHanging) throw new TimeoutError({ body: { ...body }, url: 'http://node' });
      return '0x1';
    });
    const ask = (count: number) =>
      Promise.all(Array.from({ length: count }, () => rpc.request({ method: 'eth_chainId' })));
    const first = ask(40).catch(nothing);
    await vi.advanceTimersByTimeAsync(20_000);
    isHanging = false;
    await vi.advanceTimersByTimeAsync(40_000);
    await first;
    const answered = vi.fn();
    ask(30).then(answered);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(answered).toHaveBeenCalled();
  });
});

const BRANCH = { main: '0x0', other: '0x1' } as const;

/** A block of one of two chains that share the blocks up to the second. */
const blockOf = (number: number, branch: keyof typeof BRANCH = 'main') => {
  const hash = (of: number) => pad(numberToHex(100 + of + (of > 2 ? 1_000 * Number(BRANCH[branch]) : 0)));
  return {
    number: numberToHex(number),
    hash: hash(number),
    parentHash: hash(number - 1),
    timestamp: numberToHex(number),
    logsBloom: pad('0xff', { size: 256 }),
    transactions: [],
  };
};

type Followed = { readonly type: string; readonly block: { readonly number: string } };

/** Ponder's live indexing after the first block, on a node that answers like this. */
async function followerOf(request: (request: { readonly params: readonly [string] }) => Promise<unknown>) {
  type Sync = { sync(block: object): AsyncGenerator<Followed> };
  const { createRealtimeSync } = await load<{ createRealtimeSync: (of: object) => Sync }>('sync-realtime/index.js');
  const sync = createRealtimeSync({
    common,
    chain,
    rpc: { request },
    eventCallbacks: [],
    childAddresses: new Map(),
    syncProgress: { finalized: blockOf(1) },
  });
  return async (head: object) => {
    const events: [string, number][] = [];
    for await (const { type, block } of sync.sync(head)) events.push([type, Number(block.number)]);
    return events;
  };
}

test('a head whose data could not be read is read again when it is still the head', async () => {
  let isDown = true;
  const follow = await followerOf(async ({ params }) => {
    if (isDown) throw new Error('the node is down');
    return blockOf(Number(params[0]));
  });
  expect(await follow(blockOf(3))).toEqual([]);
  isDown = false;
  expect(await follow(blockOf(3))).toEqual([
    ['block', 2],
    ['block', 3],
  ]);
});

test('a reorganisation that could not be read to its end is undone once it can be read', async () => {
  let isDown = false;
  const other = [3, 4, 5, 6].map((number) => blockOf(number, 'other'));
  const follow = await followerOf(async ({ params: [name] }) => {
    if (isDown) throw new Error('the node is down');
    return other.find(({ hash }) => hash === name) ?? blockOf(Number(name));
  });
  await follow(blockOf(5));
  isDown = true;
  expect(await follow(blockOf(5, 'other'))).toEqual([]);
  isDown = false;
  expect(await follow(blockOf(6, 'other'))).toEqual([['reorg', 2]]);
});
