import { custom, numberToHex, pad, TimeoutError } from 'viem';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

/** What the patches `005+nodes-that-fail` and `006+failed-head` do: a chain goes on soon after its node failed. */

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
    let isSilent = true;
    const rpc = await rpcOf(async (body) => {
      if (isSilent) throw new TimeoutError({ body: { ...body }, url: 'http://node' });
      return '0x1';
    });
    const ask = (count: number) =>
      Promise.all(Array.from({ length: count }, () => rpc.request({ method: 'eth_chainId' })));
    const first = ask(40).catch(nothing);
    await vi.advanceTimersByTimeAsync(20_000);
    isSilent = false;
    await vi.advanceTimersByTimeAsync(40_000);
    await first;
    const answered = vi.fn();
    ask(30).then(answered);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(answered).toHaveBeenCalled();
  });
});

const blockOf = (number: number) => ({
  number: numberToHex(number),
  hash: pad(numberToHex(number + 100)),
  parentHash: pad(numberToHex(number + 99)),
  timestamp: numberToHex(number),
  logsBloom: pad('0xff', { size: 256 }),
  transactions: [],
});

test('a head whose data could not be read is read again when it is still the head', async () => {
  type Sync = { sync(block: object): AsyncGenerator<{ readonly type: string; readonly block: { number: string } }> };
  const { createRealtimeSync } = await load<{ createRealtimeSync: (of: object) => Sync }>('sync-realtime/index.js');
  let isDown = true;
  const request = async ({ params }: { readonly params: readonly [string] }) => {
    if (isDown) throw new Error('the node is down');
    return blockOf(Number(params[0]));
  };
  const sync = createRealtimeSync({
    common,
    chain,
    rpc: { request },
    eventCallbacks: [],
    childAddresses: new Map(),
    syncProgress: { finalized: blockOf(1) },
  });
  const follow = async (head: number) => {
    const numbers: number[] = [];
    for await (const { block } of sync.sync(blockOf(head))) numbers.push(Number(block.number));
    return numbers;
  };
  expect(await follow(3)).toEqual([]);
  isDown = false;
  expect(await follow(3)).toEqual([2, 3]);
});
